"""Names and paths of older versions: they warn, and stand for what they are called today."""

import importlib
import sys

import pytest

from aesara.graph.rewriting import basic, db, utils

NAMES = [(module, old, new) for module in (basic, db, utils) for old, new in module.DEPRECATED_NAMES.items()]
PATHS = {"opt": "basic", "optdb": "db", "opt_utils": "utils", "unify": "unify", "kanren": "kanren"}


@pytest.mark.parametrize("module, old, new", NAMES, ids=lambda item: getattr(item, "__name__", item))
def test_old_names(module, old, new):
    with pytest.warns(DeprecationWarning, match=f"`{old}` is deprecated: use `{new}` instead") as caught:
        assert getattr(module, old) is getattr(module, new)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("old, new", PATHS.items())
def test_old_paths(old, new):
    sys.modules.pop(f"aesara.graph.{old}", None)
    with pytest.warns(
        DeprecationWarning, match=f"`aesara.graph.{old}` is deprecated; use `aesara.graph.rewriting.{new}`"
    ):
        moved = importlib.import_module(f"aesara.graph.{old}")
    real = importlib.import_module(f"aesara.graph.rewriting.{new}")
    public = [name for name in vars(real) if not name.startswith("_")]
    assert public and all(getattr(moved, name) is getattr(real, name) for name in public)


OLD_TENSOR_PATHS = {
    "basic_opt": [f"rewriting.{name}" for name in ("basic", "elemwise", "shape", "extra_ops")],
    "math_opt": ["rewriting.math"],
    "subtensor_opt": ["rewriting.subtensor"],
    "opt_uncanonicalize": ["rewriting.uncanonicalize"],
    "nnet.opt": ["nnet.rewriting"],
}


@pytest.mark.parametrize("old, new", OLD_TENSOR_PATHS.items())
def test_old_paths_of_rules(old, new):
    sys.modules.pop(f"aesara.tensor.{old}", None)
    with pytest.warns(DeprecationWarning, match=f"`aesara.tensor.{old}` is deprecated") as caught:
        moved = importlib.import_module(f"aesara.tensor.{old}")
    assert all(f"`aesara.tensor.{name}`" in str(caught[0].message) for name in new)
    for name in new:
        real = importlib.import_module(f"aesara.tensor.{name}")
        rules = [rule for rule in vars(real) if rule.startswith("local_")]
        assert rules and all(getattr(moved, rule) is getattr(real, rule) for rule in rules)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        moved.nonsense


def test_old_names_at_old_paths():
    sys.modules.pop("aesara.graph.opt", None)
    with pytest.warns(DeprecationWarning) as caught:
        from aesara.graph.opt import TopoOptimizer, local_optimizer
    assert TopoOptimizer is basic.WalkingGraphRewriter and local_optimizer is basic.node_rewriter
    assert len(caught) >= 3


def test_the_feature_of_shapes_has_moved():
    from aesara.tensor.rewriting import basic, shape

    with pytest.warns(DeprecationWarning, match="`aesara.tensor.rewriting.shape.ShapeFeature`"):
        assert basic.ShapeFeature is shape.ShapeFeature


def test_unknown_names_are_attribute_errors():
    for module in (basic, db, utils):
        with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
            module.nonsense


def test_names_at_old_paths_warn_whoever_imported_the_module_first():
    import aesara.graph.kanren as moved

    with pytest.warns(DeprecationWarning, match="use `aesara.graph.rewriting.kanren`") as caught:
        moved.KanrenRelationSub
    assert caught[0].filename == __file__
