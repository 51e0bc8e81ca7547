"""The order of rules is a list: importing a module that has rules registers nothing."""

import ast
import importlib
import re

import pytest

import aesara.tensor as at
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.basic import rule
from aesara.graph.rewriting.db import EquilibriumDB
from aesara.tensor.rewriting.registration import Rules
from tests.test_layers import FILES, tree_of

DATABASES = ("local_useless", "canonicalize", "stabilize", "specialize", "specialize_device", "uncanonicalize")
REGISTERING = "register_(useless|canonicalize|stabilize|specialize|uncanonicalize)"
#: Modules that define the functions that register single rules, or offer them to users.
OFFERING = ("registration", "basic", "subtensor")


def assigns(name: str, variable: str) -> bool:
    """Return whether a module assigns a variable at its top level; only files that name it are parsed."""
    if not re.search(rf"^{variable}\b", FILES[name].read_text(encoding="utf-8"), re.MULTILINE):
        return False
    targets = [s.targets[0] for s in tree_of(name).body if isinstance(s, ast.Assign)]
    return any(isinstance(target, ast.Name) and target.id == variable for target in targets)


LISTS = {name: importlib.import_module(name).RULES for name in FILES if assigns(name, "RULES")}


def test_the_rules_of_each_module_are_registered():
    found = {name: importlib.import_module(name).rules for name in FILES if assigns(name, "rules")}
    found = {name: rules for name, rules in found.items() if isinstance(rules, Rules)}
    assert len(found) > 40
    assert not [name for name, rules in found.items() if not rules.registered]
    assert all(len(rules) == len(set(rules)) for rules in LISTS.values())


def test_no_module_registers_rules_of_its_own_accord():
    named = [name for name, path in FILES.items() if re.search(REGISTERING, path.read_text(encoding="utf-8"))]
    allowed = {f"aesara.tensor.rewriting.{name}" for name in OFFERING}
    assert set(named) - {"aesara.compile.pipeline"} == allowed


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("name", LISTS)
def test_rules_stand_in_databases_in_the_order_of_their_list(name, database):
    database = getattr(databases, database)
    registered = [database[name] for name in database.__db__ if name in database._names]
    listed = [entry.rewriter for rules in LISTS[name] for entry in rules._entries]
    first = {id(rewriter): k for k, rewriter in reversed(list(enumerate(listed)))}
    places = [first[id(rewriter)] for rewriter in registered if id(rewriter) in first]
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
    assert rules.with_tag("a_tag") == [one]
    rules.add(one, to=(rules.specialize, rules.uncanonicalize), tags=("another",))
    assert rules.with_tag("another") == [one]
    assert not any("cosine_is_even" in getattr(databases, name) for name in DATABASES)
