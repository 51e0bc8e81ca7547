"""Documented paths of what is in `aesara.compat`: the same objects, and pickles that name them."""

import importlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import aesara.tensor as at
from aesara.compat.rng_mrg import MRG_RandomStream

PATHS = {
    "aesara.graph.sched": "aesara.compat.sched",
    "aesara.link.c.basic": "aesara.compat.c_linkers",
    "aesara.link.c.op": "aesara.compat.c_ops",
    "aesara.misc.may_share_memory": "aesara.compat.may_share_memory",
    "aesara.misc.pkl_utils": "aesara.compat.pkl_utils",
    "aesara.misc.safe_asarray": "aesara.compat.safe_asarray",
    "aesara.sandbox.multinomial": "aesara.tensor.random.from_uniform",
    "aesara.sandbox.rng_mrg": "aesara.compat.rng_mrg",
    "aesara.scalar.sharedvar": "aesara.compat.scalar_shared",
    "aesara.sparse.sandbox.sp": "aesara.compat.sparse_images",
    "aesara.sparse.sandbox.sp2": "aesara.compat.sparse_draws",
    "aesara.theano_compat": "aesara.compat.theano",
}


@pytest.mark.parametrize("path, place", PATHS.items())
def test_paths_have_the_names(path, place):
    documented, defined = map(importlib.import_module, (path, place))
    names = [
        name
        for name, value in vars(defined).items()
        if getattr(value, "__module__", None) == place and (not name.startswith("_") or name == "_asarray")
    ]
    hidden = {"TheanoModule", "Pairs"}
    assert names and all(getattr(documented, name) is getattr(defined, name) for name in names if name not in hidden)


def with_old_paths(pickled: bytes) -> bytes:
    """A pickle with the paths of older versions, in a protocol that writes names as lines of text."""
    places = {
        b"caesara.tensor.random.mrg_uniform\n": b"caesara.sandbox.rng_mrg\n",
        b"caesara.tensor.random.from_uniform\n": b"caesara.sandbox.multinomial\n",
        b"caesara.compat.rng_mrg\n": b"caesara.sandbox.rng_mrg\n",
        b"caesara.compat.scalar_shared\n": b"caesara.scalar.sharedvar\n",
    }
    for place, path in places.items():
        pickled = pickled.replace(place, path)
    return pickled


def test_pickles_with_old_paths_load():
    stream = MRG_RandomStream(seed=5)
    draw = stream.uniform((3,))
    categories = stream.multinomial(pvals=at.as_tensor([[0.25, 0.75]]), n=4)
    pickled = pickle.dumps([stream, draw, categories], protocol=2)
    older = with_old_paths(pickled)
    assert older != pickled and b"aesara.compat" not in older and b"aesara.tensor.random" not in older
    _, first, second = pickle.loads(older)
    np.testing.assert_array_equal(first.eval(), draw.eval())
    assert type(second.owner.op) is type(categories.owner.op)


def test_options_and_names_of_rules_are_there_from_the_start():
    program = (
        "import sys, aesara\n"
        "from aesara.graph.rewriting.databases import canonicalize\n"
        "print(aesara.config.cxx == '', bool(canonicalize.excluded_with),\n"
        "      sorted(name for name in sys.modules if name.startswith('aesara.compat')))"
    )
    text = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
    assert text == (
        "True True ['aesara.compat', 'aesara.compat.options_without_effect', 'aesara.compat.other_modules', "
        "'aesara.compat.rule_names']"
    )
