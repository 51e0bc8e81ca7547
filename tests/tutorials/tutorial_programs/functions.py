"""Functions: default values, shared state, givens, copies, borrowed memory, inputs with updates, modes."""

import pickle

import numpy as np

import aesara
import aesara.tensor as at
from aesara import In, Out, function, shared


def default_values(show):
    x, y, scale = at.dscalars("x", "y", "scale")
    f = function([x, In(y, value=4)], x * y)
    show(f(10), f(10, 2), f(10, y=3))
    g = function([x, In(y, value=1), In(scale, value=2, name="times")], (x + y) * scale)
    show(g(20), g(20, 5), g(20, 0, 1), g(20, times=10), g(20, times=3, y=0))


def arguments_that_do_not_fit(show):
    x, y = at.dscalar(), at.dscalar("y")
    f = function([x, In(y, value=42)], x + y)
    show(f(1), f(1, 2))
    for arguments, named in (((), {}), ((1, 2, 3), {}), ((1,), {"z": 2}), ((), {"x": 1})):
        try:
            f(*arguments, **named)
        except TypeError:
            show("TypeError")


def an_accumulator(show):
    state = shared(0)
    step = at.iscalar("step")
    accumulate = function([step], state, updates=[(state, state + step)])
    show(state.get_value(), accumulate(2), state.get_value(), accumulate(500), state.get_value())
    state.set_value(-7)
    show(accumulate(5), state.get_value())
    decrease = function([step], state, updates={state: state - step})
    show(decrease(4), state.get_value())


def a_state_that_is_not_used(show):
    state = shared(3)
    step = at.iscalar("step")
    expression = state * 5 + step
    stand_in = at.scalar(dtype=state.dtype)
    f = function([step, stand_in], expression, givens=[(state, stand_in)])
    show(f(1, 10), state.get_value())


def any_part_may_be_given(show):
    x, y = at.dvectors("x", "y")
    inner = x + 1
    f = function([y], (inner * 2).sum(), givens={inner: y**2})
    show(f([1.0, 2.0, 3.0]))


def a_copy_with_a_state_of_its_own(show):
    state, step = shared(0), at.iscalar("step")
    accumulate = function([step], state, updates=[(state, state + step)])
    show(accumulate(10), state.get_value())
    other = shared(0)
    twin = accumulate.copy(swap={state: other})
    show(twin(100), other.get_value(), state.get_value())
    frozen = accumulate.copy(delete_updates=True)
    show(frozen(9000), state.get_value())


def inputs_with_updates(show):
    u, x, s = at.scalars("u", "x", "s")
    f = function([u, In(x, value=2), In(s, update=s + x * u, value=1.0)], [])
    f(5)
    show(f[s])
    f(3, 4)
    show(f[s], f[x])
    f(3, 4, 7)
    show(f[s])
    f[s] = 10
    show(f[s])


def values_of_inputs_by_name_variable_and_container(show):
    a, b, c = at.scalars("xys")
    f = function([a, b, ((c, c + a * b), 10.0)], [])
    show(f["s"], f.value[c], f.container[c].value)
    f(2, 3)
    show(f["s"], f.value["s"])
    f["s"] = 99.0
    f(1, 1)
    show(f["s"])
    f.value[c] = 50.0
    f(1, 0)
    show(f["s"], f["s"] == f.value[c], f["s"] == f.container[c].value)


def required_and_optional_inputs(show):
    x, y, z, w = at.scalar(), at.scalar("y"), at.scalar("z"), at.scalar("w")
    f = function(inputs=[x, y, In(z, value=42), ((w, w + x), 0)], outputs=x + y + z)
    show(f(1, 2), f(1, y=2), f(1, 2, 3), f(1, z=3, y=2), f(1, 2, w=400), f(1, 2))
    show(f[w])
    for arguments, named in (((1,), {}), ((), {"x": 1, "y": 2})):
        try:
            f(*arguments, **named)
        except TypeError:
            show("TypeError")


def results_as_a_list_or_alone(show):
    x = at.matrix("x")
    identity = np.asarray([[1, 0], [0, 1]])
    show(function([x], [x + x, Out((x + x).T, borrow=True)])(identity))
    show(function([x], [x + x])(identity))
    show(function([x], outputs=x + x)(identity))


def copies_and_borrowed_arrays_of_shared_variables(show):
    values = np.ones(3, dtype="float32")
    own, copied, borrowed = shared(values), shared(values, borrow=False), shared(values, borrow=True)
    values += 2
    show(own.get_value(), copied.get_value(), borrowed.get_value())
    inside = own.get_value(borrow=True)
    show(np.shares_memory(inside, own.get_value(borrow=True)), np.shares_memory(inside, own.get_value()))
    own.set_value(own.get_value(borrow=True) * 5, borrow=True)
    show(own.get_value(), own.get_value(borrow=True, return_internal_type=True))


