"""Exact products of fragments by machine code: from registers to registers, without matrices.

`tilec.sim.tensor.dot` defines the sums. Here they are computed where their results belong, a
register of D at a time for all lanes of a warp: what each lane multiplies is brought to it by
constant permutations of the registers of A and B. Numbers are f32, in which a product of factors of
at most 11 significant bits is exact, and cut terms are integers of 32 bits.

    product(a, b, c, d, warps, terms, fraction, zero, mask) -> i64

where the first four are arrays of registers, (warps, registers, 32), whose places it reads of the
objects as the driver does. The answer is 0, or 1 where a factor or
a sum is infinite, no number, or of a size that f32 does not serve: numpy has to do it all then.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from zlib import crc32

import numpy as np
from tilec.isa import LANES, ExecutionScope, Product, TilecError

from ..alu import Array
from ..tensor.arithmetic import ZERO, Arithmetic, Method, Rounding
from ..tensor.arithmetic import arithmetic as arithmetic_of
from ..tensor.fragment import Fragment
from ..tensor.indices import indices_of
from . import driver
from .choice import library_for
from .lanes import BITS, INTS, Lanes, splat
from .library import Library
from .workers import Workers, workers

MOST = 50
"""The largest exponent of a factor, and less one the least but for zeros: so the exponents of
products, and the powers of two that terms are scaled by, are those of normal numbers."""
LEAST = -2 * MOST
"""Below this exponent all products are zeros."""
_AT_ONCE = 8
"""Cut terms whose sum is below 2^31."""
_FACTORS = {"f16": -14, "bf16": -126, "tf32": -126}
"""The least exponents of the types that it multiplies."""
_MANTISSAS = {Rounding.RZ32: 23, Rounding.E8M13: 13}

_CALL = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 4, *[ctypes.c_int64] * 5)
_FLOATS, _DOUBLES = f"<{LANES} x float>", f"<{LANES} x double>"
_SHORTS, _LONGS = f"<{LANES} x i16>", f"<{LANES} x i64>"
_WORD, _HALF = 4 * LANES, 2 * LANES
"""Bytes of a register of a warp, and of the exponents of so many values."""

_DECLARED = frozenset({f"declare {_SHORTS} @llvm.smax.v{LANES}i16({_SHORTS}, {_SHORTS})"})

_Place = tuple[int, tuple[int, ...]]
"""A piece of an operand's registers, and from which lane each lane has it."""


@dataclass(frozen=True, slots=True)
class _Side:
    """What the lanes have of A or of B.

    Attributes:
        type: the type of its elements.
        registers: how many it has.
        lists: lists of places, k of them each.
        chosen: which of the lists each register of D takes.
    """

    type: str
    registers: int
    lists: tuple[tuple[_Place, ...], ...]
    chosen: tuple[int, ...]


def _places(index: Array, per: int) -> list[_Place] | None:
    """Where elements are, (k, lanes); None if lanes take them from several pieces."""
    registers, rest = np.divmod(index, LANES * per)
    lanes, halves = np.divmod(rest, per)
    pieces = registers * per + halves
    if (pieces != pieces[:, :1]).any():
        return None
    return [
        (int(piece[0]), tuple(lane)) for piece, lane in zip(pieces, lanes.tolist(), strict=True)
    ]


def _side(form: Product, name: str, index: Sequence[Array]) -> _Side | None:
    operand = form.operand(name)
    lists: dict[tuple[_Place, ...], int] = {}
    chosen = []
    for one in index:
        found = _places(one, operand.per_register)
        if found is None:
            return None
        chosen.append(lists.setdefault(tuple(found), len(lists)))
    return _Side(operand.type.name, operand.registers, tuple(lists), tuple(chosen))


@cache
def _sides(ptx: str) -> tuple[_Side, _Side] | None:
    """What the lanes have of A and B; None if this is not for the form."""
    from tilec.isa import form as find_form  # noqa: PLC0415 (here the name would be hidden)

    form = find_form(ptx)
    assert isinstance(form, Product)
    types = [form.operand(name).type.name for name in "abcd"]
    if form.scope is not ExecutionScope.WARP or form.products != 1:
        return None
    if form.sparsity or form.scaling or types[2:] != ["f32", "f32"]:
        return None
    if not {*types[:2]} <= {*_FACTORS}:
        return None
    where = indices_of(ptx, "d").registers.reshape(-1, LANES)
    if not np.array_equal(where, indices_of(ptx, "c").registers.reshape(-1, LANES)):
        return None
    rows, columns = np.divmod(where, form.shape.n)
    a, b = (indices_of(ptx, name).matrix for name in "ab")
    if a.shape != (form.shape.m, form.shape.k) or b.shape != (form.shape.k, form.shape.n):
        return None
    sides = _side(form, "a", [a[r].T for r in rows]), _side(form, "b", [b[:, c] for c in columns])
    return None if sides[0] is None or sides[1] is None else (sides[0], sides[1])


