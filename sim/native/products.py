"""Exact products of tensor cores by machine code; `tilec.sim.tensor.dot` defines them.

The operations are those of numpy on float64, in the same order but for the sum of a step, which is
exact in any order. Eight elements of D are computed at a time: of eight warps, or of one row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..alu.special import NAN
from ..tensor.arithmetic import ZERO
from .choice import library_for
from .ir import Text
from .library import Library

WIDTH = 8
"""Elements that are computed at a time."""

PLAN = (
    "a", "a_exponents", "b", "b_exponents", "c", "d", "room", "k", "rows", "columns", "blocks",
    "terms", "fraction", "zero", "mask", "grain",
)  # fmt: skip
"""Fields, 8 bytes each: pointers, the last to room for what a block of warps reads; k; rows of A;
columns of D, or vectors of them; vectors of warps; then of the step its terms, the bits below the
largest exponent, the exponent of a zero, the mask that cuts a sum, and the smallest subnormal, a
float64."""

_TERMS_AN_INSTRUCTION = 1600
"""Products that numpy multiplies exactly in about the time of an instruction."""

_BIAS, _MANTISSA = 1023, 52
_TERM = WIDTH * (8 + 2)
"""Bytes of a term of one side: values and exponents."""

Float64 = NDArray[np.float64]
Exponents = NDArray[np.int16]


def _vector(element: str) -> str:
    return f"<{WIDTH} x {element}>"


_DOUBLES, _FLOATS, _SHORTS, _LONGS = map(_vector, ("double", "float", "i16", "i64"))


class _Vectors(Text):
    """A function on vectors."""

    def keep(self, type_: str) -> str:
        """A variable of some type."""
        name = f"%kept{len(self.slots)}"
        self.slots.append(f"{name} = alloca {type_}")
        return name

    def get(self, type_: str, variable: str) -> str:
        return self.value(f"load {type_}, ptr {variable}")

    def put(self, type_: str, value: str, variable: str) -> None:
        self.do(f"store {type_} {value}, ptr {variable}")

    def spread(self, element: str, value: str) -> str:
        """A scalar in all elements."""
        type_ = _vector(element)
        first = self.value(f"insertelement {type_} poison, {element} {value}, i64 0")
        return self.value(
            f"shufflevector {type_} {first}, {type_} poison, <{WIDTH} x i32> zeroinitializer"
        )

    def call(self, name: str, type_: str, mangled: str, *args: str) -> str:
        given = ", ".join(f"{type_} {arg}" for arg in args)
        return self.value(f"call {type_} @llvm.{name}.v{WIDTH}{mangled}({given})")

    def convert(self, how: str, from_: str, value: str, to: str) -> str:
        return self.value(f"{how} {from_} {value} to {to}")


_DECLARED = frozenset(
    {
        f"declare {_SHORTS} @llvm.smax.v{WIDTH}i16({_SHORTS}, {_SHORTS})",
        f"declare {_DOUBLES} @llvm.trunc.v{WIDTH}f64({_DOUBLES})",
        f"declare {_DOUBLES} @llvm.fabs.v{WIDTH}f64({_DOUBLES})",
    }
)


def _function(name: str, *, one_row: bool) -> str:
    """`name(plan)`; A has an element a row if `one_row`, else one for each of `blocks` vectors."""
    f = _Vectors(f"define void @{name}(ptr %plan)")
    given = {
        field: f.load("%plan", 8 * n, "ptr" if n < PLAN.index("k") else "i64")
        for n, field in enumerate(PLAN)
    }
    blocks, columns, rows = given["blocks"], given["columns"], given["rows"]
    across = f.op("mul", f.op("mul", columns, blocks), WIDTH)
    along = f.op("mul", rows, f.op("mul", blocks, 1 if one_row else WIDTH))
    # What a block of warps reads is laid out anew: apart, it would share few sets of the cache.
    of_a, of_b = given["room"], f.at(given["room"], f.op("mul", given["k"], _TERM))
    with f.loop(blocks) as block:
        with f.loop(columns) as column, f.loop(given["k"]) as k:
            start = f.op("mul", f.op("add", f.op("mul", column, blocks), block), WIDTH)
            place = f.op("add", f.op("mul", k, across), start)
            to = f.at(of_b, f.op("mul", f.op("add", f.op("mul", column, given["k"]), k), _TERM))
            _copy(f, to, given["b"], given["b_exponents"], place, spread=False)
        with f.loop(rows) as row:
            own = row
            if not one_row:
                own = f.op("mul", f.op("add", f.op("mul", row, blocks), block), WIDTH)
            with f.loop(given["k"]) as k:
                place = f.op("add", f.op("mul", k, along), own)
                to = f.at(of_a, f.op("mul", k, _TERM))
                _copy(f, to, given["a"], given["a_exponents"], place, spread=one_row)
            with f.loop(columns) as column:
                there = f.op("mul", f.op("add", f.op("mul", column, blocks), block), WIDTH)
                at = f.op("mul", f.op("add", f.op("mul", row, across), there), 4)
                start = f.op("mul", f.op("mul", column, given["k"]), _TERM)
                c = f.value(f"load {_FLOATS}, ptr {f.at(given['c'], at)}, align 4")
                d = _sum(f, given, of_a, f.at(of_b, start), c)
                f.do(f"store {_FLOATS} {d}, ptr {f.at(given['d'], at)}, align 4")
    f.do("ret void")
    return f.end()


def _copy(f: _Vectors, to: str, values: str, exponents: str, place: str, *, spread: bool) -> None:
    """Lay out a term: its values, then its exponents."""
    for number, (from_, element, size) in enumerate(((values, "double", 8), (exponents, "i16", 2))):
        pointer, type_ = f.at(from_, f.op("mul", place, size)), _vector(element)
        if spread:
            value = f.spread(element, f.value(f"load {element}, ptr {pointer}"))
        else:
            value = f.value(f"load {type_}, ptr {pointer}, align {size}")
        f.do(f"store {type_} {value}, ptr {f.at(to, 8 * WIDTH * number)}, align {size}")


def _sum(f: _Vectors, given: dict[str, str], a: str, b: str, first: str) -> str:
    """The chain of steps from the terms at two places and what they are added to."""
    sum_, top, total = f.keep(_FLOATS), f.keep(_SHORTS), f.keep(_DOUBLES)
    zero = f.spread("i16", f.value(f"trunc i64 {given['zero']} to i16"))
    grain = f.spread("double", f.value(f"bitcast i64 {given['grain']} to double"))
    mask, fraction = f.spread("i64", given["mask"]), f.spread("i64", given["fraction"])

    def side(pointer: str, k: str, *, exponents: bool) -> str:
        at = f.at(pointer, f.op("add", f.op("mul", k, _TERM), 8 * WIDTH if exponents else 0))
        type_, size = (_SHORTS, 2) if exponents else (_DOUBLES, 8)
        return f.value(f"load {type_}, ptr {at}, align {size}")

    f.put(_FLOATS, first, sum_)
    steps = f.op("udiv", f.op("sub", f.op("add", given["k"], given["terms"]), 1), given["terms"])
    with f.loop(steps) as step:
        start = f.op("mul", step, given["terms"])
        left = f.op("sub", given["k"], start)
        short = f.is_("ult", left, given["terms"])
        count = f.value(f"select i1 {short}, i64 {left}, i64 {given['terms']}")
        c = f.get(_FLOATS, sum_)
        f.put(_SHORTS, f.call("smax", _SHORTS, "i16", _exponents(f, c), zero), top)
        with f.loop(count) as n:
            k = f.op("add", start, n)
            x, y = (side(pointer, k, exponents=True) for pointer in (a, b))
            both = f.value(f"add {_SHORTS} {x}, {y}")
            f.put(_SHORTS, f.call("smax", _SHORTS, "i16", f.get(_SHORTS, top), both), top)
        largest = f.convert("sext", _SHORTS, f.get(_SHORTS, top), _LONGS)
        power = f.value(f"sub {_LONGS} {fraction}, {largest}")
        power = f.value(f"add {_LONGS} {power}, splat (i64 {_BIAS})")
        power = f.value(f"shl {_LONGS} {power}, splat (i64 {_MANTISSA})")
        scale = f.convert("bitcast", _LONGS, power, _DOUBLES)
        f.put(_DOUBLES, _aligned(f, f.convert("fpext", _FLOATS, c, _DOUBLES), scale), total)
        with f.loop(count) as n:
            k = f.op("add", start, n)
            x, y = (side(pointer, k, exponents=False) for pointer in (a, b))
            term = _aligned(f, f.value(f"fmul {_DOUBLES} {x}, {y}"), scale)
            more = f.value(f"fadd {_DOUBLES} {f.get(_DOUBLES, total)}, {term}")
            f.put(_DOUBLES, more, total)
        exact = f.value(f"fdiv {_DOUBLES} {f.get(_DOUBLES, total)}, {scale}")
        f.put(_FLOATS, _rounded(f, exact, mask, grain), sum_)
    return f.get(_FLOATS, sum_)


def _aligned(f: _Vectors, value: str, scale: str) -> str:
    """Cut toward zero to the fixed point of a step."""
    scaled = f.value(f"fmul {_DOUBLES} {value}, {scale}")
    return f.call("trunc", _DOUBLES, "f64", scaled)


def _exponents(f: _Vectors, c: str) -> str:
    """Exponents of f32, as `dot.exponents` has them."""
    ints = _vector("i32")
    bits = f.convert("bitcast", _FLOATS, c, ints)
    field = f.value(f"and {ints} {f.value(f'lshr {ints} {bits}, splat (i32 23)')}, splat (i32 255)")
    short = f.convert("trunc", ints, f.value(f"sub {ints} {field}, splat (i32 127)"), _SHORTS)
    normal = f.call("smax", _SHORTS, "i16", short, "splat (i16 -126)")
    none = f.value(f"fcmp oeq {_FLOATS} {c}, zeroinitializer")
    return f.value(
        f"select {_vector('i1')} {none}, {_SHORTS} splat (i16 {ZERO}), {_SHORTS} {normal}"
    )


def _rounded(f: _Vectors, exact: str, mask: str, grain: str) -> str:
    """Sums cut toward zero, as f32 without a negative zero and with one NaN."""
    cut = f.value(f"and {_LONGS} {f.convert('bitcast', _DOUBLES, exact, _LONGS)}, {mask}")
    size = f.call("fabs", _DOUBLES, "f64", exact)
    tiny = f.value(f"fcmp olt {_DOUBLES} {size}, splat (double 0x3810000000000000)")
    units = f.call("trunc", _DOUBLES, "f64", f.value(f"fdiv {_DOUBLES} {exact}, {grain}"))
    small = f.value(f"fmul {_DOUBLES} {units}, {grain}")
    normal = f.convert("bitcast", _LONGS, cut, _DOUBLES)
    chosen = f.value(f"select {_vector('i1')} {tiny}, {_DOUBLES} {small}, {_DOUBLES} {normal}")
    result = f.convert("fptrunc", _DOUBLES, chosen, _FLOATS)
    result = f.value(f"fadd {_FLOATS} {result}, zeroinitializer")  # a negative zero is positive
    nan = f.value(f"fcmp uno {_FLOATS} {result}, {result}")
    one = f.convert("bitcast", _vector("i32"), f"splat (i32 {int(NAN[32])})", _FLOATS)
    return f.value(f"select {_vector('i1')} {nan}, {_FLOATS} {one}, {_FLOATS} {result}")


_ROWS, _WARPS = "exact_dot_rows", "exact_dot_warps"


def dot(
    a: tuple[Float64, Exponents],
    b: tuple[Float64, Exponents],
    c: NDArray[np.float32] | NDArray[np.float16],
    *,
    terms: int,
    fraction: int,
    zero: int,
    mantissa: int,
) -> NDArray[np.float32] | None:
    """Add Σ aₖ·bₖ to c in a chain of steps; None where numpy is to do it.

    Args:
        a: values and exponents, (k, m, 1, warps).
        b: the same, (k, 1, n, warps).
        c: (m, n, warps); only f32.
        terms: products of a step.
        fraction: bits below the largest exponent.
        zero: the exponent of a zero.
        mantissa: stored bits of a sum.
    """
    if c.ndim != 3:
        return None
    m, n, warps = c.shape
    k = len(a[0])
    if a[0].shape != (k, m, 1, warps) or b[0].shape != (k, 1, n, warps):
        return None
    if c.dtype != np.float32 or not c.size or (warps % WIDTH and n % WIDTH):
        return None
    found = library_for(k * c.size / _TERMS_AN_INSTRUCTION)
    if found is None:
        return None
    numbers = {
        "k": k, "rows": m, "terms": terms, "fraction": fraction, "zero": zero,
        "mask": -(1 << (_MANTISSA - mantissa)),
        "grain": int(np.float64(2.0 ** -(126 + mantissa)).view(np.int64)),
    }  # fmt: skip
    if warps % WIDTH == 0:
        numbers |= {"columns": n, "blocks": warps // WIDTH}
        return _call(found, _WARPS, (*a, *b, c), numbers)
    numbers |= {"columns": n // WIDTH, "blocks": 1}
    d = np.empty(c.shape, np.float32)
    for warp in range(warps):
        sides = (*(x[..., warp] for x in (*a, *b)), c[..., warp])
        d[..., warp] = _call(found, _ROWS, sides, numbers)
    return d


def _call(
    found: Library, name: str, arrays: tuple[NDArray[np.generic], ...], numbers: dict[str, int]
) -> NDArray[np.float32]:
    """The sums of arrays, which are laid out one element after the other."""
    address = found.address(name)
    if address is None:
        found.load({name: _function(name, one_row=name == _ROWS)}, _DECLARED)
        address = found.address(name)
        assert address is not None
    given = [np.ascontiguousarray(array) for array in arrays]
    d = np.empty(given[-1].shape, np.float32)
    room = np.empty(numbers["k"] * (numbers["columns"] + 1) * _TERM, np.uint8)
    pointers = [array.ctypes.data for array in (*given, d, room)]
    plan = np.array([*pointers, *(numbers[field] for field in PLAN[len(pointers) :])], np.int64)
    found.call(address, plan)
    return d
