"""Floats in LLVM IR; `tilec.sim.alu.floating`, `.approximate`, `.compare` and `.conversion`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..alu.bits import width
from ..alu.special import NAN
from .body import Body, Value
from .forms import Given, form
from .integers import combined

_EXPONENT = 0x7F800000
_SIGN = {32: 1 << 31, 64: 1 << 63}
_ONE = {32: 0x3F800000, 64: 0x3FF << 52}
_QUIET = 1 << 51
_WHOLE = {"rni": "roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}

Compute = Callable[..., Value]


def is_nan(b: Body, a: Value) -> Value:
    """Where a float is NaN."""
    return b.compare("fcmp uno", a, a)


def flushed(b: Body, bits: Value) -> Value:
    """f32 bits with zeros for subnormals."""
    none = b.op("and", bits, b.constant(_EXPONENT, 32))
    low = b.compare("icmp eq", none, b.constant(0, 32))
    return b.select(low, b.op("and", bits, b.constant(_SIGN[32], 32)), bits)


def canonical(b: Body, result: Value) -> Value:
    """The bits of f32 or f16 results, every NaN the canonical one."""
    bits = b.as_bits(result)
    nan = b.constant(int(NAN[bits.bits]), bits.bits)
    return b.select(is_nan(b, result), nan, bits)


def _propagated(b: Body, result: Value, operands: Sequence[Value]) -> Value:
    """The bits of f64 results, each NaN that of the first operand that is one, quieted."""
    payload = b.constant(int(NAN[64]), 64)
    for value in reversed(operands):
        quiet = b.op("or", b.as_bits(value), b.constant(_QUIET, 64))
        payload = b.select(is_nan(b, value), quiet, payload)
    return b.select(is_nan(b, result), payload, b.as_bits(result))


def _saturated(b: Body, a: Value) -> Value:
    zero, one = b.real(0, a.bits), b.real(_ONE[a.bits], a.bits)
    positive = b.select(b.compare("fcmp ogt", a, zero), a, zero)
    return b.select(b.compare("fcmp olt", positive, one), positive, one)


def _finished(b: Body, given: Given, result: Value) -> Value:
    """f32 results as bits, as `.sat` and `.ftz` have them."""
    bits = canonical(b, _saturated(b, result) if "sat" in given.q else result)
    return flushed(b, bits) if "ftz" in given.q else bits


def _arithmetic(b: Body, given: Given, args: Sequence[Value], compute: Compute) -> list[Value]:
    """An operation on f32 or f64, from bits to bits."""
    if args[0].bits == 64:
        values = [b.as_float(a) for a in args]
        return [_propagated(b, compute(*values), values)]
    read = [flushed(b, a) for a in args] if "ftz" in given.q else args
    return [_finished(b, given, compute(*[b.as_float(a) for a in read]))]


def _real(given: Given) -> bool:
    """Whether it computes on f32 or f64, and rounds to nearest if it rounds."""
    return given.q.get("type") in ("f32", "f64") and given.q.get("rnd", "rn") == "rn"


@form("add", "sub", "mul")
def _binary(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    if not _real(given):
        return None
    return _arithmetic(b, given, args, lambda x, y: b.op(f"f{given.opcode}", x, y))


@form("fma", "mad")
def _fma(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    if not _real(given):
        return None
    return _arithmetic(b, given, args, lambda *v: b.call("fma", *v))


@form("div")
def _divide(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    if "approx" in given.q:

        def lossy(x: Value, y: Value) -> Value:
            size = b.call("fabs", y)
            large = b.compare("fcmp ogt", size, b.real(0x7E800000, 32))
            finite = b.compare("fcmp olt", size, b.real(_EXPONENT, 32))
            zero = b.call("copysign", b.real(0, 32), y)
            lost = b.op("and", large, finite)
            return b.select(lost, b.op("fmul", x, zero), b.op("fdiv", x, y))

        return _arithmetic(b, given, args, lossy)
    if not _real(given) and "full" not in given.q:
        return None
    return _arithmetic(b, given, args, lambda x, y: b.op("fdiv", x, y))


def _in_double(b: Body, function: Compute) -> Compute:
    """An f32 function that is computed in f64 and rounded."""

    def run(x: Value) -> Value:
        return b.convert("fptrunc", function(b.convert("fpext", x, "double")), "float")

    return run


@form("sqrt", "rcp", "rsqrt")
def _root_or_inverse(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    approximate = "approx" in given.q
    if args[0].bits == 64 and approximate:
        return None
    if not (approximate or _real(given)):
        return None

    def inverse(x: Value) -> Value:
        return b.op("fdiv", b.real(_ONE[x.bits], x.bits), x)

    def root(x: Value) -> Value:
        return b.call("sqrt", x)

    computes: dict[str, Compute] = {
        "sqrt": root,
        "rcp": inverse,
        "rsqrt": lambda x: inverse(root(x)),
    }
    compute = computes[given.opcode]
    return _arithmetic(b, given, args, _in_double(b, compute) if approximate else compute)


@form("neg", "abs")
def _sign(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    bits = width(given.results[0])
    if given.results[0] not in ("f32", "f64"):
        return None
    sign = _SIGN[bits]
    one = b.constant(sign if given.opcode == "neg" else ~sign, bits)
    how = "xor" if given.opcode == "neg" else "and"
    if bits == 64:
        return [b.op(how, args[0], one)]
    return _arithmetic(b, given, args, lambda x: b.as_float(b.op(how, b.as_bits(x), one)))


@form("copysign")
def _copysign(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    del given
    sign = _SIGN[args[0].bits]
    from_, to = b.constant(sign, args[0].bits), b.constant(~sign, args[0].bits)
    return [b.op("or", b.op("and", args[0], from_), b.op("and", args[1], to))]


@form("min", "max")
def _extremum(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    q = given.q
    if q.get("type") not in ("f32", "f64") or {"abs", "xorsign", "relu"} & set(q):
        return None
    largest, propagate = given.opcode == "max", "NaN" in q
    read = [flushed(b, a) for a in args] if "ftz" in q else list(args)
    nan = b.constant(int(NAN[args[0].bits]), args[0].bits)

    def pair(one: Value, other: Value) -> Value:
        x, y = b.as_float(one), b.as_float(other)
        first = b.compare("fcmp ogt" if largest else "fcmp olt", x, y)
        result = b.select(first, one, other)
        # of two zeros, the sign bit is set if both, or either, have it
        signs = b.op("and" if largest else "or", one, other)
        result = b.select(b.compare("fcmp oeq", x, y), signs, result)
        absent, missing = is_nan(b, x), is_nan(b, y)
        result = b.select(absent, other, result)
        result = b.select(missing, one, result)
        wrong = b.op("or" if propagate else "and", absent, missing)
        return b.select(wrong, nan, result)

    result = pair(read[0], read[1])
    for value in read[2:]:
        result = pair(result, value)
    return [result]


_ORDERED = {"eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
_UNORDERED = {"equ": "ueq", "neu": "une", "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge"}
_COMPARED = {**_ORDERED, **_UNORDERED, "num": "ord", "nan": "uno"}


@form("setp")
def _compare(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    q = given.q
    if q.get("type") not in ("f32", "f64"):
        return None
    read = [flushed(b, a) for a in args[:2]] if "ftz" in q else args[:2]
    x, y = (b.as_float(a) for a in read)
    return combined(b, given, b.compare(f"fcmp {_COMPARED[q['cmp']]}", x, y), args)


_INTEGERS = ("u16", "u32", "u64", "s16", "s32", "s64")


@form("cvt")
def _to_integer(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    q = given.q
    source, target = q.get("atype", ""), q.get("dtype", "")
    if source not in ("f32", "f64") or target not in _INTEGERS or "irnd" not in q:
        return None
    read = flushed(b, args[0]) if "ftz" in q else args[0]
    value = b.as_float(read)
    rounded = b.call(_WHOLE[q["irnd"]], value)
    to = f"i{width(target)}"
    result = b.call("fptosi.sat" if target[0] == "s" else "fptoui.sat", rounded, result=to)
    if "64" in source + target:
        top = b.constant(1 << (result.bits - 1), result.bits)
        result = b.select(is_nan(b, value), top, result)
    return [result]


@form("cvt")
def _from_integer(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    q = given.q
    source, target = q.get("atype", ""), q.get("dtype", "")
    narrow = source[1:] in ("16", "32")
    if source not in _INTEGERS or q.get("rnd") != "rn" or {"sat", "ftz"} & set(q):
        return None
    if target != "f64" and not (target == "f32" and narrow):
        return None
    how = "sitofp" if source[0] == "s" else "uitofp"
    return [b.as_bits(b.convert(how, args[0], "float" if target == "f32" else "double"))]


@form("cvt")
def _between(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    q = given.q
    source, target = q.get("atype", ""), q.get("dtype", "")
    if q.get("rnd", "rn") != "rn" or set(q) - {"rnd", "dtype", "atype", "ftz", "sat"}:
        return None
    a = args[0]
    if (target, source) == ("f32", "bf16") and not {"ftz", "sat"} & set(q):
        return [b.op("shl", b.resize(a, 32), b.constant(16, 32))]
    if (target, source) == ("bf16", "f32") and not {"ftz", "sat", "relu"} & set(q):
        return [_as_bf16(b, a)]
    if (target, source) == ("f16", "f32") and not {"ftz", "sat", "relu"} & set(q):
        return [_as_f16(b, a)]
    if (target, source) == ("f32", "f16") and "sat" not in q:
        return [canonical(b, b.convert("fpext", b.as_float(a), "float"))]
    if (target, source) == ("f32", "f64"):
        return [_finished(b, given, b.convert("fptrunc", b.as_float(a), "float"))]
    if (target, source) == ("f64", "f32") and "sat" not in q:
        read = flushed(b, a) if "ftz" in q else a
        return [b.as_bits(b.convert("fpext", b.as_float(read), "double"))]
    return None


@form("cvt")
def _whole(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    q = given.q
    if (q.get("dtype", ""), q.get("atype", "")) != ("f32", "f32") or "irnd" not in q:
        return None
    read = flushed(b, args[0]) if "ftz" in q else args[0]
    return [_finished(b, given, b.call(_WHOLE[q["irnd"]], b.as_float(read)))]


def _as_f16(b: Body, a: Value) -> Value:
    """f32 bits rounded to nearest f16."""
    value = b.as_float(a)
    half = b.as_bits(b.convert("fptrunc", value, "half"))
    return b.select(is_nan(b, value), b.constant(int(NAN[16]), 16), half)


def _as_bf16(b: Body, a: Value) -> Value:
    """f32 bits rounded to nearest bf16."""
    sixteen, one = b.constant(16, 32), b.constant(1, 32)
    odd = b.op("and", b.op("lshr", a, sixteen), one)
    rounded = b.op("add", a, b.op("add", odd, b.constant(0x7FFF, 32)))
    nan = b.constant(int(NAN[32]), 32)
    return b.resize(b.op("lshr", b.select(is_nan(b, b.as_float(a)), nan, rounded), sixteen), 16)


@form("cvt")
def _pair(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    q = given.q
    narrow = {"f16x2": _as_f16, "bf16x2": _as_bf16}.get(q.get("dtype", ""))
    if narrow is None or len(args) != 2 or set(q) != {"rnd", "dtype", "f32"} or q["rnd"] != "rn":
        return None
    upper, lower = (b.resize(narrow(b, a), 32) for a in args)
    return [b.op("or", b.op("shl", upper, b.constant(16, 32)), lower)]
