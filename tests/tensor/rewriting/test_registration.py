"""The order of rules is a list: importing a module that has rules registers nothing."""

import ast
import importlib

import pytest

import aesara.tensor as at
import aesara.tensor.nnet
import aesara.tensor.rewriting
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.basic import rule
from aesara.graph.rewriting.db import EquilibriumDB
from aesara.tensor.rewriting.registration import Rules
from tests.test_layers import FILES, tree_of

LISTS = (aesara.tensor.rewriting.RULES, aesara.tensor.nnet.RULES)
DATABASES = ("local_useless", "canonicalize", "stabilize", "specialize", "specialize_device", "uncanonicalize")


def modules_with_rules() -> list[str]:
    """Modules that assign ``rules = Rules()``."""
    return [
        name
        for name in FILES
        if any(
            isinstance(statement, ast.Assign) and ast.unparse(statement) == "rules = Rules()"
            for statement in tree_of(name).body
        )
    ]


def test_each_module_with_rules_stands_once_in_a_list():
    found = [importlib.import_module(name).rules for name in modules_with_rules()]
    listed = [rules for rules in LISTS for rules in rules]
    assert len(found) == len(listed) > 40
    assert {id(rules) for rules in found} == {id(rules) for rules in listed}


@pytest.mark.parametrize("database", DATABASES)
def test_rules_stand_in_databases_in_the_order_of_the_lists(database):
    database = getattr(databases, database)
    registered = [database[name] for name in database.__db__ if name in database._names and name != "merge_equal"]
    listed = [entry.rewriter for rules in LISTS for family in rules for entry in family._entries]
    first = {id(rewriter): k for k, rewriter in reversed(list(enumerate(listed)))}
    assert registered
    assert not [rewriter.name for rewriter in registered if id(rewriter) not in first]
    places = [first[id(rewriter)] for rewriter in registered]
    assert places == sorted(places)


def test_rules_are_registered_when_asked_for():
    database = EquilibriumDB()
    rules = Rules()
    one, other = (rule(name, (at.cos, (at.neg, "x")), (at.cos, "x")) for name in ("cosine_is_even", "the_same_again"))
    rules.into(database, one, "a_tag")
    rules.into(database, other, name="cosine_is_even_too")
    assert "cosine_is_even" not in database
    rules.register()
    assert list(database.query("+a_tag").get_node_rewriters()) == [one]
    assert database["cosine_is_even_too"] is other
    with pytest.raises(ValueError, match="in use"):
        rules.register()


def test_decorators_return_rules_and_keep_their_tags():
    rules = Rules()
    one = rule("cosine_is_even", (at.cos, (at.neg, "x")), (at.cos, "x"))
    assert rules.canonicalize("a_tag")(rules.stabilize(one)) is one
    assert rules.tagged("a_tag") == [one]
    rules.add(one, to=(rules.specialize, rules.uncanonicalize), tags=("another",))
    assert rules.tagged("another") == [one]
    assert not any("cosine_is_even" in getattr(databases, name) for name in DATABASES)
