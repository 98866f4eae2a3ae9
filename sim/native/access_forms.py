"""Loads and stores in LLVM IR: all lanes of a wave, with the checks of shared memory.

    access(plan, state, registers, outs, mask, ctas, warps, phase) -> i64

It reads Python's objects as the driver does. `plan` belongs to an instruction, `state` to a
machine; `outs` lists arrays for what is loaded, `mask` is an array of predicates, or null for all
threads. PROBE finds where the lanes go, asks whether numpy would find anything wrong with that, and
remembers it as numpy would (`stamping`); MOVE moves the data (`move_forms`). The answer is DONE;
OUTSIDE, where a lane leaves the range that the plan has; NEW, where PATTERN asks whether the banks
are asked as they were the last time, and they are not; or REFUSED, where numpy has to execute it.
In the last case nothing has been changed.

Most warps' lanes access bytes that follow each other. Of such a warp only the first offset is
noted, in `firsts`; of others there are TOUCHES_NOTHING or APART, and all offsets in `offsets`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tilec.isa import LANES

from . import driver
from .lanes import BITS, BYTES, LONGS, Lanes, iota, splat

DONE, OUTSIDE, REFUSED = 0, 1, 2
NEW = 4
PROBE, MOVE, PATTERN = 1, 2, 4
APART, TOUCHES_NOTHING = -1, -2

MOST = 8
"""Elements of a vector at most."""

PLAN = (
    "address", "added", "position", "low", "high", "rows", "known", "same", "requests", "sectors",
    "lowest", "of_ctas", "of_warps", "of_lanes", "pattern", "outputs", "table",
    *(f"{field}{n}" for field in ("slot", "out", "entry") for n in range(MOST)),
)  # fmt: skip
"""Fields of a plan, 8 bytes each: the slot of the address; what is added to it; the position of the
instruction; the range of legal offsets; how many CTAs are looked at, since they differ in what they
access; whether it is known what banks were asked the last time, and whether it is the same ones;
what was found: the warps that access anything, their sectors, the least offset; the extents of what
is loaded; a pointer to what banks were asked the last time; of a load, the driver's table of its
outputs, whose values are the numbers of elements; of a store, the slots of its values; and of each
element loaded where it goes, and its entry in the table. Entries of the driver's follow, of the
address, of the mask and of the values."""
SIZE_OF_ENTRY = driver.INPUT.index("size")
ENTRIES = 8 * len(PLAN)
ENTRY = 8 * len(driver.INPUT)
PLAN_BYTES = ENTRIES + ENTRY * (2 + MOST)

STATE = (
    "types", "memory", "base", "stride", "offsets", "firsts", "stamps", "written", "read", "writer",
    "reader", "stamp", "seen", "floor", "granules", "shift", "clocks", "values",
    *driver.SHARED,
)  # fmt: skip
"""Fields of a state, 8 bytes each: the driver's table of types; the bytes of memory; where shared
memory begins, and how much of it a CTA has; room for offsets, for the first of each warp and for
stamps; then of the checks (`tilec.sim.checks.shared`) the stamps and the instructions that made
them, the threads' own stamps, what warps have seen and what all have, the granules of a CTA, the
log2 of their bytes, and how many CTAs have clocks; where values that are stored are kept, or null;
then functions of the driver."""
_POINTERS = {"types", "memory", "offsets", "firsts", "stamps", "written", "read", "writer",
             "reader", "stamp", "seen", "pattern", "table", "values", *driver.SHARED}  # fmt: skip

_MOST, _LEAST = (1 << 63) - 1, -(1 << 63)
_NOBODY = -1
"""The offset of a lane that takes no part."""
_IN_ONE_PIECE = -3
"""Follows the first offset of a warp in a pattern, in place of the second lane's."""
_SECTOR_SHIFT, _LINE = 5, -128

DECLARED = (
    frozenset(
        f"declare i64 @llvm.vector.reduce.{op}.v{LANES}i64({LONGS})"
        for op in ("smin", "smax", "or")
    )
    | {f"declare i64 @llvm.{op}.i64(i64, i64)" for op in ("smin", "smax")}
    | {"declare i32 @llvm.ctpop.i32(i32)"}
)
"""What the functions declare."""


