"""The checks of global memory in LLVM IR: which lanes touch segments together, and which apart."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tilec.isa import LANES

from .access_forms import APART, TOUCHES_NOTHING
from .access_forms import PLAN as ACCESS
from .global_tables import EPOCHS_OF_ROW, LOG, PLAN, POINTERS, ROW
from .lanes import BITS, LONGS, Lanes, iota, splat

ALL = (1 << LANES) - 1
_BEFORE = f"<{LANES} x i32> <{', '.join(f'i32 {max(lane - 1, 0)}' for lane in range(LANES))}>"


class GlobalLanes(Lanes):
    """A function that reads a plan of `global_tables`.

    A segment has a power of two of lanes. Of a group of so many it is known whether they touch one
    as a whole; of other lanes, whether they touch what the lane before does not.
    """

    def __init__(self, head: str) -> None:
        super().__init__(head)
        self.given = {
            name: self.load("%plan", 8 * n, "ptr" if n < POINTERS else "i64")
            for n, name in enumerate(PLAN)
        }
        given = self.given
        given["rows"] = self.load(given["accessed"], 8 * ACCESS.index("rows"))
        for n, name in enumerate(ROW):
            pointer = name in EPOCHS_OF_ROW
            given[name] = self.load(given["row"], 8 * n, "ptr" if pointer else "i64")
        self.period = self.load(given["log"], 8 * LOG.index("period"))
        self.stores = self.is_("ne", given["stores"], 0)
        self.loads = self.not_(self.stores)
        self.log_size = self.value(f"call i64 @llvm.cttz.i64(i64 {given['size']}, i1 true)")
        self.each_bits = self.op("sub", given["shift"], self.log_size)
        self.each = self.op("shl", 1, self.each_bits)
        self.groups = self.op("lshr", LANES, self.each_bits)
        self.segments = self._room()
        # The place of each lane in its segment, where its group of lanes touches all of one.
        self.inside = self.op("sub", self.op("shl", 1, given["shift"]), 1)
        self.mask = self.spread(LONGS, "i64", self.inside)
        size = self.spread(LONGS, "i64", given["size"])
        self.expected = self.lanes("and", LONGS, self.lanes("mul", LONGS, size, iota(1)), self.mask)
        self.start = self.spread(LONGS, "i64", given["start"])
        self.shift = self.spread(LONGS, "i64", given["shift"])

    def _room(self) -> str:
        name = self._new("%room")
        self.slots.append(f"{name} = alloca {LONGS}, align 64")
        return name

    def not_(self, condition: str) -> str:
        """Whether a condition does not hold."""
        return self.value(f"xor i1 {condition}, true")

    def of_row(self, name: str, at: str) -> str:
        """An epoch or mark of the allocation."""
        return self.load(self.given[name], at)

    def flag(self, name: str, more: str | int) -> None:
        """Set bits of a field of the allocation."""
        row, at = self.given["row"], 8 * ROW.index(name)
        self.store("i64", self.op("or", self.load(row, at), more), row, at)

    # Warps

    @contextmanager
    def warps(self, ctas: str) -> Iterator[tuple[str, str]]:
        """All warps of so many CTAs: the number, and that of the one that has its offsets."""
        given = self.given
        one = self.is_("eq", given["rows"], 1)
        with self.loop(ctas) as cta, self.loop(given["warps"]) as warp:
            row = self.value(f"select i1 {one}, i64 0, i64 {cta}")
            numbers = [self.op("add", self.op("mul", n, given["warps"]), warp) for n in (cta, row)]
            yield numbers[0], numbers[1]

    def first(self, number: str) -> str:
        """The first offset of a warp whose lanes follow each other, or why there is none."""
        return self.load(self.given["firsts"], self.op("mul", number, 8))

    def offsets(self, number: str) -> str:
        """The offsets of a warp whose lanes are apart."""
        return self.load_longs(self.at(self.given["offsets"], self.op("mul", number, 8 * LANES)))

    def place(self, number: str, first: str, lane: str) -> str:
        """Where a lane touches the allocation; negative where it takes no part."""
        thread = self.op("add", self.op("mul", number, LANES), lane)
        moved = self.op("add", first, self.op("shl", lane, self.log_size))
        found = self.variable(moved)
        with self.when(self.is_("slt", first, 0)):
            one = self.load(self.given["offsets"], self.op("mul", thread, 8))
            self.do(f"store i64 {one}, ptr {found}")
        return self.op("sub", self.load(found), self.given["start"])

    # Which lanes

    def sort(self, number: str) -> tuple[str, str]:
        """The groups of a warp that touch segments as a whole, and lanes that do not, as bits."""
        first, given = self.first(number), self.given
        place = self.op("sub", first, given["start"])
        follows = self.is_("sge", first, 0)
        even = self.both(self.is_("eq", self.op("and", place, self.inside), 0), follows)
        odd = self.both(self.not_(even), follows)
        everything = self.op("sub", self.op("shl", 1, self.groups), 1)
        wholes = self.variable(self.value(f"select i1 {even}, i64 {everything}, i64 0"))
        apart = self.variable(self.value(f"select i1 {odd}, i64 {ALL}, i64 0"))
        with self.when(self.is_("eq", first, APART)):
            self._sort(self.offsets(number), wholes, apart)
        return self.load(wholes), self.load(apart)

    def _sort(self, offsets: str, wholes: str, apart: str) -> None:
        """The same of a warp whose lanes do not all follow each other."""
        places = self.lanes("sub", LONGS, offsets, self.start)
        inside = self.lanes("and", LONGS, places, self.mask)
        even = self.bits(self.lanes("icmp eq", LONGS, inside, self.expected))
        active = self.bits(self.lanes("icmp sge", LONGS, offsets, splat(0)))
        before = self.value(f"shufflevector {LONGS} {offsets}, {LONGS} poison, {_BEFORE}")
        new = self.bits(self.lanes("icmp ne", LONGS, offsets, before))
        new = self.op("and", self.op("or", new, 1), active)
        self.do(f"store i64 {new}, ptr {apart}")
        segments = self.lanes("lshr", LONGS, places, self.shift)
        self.store_longs(segments, self.segments)
        ones = self.op("sub", self.op("shl", 1, self.each), 1)
        good = self.op("and", active, even)
        with self.when(self.is_("ne", good, 0)), self.loop(self.groups) as group:
            lane = self.op("shl", group, self.each_bits)
            lanes = self.op("shl", ones, lane)
            here = self.op("and", good, lanes)
            with self.when(self.is_("eq", here, lanes)):
                segment = self.load(self.segments, self.op("mul", lane, 8))
                one = self.spread(LONGS, "i64", segment)
                alike = self.bits(self.lanes("icmp eq", LONGS, segments, one))
                with self.when(self.is_("eq", self.op("and", here, alike), lanes)):
                    bit = self.op("shl", 1, group)
                    self.do(f"store i64 {self.op('or', self.load(wholes), bit)}, ptr {wholes}")
                    rest = self.op("and", self.load(apart), self.op("xor", lanes, ALL))
                    self.do(f"store i64 {rest}, ptr {apart}")

    def bits(self, p: str) -> str:
        """A predicate as a number."""
        bits = self.value(f"bitcast {BITS} {p} to i32")
        return self.value(f"zext i32 {bits} to i64")

    def keep_sorted(self, number: str, wholes: str, apart: str) -> None:
        """Note what `sort` has found."""
        both = self.op("or", wholes, self.op("shl", apart, LANES))
        self.store("i64", both, self.given["wholes"], self.op("mul", number, 8))

    def sorted(self, number: str) -> tuple[str, str]:
        """What has been noted."""
        both = self.load(self.given["wholes"], self.op("mul", number, 8))
        return self.op("and", both, ALL), self.op("lshr", both, LANES)

    @contextmanager
    def each_bit(self, bits: str) -> Iterator[str]:
        """The places of the bits that are set."""
        left = self.variable(bits)
        with self.loop(self.value(f"call i64 @llvm.ctpop.i64(i64 {bits})")):
            now = self.load(left)
            yield self.value(f"call i64 @llvm.cttz.i64(i64 {now}, i1 true)")
            now = self.load(left)
            self.do(f"store i64 {self.op('and', now, self.op('sub', now, 1))}, ptr {left}")

    @contextmanager
    def whole_groups(self, number: str, wholes: str) -> Iterator[tuple[str, str]]:
        """Groups that touch segments as a whole: the first lane, and the segment."""
        first = self.first(number)
        with self.each_bit(wholes) as group:
            lane = self.op("shl", group, self.each_bits)
            yield lane, self.op("lshr", self.place(number, first, lane), self.given["shift"])

    @contextmanager
    def lanes_apart(self, number: str, apart: str) -> Iterator[str]:
        """Where lanes touch parts of segments."""
        first = self.first(number)
        with self.each_bit(apart) as lane:
            yield self.place(number, first, lane)

    @contextmanager
    def lanes_of(self, segment: str) -> Iterator[str]:
        """Where the lanes of a group touch all of a segment."""
        begin = self.op("shl", segment, self.given["shift"])
        with self.loop(self.each) as lane:
            yield self.op("add", begin, self.op("shl", lane, self.log_size))


assert TOUCHES_NOTHING < 0  # so that such a warp has neither groups nor lanes
