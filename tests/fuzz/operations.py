"""The table of operations from which programs are put together.

Each row is a function that picks operands among the values made so far and returns the text of an expression, or
None if nothing there fits.  Text rather than graphs, so that a failing program prints as a script.
"""

from __future__ import annotations

import numpy as np

FLOATS = ("float64", "float32", "float16")
INTEGERS = ("int64", "int32", "int8", "uint8", "int16", "uint16", "uint32", "uint64")
MAX_RANK = 4

UNARY_FLOAT = """neg abs exp expm1 log log1p log2 log10 square sqrt sin cos tan tanh sinh cosh arcsin arccos arctan
    arcsinh arccosh arctanh erf erfc sigmoid softplus floor ceil trunc sgn reciprocal exp2 isnan isinf gammaln psi
    deg2rad log1mexp round""".split()
UNARY_EASY = "neg abs exp tanh square sigmoid floor sgn log1p sin".split()
UNARY_INTEGER = "neg abs square sgn exp sqrt invert tanh reciprocal floor sigmoid".split()
UNARY_BOOL = "invert exp abs sqrt square".split()
ARITHMETIC = "add sub mul true_divide maximum minimum add sub mul".split()
DIVISIONS = "floor_divide mod pow arctan2".split()
COMPARISONS = "lt le gt ge eq neq".split()


def is_float(e):
    return e.dtype in FLOATS


def is_integer(e):
    return e.dtype in INTEGERS


def is_bool(e):
    return e.dtype == "bool"


def numeric(e):
    return not is_bool(e)


def broadcasts(x, y):
    """Return whether two values broadcast by their static shapes."""
    for (m, known_m), (n, known_n) in zip(x.dims[::-1], y.dims[::-1]):
        if m != n and not (known_m == 1 or known_n == 1):
            return False
        if m == n == 1 and (known_m is None) != (known_n is None):
            return False
    return True


# -- elementwise -----------------------------------------------------------------------------------------------


def unary(b):
    x = b.pick()
    table = UNARY_EASY + UNARY_FLOAT if is_float(x) else UNARY_BOOL if is_bool(x) else UNARY_INTEGER
    return f"at.{b.choice(table)}({x})"


def binary(b):
    x = b.pick()
    y = b.pick(lambda e: broadcasts(x, e) and (numeric(x) or numeric(e)))
    if y is None:
        return None
    name = b.choice(ARITHMETIC)
    return f"at.{name}({x}, {y})"


def division(b):
    x = b.pick(numeric)
    y = x and b.pick(lambda e: broadcasts(x, e) and numeric(e))
    if y is None:
        return None
    name = b.choice(DIVISIONS)
    if name == "pow" and is_integer(x) and is_integer(y):
        return f"at.pow({x}, abs({y} % 4))"
    return f"at.{name}({x}, {y})"


def variadic(b):
    x = b.pick(numeric)
    fits = lambda e: x is not None and broadcasts(x, e) and numeric(e)
    y, z = b.pick(fits), b.pick(fits)
    if x is None or y is None or z is None or not broadcasts(y, z):
        return None
    return f"at.{b.choice(['add', 'mul'])}({x}, {y}, {z})"


def with_constant(b):
    x = b.pick(numeric)
    if x is None:
        return None
    constants = ["1", "2", "0", "-1", "3"] + (["0.5", "-2.5", "np.float32(1.5)", "1e-3"] if is_float(x) else [])
    c = b.choice(constants)
    form = b.choice(["{x} + {c}", "{x} * {c}", "{c} - {x}", "{x} - {c}", "{c} / {x}", "{x} / {c}", "{x} ** 2",
                     "{x} // 2", "{x} % 3", "{x} ** 3", "{x} * {c} + {c}", "({x} > {c})",
                     "at.maximum({x}, {c})"])  # fmt: skip
    return form.format(x=x, c=c)