@dataclass(frozen=True, slots=True)
class Form:
    """What is compiled of its own.

    Attributes:
        shared: whether it accesses shared memory, else global.
        store: whether it stores.
        address: bits of the address register.
        bits: bits of an element.
        count: elements.
        checked: whether there are checks.
        pending: whether what is stored is of a copy that has to be waited for, where there are.
    """

    shared: bool
    store: bool
    address: int
    bits: int
    count: int
    checked: bool
    pending: bool = False

    @property
    def size(self) -> int:
        """Bytes of a thread."""
        return self.bits * self.count // 8

    @property
    def name(self) -> str:
        """The function's name."""
        what, space = "st" if self.store else "ld", "shared" if self.shared else "global"
        checked = "_checked" if self.checked else ""
        pending = "_pending" if self.pending else ""
        return f"{what}_{space}_v{self.count}_b{self.bits}_of_{self.address}{checked}{pending}"


class AccessText(Lanes):
    """The text of a form's function: where its lanes go."""

    def __init__(self, form: Form) -> None:
        super().__init__(
            f"define i64 @{form.name}(ptr %plan, ptr %state, ptr %registers, ptr %outs, "
            "ptr %mask, i64 %ctas, i64 %warps, i64 %phase)"
        )
        self.form = form
        self.plan = {
            name: self._field("%plan", PLAN, name) for name in PLAN if not name[-1].isdigit()
        }
        self.state = {name: self._field("%state", STATE, name) for name in STATE}
        self.masked = self.is_("ne", "%mask", "null", "ptr")

    def _field(self, of: str, fields: tuple[str, ...], name: str) -> str:
        return self.load(of, 8 * fields.index(name), "ptr" if name in _POINTERS else "i64")

    def note(self, name: str, value: str | int) -> None:
        """Write a field of the plan."""
        self.store("i64", value, "%plan", 8 * PLAN.index(name))

    def describe(self) -> None:
        """Find the registers' arrays, and how many CTAs have to be looked at."""
        registers = self.load("%registers", driver.ITEMS, "ptr")
        slots = [(0, PLAN.index("address"))]
        if self.form.store:
            slots += [(2 + n, PLAN.index(f"slot{n}")) for n in range(self.form.count)]
        for entry, at in slots:
            slot = self.load("%plan", 8 * at)
            self._describe(self.load(registers, self.op("mul", slot, 8), "ptr"), entry)
        by_cta = self.variable(driver.get(self, self._entry(0), "of_cta"))
        with self.when(self.masked):
            self._describe("%mask", 1)
            more = driver.get(self, self._entry(1), "of_cta")
            self.do(f"store i64 {self.op('or', self.load(by_cta), more)}, ptr {by_cta}")
        varies = self.is_("ne", self.load(by_cta), 0)
        rows = self.value(f"select i1 {varies}, i64 %ctas, i64 1")
        if self.form.shared and self.form.checked:
            clocks = self.state["clocks"]
            fewer = self.is_("ne", clocks, "%ctas")
            with self.when(self.both(varies, fewer)):
                self.leave(REFUSED)
            rows = clocks
        self.note("rows", rows)

    def _describe(self, array: str, number: int) -> None:
        found, types = self._entry(number), self.state["types"]
        given = f"ptr {array}, ptr {found}, ptr {types}"
        kind = self.value(f"call i64 {self.state['describe']}({given})")
        with self.when(self.is_("eq", kind, 0)):
            self.leave(REFUSED)

    def _entry(self, number: int) -> str:
        return self.at("%plan", ENTRIES + ENTRY * number)

    def _gather(self, number: int, bits: int, cta: str, warp: str) -> str:
        """Where the lanes of a warp have an entry, one after the other."""
        entry = self._entry(number)
        from_ = driver.place_of(self, entry, cta, warp)
        stride = driver.get(self, entry, "of_lane")
        room = self._room(f"<{LANES} x i{bits}>")
        apart = self.is_("ne", stride, bits // 8)
        with self.when(apart):
            copy = self.state[f"copy{bits // 8}"]
            self.do(f"call void {copy}(ptr {room}, ptr {from_}, i64 {stride})")
        return self.value(f"select i1 {apart}, ptr {room}, ptr {from_}")

    def _room(self, type_: str) -> str:
        name = self._new("%room")
        self.slots.append(f"{name} = alloca {type_}, align 64")
        return name

    def _vector(self, number: int, bits: int, cta: str, warp: str) -> str:
        """What the lanes of a warp have of an entry."""
        at = self._gather(number, bits, cta, warp)
        return self.value(f"load <{LANES} x i{bits}>, ptr {at}, align {bits // 8}")

    @contextmanager
    def rows(self) -> Iterator[tuple[str, str, str]]:
        """All warps that are looked at: gives the CTA, the warp and their number."""
        rows = self.load("%plan", 8 * PLAN.index("rows"))
        with self.loop(rows) as cta, self.loop("%warps") as warp:
            yield cta, warp, self.op("add", self.op("mul", cta, "%warps"), warp)

    def offsets(self, number: str) -> str:
        """The offsets of a warp whose lanes are apart."""
        at = self.at(self.state["offsets"], self.op("mul", number, 8 * LANES))
        return self.load_longs(at)

    def first(self, number: str) -> str:
        """The first offset of a warp whose lanes access bytes that follow each other; or why."""
        return self.load(self.state["firsts"], self.op("mul", number, 8))

    # Where the lanes go

    def locate(self) -> None:
        """Note the offsets, and leave if any is not legal."""
        form = self.form
        low, high, ones = self.variable(_MOST), self.variable(_LEAST), self.variable()

        def collect(least: str, most: str, together: str) -> None:
            for variable, op, value in ((low, "smin", least), (high, "smax", most)):
                before = self.load(variable)
                new = self.value(f"call i64 @llvm.{op}.i64(i64 {before}, i64 {value})")
                self.do(f"store i64 {new}, ptr {variable}")
            self.do(f"store i64 {self.op('or', self.load(ones), together)}, ptr {ones}")

        with self.rows() as (cta, warp, number):
            offset = self._offset(cta, warp)
            takes = self.variable((1 << LANES) - 1)
            with self.when(self.masked):
                bytes_ = self._vector(1, 8, cta, warp)
                bits = self.value(f"icmp ne {BYTES} {bytes_}, zeroinitializer")
                short = self.value(f"bitcast {BITS} {bits} to i32")
                self.do(f"store i64 {self.value(f'zext i32 {short} to i64')}, ptr {takes}")
            taking = self.load(takes)
            first = self.value(f"extractelement {LONGS} {offset}, i64 0")
            expected = self.lanes("add", LONGS, self.spread(LONGS, "i64", first), iota(form.size))
            follow = self.all(self.lanes("icmp eq", LONGS, offset, expected))
            whole = self.both(follow, self.is_("eq", taking, (1 << LANES) - 1))
            whole = self.both(whole, self.is_("sge", first, 0))
            # Nor may the last one's be negative: addresses wrap.
            whole = self.both(whole, self.is_("sle", first, _MOST - (LANES - 1) * form.size))
            none = self.is_("eq", taking, 0)
            other = self.value(f"select i1 {none}, i64 {TOUCHES_NOTHING}, i64 {APART}")
            mark = self.value(f"select i1 {whole}, i64 {first}, i64 {other}")
            self.store("i64", mark, self.state["firsts"], self.op("mul", number, 8))
            with self.when(whole):
                collect(first, self.op("add", first, (LANES - 1) * form.size), first)
            with self.when(self.is_("eq", mark, APART)):
                short = self.value(f"trunc i64 {taking} to i32")
                active = self.value(f"bitcast i32 {short} to {BITS}")
                at = self.at(self.state["offsets"], self.op("mul", number, 8 * LANES))
                self.store_longs(self.select(active, LONGS, offset, splat(_NOBODY)), at)
                found = (
                    self.reduce(op, LONGS, "i64", self.select(active, LONGS, offset, other))
                    for op, other in (
                        ("smin", splat(_MOST)),
                        ("smax", splat(_LEAST)),
                        ("or", "zeroinitializer"),
                    )
                )
                collect(*found)
        least, most = self.load(low), self.load(high)
        odd = self.is_("ne", self.op("and", self.load(ones), form.size - 1), 0)
        with self.when(self.value(f"or i1 {self.is_('eq', most, _LEAST)}, {odd}")):
            self.leave(REFUSED)
        self.note("lowest", least)
        below = self.is_("slt", least, self.plan["low"])
        end = self.op("sub", self.plan["high"], form.size)
        with self.when(self.value(f"or i1 {below}, {self.is_('sgt', most, end)}")):
            self.leave(OUTSIDE)

    def _offset(self, cta: str, warp: str) -> str:
        """The offsets that the addresses of a warp stand for."""
        bits, added = self.form.address, self.plan["added"]
        given = self._vector(0, bits, cta, warp)
        if bits == 32 and self.form.shared:  # where addresses wrap
            short = f"<{LANES} x i32>"
            more = self.spread(short, "i32", self.value(f"trunc i64 {added} to i32"))
            sum_ = self.lanes("add", short, given, more)
            return self.value(f"zext {short} {sum_} to {LONGS}")
        if bits == 32:
            given = self.value(f"zext <{LANES} x i32> {given} to {LONGS}")
        return self.lanes("add", LONGS, given, self.spread(LONGS, "i64", added))

    def compare(self) -> None:
        """Whether the banks are asked as they were the last time."""
        base = self.op("and", self.load("%plan", 8 * PLAN.index("lowest")), _LINE)
        moved, other = self.spread(LONGS, "i64", base), self.variable()

        def differs(now: str, then: str) -> None:
            more = self.op("xor", now, then)
            self.do(f"store i64 {self.op('or', self.load(other), more)}, ptr {other}")

        with self.rows() as (_, _, number):
            first = self.first(number)
            at = self.at(self.plan["pattern"], self.op("mul", number, 8 * LANES))
            apart = self.is_("eq", first, APART)
            with self.when(self.value(f"xor i1 {apart}, true")):
                relative = self.op("sub", first, base)
                nothing = self.is_("eq", first, TOUCHES_NOTHING)
                now = self.value(f"select i1 {nothing}, i64 {_NOBODY}, i64 {relative}")
                differs(now, self.load(at))
                differs(str(_IN_ONE_PIECE), self.load(at, 8))
                self.store("i64", now, at)
                self.store("i64", _IN_ONE_PIECE, at, 8)
            with self.when(apart):
                offset = self.offsets(number)
                active = self.lanes("icmp sge", LONGS, offset, "zeroinitializer")
                relative = self.lanes("sub", LONGS, offset, moved)
                now = self.select(active, LONGS, relative, splat(_NOBODY))
                changed = self.lanes("xor", LONGS, now, self.load_longs(at))
                self.store_longs(now, at)
                differs(self.reduce("or", LONGS, "i64", changed), "0")
        same = self.both(self.is_("eq", self.load(other), 0), self.is_("ne", self.plan["known"], 0))
        self.note("same", self.value(f"zext i1 {same} to i64"))
        with self.when(self.value(f"xor i1 {same}, true")):
            self.note("known", 0)

    def count_sectors(self) -> None:
        """Count the warps that access anything, and the sectors of each."""
        requests, sectors = self.variable(), self.variable()

        def count(variable: str, more: str | int) -> None:
            self.do(f"store i64 {self.op('add', self.load(variable), more)}, ptr {variable}")

        with self.rows() as (_, _, number):
            first = self.first(number)
            some = self.is_("ne", first, TOUCHES_NOTHING)
            count(requests, self.value(f"zext i1 {some} to i64"))
            with self.when(self.is_("sge", first, 0)):
                last = self.op("add", first, (LANES - 1) * self.form.size)
                ends = (self.op("lshr", x, _SECTOR_SHIFT) for x in (last, first))
                # Each sector of the range is one where a lane begins.
                whole = self.op("add", self.op("sub", *ends), 1)
                count(sectors, whole if self.form.size <= 1 << _SECTOR_SHIFT else LANES)
            with self.when(self.is_("eq", first, APART)):
                self._count_apart(self.offsets(number), lambda more: count(sectors, more))
        self.note("requests", self.load(requests))
        self.note("sectors", self.load(sectors))

    def _count_apart(self, offset: str, count: Callable[[str], None]) -> None:
        """Count the sectors of lanes that are apart."""
        shifted = self.lanes("ashr", LONGS, offset, splat(_SECTOR_SHIFT))
        before = ", ".join(f"i32 {max(lane - 1, 0)}" for lane in range(LANES))
        previous = self.value(
            f"shufflevector {LONGS} {shifted}, {LONGS} poison, <{LANES} x i32> <{before}>"
        )
        rises = self.all(self.lanes("icmp sge", LONGS, shifted, previous))
        all_ = self.all(self.lanes("icmp sge", LONGS, offset, "zeroinitializer"))
        sorted_ = self.both(rises, all_)
        with self.when(sorted_):
            new = self.lanes("icmp ne", LONGS, shifted, previous)
            bits = self.value(f"bitcast {BITS} {new} to i32")
            many = self.value(f"call i32 @llvm.ctpop.i32(i32 {bits})")
            count(self.op("add", self.value(f"zext i32 {many} to i64"), 1))
        with self.when(self.value(f"xor i1 {sorted_}, true")):
            # A lane counts if none before it begins in its sector.
            room = self._room(LONGS)
            self.put(LONGS, shifted, room)
            with self.loop(LANES) as lane:
                mine = self.load(room, self.op("mul", lane, 8))
                alike = self.lanes("icmp eq", LONGS, shifted, self.spread(LONGS, "i64", mine))
                bits = self.value(f"bitcast {BITS} {alike} to i32")
                short = self.value(f"trunc i64 {lane} to i32")
                before = self.value(f"sub i32 {self.value(f'shl i32 1, {short}')}, 1")
                none = self.is_("eq", self.value(f"and i32 {bits}, {before}"), 0, "i32")
                new = self.both(none, self.is_("sge", mine, 0))
                count(self.value(f"zext i1 {new} to i64"))
