"""Loads and stores in LLVM IR: all lanes of a wave, with the checks of shared memory.

    access(plan, state, registers, outs, mask, ctas, warps, phase) -> i64

It reads Python's objects as the driver does. `plan` belongs to an instruction, `state` to a
machine; `outs` lists arrays for what is loaded, `mask` is an array of predicates. PROBE finds where
the lanes go, asks whether numpy would find anything wrong with that, and remembers it as numpy
would (`stamping`); MOVE moves the data. The answer is DONE; OUTSIDE, where a lane leaves the range
that is known to be legal; or REFUSED, where numpy has to look closer. In the last two cases it has
changed nothing but its own notes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tilec.isa import LANES

from . import driver
from .lanes import LONGS, Lanes, iota, splat

DONE, OUTSIDE, REFUSED = 0, 1, 2
PROBE, MOVE = 1, 2

MOST = 8
"""Elements of a vector at most."""

PLAN = (
    "address", "added", "position", "low", "high", "rows", "same", "requests", "sectors",
    "lowest", "of_ctas", "of_warps", "of_lanes", "pattern", "slots",
)  # fmt: skip
"""Fields of a plan, 8 bytes each: the slot of the address; what is added to it; the position of the
instruction; the range of legal offsets; how many CTAs are looked at, since they differ in what they
access; what was found: whether all banks are asked as they were the last time, the warps that
access anything, their sectors, the least offset; the extents of what is loaded; a pointer to what
banks were asked the last time; of a store, the slots of its values. Entries of the driver's follow,
of the address, of the mask and of the values."""
SIZE_OF_ENTRY = driver.INPUT.index("size")
ENTRIES = 8 * (len(PLAN) - 1 + MOST)
ENTRY = 8 * len(driver.INPUT)
PLAN_BYTES = ENTRIES + ENTRY * (2 + MOST)

STATE = (
    "types", "memory", "base", "stride", "offsets", "stamps", "written", "read", "writer", "reader",
    "stamp", "seen", "floor", "granules", "shift", *driver.SHARED,
)  # fmt: skip
"""Fields of a state, 8 bytes each: the driver's table of types; the bytes of memory; where shared
memory begins, and how much of it a CTA has; room for offsets and for stamps; then of the checks
(`tilec.sim.checks.shared`) the stamps and the instructions that made them, the threads' own stamps,
what warps have seen and what all have, the granules of a CTA, and the log2 of their bytes; then
functions of the driver."""
_POINTERS = {"types", "memory", "offsets", "stamps", "written", "read", "writer", "reader",
             "stamp", "seen", "pattern", *driver.SHARED}  # fmt: skip

_MOST, _LEAST = (1 << 63) - 1, -(1 << 63)
_NOBODY = -1
"""The offset of a lane that takes no part."""
_SECTOR_SHIFT, _LINE = 5, -128

DECLARED = frozenset(
    f"declare i64 @llvm.vector.reduce.{op}.v{LANES}i64({LONGS})" for op in ("smin", "smax", "or")
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
    """

    shared: bool
    store: bool
    address: int
    bits: int
    count: int
    checked: bool

    @property
    def size(self) -> int:
        """Bytes of a thread."""
        return self.bits * self.count // 8

    @property
    def name(self) -> str:
        """The function's name."""
        what, space = "st" if self.store else "ld", "shared" if self.shared else "global"
        checked = "_checked" if self.checked else ""
        return f"{what}_{space}_v{self.count}_b{self.bits}_of_{self.address}{checked}"


