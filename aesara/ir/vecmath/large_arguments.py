"""sin, cos and tan of arguments too large for the short reduction: rare, slow, and out of the way.

A fast formula computes its result for every argument; a call of `replace_large` then puts right the results
whose argument is too large. The call names vector versions of itself (``vector-function-abi-variant``):
the loop vectoriser keeps the loop and calls one of those once per vector. They test whether any lane is
large, return at once if not, and otherwise go through the lanes one by one. Where no version has the
width wanted, the scalar function is called for each lane.

Large arguments are reduced as Payne and Hanek do. With |x| = m 2**q, the bits of 2 / pi whose
product with |x| is a multiple of 4 are skipped; the next 192 bits times m, kept modulo a full turn, give the
quadrant and the remainder in fixed point, all in integers.
"""

from __future__ import annotations

from collections.abc import Callable

from aesara.ir.instructions import InstructionWriter, Value, literal

from .arithmetic import Format, format_of

# Up to here the short reduction is right.
LARGEST = 2.0**24

# Vector lengths of 128, 256 and 512 bits.
VECTOR_LENGTHS = {64: (2, 4, 8), 32: (4, 8, 16)}

_ATTRIBUTES = "nounwind willreturn speculatable memory(none)"


def symbol(format: Format) -> str:
    """The function of one number."""
    return f"ae.replace_large.{format.dtype}"


def symbol_of_vectors(format: Format) -> str:
    """Return the common prefix of the symbols of the functions of vectors."""
    return f"ae.replace_large_lanes.{format.dtype}"


def replace_large(x: Value, fast: Value, format: Format, kind: int) -> Value:
    """`fast` where |x| <= LARGEST, else the right value; `kind` says of which function."""
    name, many = symbol(format), symbol_of_vectors(format)
    versions = ",".join(f"_ZGV_LLVM_N{length}vvu_{name}({many}.x{length})" for length in VECTOR_LENGTHS[format.bits])
    arguments = x, fast, x.writer.constant("i32", kind)
    return x.writer.call(x.kind, f"@{name}", *arguments, attributes=f' "vector-function-abi-variant"="{versions}"')


#: pi 2**_PLACES without its fraction
_PLACES = 1344
_PI = int(
    "3243f6a8885a308d313198a2e03707344a4093822299f31d0082efa98ec4e6c89452821e638d01377be5"
    "466cf34e90c6cc0ac29b7c97c50dd3f84d5b5b54709179216d5d98979fb1bd1310ba698dfb5ac2ffd72d"
    "bd01adfb7b8e1afed6a267e96ba7c9045f12c7f9924a19947b3916cf70801f2e2858efc16636920d8715"
    "74e69a458fea3f4933d7e0d95748f728eb658718bcd5882154aee7b54a41dc25a59b59c30d5392af2601"
    "3",
    16,
)


def pi_fixed_point(places: int) -> int:
    """floor(pi 2**places), for at most `_PLACES` places."""
    return _PI >> _PLACES - places


def two_over_pi_words(format: Format) -> list[int]:
    """The bits of 2 / pi in 64-bit words, after one word of zeros: enough for the largest number."""
    count = (format.bias + 62) // 64 + 4
    places = 64 * (count - 1)
    bits = (1 << 2 * places + 65) // pi_fixed_point(places + 64)
    return [bits >> 64 * (count - 1 - k) & (1 << 64) - 1 for k in range(count)]


def reduce_large(x: Value) -> tuple[Value, Value]:
    """(r, n) with |x| = n pi / 2 + r, |r| <= pi / 4 and n modulo 4 in an i64; r is a double.

    |x| must be finite and above 1.
    """
    writer, bits = x.writer, x.as_bits().widen("i64")
    format = format_of(x)
    stored = (1 << format.fraction_bits) - 1
    mantissa = ((bits & stored) | (stored + 1)).widen("i128")
    exponent = (bits >> format.fraction_bits) & (2 * format.bias + 1)
    # The window starts with the bit whose product with the last bit of the mantissa is worth 2.
    first = exponent + (62 - format.bias - format.fraction_bits)
    words = [_table_word(writer, format, (first >> 6) + k) for k in range(4)]
    high, middle, low = (_funnel_shift(words[k], words[k + 1], first & 63).widen("i128") for k in range(3))
    # 2 bits of the quadrant and 126 of the fraction.
    turn = ((mantissa * high) << 64) + mantissa * middle + ((mantissa * low) >> 64)
    fraction = turn << 2
    negative = fraction.shift_arithmetic(127)
    n = (turn >> 126) - negative
    size = (fraction ^ negative) - negative
    zeros = writer.call("i128", "@llvm.ctlz.i128", size, writer.constant("i1", False))
    leading = (size << (zeros & 127)) >> 64
    # Times pi / 2 while still in integers: the conversion is the only rounding.
    angle = ((leading * pi_fixed_point(62)) >> 65).narrow("i64")
    magnitude = angle.convert("sitofp", "double")
    scale = (((1023 - 62) - zeros.narrow("i64")) << 52).as_float()
    r = (magnitude * scale).as_bits() ^ (negative.narrow("i64") << 63)
    return r.as_float(), n.narrow("i64")


