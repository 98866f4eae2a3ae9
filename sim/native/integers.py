"""Integers, bits and moves in LLVM IR; `tilec.sim.alu.integer`, `.logic` and `.bitfield`."""

from __future__ import annotations

from collections.abc import Sequence

from ..alu.bits import width
from .body import Body, Value
from .forms import Given, form


def plain(type_: str) -> bool:
    """Whether a type is one integer, or bits."""
    return type_[:1] in ("u", "s", "b") and type_[1:] in ("16", "32", "64")


@form("add", "sub", "and", "or", "xor")
def _simple(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    q = given.q
    if set(q) != {"type"} or not (plain(q.get("type", "")) or q["type"] == "pred"):
        return None
    return [b.op(given.opcode, *args)]


@form("not")
def _not(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    del given
    return [b.invert(args[0])]


@form("cnot")
def _cnot(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    del given
    (a,) = args
    return [b.convert("zext", b.compare("icmp eq", a, b.constant(0, a.bits)), a.element)]


def _product(b: Body, x: Value, y: Value, signed: bool) -> Value:
    """The whole product."""
    wide = 2 * x.bits
    return b.op("mul", b.resize(x, wide, signed=signed), b.resize(y, wide, signed=signed))


@form("mul", "mad")
def _multiply(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    q = given.q
    if not plain(q.get("type", "")) or "sat" in q:
        return None
    signed, x, y = q["type"][0] == "s", args[0], args[1]
    if "lo" in q:
        result = b.op("mul", x, y)
    elif "wide" in q:
        result = _product(b, x, y, signed)
    elif "hi" in q and x.bits < 64:
        high = b.op("lshr", _product(b, x, y, signed), b.constant(x.bits, 2 * x.bits))
        result = b.resize(high, x.bits)
    else:
        return None
    return [result if len(args) == 2 else b.op("add", result, args[2])]


@form("min", "max")
def _extremum(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    q = given.q
    if set(q) != {"type"} or not plain(q.get("type", "")):
        return None
    return [b.call(("s" if q["type"][0] == "s" else "u") + given.opcode, *args)]


def _negative(b: Body, a: Value) -> Value:
    return b.op("sub", b.constant(0, a.bits), a)


def _below_zero(b: Body, a: Value) -> Value:
    return b.compare("icmp slt", a, b.constant(0, a.bits))


def _magnitude(b: Body, a: Value) -> Value:
    return b.select(_below_zero(b, a), _negative(b, a), a)


@form("abs", "neg")
def _sign(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    if not plain(given.results[0]):
        return None
    return [(_magnitude if given.opcode == "abs" else _negative)(b, args[0])]


@form("div", "rem")
def _divide(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    if not plain(given.results[0]):
        return None
    x, y = args
    zero = b.compare("icmp eq", y, b.constant(0, y.bits))
    signed = given.q["type"][0] == "s"
    a, c = (_magnitude(b, x), _magnitude(b, y)) if signed else (x, y)
    divisor = b.select(zero, b.constant(1, y.bits), c)
    result = b.op("udiv" if given.opcode == "div" else "urem", a, divisor)
    if signed:
        negative = _below_zero(b, b.op("xor", x, y) if given.opcode == "div" else x)
        result = b.select(negative, _negative(b, result), result)
    return [b.select(zero, b.constant(-1, y.bits), result)]


@form("mov")
def _move(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    del b, given
    return list(args)


@form("pack")
def _pack(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    bits = width(given.results[0])
    result = b.resize(args[0], bits)
    for number, part in enumerate(args[1:], 1):
        up = b.constant(number * part.bits, bits)
        result = b.op("or", result, b.op("shl", b.resize(part, bits), up))
    return [result]


@form("unpack")
def _unpack(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    (a,) = args
    each = width(given.results[0])
    parts = (
        b.op("lshr", a, b.constant(number * each, a.bits)) for number in range(len(given.results))
    )
    return [b.resize(part, each) for part in parts]


def _shifted(b: Body, how: str, a: Value, amount: Value) -> Value:
    """A shift whose amount, in a's width, may be larger than that; `ashr` spreads the sign."""
    top = b.constant(a.bits - 1, a.bits)
    if how == "ashr":
        return b.op(how, a, b.call("umin", amount, top))
    inside = b.compare("icmp ule", amount, top)
    legal = b.select(inside, amount, b.constant(0, a.bits))
    return b.select(inside, b.op(how, a, legal), b.constant(0, a.bits))


@form("shl", "shr")
def _shift(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    a, amount = args
    if a.bits == 16:
        amount = b.call("umin", amount, b.constant(16, 32))
    signed = given.q["type"][0] == "s"
    how = "shl" if given.opcode == "shl" else "ashr" if signed else "lshr"
    return [_shifted(b, how, a, b.resize(amount, a.bits))]


@form("shf")
def _funnel(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    low, high, amount = args
    if given.q["mode"] == "wrap":
        amount = b.op("and", amount, b.constant(31, 32))
    else:
        amount = b.call("umin", amount, b.constant(32, 32))
    wide = b.op("shl", b.resize(high, 64), b.constant(32, 64))
    wide = b.op("or", wide, b.resize(low, 64))
    by = b.resize(amount, 64)
    if given.q["side"] == "r":
        return [b.resize(b.op("lshr", wide, by), 32)]
    return [b.resize(b.op("lshr", b.op("shl", wide, by), b.constant(32, 64)), 32)]


@form("lop3", literal=3)
def _lop3(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    table = given.constants[3]
    if table is None or "boolop" in given.q:
        return None
    x, y, z = args[:3]
    result = b.constant(0, 32)
    for row in range(8):
        if table >> row & 1:
            picked = [v if row & bit else b.invert(v) for v, bit in ((x, 4), (y, 2), (z, 1))]
            both = b.op("and", picked[0], picked[1])
            result = b.op("or", result, b.op("and", both, picked[2]))
    return [result]


@form("prmt", literal=2)
def _permute(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    selector = given.constants[2]
    if selector is None or "mode" in given.q:
        return None
    result = b.constant(0, 32)
    for place in range(4):
        which = selector >> 4 * place & 15
        word = args[which >> 2 & 1]
        byte = b.op("shl", word, b.constant(24 - 8 * (which & 3), 32))  # the byte on top
        if which & 8:
            byte = b.op("ashr", byte, b.constant(31, 32))
        byte = b.op("lshr", byte, b.constant(24, 32))
        result = b.op("or", result, b.op("shl", byte, b.constant(8 * place, 32)))
    return [result]


@form("popc", "brev", "clz")
def _bits(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    (a,) = args
    if given.opcode == "brev":
        return [b.call("bitreverse", a)]
    found = b.call("ctpop", a) if given.opcode == "popc" else b.count("ctlz", a)
    return [b.resize(found, 32)]


def _low_bits(b: Body, count: Value, bits: int) -> Value:
    """Masks of so many bits; all ones from the width on."""
    one = b.constant(1, bits)
    return b.op("sub", _shifted(b, "shl", one, b.resize(count, bits)), one)


@form("bfe")
def _extract(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    a = args[0]
    byte = b.constant(255, 32)
    position, length = (b.op("and", v, byte) for v in args[1:])
    at = b.resize(position, a.bits)
    mask = _low_bits(b, length, a.bits)
    field = b.op("and", _shifted(b, "lshr", a, at), mask)
    if given.q["type"][0] == "u":
        return [field]
    top = b.constant(a.bits - 1, 32)
    end = b.op("sub", b.op("add", position, length), b.constant(1, 32))
    last = b.resize(b.call("umin", end, top), a.bits)
    sign = b.op("and", b.op("lshr", a, last), b.constant(1, a.bits))
    negative = b.compare("icmp ne", sign, b.constant(0, a.bits))
    some = b.compare("icmp ne", length, b.constant(0, 32))
    width_ = b.constant(a.bits, 32)
    room = b.op("sub", width_, b.call("umin", position, width_))
    kept = b.op("and", mask, _low_bits(b, room, a.bits))
    spread = b.op("or", field, b.invert(kept))
    return [b.select(b.op("and", negative, some), spread, field)]


@form("bfi")
def _insert(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    del given
    a, into = args[:2]
    byte = b.constant(255, 32)
    position, length = (b.op("and", v, byte) for v in args[2:])
    at = b.resize(position, a.bits)
    mask = _shifted(b, "shl", _low_bits(b, length, a.bits), at)
    new = b.op("and", _shifted(b, "shl", a, at), mask)
    return [b.op("or", new, b.op("and", into, b.invert(mask)))]


@form("selp")
def _select(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    del given
    a, other, p = args
    return [b.select(p, a, other)]


_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def combined(b: Body, given: Given, holds: Value, args: Sequence[Value]) -> list[Value]:
    """The one or two results of a comparison, joined with a predicate where one is given."""
    found = [holds, b.invert(holds)][: len(given.results)]
    if len(args) == 3:
        return [b.op(given.q["boolop"], one, args[2]) for one in found]
    return found


@form("setp")
def _compare(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    q = given.q
    if not plain(q.get("type", "")):
        return None
    cmp = _UNSIGNED.get(q["cmp"], q["cmp"])
    if cmp not in ("eq", "ne"):
        cmp = ("s" if q["type"][0] == "s" else "u") + cmp
    return combined(b, given, b.compare(f"icmp {cmp}", *args[:2]), args)


@form("cvt")
def _convert(b: Body, given: Given, args: Sequence[Value]) -> list[Value] | None:
    q = given.q
    if set(q) != {"dtype", "atype"} or not (
        plain(q.get("dtype", "")) and plain(q.get("atype", ""))
    ):
        return None
    return [b.resize(args[0], width(q.get("dtype", "")), signed=q.get("atype", "")[0] == "s")]