def comparison(b):
    x = b.pick(numeric)
    y = x and b.pick(lambda e: broadcasts(x, e) and numeric(e))
    return y and f"at.{b.choice(COMPARISONS)}({x}, {y})"


def logic(b):
    x = b.pick(lambda e: is_bool(e) or is_integer(e))
    y = x and b.pick(lambda e: broadcasts(x, e) and (is_bool(e) if is_bool(x) else is_integer(e)))
    return y and f"at.{b.choice(['and_', 'or_', 'xor'])}({x}, {y})"


def switch(b):
    c = b.pick(is_bool) or b.pick(is_integer)
    x = c and b.pick(lambda e: broadcasts(c, e))
    y = x and b.pick(lambda e: broadcasts(c, e) and broadcasts(x, e))
    return y and f"at.switch({c}, {x}, {y})"


def clip(b):
    x = b.pick(numeric)
    if x is None:
        return None
    y = b.pick(lambda e: numeric(e) and not e.shape)
    if y is not None and b.flag():
        return f"at.clip({x}, {y}, {y} + 2)"
    return f"at.clip({x}, {b.choice(['-1', '0'])}, {b.choice(['1', '2'])})"


def cast(b):
    x = b.pick()
    dtype = b.choice(FLOATS + INTEGERS + ("bool",))
    if is_float(x) and dtype in INTEGERS:
        low = "0" if dtype.startswith("u") else "-100"
        return f"at.cast(at.clip(at.switch(at.isnan({x}), 0, {x}), {low}, 100), '{dtype}')"
    return f"at.cast({x}, '{dtype}')"


# -- shapes ----------------------------------------------------------------------------------------------------


def dimshuffle(b):
    x = b.pick()
    kept = [d for d in range(x.ndim) if x.dims[d][1] != 1 or b.flag()]
    order = list(b.permutation(kept))
    for _ in range(b.integer(0, MAX_RANK - len(order)) if b.flag() else 0):
        order.insert(b.integer(0, len(order)), "x")
    return f"{x}.dimshuffle({order})"


def transpose(b):
    x = b.pick(lambda e: e.ndim >= 2)
    return x and f"{x}.T"