def _table_word(writer: InstructionWriter, format: Format, index: Value) -> Value:
    table = f"@{symbol(format)}.bits"
    return writer.load("i64", writer.at(table, index, "i64", "inbounds "), ", align 8")


def _funnel_shift(high: Value, low: Value, count: Value) -> Value:
    return high.intrinsic("fshl", low, count)


def declarations(format: Format) -> dict[str, str]:
    """Return the declaration of the function of one number, by its symbol."""
    return {symbol(format): _declaration(symbol(format), format.llvm)}


def declarations_of_vectors(format: Format) -> dict[str, str]:
    """Return the declarations of the versions for vectors, by their symbols."""
    symbols = {length: f"{symbol_of_vectors(format)}.x{length}" for length in VECTOR_LENGTHS[format.bits]}
    return {name: _declaration(name, f"<{length} x {format.llvm}>") for length, name in symbols.items()}


def _declaration(name: str, kind: str) -> str:
    return f"declare {kind} @{name}({kind} %x, {kind} %fast, i32 %kind){_ATTRIBUTES}"


def definition(format: Format, formula: Callable[[Value, Value], Value]) -> str:
    """IR text of the function of one number that `replace_large` calls.

    Parameters
    ----------
    formula
        The value for a large x, given x and the kind (an i32).
    """
    writer = InstructionWriter()
    value = formula(writer.value(format.llvm, "%x"), writer.value("i32", "%kind"))
    words = two_over_pi_words(format)
    fill = {
        "name": symbol(format),
        "t": format.llvm,
        "f": format.suffix,
        "attributes": _ATTRIBUTES,
        "limit": literal(format.llvm, LARGEST),
        "body": "\n".join(writer.lines),
        "value": value.name,
        "count": len(words),
        "words": ", ".join(f"i64 {word - (word >> 63 << 64)}" for word in words),
    }
    return _SCALAR.format(**fill)


def definition_of_vectors(format: Format) -> str:
    """IR text of the versions for vectors, which call the function of one number."""
    fill = {
        "scalar": symbol(format),
        "name": symbol_of_vectors(format),
        "t": format.llvm,
        "f": format.suffix,
        "attributes": _ATTRIBUTES,
        "limit": literal(format.llvm, LARGEST),
        "align": format.bits // 8,
    }
    versions = [_VERSION.format(**fill, n=length) for length in VECTOR_LENGTHS[format.bits]]
    return "".join([_LANES.format(**fill), *versions])


# Hidden is what others call.  `optnone`: compiling this well would take longer than running it.
_SCALAR = """\
@{name}.bits = internal unnamed_addr constant [{count} x i64] [{words}]

define hidden {t} @{name}({t} %x, {t} %fast, i32 %kind) noinline optnone {attributes} {{
  %size = call {t} @llvm.fabs.{f}({t} %x)
  %large = fcmp ogt {t} %size, {limit}
  br i1 %large, label %slow, label %end, !prof !{{!"branch_weights", i32 1, i32 1000}}
slow:
{body}
  ret {t} {value}
end:
  ret {t} %fast
}}
"""

_LANES = """
define internal void @{name}(ptr %x, ptr %fast, i64 %count, i32 %kind) noinline optnone cold nounwind {{
entry:
  br label %lane
lane:
  %i = phi i64 [ 0, %entry ], [ %next, %lane ]
  %from = getelementptr {t}, ptr %x, i64 %i
  %to = getelementptr {t}, ptr %fast, i64 %i
  %value = load {t}, ptr %from
  %before = load {t}, ptr %to
  %after = call {t} @{scalar}({t} %value, {t} %before, i32 %kind)
  store {t} %after, ptr %to
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %lane, label %end
end:
  ret void
}}
"""

_VERSION = """
define hidden <{n} x {t}> @{name}.x{n}(<{n} x {t}> %x, <{n} x {t}> %fast, i32 %kind) noinline {attributes} {{
entry:
  %lanes = alloca [{n} x {t}], align {align}
  %results = alloca [{n} x {t}], align {align}
  %size = call <{n} x {t}> @llvm.fabs.v{n}{f}(<{n} x {t}> %x)
  %large = fcmp ogt <{n} x {t}> %size, splat ({t} {limit})
  %any = call i1 @llvm.vector.reduce.or.v{n}i1(<{n} x i1> %large)
  br i1 %any, label %slow, label %end
slow:
  store <{n} x {t}> %x, ptr %lanes, align {align}
  store <{n} x {t}> %fast, ptr %results, align {align}
  call void @{name}(ptr %lanes, ptr %results, i64 {n}, i32 %kind)
  %changed = load <{n} x {t}>, ptr %results, align {align}
  br label %end
end:
  %result = phi <{n} x {t}> [ %fast, %entry ], [ %changed, %slow ]
  ret <{n} x {t}> %result
}}
"""