class _Text(Lanes):
    """The text of a form's function."""

    def __init__(self, name: str, sides: tuple[_Side, _Side], k: int) -> None:
        super().__init__(
            f"define i64 @{name}(ptr %a, ptr %b, ptr %c, ptr %d, i64 %warps, i64 %terms, "
            "i64 %fraction, i64 %zero, i64 %mask)"
        )
        self.k = k
        pointers = [self.load(of, driver.DATA, "ptr") for of in ("%a", "%b", "%c", "%d")]
        self.wrong = self.keep(BITS, "zeroinitializer")
        self.fraction = self.spread(INTS, "i32", self.value("trunc i64 %fraction to i32"))
        self.zero = self.spread(_SHORTS, "i16", self.value("trunc i64 %zero to i16"))
        self.mask = self.spread(_LONGS, "i64", "%mask")
        registers = len(sides[0].chosen)
        rooms = [
            [self._room(f"[{len(side.lists) * k} x {type_}]") for type_ in (_FLOATS, _SHORTS)]
            for side in sides
        ]
        with self.loop("%warps") as warp:
            for side, room, pointer in zip(sides, rooms, pointers[:2], strict=True):
                at = self.at(pointer, self.op("mul", warp, side.registers * _WORD))
                self._lay_out(side, room, at)
            start = self.op("mul", warp, registers * _WORD)
            for number in range(registers):
                lists = [side.chosen[number] for side in sides]
                first = [
                    [self.at(room[0], n * k * _WORD), self.at(room[1], n * k * _HALF)]
                    for n, room in zip(lists, rooms, strict=True)
                ]
                place = self.op("add", start, number * _WORD)
                c = self.value(f"load {_FLOATS}, ptr {self.at(pointers[2], place)}, align 4")
                d = self._sum(first, c)
                self.do(f"store {_FLOATS} {d}, ptr {self.at(pointers[3], place)}, align 4")
            with self.when(self.any(self.get(BITS, self.wrong))):
                self.leave(1)
        self.do("ret i64 0")

    def _room(self, type_: str) -> str:
        name = self._new("%room")
        self.slots.append(f"{name} = alloca {type_}, align 64")
        return name

    def _mark(self, wrong: str) -> None:
        """Numpy has to do it if something holds in any lane."""
        self.put(BITS, self.lanes("or", BITS, self.get(BITS, self.wrong), wrong), self.wrong)

    def _lay_out(self, side: _Side, room: list[str], pointer: str) -> None:
        """Bring values and exponents to the lanes that multiply them."""
        pieces: dict[int, tuple[str, str]] = {}
        per = 1 if side.type == "tf32" else 2
        for register in range(side.registers):
            at = self.at(pointer, register * _WORD)
            words = self.value(f"load {INTS}, ptr {at}, align 4")
            for half in range(per):
                pieces[register * per + half] = self._decode(side.type, words, half)
        made: dict[_Place, tuple[str, str]] = {}
        for number, places in enumerate(side.lists):
            for k, place in enumerate(places):
                if place not in made:
                    piece, lanes = place
                    mask = ", ".join(f"i32 {lane}" for lane in lanes)
                    made[place] = (
                        self._shuffled(_FLOATS, pieces[piece][0], mask),
                        self._shuffled(_SHORTS, pieces[piece][1], mask),
                    )
                value, exponent = made[place]
                row = number * self.k + k
                self.do(f"store {_FLOATS} {value}, ptr {self.at(room[0], row * _WORD)}")
                self.do(f"store {_SHORTS} {exponent}, ptr {self.at(room[1], row * _HALF)}")

    def _shuffled(self, type_: str, value: str, mask: str) -> str:
        return self.value(
            f"shufflevector {type_} {value}, {type_} poison, <{LANES} x i32> <{mask}>"
        )

    def _decode(self, type_: str, words: str, half: int) -> tuple[str, str]:
        """Values and exponents of a piece of a register."""
        if type_ == "tf32":
            words = self.lanes("and", INTS, words, splat(0xFFFFE000 - (1 << 32), 32))
        elif type_ == "bf16":
            keep = splat(0xFFFF0000 - (1 << 32), 32)
            words = (
                self.lanes("and", INTS, words, keep)
                if half
                else self.lanes("shl", INTS, words, splat(16, 32))
            )
        else:
            if half:
                words = self.lanes("lshr", INTS, words, splat(16, 32))
            short = self.value(f"trunc {INTS} {words} to {_SHORTS}")
            code = self.value(f"bitcast {_SHORTS} {short} to <{LANES} x half>")
            value = self.value(f"fpext <{LANES} x half> {code} to {_FLOATS}")
            words = self.value(f"bitcast {_FLOATS} {value} to {INTS}")
        value = self.value(f"bitcast {INTS} {words} to {_FLOATS}")
        exponent = self._exponent(words, _FACTORS[type_])
        none = self.value(f"fcmp oeq {_FLOATS} {value}, zeroinitializer")
        large = self.lanes("icmp sgt", _SHORTS, exponent, splat(MOST, 16))
        small = self.lanes("icmp slt", _SHORTS, exponent, splat(-MOST, 16))
        some = self.value(f"xor {BITS} {none}, {splat(1, 1)}")
        odd = self.lanes("and", BITS, some, self.lanes("or", BITS, large, small))
        self._mark(odd)
        return value, self._or_zero(none, exponent)

    def _exponent(self, words: str, least: int) -> str:
        field = self.lanes("lshr", INTS, words, splat(23, 32))
        field = self.lanes("and", INTS, field, splat(255, 32))
        short = self.value(f"trunc {INTS} {field} to {_SHORTS}")
        return self._larger(self.lanes("sub", _SHORTS, short, splat(127, 16)), splat(least, 16))

    def _larger(self, a: str, b: str) -> str:
        return self.value(f"call {_SHORTS} @llvm.smax.v{LANES}i16({_SHORTS} {a}, {_SHORTS} {b})")

    def _or_zero(self, none: str, exponent: str) -> str:
        return self.value(
            f"select {BITS} {none}, {_SHORTS} {splat(ZERO, 16)}, {_SHORTS} {exponent}"
        )

    def _sum(self, first: list[list[str]], c: str) -> str:
        """The chain of steps from the terms that begin at some places."""
        sum_, top, total = self.keep(_FLOATS, c), self._room(_SHORTS), self._room(_DOUBLES)
        some = self._room(INTS)
        (values_a, exponents_a), (values_b, exponents_b) = first
        with self.loop(self.op("udiv", str(self.k), "%terms")) as step:
            start = self.op("mul", step, "%terms")
            c = self.get(_FLOATS, sum_)
            words = self.value(f"bitcast {_FLOATS} {c} to {INTS}")
            none = self.value(f"fcmp oeq {_FLOATS} {c}, zeroinitializer")
            own = self._exponent(words, -126)
            self._mark(self.lanes("icmp eq", _SHORTS, own, splat(128, 16)))
            self.put(_SHORTS, self._larger(self._or_zero(none, own), self.zero), top)
            with self.loop("%terms") as n:
                at = self.op("mul", self.op("add", start, n), _HALF)
                x, y = (
                    self.value(f"load {_SHORTS}, ptr {self.at(side, at)}")
                    for side in (exponents_a, exponents_b)
                )
                both = self.lanes("add", _SHORTS, x, y)
                self.put(_SHORTS, self._larger(self.get(_SHORTS, top), both), top)
            largest = self.get(_SHORTS, top)
            tiny = self.lanes("icmp slt", _SHORTS, largest, splat(LEAST, 16))
            present = self.value(f"xor {BITS} {none}, {splat(1, 1)}")
            self._mark(self.lanes("and", BITS, tiny, present))
            largest = self.value(
                f"sext {_SHORTS} {self._larger(largest, splat(LEAST, 16))} to {INTS}"
            )
            power = self.lanes("sub", INTS, self.fraction, largest)
            bits = self.lanes("shl", INTS, self.lanes("add", INTS, power, splat(127, 32)),
                              splat(23, 32))  # fmt: skip
            scale = self.value(f"bitcast {INTS} {bits} to {_FLOATS}")
            self.put(_DOUBLES, self._widened(self._cut(c, scale)), total)
            parts = self.op("udiv", self.op("add", "%terms", _AT_ONCE - 1), _AT_ONCE)
            with self.loop(parts) as part:
                done = self.op("mul", part, _AT_ONCE)
                left = self.op("sub", "%terms", done)
                few = self.is_("ult", left, _AT_ONCE)
                count = self.value(f"select i1 {few}, i64 {left}, i64 {_AT_ONCE}")
                begin = self.op("add", start, done)
                self.put(INTS, "zeroinitializer", some)
                with self.loop(count) as n:
                    at = self.op("mul", self.op("add", begin, n), _WORD)
                    x, y = (
                        self.value(f"load {_FLOATS}, ptr {self.at(side, at)}")
                        for side in (values_a, values_b)
                    )
                    term = self._cut(self.lanes("fmul", _FLOATS, x, y), scale)
                    self.put(INTS, self.lanes("add", INTS, self.get(INTS, some), term), some)
                more = self._widened(self.get(INTS, some))
                self.put(
                    _DOUBLES, self.lanes("fadd", _DOUBLES, self.get(_DOUBLES, total), more), total
                )
            self.put(_FLOATS, self._rounded(self.get(_DOUBLES, total), power), sum_)
        return self.get(_FLOATS, sum_)

    def _cut(self, value: str, scale: str) -> str:
        scaled = self.lanes("fmul", _FLOATS, value, scale)
        # Where it is not in range, numpy does it all: see `_mark`.
        cut = self.value(f"fptosi {_FLOATS} {scaled} to {INTS}")
        return self.value(f"freeze {INTS} {cut}")

    def _widened(self, value: str) -> str:
        return self.value(f"sitofp {INTS} {value} to {_DOUBLES}")

    def _rounded(self, total: str, power: str) -> str:
        """A sum divided by 2^power and cut toward zero."""
        field = self.lanes("sub", INTS, splat(1023, 32), power)
        wide = self.value(f"zext {INTS} {field} to {_LONGS}")
        wide = self.lanes("shl", _LONGS, wide, splat(52))
        grain = self.value(f"bitcast {_LONGS} {wide} to {_DOUBLES}")
        exact = self.lanes("fmul", _DOUBLES, total, grain)
        bits = self.value(f"bitcast {_DOUBLES} {exact} to {_LONGS}")
        cut = self.value(
            f"bitcast {_LONGS} {self.lanes('and', _LONGS, bits, self.mask)} to {_DOUBLES}"
        )
        return self.value(f"fptrunc {_DOUBLES} {cut} to {_FLOATS}")


