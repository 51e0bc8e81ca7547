"""The values that inputs have between calls, against a model: of functions, their copies, and functions in files."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.io import In
from aesara.link.basic import Container

NAMES = ("required", "default", "state", "lent", "implicit")
required, default, state, lent, implicit = VARIABLES = [at.dscalar(name) for name in NAMES]


class Model:
    """What a function of one input of each kind, and of a shared variable, returns."""

    def __init__(self, **values):
        self.values = {"default": 2.0, "state": 1.0, "lent": 4.0, "implicit": 5.0, "shared": 1.0, **values}

    def __call__(self, *args, **kwargs):
        now = {**self.values, **dict(zip(NAMES, args)), **kwargs}
        self.values["state"] = now["state"] + now["default"]
        self.values["shared"] *= 2
        return [now[name] for name in (*NAMES, "shared")]


class Real:
    """The function, and the containers that it was given."""

    def __init__(self, mode, mutable=False):
        self.lent, self.implicit = Container(lent, [np.asarray(4.0)]), Container(implicit, [np.asarray(5.0)])
        self.shared = aesara.shared(1.0, name="shared")
        inputs = [
            required, In(default, value=2.0, mutable=mutable), In(state, value=1.0, update=state + default),
            In(lent, value=self.lent, implicit=False), In(implicit, value=self.implicit),
        ]  # fmt: skip
        outputs = [v * 1 for v in VARIABLES] + [self.shared * 1]
        self.function = aesara.function(inputs, outputs, updates={self.shared: self.shared * 2}, mode=mode, name="f")

    def __call__(self, *args, **kwargs):
        return [float(result) for result in self.function(*args, **kwargs)]


CALLS = [
    lambda f: f(3.0), lambda f: f(3.0, 7.0), lambda f: f(3.0, state=8.0), lambda f: f(3.0, 7.0, 8.0, 9.0),
    lambda f: f(required=-1.0, lent=0.5),
]  # fmt: skip


@pytest.mark.parametrize("mutable", [False, True])
@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_what_a_call_is_given_serves_this_call(mode, mutable):
    real, model = Real(mode, mutable), Model()
    for calls in itertools.permutations(CALLS, 2):
        for call in calls:
            assert call(real) == call(model)
    f, values = real.function, model.values
    assert [f.value[name] for name in NAMES] == [None, *(values[name] for name in NAMES[1:])]
    assert (real.lent.value, real.implicit.value, real.shared.get_value()) == (4.0, 5.0, values["shared"])


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_values_that_are_set_serve_all_calls(mode):
    real, model = Real(mode), Model()
    for name in NAMES[1:]:
        real.function.value[name] = model.values[name] = 11.0
        for call in (CALLS[3], CALLS[0], CALLS[0]):
            assert call(real) == call(model)
    f = real.function
    f.value["required"] = 6.0
    model.values["required"] = 6.0
    for _ in range(2):
        assert real() == [model.values["required"], *model(6.0)[1:]]
        assert CALLS[0](real) == CALLS[0](model)
    for name in ("required", "default", "state", "lent"):
        f.value[name] = None
        with pytest.raises(TypeError, match=f"Missing required input: {name}"):
            f(**{other: 1.0 for other in NAMES[:4] if other != name})
        assert len(f(**dict.fromkeys(NAMES[:4], 1.0))) == 6
        f.value[name] = 1.0


def copied_by_method(real):
    return real.function.copy(), [real.lent, real.implicit, real.shared]


def pickled_with_containers(real):
    return pickle.loads(pickle.dumps((real.function, [real.lent, real.implicit, real.shared])))


def deeply_copied(real):
    return copy.deepcopy((real.function, [real.lent, real.implicit, real.shared]))


COPIES = {
    "copy": copied_by_method, "pickle": pickled_with_containers, "deepcopy": deeply_copied,
    "copy.copy": lambda real: (copy.copy(real.function), [real.lent, real.implicit, real.shared]),
    "pickle of a pickle": lambda real: pickle.loads(pickle.dumps(pickled_with_containers(real))),
}  # fmt: skip


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_copies_begin_with_the_values_of_now(mode, way):
    """Default values that were set and states are their own; what is in a container that was given, they share."""
    real, model = Real(mode), Model()
    real.function.value["default"] = model.values["default"] = 12.0
    CALLS[3](real), CALLS[3](model)
    other = Real.__new__(Real)
    other.function, (other.lent, other.implicit, other.shared) = COPIES[way](real)
    same_containers = other.lent is real.lent
    assert same_containers == (way in ("copy", "copy.copy"))
    model_of_other = Model(**model.values)
    for call in CALLS:
        assert call(other) == call(model_of_other)
        if same_containers:
            model.values["shared"] = model_of_other.values["shared"]
        assert call(real) == call(model)
        if same_containers:
            model_of_other.values["shared"] = model.values["shared"]
    other.lent.value, other.implicit.value = 21.0, 22.0
    model_of_other.values |= {"lent": 21.0, "implicit": 22.0}
    assert CALLS[0](other) == CALLS[0](model_of_other)
    assert [real.lent.value, real.implicit.value] == ([21.0, 22.0] if same_containers else [4.0, 5.0])
    other.function.value["default"] = 1.0
    assert real.function.value["default"] == 12.0
    with pytest.raises(TypeError, match="Missing required input: required"):
        other.function()
    assert other.function.name == {"copy": "f copy"}.get(way, "f")


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_only_what_is_shared_is_called_so(mode):
    real = Real(mode)
    assert real.function.get_shared() == [real.shared]
    assert aesara.function([required], required, mode=mode).get_shared() == []


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
@pytest.mark.parametrize("form", ["a list", "a dict"])
def test_each_subset_of_the_results(mode, form):
    names = ["b", "a", "c"]
    outputs = {name: required * k for k, name in enumerate(names)}
    values = {name: 3.0 * k for k, name in enumerate(names)}
    f = aesara.function([required], outputs if form == "a dict" else list(outputs.values()), mode=mode)
    for argument in (3.0, np.array(3.0), np.float32(3.0)):  # some are converted before native code takes them
        for size in range(4):
            for subset in itertools.permutations(range(3), size):
                if form == "a list":
                    assert f(argument, output_subset=list(subset)) == [values[names[k]] for k in subset]
                else:
                    chosen = [sorted(names)[k] for k in subset]
                    expected = {name: values[name] for name in chosen}
                    assert f(argument, output_subset=chosen) == f(argument, output_subset=list(subset)) == expected
        assert f(argument, output_subset=None) == f(argument) == (values if form == "a dict" else list(values.values()))