def borrowed_inputs_and_outputs(show):
    x = at.matrix()
    f = function([In(x, borrow=True)], Out(2 * x, borrow=True))
    show(f(np.ones((2, 2))))


def arguments_are_never_rounded_silently(show):
    x, n = at.fscalar("x"), at.iscalar("n")
    f, g = function([x], x * 2), function([n], n * 2)
    show(f(np.float32(1.5)), g(4))
    for call, value in ((f, np.float64(0.1)), (g, 1.5), (g, 2**40), (f, "a")):
        try:
            show(call(value))
        except (TypeError, ValueError) as error:
            show(type(error).__name__)
    show(function([x], x * 2, allow_input_downcast=True)(np.float64(0.1)))
    show(function([In(n, allow_downcast=True)], n)(3.75))


def unused_inputs(show):
    x, y = at.dscalars("x", "y")
    try:
        function([x, y], x * 2)
    except aesara.compile.UnusedInputError:
        show("UnusedInputError")
    show(function([x, y], x * 2, on_unused_input="ignore")(3, 4))


def modes_by_name(show):
    x = at.dvector("x")
    quick = aesara.compile.mode.Mode(linker="py", optimizer="fast_compile")
    for mode in ("FAST_COMPILE", "FAST_RUN", "DebugMode", quick):
        show(function([x], 10 * x, mode=mode)([5, 0, 7]))


def optimizers_by_name(show):
    x = at.dvector("x")
    for name in (None, "o1", "o2", "o3", "o4", "fast_compile", "fast_run", "stabilize", "unsafe"):
        show(function([x], at.log(1 + at.exp(x)), mode=aesara.compile.mode.Mode(linker="py", optimizer=name))([0, 2]))


def logistic_regression(show):
    rng = np.random.RandomState(3)
    points, labels = rng.randn(40, 5), rng.randint(size=40, low=0, high=2).astype("float64")
    x, y = at.matrix("x"), at.vector("y")
    w, b = shared(rng.randn(5), name="w"), shared(np.asarray(0.0), name="b")
    probability = 1 / (1 + at.exp(-at.dot(x, w) - b))
    guess = probability > 0.5
    loss = -y * at.log(probability) - (1 - y) * at.log(1 - probability)
    cost = loss.mean() + 0.01 * (w**2).sum()
    slope_w, slope_b = at.grad(cost, [w, b])
    train = function([x, y], [guess, loss], updates=[(w, w - 0.1 * slope_w), (b, b - 0.1 * slope_b)], name="train")
    predict = function([x], guess, name="predict")
    for _ in range(30):
        guessed, losses = train(points, labels)
    show(guessed, losses, w.get_value(), b.get_value(), predict(points), train.name)


def saved_and_loaded(show):
    x, w = at.dvector("x"), shared(np.array([1.0, 2.0]), name="w")
    f = function([x], (w * x).sum(), updates=[(w, w + 1)])
    show(f([1, 1]))
    loaded = pickle.loads(pickle.dumps(f, protocol=pickle.HIGHEST_PROTOCOL))
    show(loaded([1, 1]), f([1, 1]), loaded([1, 1]))
    again = pickle.loads(pickle.dumps(w))
    show(again.get_value(), again.name)


def objects_that_say_what_is_saved(show):
    class Model:
        def __init__(self):
            self.weights = shared(np.arange(3.0))
            self.training_set = np.zeros(1000)

        def __getstate__(self):
            state = dict(self.__dict__)
            del state["training_set"]
            return state

    state = pickle.loads(pickle.dumps(Model().__getstate__()))
    show(sorted(state), state["weights"].get_value())


def settings(show):
    show(aesara.config.floatX, aesara.config.mode in ("Mode", "FAST_RUN"))
    with aesara.config.change_flags(floatX="float32"):
        show(at.matrix().dtype, at.scalar().dtype, at.dmatrix().dtype)
    show(at.matrix().dtype)


def test_values(show):
    with aesara.config.change_flags(compute_test_value="raise"):
        x = at.matrix("x")
        x.tag.test_value = np.ones((5, 10))
        w = shared(np.ones((2, 10, 10)), "w")
        folded = w.dimshuffle(2, 0, 1).flatten(2).T
        show(folded.tag.test_value.shape)
        try:
            at.dot(x, folded)
        except ValueError:
            show("ValueError")
        y = at.vector("y")
        try:
            y + 1
        except ValueError:
            show("ValueError")


def eval_remembers_what_it_compiled(show):
    x = at.dscalar("x")
    y = at.exp(x)
    show(y.eval({x: 0.0}), y.eval({x: 1.0}), (x * 0 + 2).eval({x: 5}), at.constant([1, 2]).eval())
