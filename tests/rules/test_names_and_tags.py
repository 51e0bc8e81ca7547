"""Rewrites are registered under the names and tags that programs choose them by."""

import pytest

import aesara.tensor.nnet
import aesara.tensor.rewriting.linalg  # noqa: F401 - registers its rules
from aesara.graph.rewriting.databases import optdb
from aesara.graph.rewriting.db import RewriteDatabase, RewriteDatabaseQuery
from aesara.graph.rewriting.rewriter import NodeRewriter
from tests.rules.names_of_rewrites import NAMES

INSIDE = {
    "optdb": optdb,
    "useless": optdb["useless"].db,
    "conv_opts": optdb["specialize_device"]["conv_opts"],
    **{name: optdb[name] for name in NAMES if name not in ("optdb", "useless", "conv_opts")},
}

#: Rules that stand in another database.
ELSEWHERE = {
    "optdb": {"local_elemwise_alloc": "specialize"},
    "canonicalize": {
        "local_IncSubtensor_serialize": "specialize",
        # `local_complement` has the canonical forms.
        "local_erf_minus_one": "stabilize",
        "local_expm1": "stabilize",
        "local_log_prod_sqr": "stabilize",
        "local_one_minus_erf": "stabilize",
        "local_one_minus_erfc": "stabilize",
        "local_one_plus_erf": "stabilize",
    },
    "stabilize": {
        "local_0_dot_x": "canonicalize",
        "local_greedy_distributor": "canonicalize",
        "local_useless_elemwise_comparison": "canonicalize",
    },
    "specialize": {
        "crossentropy_to_crossentropy_with_softmax_with_bias": "stabilize",
        "local_mul_switch_sink": "canonicalize",
        "local_softmax_grad_to_crossentropy_with_softmax_grad": "stabilize",
        "local_zero_div": "canonicalize",
    },
    "uncanonicalize": {"local_reduce_broadcastable": "specialize", "topo_constant_folding": "specialize"},
    "useless": {"local_remove_all_assert": "canonicalize", "local_useless_conj": "canonicalize"},
}

#: Rules that only modes that name them have: native code is the same without.
BY_NAME = {
    "graph_merge_softmax_with_crossentropy_softmax": "uncanonicalize",
    "local_replace_AdvancedSubtensor": "specialize",
    "local_softmax_with_bias": "uncanonicalize",
    "local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc": "stabilize",
}

#: What has nothing to do here.
ABSENT = {
    "local_ultra_fast_sigmoid",  # ultra_fast_sigmoid is the sigmoid
    "pre_local_IncSubtensor_serialize",  # local_IncSubtensor_serialize needs no walk of its own before others
    "remove_tensor_copy",  # local_useless_elemwise does it
}

#: Tags that a rewrite does not have: the reference, which runs FAST_COMPILE, knows what convolutions stand for, and
#: operations are fused below the graph.
LACKS = {
    ("optdb", "AbstractConvCheck"): {"fast_compile"},
    ("optdb", "specialize_device"): {"fast_compile"},
    ("optdb", "elemwise_fusion"): {"fast_run"},
    ("optdb", "local_fill_to_alloc"): {"fast_run"},  # `specialize` has it
}

ENTRIES = [
    pytest.param(database, name, set(tags.split()), id=f"{database}-{name}")
    for database, groups in NAMES.items()
    for tags, names in groups.items()
    for name in names.split()
]
REGISTERED = [p for p in ENTRIES if p.values[1] not in ABSENT | set(BY_NAME)]


@pytest.mark.parametrize("database, name, tags", REGISTERED)
def test_name_and_tags(database, name, tags):
    where = INSIDE[ELSEWHERE.get(database, {}).get(name, database)]
    # A tag of a rule that does its work will do.
    assert name in where
    if name in where._names and where is INSIDE[database]:
        (entry,) = where.__db__[name]
        missing = {tag for tag in tags if entry not in where.__db__.get(tag, ())}
        assert missing == LACKS.get((database, name), set())


@pytest.mark.parametrize("database, name, tags", REGISTERED)
def test_what_is_excluded_by_name_is_left_out(database, name, tags):
    where = INSIDE[ELSEWHERE.get(database, {}).get(name, database)]
    everything = list(where._names)
    chosen = where._select(RewriteDatabaseQuery(everything))
    assert len(where._select(RewriteDatabaseQuery(everything, exclude=[name]))) < len(chosen) == len(everything)


@pytest.mark.parametrize("name, database", BY_NAME.items())
def test_rules_that_are_off_until_they_are_named(name, database):
    where = INSIDE[database]
    (entry,) = where.__db__[name]
    assert isinstance(entry, NodeRewriter)
    assert not any(entry in where.__db__.get(tag, ()) for tag in ("fast_run", "fast_compile", database))


def test_databases_have_the_names_of_their_passes():
    for name in ("canonicalize", "stabilize", "specialize", "uncanonicalize", "specialize_device", "BlasOpt"):
        assert isinstance(optdb[name], RewriteDatabase) and optdb[name].name == name


def test_what_is_off_by_default():
    query = optdb.query("+fast_run")
    names = {rewriter.name for rewriter in query}
    assert not names & {
        "Print1.21",
        "Print1.51",
        "elemwise_fusion",
        "local_careduce_fusion",
        "local_alloc_empty_to_zeros",
    }
    assert {rewriter.name for rewriter in optdb.query("+fusion")} == {"elemwise_fusion", "local_careduce_fusion"}
    assert [rewriter.name for rewriter in optdb.query("+xent")] == ["crossentropy_to_crossentropy_with_softmax"]