class FragmentProducts:
    """The products of an instruction."""

    def __init__(self, form: Product, arithmetic: Arithmetic) -> None:
        step = arithmetic.step
        self._form = form
        mask = -(1 << (52 - _MANTISSAS[step.rounding]))
        self._numbers = min(step.terms, form.shape.k), step.fraction, step.zero_exponent, mask
        self._run: Callable[..., int] | None = None
        self._library: Library | None = None  # which owns the code
        self._address = 0
        a, b = (form.operand(name).type.name for name in "ab")
        self._name = f"product_{form.shape}_{a}_{b}_{crc32(form.ptx.encode())}"

    def multiply(self, a: Fragment, b: Fragment, c: Fragment) -> Fragment | None:
        """D; None where numpy has to compute it."""
        given = [np.ascontiguousarray(x.registers) for x in (a, b, c)]
        warps = len(given[0])
        if self._run is None and not self._load(warps):
            return None
        assert self._run is not None
        d = np.empty(given[2].shape, np.uint32)
        arrays = [id(x) for x in (*given, d)]
        return None if self._run(*arrays, warps, *self._numbers) else Fragment(d)

    def crew(self) -> Workers | None:
        """The threads that may compute it; None if there are none, or not yet."""
        return None if self._library is None else workers(self._library)

    def later(
        self,
        crew: Workers,
        given: tuple[Fragment, Fragment, Fragment],
        again: Callable[[], Array],
    ) -> Fragment | None:
        """D, which is there once the threads have finished; None if they are another launch's.

        Args:
            crew: the threads.
            given: A, B and C.
            again: computes D by numpy.
        """
        a, b, c = (np.ascontiguousarray(x.registers) for x in given)
        if not crew.take():
            return None
        return Fragment(crew.put((self._address, len(a), *self._numbers), (a, b, c), again))

    def _load(self, warps: int) -> bool:
        """Compile the function, or find it, once it is worth it."""
        found = library_for(warps)
        if found is None:
            return False
        if found.address(self._name) is None:
            sides = _sides(self._form.ptx)
            assert sides is not None
            text = _Text(self._name, sides, self._form.shape.k).end()
            found.load({self._name: text}, _DECLARED)
        address = found.address(self._name)
        assert address is not None
        self._library, self._address, self._run = found, address, _CALL(address)
        return True


@cache
def products_of(form: Product, arch: str) -> FragmentProducts | None:
    """What computes an instruction; None if machine code does not from its fragments."""
    if _sides(form.ptx) is None:
        return None
    try:
        arithmetic = arithmetic_of(form, arch)
    except TilecError:  # whoever executes it is told
        return None
    step = arithmetic.step
    if arithmetic.method is not Method.CHAIN or step.rounding not in _MANTISSAS:
        return None
    if form.shape.k % min(step.terms, form.shape.k) or step.fraction > 25:
        return None
    return FragmentProducts(form, arithmetic)