class AccessText(Lanes):
    """The text of a form's function: where its lanes go, and moving the data."""

    def __init__(self, form: Form) -> None:
        super().__init__(
            f"define i64 @{form.name}(ptr %plan, ptr %state, ptr %registers, ptr %outs, "
            "ptr %mask, i64 %ctas, i64 %warps, i64 %phase)"
        )
        self.form = form
        self.plan = {name: self._field("%plan", PLAN, name) for name in PLAN}
        self.state = {name: self._field("%state", STATE, name) for name in STATE}
        self.number = self.op("mul", self.plan["rows"], "%warps")

    def _field(self, of: str, fields: tuple[str, ...], name: str) -> str:
        return self.load(of, 8 * fields.index(name), "ptr" if name in _POINTERS else "i64")

    def note(self, name: str, value: str) -> None:
        """Write a field of the plan."""
        self.store("i64", value, "%plan", 8 * PLAN.index(name))

    def describe(self) -> None:
        """Find the registers' arrays."""
        registers = self.load("%registers", driver.ITEMS, "ptr")
        slots = [(0, PLAN.index("address"))]
        if self.form.store:
            slots += [(2 + n, PLAN.index("slots") + n) for n in range(self.form.count)]
        arrays = [("%mask", 1)]
        for entry, at in slots:
            slot = self.load("%plan", 8 * at)
            arrays.append((self.load(registers, self.op("mul", slot, 8), "ptr"), entry))
        for array, number in arrays:
            found = self._entry(number)
            types = self.state["types"]
            kind = self.value(
                f"call i64 {self.state['describe']}(ptr {array}, ptr {found}, ptr {types})"
            )
            with self.when(self.is_("eq", kind, 0)):
                self.leave(REFUSED)

    def _entry(self, number: int) -> str:
        return self.at("%plan", ENTRIES + ENTRY * number)

    def _gather(self, number: int, bits: int, cta: str, warp: str) -> str:
        """What the lanes of a warp have of an entry, as a pointer to it."""
        entry = self._entry(number)
        to = self.keep(f"<{LANES} x i{bits}>", "zeroinitializer")
        from_ = driver.place_of(self, entry, cta, warp)
        stride = driver.get(self, entry, "of_lane")
        copy = self.state[f"copy{bits // 8}"]
        self.do(f"call void {copy}(ptr {to}, ptr {from_}, i64 {stride})")
        return to

    @contextmanager
    def rows(self) -> Iterator[tuple[str, str, str]]:
        """All warps that are looked at: gives the CTA, the warp and their number."""
        with self.loop(self.plan["rows"]) as cta, self.loop("%warps") as warp:
            yield cta, warp, self.op("add", self.op("mul", cta, "%warps"), warp)

    def offsets(self, number: str) -> str:
        """The offsets of a warp."""
        at = self.at(self.state["offsets"], self.op("mul", number, 8 * LANES))
        return self.load_longs(at)

    def first(self, offsets: str) -> str:
        """The offset of lane 0."""
        return self.value(f"extractelement {LONGS} {offsets}, i64 0")

    def together(self, offsets: str) -> str:
        """Whether lanes access bytes that follow each other; then none of them is inactive."""
        first = self.spread(LONGS, "i64", self.first(offsets))
        expected = self.lanes("add", LONGS, first, iota(self.form.size))
        return self.all(self.lanes("icmp eq", LONGS, offsets, expected))

    # Where the lanes go

    def locate(self) -> None:
        """Note the offsets, and leave if any is not legal."""
        low, high = self.keep(LONGS, splat(_MOST)), self.keep(LONGS, splat(_LEAST))
        ones = self.keep(LONGS, "zeroinitializer")
        with self.rows() as (cta, warp, number):
            offset = self._offset(cta, warp)
            taking = self.get(f"<{LANES} x i8>", self._gather(1, 8, cta, warp))
            active = self.value(f"icmp ne <{LANES} x i8> {taking}, zeroinitializer")
            at = self.at(self.state["offsets"], self.op("mul", number, 8 * LANES))
            self.store_longs(self.select(active, LONGS, offset, splat(_NOBODY)), at)
            for variable, op, other in ((low, "slt", _MOST), (high, "sgt", _LEAST)):
                one = self.select(active, LONGS, offset, splat(other))
                before = self.get(LONGS, variable)
                new = self.lanes(f"icmp {op}", LONGS, one, before)
                self.put(LONGS, self.select(new, LONGS, one, before), variable)
            one = self.select(active, LONGS, offset, "zeroinitializer")
            self.put(LONGS, self.lanes("or", LONGS, self.get(LONGS, ones), one), ones)
        least = self.reduce("smin", LONGS, "i64", self.get(LONGS, low))
        most = self.reduce("smax", LONGS, "i64", self.get(LONGS, high))
        together = self.reduce("or", LONGS, "i64", self.get(LONGS, ones))
        odd = self.is_("ne", self.op("and", together, self.form.size - 1), 0)
        with self.when(self.value(f"or i1 {self.is_('eq', most, _LEAST)}, {odd}")):
            self.leave(REFUSED)
        self.note("lowest", least)
        below = self.is_("slt", least, self.plan["low"])
        end = self.op("sub", self.plan["high"], self.form.size)
        with self.when(self.value(f"or i1 {below}, {self.is_('sgt', most, end)}")):
            self.leave(OUTSIDE)

    def _offset(self, cta: str, warp: str) -> str:
        """The offsets that the addresses of a warp stand for."""
        bits, added = self.form.address, self.plan["added"]
        given = self.get(f"<{LANES} x i{bits}>", self._gather(0, bits, cta, warp))
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
        moved, other = self.spread(LONGS, "i64", base), self.keep(LONGS, "zeroinitializer")
        with self.loop(self.number) as number:
            offset = self.offsets(number)
            active = self.lanes("icmp sge", LONGS, offset, "zeroinitializer")
            relative = self.lanes("sub", LONGS, offset, moved)
            now = self.select(active, LONGS, relative, splat(_NOBODY))
            at = self.at(self.plan["pattern"], self.op("mul", number, 8 * LANES))
            differs = self.lanes("xor", LONGS, now, self.load_longs(at))
            self.store_longs(now, at)
            self.put(LONGS, self.lanes("or", LONGS, self.get(LONGS, other), differs), other)
        same = self.is_("eq", self.reduce("or", LONGS, "i64", self.get(LONGS, other)), 0)
        self.note("same", self.value(f"zext i1 {same} to i64"))

    def count_sectors(self) -> None:
        """Count the warps that access anything, and the sectors of each."""
        requests, sectors = self.variable(), self.variable()

        def count(variable: str, more: str | int) -> None:
            self.do(f"store i64 {self.op('add', self.load(variable), more)}, ptr {variable}")

        with self.loop(self.number) as number:
            offset, single = self.offsets(number), self.variable(1)
            active = self.any(self.lanes("icmp sge", LONGS, offset, "zeroinitializer"))
            count(requests, self.value(f"zext i1 {active} to i64"))
            with self.when(self.together(offset)):
                self.do(f"store i64 0, ptr {single}")
                first = self.first(offset)
                last = self.op("add", first, (LANES - 1) * self.form.size)
                ends = (self.op("lshr", x, _SECTOR_SHIFT) for x in (last, first))
                # Each sector of the range is one where a lane begins.
                whole = self.op("add", self.op("sub", *ends), 1)
                count(sectors, whole if self.form.size <= 1 << _SECTOR_SHIFT else LANES)
            with self.when(self.is_("ne", self.load(single), 0)):
                # A lane counts if none before it begins in its sector.
                shifted = self.lanes("ashr", LONGS, offset, splat(_SECTOR_SHIFT))
                room = self.keep(LONGS, "zeroinitializer")
                self.put(LONGS, shifted, room)
                with self.loop(LANES) as lane:
                    mine = self.load(room, self.op("mul", lane, 8))
                    alike = self.lanes("icmp eq", LONGS, shifted, self.spread(LONGS, "i64", mine))
                    bits = self.value(f"bitcast <{LANES} x i1> {alike} to i32")
                    short = self.value(f"trunc i64 {lane} to i32")
                    before = self.value(f"sub i32 {self.value(f'shl i32 1, {short}')}, 1")
                    none = self.is_("eq", self.value(f"and i32 {bits}, {before}"), 0, "i32")
                    taking = self.is_("sge", mine, 0)
                    new = self.both(none, taking)
                    count(sectors, self.value(f"zext i1 {new} to i64"))
        self.note("requests", self.load(requests))
        self.note("sectors", self.load(sectors))

    # Moving the data

    def _from(self, cta: str, warp: str) -> tuple[str, str]:
        """Where the offsets of a warp are, and the bytes that they count from."""
        one = self.is_("eq", self.plan["rows"], 1)
        row = self.value(f"select i1 {one}, i64 0, i64 {cta}")
        number = self.op("add", self.op("mul", row, "%warps"), warp)
        memory = self.state["memory"]
        if self.form.shared:
            own = self.op("add", self.state["base"], self.op("mul", cta, self.state["stride"]))
            memory = self.at(memory, own)
        return self.at(self.state["offsets"], self.op("mul", number, 8 * LANES)), memory

    def move_in(self) -> None:
        """Load."""
        form = self.form
        bytes_, element = form.bits // 8, f"i{form.bits}"
        items = self.load("%outs", driver.ITEMS, "ptr")
        outs = [
            self.load(self.load(items, 8 * n, "ptr"), driver.DATA, "ptr") for n in range(form.count)
        ]
        ctas, warps, lanes = (self.plan[n] for n in ("of_ctas", "of_warps", "of_lanes"))
        with self.loop(ctas) as cta, self.loop(warps) as warp:
            offsets, memory = self._from(cta, warp)
            number = self.op("add", self.op("mul", cta, warps), warp)
            begin = self.op("mul", number, lanes)
            each = self.variable(1)
            if form.count == 1:
                offset = self.load_longs(offsets)
                full = self.is_("eq", lanes, LANES)
                with self.when(self.both(full, self.together(offset))):
                    self.do(f"store i64 0, ptr {each}")
                    type_ = f"<{LANES} x {element}>"
                    found = self.value(
                        f"load {type_}, ptr {self.at(memory, self.first(offset))}, align {bytes_}"
                    )
                    to = self.at(outs[0], self.op("mul", begin, bytes_))
                    self.do(f"store {type_} {found}, ptr {to}, align {bytes_}")
            with self.when(self.is_("ne", self.load(each), 0)), self.loop(lanes) as lane:
                offset = self.load(offsets, self.op("mul", lane, 8))
                at = self.op("mul", self.op("add", begin, lane), bytes_)
                taking = self.is_("sge", offset, 0)
                for out in outs:
                    self.store(element, 0, out, at)
                with self.when(taking):
                    for n, out in enumerate(outs):
                        here = self.op("add", offset, n * bytes_)
                        self.store(element, self.load(memory, here, element), out, at)

    def move_out(self) -> None:
        """Store; of several threads at one place the last one wins."""
        form = self.form
        bytes_, element = form.bits // 8, f"i{form.bits}"
        type_ = f"<{LANES} x {element}>"
        with self.loop("%ctas") as cta, self.loop("%warps") as warp:
            offsets, memory = self._from(cta, warp)
            values = [self._gather(2 + n, form.bits, cta, warp) for n in range(form.count)]
            each = self.variable(1)
            if form.count == 1:
                offset = self.load_longs(offsets)
                with self.when(self.together(offset)):
                    self.do(f"store i64 0, ptr {each}")
                    to = self.at(memory, self.first(offset))
                    found = self.get(type_, values[0])
                    self.do(f"store {type_} {found}, ptr {to}, align {bytes_}")
            with self.when(self.is_("ne", self.load(each), 0)), self.loop(LANES) as lane:
                offset = self.load(offsets, self.op("mul", lane, 8))
                with self.when(self.is_("sge", offset, 0)):
                    for n, value in enumerate(values):
                        one = self.load(value, self.op("mul", lane, bytes_), element)
                        here = self.op("add", offset, n * bytes_)
                        self.store(element, one, memory, here)