def reshape(b):
    x = b.pick()
    forms = [(x.size,), (-1,)]
    if x.ndim >= 2:
        forms += [x.shape[::-1], (x.shape[0], -1), (-1, x.shape[-1])]
    if x.size == 1:
        forms += [(), (1, 1)]
    for k in (2, 3):
        if x.size % k == 0 and x.size:
            forms += [(k, x.size // k), (x.size // k, k)]
    target = list(b.choice(forms))
    if 0 in x.shape and -1 in target:
        return f"{x}.flatten()"
    for d, n in enumerate(target):
        symbolic = [k for k in range(x.ndim) if x.shape[k] == n]
        if symbolic and b.flag():
            target[d] = f"{x}.shape[{symbolic[0]}]"
    text = ", ".join(map(str, target))
    return f"{x}.reshape(({text}{',' * (len(target) == 1)}), ndim={len(target)})"


def flatten(b):
    x = b.pick(lambda e: e.ndim >= 1)
    return x and f"{x}.flatten({b.integer(1, x.ndim)})"


def shape_value(b):
    x = b.pick(lambda e: e.ndim >= 1)
    if x is None:
        return None
    d = b.integer(0, x.ndim - 1)
    return b.choice(
        [f"{x}.shape[{d}]", f"{x}.shape", f"{x}.size", f"at.arange({x}.shape[{d}])", f"{x}.shape[{d}] * 2 - 1"]
    )


def specify(b):
    x = b.pick(lambda e: e.ndim >= 1)
    return x and f"at.specify_shape({x}, {tuple(n if b.flag() else None for n in x.shape)})"


# -- reductions ------------------------------------------------------------------------------------------------


def axes(b, x, many=True):
    if not x.ndim or b.flag():
        return "None"
    if not many or b.flag():
        return str(b.integer(-x.ndim, x.ndim - 1))
    return str(tuple(sorted(b.subset(range(x.ndim)))))


def reduction(b):
    x = b.pick()
    names = "all any sum".split() if is_bool(x) else "sum prod max min mean sum all any".split()
    name = b.choice(names)
    axis = axes(b, x)
    picked = range(x.ndim) if axis == "None" else np.atleast_1d(eval(axis))
    if name in ("max", "min") and (not x.ndim or any(x.shape[d] == 0 for d in picked) or axis == "()"):
        return None
    keep = ", keepdims=True" if b.flag() and name != "all" else ""
    return f"at.{name}({x}, axis={axis}{keep})"


def argmax(b):
    x = b.pick(lambda e: e.ndim and 0 not in e.shape and numeric(e))
    if x is None:
        return None
    return f"at.{b.choice(['argmax', 'argmin'])}({x}, axis={axes(b, x, many=False)})"


def statistics(b):
    x = b.pick(lambda e: is_float(e) and e.ndim and 0 not in e.shape)
    if x is None:
        return None
    return b.choice(["at.var({x}, axis={a})", "at.std({x}, axis={a})", "at.ptp({x}, axis=0)", "{x}.norm(2)"]).format(
        x=x, a=axes(b, x, many=False)
    )


def normalised(b):
    x = b.pick(lambda e: is_float(e) and e.ndim and 0 not in e.shape)
    if x is None:
        return None
    name = b.choice(["softmax", "log_softmax", "at.logsumexp"])
    axis = axes(b, x, many=False)
    keep = ", keepdims=True" if name == "at.logsumexp" and b.flag() else ""
    return f"{name}({x}, axis={axis}{keep})"


def cumulative(b):
    x = b.pick(lambda e: e.ndim and numeric(e))
    return x and f"at.{b.choice(['cumsum', 'cumsum', 'cumprod'])}({x}, axis={axes(b, x, many=False)})"


# -- products --------------------------------------------------------------------------------------------------


def product(b):
    x = b.pick(lambda e: numeric(e) and 1 <= e.ndim <= 2)
    if x is None:
        return None
    fits = lambda e: numeric(e) and 1 <= e.ndim <= 2 and (e.dtype == x.dtype or is_float(x) == is_float(e))
    y = b.pick(lambda e: fits(e) and e.shape[0] == x.shape[-1])
    if y is not None:
        return f"{b.choice(['at.dot', 'at.dot', 'at.matmul'])}({x}, {y})"
    y = b.pick(lambda e: fits(e) and e.shape[-1] == x.shape[-1])
    return y and f"at.dot({x}, {y}.T)"


def other_product(b):
    x = b.pick(lambda e: numeric(e) and e.ndim == 1)
    y = x and b.pick(lambda e: numeric(e) and e.ndim == 1)
    if y is not None and b.flag():
        return f"at.outer({x}, {y})"
    x = b.pick(lambda e: is_float(e) and e.ndim == 3)
    y = x and b.pick(
        lambda e: e.dtype == x.dtype and e.ndim == 3 and e.shape[0] == x.shape[0] and e.shape[1] == x.shape[2]
    )
    if y is not None:
        return f"at.batched_dot({x}, {y})"
    x = b.pick(lambda e: is_float(e) and e.ndim == 3)
    return x and f"at.tensordot({x}, {x}, axes=[[{b.integer(0, 2)}], [0]])"


def accumulated(b):
    """A matrix plus a multiple of a product: what BLAS does at once, and in place in updates."""
    x = b.pick(lambda e: is_float(e) and e.ndim == 2)
    y = x and b.pick(lambda e: e.dtype == x.dtype and e.ndim == 2 and e.shape[0] == x.shape[1])
    w = y and b.pick(lambda e: e.dtype == x.dtype and e.shape == (x.shape[0], y.shape[1]))
    if not w:
        w = x and b.pick(lambda e: e.dtype == x.dtype and e.shape == (x.shape[1], x.shape[1]))
        return w and f"{w} - 0.5 * at.dot({x}.T, {x})"
    return b.choice(["{w} + at.dot({x}, {y})", "{w} - 0.1 * at.dot({x}, {y})", "at.dot({x}, {y}) * 2 - {w}"]).format(
        w=w, x=x, y=y
    )


def element(b):
    x = b.pick(lambda e: e.ndim >= 1 and e.size)
    return x and f"{x}[{', '.join(str(b.integer(-n, n - 1)) for n in x.shape)}]"


# -- indexing --------------------------------------------------------------------------------------------------


def bound(b, n):
    """A bound of a slice: absent, a number, or an integer made in the graph."""
    kind = b.integer(0, 3)
    if kind == 0:
        return ""
    scalar = b.pick(lambda e: is_integer(e) and not e.shape) if kind == 3 else None
    return str(scalar or b.integer(-n - 2, n + 2))


def basic_entry(b, n):
    kind = b.integer(0, 4)
    if kind == 0 and n > 0:
        position = b.integer(-n, n - 1)
        scalar = b.pick(lambda e: is_integer(e) and not e.shape) if b.flag() else None
        return f"{scalar} % {n}" if scalar and b.flag() else str(position)
    if kind == 1:
        return ":"
    step = b.choice(["", "", "-1", "2", "-2", "3", "-3"])
    text = f"{bound(b, n)}:{bound(b, n)}"
    return f"{text}:{step}" if step else text


def basic_index(b, x):
    return ", ".join(basic_entry(b, n) for n in x.shape[: b.integer(1, x.ndim)])


def subtensor(b):
    x = b.pick(lambda e: e.ndim >= 1)
    return x and f"{x}[{basic_index(b, x)}]"


def positions(b, n):
    """Integer positions for a dimension of size `n`: a constant, or a vector of the program brought into range."""
    kind = b.integer(0, 2)
    if kind == 0:
        entry = b.pick(lambda e: is_integer(e) and 1 <= e.ndim <= 2 and e.size <= 40)
        if entry is not None and n > 0:
            return f"({entry} % {n})" if b.flag() else f"({entry} % {n} - {n})"
    length = b.integer(0, 4) if n else 0
    entries = [b.integer(-n, n - 1) for _ in range(length)]
    if kind == 1 and length:
        return f"np.array({entries}, dtype='{b.choice(['int64', 'int32', 'int8'])}')"
    return f"np.array({entries}, dtype='int64')"


def advanced_index(b, x):
    axis = b.integer(0, x.ndim - 1)
    entries = [":"] * axis + [positions(b, x.shape[axis])]
    if axis + 1 < x.ndim:
        kind = b.integer(0, 4)
        n = x.shape[axis + 1]
        if kind == 1:
            entries.append(basic_entry(b, n))
        elif kind == 2 and n > 0:
            entries.append(str(b.integer(-n, n - 1)))
        elif kind == 3 and n > 0 and x.shape[axis] > 0:
            first = [b.integer(-x.shape[axis], x.shape[axis] - 1) for _ in range(3)]
            second = [b.integer(-n, n - 1) for _ in range(3)]
            entries[axis:] = [f"np.array({first})", f"np.array({second})"]
        elif kind == 4:
            entries[axis:] = ["None", entries[axis]]
    return ", ".join(entries)


def gather(b):
    x = b.pick(lambda e: e.ndim >= 1)
    return x and f"{x}[{advanced_index(b, x)}]"


def mask_of(b, x):
    m = b.pick(lambda e: is_bool(e) and e.ndim >= 1 and e.shape == x.shape[: e.ndim])
    return str(m) if m is not None else (f"({x} > 0)" if numeric(x) and x.ndim else None)


def masked(b):
    x = b.pick(lambda e: e.ndim >= 1)
    mask = x and mask_of(b, x)
    return mask and f"{x}[{mask}]"


def written(b, region, x, shape):
    """A value to write into a region of this shape."""
    y = b.pick(lambda e: e.ndim <= len(shape) and e.shape == tuple(shape[len(shape) - e.ndim :]) and castable(e, x))
    if y is not None:
        return str(y)
    return b.choice(["1", "2"] if not is_bool(x) else ["True"])


def castable(e, x):
    return np.can_cast(e.dtype, x.dtype)


def write(b, index, x):
    region = f"{x}[{index}]"
    shape = b.shape_of(region)
    if shape is None:
        return None
    name = "set_subtensor" if is_bool(x) or b.flag() else "inc_subtensor"
    return f"at.{name}({region}, {written(b, region, x, shape)})"


def write_basic(b):
    x = b.pick(lambda e: e.ndim >= 1)
    return x and write(b, basic_index(b, x), x)


def write_advanced(b):
    x = b.pick(lambda e: e.ndim >= 1)
    return x and write(b, advanced_index(b, x), x)


def write_masked(b):
    x = b.pick(lambda e: e.ndim >= 1)
    mask = x and mask_of(b, x)
    return mask and write(b, mask, x)


def take(b):
    x = b.pick(lambda e: e.ndim >= 1)
    if x is None:
        return None
    axis = b.integer(0, x.ndim - 1)
    return f"at.take({x}, {positions(b, x.shape[axis])}, axis={axis})"


# -- putting together ------------------------------------------------------------------------------------------


def join(b):
    x = b.pick(lambda e: e.ndim >= 1)
    if x is None:
        return None
    axis = b.integer(0, x.ndim - 1)
    rest = lambda e: e.shape[:axis] + e.shape[axis + 1 :]
    parts = [x] + [b.pick(lambda e: e.ndim == x.ndim and rest(e) == rest(x)) for _ in range(b.integer(1, 2))]
    return f"at.join({axis}, {', '.join(map(str, parts))})"


def stack(b):
    x = b.pick(lambda e: e.ndim <= 3)
    if x is None:
        return None
    parts = [x] + [b.pick(lambda e: e.shape == x.shape) for _ in range(b.integer(1, 2))]
    return f"at.stack([{', '.join(map(str, parts))}], axis={b.integer(0, x.ndim)})"


def split(b):
    x = b.pick(lambda e: e.ndim >= 1)
    if x is None:
        return None
    axis = b.integer(0, x.ndim - 1)
    first = b.integer(0, x.shape[axis])
    which = b.integer(0, 1)
    sizes = f"[{first}, {x.shape[axis] - first}]"
    if b.flag():
        sizes = f"[{first}, {x}.shape[{axis}] - {first}]"
    return f"at.split({x}, {sizes}, 2, axis={axis})[{which}]"


def rearranged(b):
    x = b.pick(lambda e: e.ndim >= 1)
    if x is None:
        return None
    axis = b.integer(0, x.ndim - 1)
    forms = ["at.roll({x}, 1, axis={a})", "at.repeat({x}, 2, axis={a})", "at.diff({x}, axis={a})", "{x}[::-1]",
             "at.sort({x}, axis={a})", "at.argsort({x}, axis={a}, kind='stable')"]  # fmt: skip
    if x.ndim == 2:
        forms += ["at.tril({x})", "at.triu({x}, 1)", "at.diagonal({x})", "{x}.swapaxes(0, 1)"]
    if x.ndim == 1:
        forms += ["at.diag({x})", "at.tile({x}, 2)"]
    return b.choice(forms).format(x=x, a=axis)


def created(b):
    x = b.pick()
    scalar = b.pick(lambda e: not e.shape)
    sizes = ", ".join(f"{x}.shape[{d}]" if b.flag() else str(x.shape[d]) for d in range(x.ndim))
    forms = ["at.zeros_like({x})", "at.ones_like({x}, dtype='float32')", "at.eye({m}, {n}, {k})", "at.arange({m})",
             "at.arange({m}, -{n}, -2)", "at.zeros(({m}, {n}), dtype='int32')", "at.fill({x}, 3)",
             "at.arange({m}, dtype='float32')"]  # fmt: skip
    if x.ndim:
        forms += ["at.eye({x}.shape[0])", "at.arange({x}.shape[0]) * 2"]
    if scalar is not None:
        forms += ["at.alloc({s}, {sizes})", "at.alloc({s}, 2, {sizes})"] if sizes else []
        if is_integer(scalar):
            forms += ["at.arange({s} % 7)", "at.zeros(({s} % 5,))"]
    return b.choice(forms).format(x=x, s=scalar, sizes=sizes, m=b.integer(0, 4), n=b.integer(0, 4), k=b.integer(-1, 1))


# -- control flow ----------------------------------------------------------------------------------------------


def loop(b):
    """States that follow a sequence, or a number of steps; all states, or the last."""
    x = b.pick(lambda e: e.ndim >= 1 and is_float(e))
    if x is None:
        return None
    step = b.choice(["{s} * 0.5 + {r}", "at.maximum({s}, {r}) - 0.25 * {r}", "at.tanh({r}) + {s}", "{r} - {s}"])
    r = b.choice(["r", "r[::-1]" if x.ndim > 1 else "-r"])
    last = b.choice(["", "[-1]", "[::-1]", "[1:]"])
    first = f"at.zeros_like({x}[0])" if b.flag() else f"{x}[-1]"
    if b.integer(0, 3):
        step = f"lambda r, s: at.cast({step.format(r=r, s='s')}, '{x.dtype}')"
        backwards = b.choice(["", ", go_backwards=True"])
        return f"aesara.scan({step}, [{x}], [{first}]{backwards})[0]{last}"
    step = f"lambda s, r: at.cast({step.format(r=r, s='s')}, '{x.dtype}')"
    return f"aesara.scan({step}, None, [{first}], [{x}[0]], n_steps={b.integer(1, 4)})[0]{last}"


def choice_of_branch(b):
    x = b.pick(numeric)
    y = x and b.pick(lambda e: e.variable.type == x.variable.type)
    c = b.pick(lambda e: not e.shape and numeric(e))
    if y is None:
        return None
    condition = f"at.gt({c}, 1)" if c is not None else f"at.gt({x}.size, {b.integer(0, 9)})"
    return f"ifelse({condition}, {x}, {y} + {y})"


def subgraph(b):
    x = b.pick(lambda e: numeric(e) and e.ndim >= 1)
    y = x and b.pick(lambda e: broadcasts(x, e) and numeric(e))
    if y is None:
        return None
    body = b.choice(["a + c", "a * c - a", "at.maximum(a, c)[::-1]", "a[1:].sum(axis=0) + c.sum()"])
    inline = b.choice(["False", "True"])
    return f"(lambda a, c: OpFromGraph([a, c], [{body}], inline={inline})({x}, {y}))({x}.type(), {y}.type())"


#: rows of the table, with how often each is taken
TABLE = [
    (unary, 5), (binary, 6), (division, 2), (variadic, 1), (with_constant, 4), (comparison, 2), (logic, 1), (switch, 2),
    (clip, 1), (cast, 2), (dimshuffle, 3), (transpose, 1), (reshape, 2), (flatten, 1), (shape_value, 1), (specify, 1),
    (reduction, 4), (argmax, 1), (statistics, 1), (normalised, 2), (cumulative, 1), (product, 3),
    (accumulated, 3), (element, 1), (other_product, 1),
    (subtensor, 4), (gather, 3), (masked, 1), (write_basic, 3), (write_advanced, 3), (write_masked, 1), (take, 1),
    (join, 2), (stack, 1), (split, 1), (rearranged, 1), (created, 2),
    (loop, 1), (choice_of_branch, 1), (subgraph, 1),
]  # fmt: skip
