"""The checks of global memory in LLVM IR, for lanes that touch segments together.

    watch(plan) -> i64

It takes the offsets of a load or store (`access_forms`), asks whether numpy would find that
anything has to be looked at (`checks.grid_races`, of two CTAs; `checks.whole_warps`, of two threads
of one), and remembers the access as numpy does. The answer is DONE, or REFUSED, where lanes
touch a part of a segment or CTAs may meet; then it has changed nothing that numpy sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tilec.isa import LANES

from ..checks.owners import CTA, CTAS
from ..checks.whole_warps import PERIOD, SEVERAL
from .access_forms import DONE, REFUSED
from .lanes import BITS, LONGS, Lanes, iota, splat

PLAN = (
    "offsets", "stamps", "writer", "reader", "second", "split", "written", "read", "scratch",
    "rows", "ctas", "warps", "size", "start", "shift", "period", "stores", "epochs", "readers",
    "suspect",
)  # fmt: skip
"""Fields, 8 bytes each: pointers to the offsets of the warps, to the epochs of the wave's warps, to
those of segments and which are split; to marks of segments; to room for epochs; how many CTAs have
offsets of their own; the CTAs, and warps of each; bytes of a lane; where the allocation begins; the
log2 of the bytes of a segment; the period; whether it stores; whether there are epochs, and
whether of reads. The last is set where two threads may have touched a byte."""
POINTERS = PLAN.index("rows")

NAME = "watch_global"
_CTA_BITS = (CTAS - 1) << CTA
_LANE_BITS, _SIZE_BITS = 5, 3


class _Text(Lanes):
    """The text of the function."""

    def __init__(self) -> None:
        super().__init__(f"define i64 @{NAME}(ptr %plan)")
        self.given = {
            name: self.load("%plan", 8 * n, "ptr" if n < POINTERS else "i64")
            for n, name in enumerate(PLAN)
        }
        given = self.given
        self.stores, self.epochs, self.readers = (
            self.is_("ne", given[name], 0) for name in ("stores", "epochs", "readers")
        )
        self.each = self.op("udiv", self.op("shl", 1, given["shift"]), given["size"])
        self.groups = self.op("udiv", LANES, self.each)
        self.segments = self._room()
        # The place of each lane in its segment, where its group of lanes touches all of one.
        self.mask = self.spread(LONGS, "i64", self.op("sub", self.op("shl", 1, given["shift"]), 1))
        size = self.spread(LONGS, "i64", given["size"])
        self.expected = self.lanes("and", LONGS, self.lanes("mul", LONGS, size, iota(1)), self.mask)
        self.start = self.spread(LONGS, "i64", given["start"])
        self.shift = self.spread(LONGS, "i64", given["shift"])
        self.own_period = self.op("shl", given["period"], PERIOD)
        self._look()
        self._remember()
        self.do(f"ret i64 {DONE}")

    def _room(self) -> str:
        name = self._new("%room")
        self.slots.append(f"{name} = alloca {LONGS}, align 64")
        return name

    def _look(self) -> None:
        """Leave if a group of lanes is not whole, or touches what another CTA has."""
        given = self.given
        with self._warps(given["ctas"]) as (cta, warp, at):
            offsets = self.load_longs(at)
            places = self.lanes("sub", LONGS, offsets, self.start)
            inside = self.lanes("and", LONGS, places, self.mask)
            even = self._bits(self.lanes("icmp eq", LONGS, inside, self.expected))
            active = self._bits(self.lanes("icmp sge", LONGS, offsets, splat(0)))
            segments = self.lanes("lshr", LONGS, places, self.shift)
            self.store_longs(segments, self.segments)
            who = self.op("add", self.op("mul", cta, given["warps"]), warp)
            ones = self.op("sub", self.op("shl", 1, self.each), 1)
            with self.loop(self.groups) as group:
                lane = self.op("mul", group, self.each)
                lanes = self.op("shl", ones, lane)
                here = self.op("and", active, lanes)
                with self.when(self.is_("ne", here, 0)):
                    segment = self.load(self.segments, self.op("mul", lane, 8))
                    one = self.spread(LONGS, "i64", segment)
                    alike = self._bits(self.lanes("icmp eq", LONGS, segments, one))
                    whole = self.op("and", self.op("and", here, even), alike)
                    with self.when(self.is_("ne", whole, lanes)):
                        self.leave(REFUSED)
                    self._look_at(self.op("mul", segment, 8), who)

    def _remember(self) -> None:
        """Leave epochs and marks, or leave if CTAs store to a segment at once."""
        given = self.given
        counter = self.variable()
        with self._segments(given["ctas"]) as (cta, warp, lane, at):
            who = self.op("add", self.op("mul", cta, given["warps"]), warp)
            self._remember_at(at, who, lane, counter)
        forgets = self.both(self.stores, self.both(self.epochs, self.readers))
        # What has read the segments that are written no longer matters.
        with self.when(forgets), self._segments(given["rows"]) as (_, _, _, at):
            for name in ("reader", "second"):
                self.store("i64", 0, given[name], at)

    @contextmanager
    def _warps(self, ctas: str) -> Iterator[tuple[str, str, str]]:
        """The CTA, the warp, and where its offsets are."""
        given = self.given
        with self.loop(ctas) as cta, self.loop(given["warps"]) as warp:
            one = self.is_("eq", given["rows"], 1)
            row = self.value(f"select i1 {one}, i64 0, i64 {cta}")
            number = self.op("add", self.op("mul", row, given["warps"]), warp)
            yield cta, warp, self.at(given["offsets"], self.op("mul", number, 8 * LANES))

    @contextmanager
    def _segments(self, ctas: str) -> Iterator[tuple[str, str, str, str]]:
        """Segments that warps touch: the CTA, the warp, the first lane, and the place of epochs."""
        with self._warps(ctas) as (cta, warp, offsets), self.loop(self.groups) as group:
            lane = self.op("mul", group, self.each)
            first = self.load(offsets, self.op("mul", lane, 8))
            with self.when(self.is_("sge", first, 0)):
                place = self.op("sub", first, self.given["start"])
                segment = self.op("lshr", place, self.given["shift"])
                yield cta, warp, lane, self.op("mul", segment, 8)

    def _bits(self, p: str) -> str:
        """A predicate as a number."""
        bits = self.value(f"bitcast {BITS} {p} to i32")
        return self.value(f"zext i32 {bits} to i64")

    def _stamp(self, who: str) -> str:
        return self.load(self.given["stamps"], self.op("mul", who, 8))

    def _foreign(self, epoch: str, stamp: str) -> str:
        """Whether an epoch is of another CTA."""
        differs = self.op("and", self.op("xor", epoch, stamp), _CTA_BITS)
        return self.both(self.is_("ne", differs, 0), self.is_("ne", epoch, 0))

    def _look_at(self, at: str, who: str) -> None:
        """Leave if a segment is split, or another CTA's."""
        given = self.given
        with self.when(self.epochs):
            split = self.load(given["split"], self.op("lshr", at, 3), "i8")
            with self.when(self.is_("ne", split, 0, "i8")):
                self.leave(REFUSED)
            stamp = self._stamp(who)
            with self.when(self._foreign(self.load(given["writer"], at), stamp)):
                self.leave(REFUSED)
            with self.when(self.both(self.stores, self.readers)):
                for name in ("reader", "second"):
                    with self.when(self._foreign(self.load(given[name], at), stamp)):
                        self.leave(REFUSED)

    def _remember_at(self, at: str, who: str, lane: str, counter: str) -> None:
        given = self.given
        with self.when(self.epochs):
            stamp = self._stamp(who)
            with self.when(self.stores):
                before = self.load(given["writer"], at)
                with self.when(self._foreign(before, stamp)):
                    # Of another CTA, by this very instruction.
                    self._take_back(counter)
                    self.leave(REFUSED)
                done = self.load(counter)
                room = self.at(given["scratch"], self.op("mul", done, 16))
                self.store("i64", at, room)
                self.store("i64", before, room, 8)
                self.do(f"store i64 {self.op('add', done, 1)}, ptr {counter}")
                self.store("i64", stamp, given["writer"], at)
            with self.when(self.value(f"xor i1 {self.stores}, true")):
                reader = self.load(given["reader"], at)
                with self.when(self._foreign(reader, stamp)):
                    self.store("i64", reader, given["second"], at)
                self.store("i64", stamp, given["reader"], at)
        # Whether it was this thread that touched it before.
        size = self.value(f"call i64 @llvm.cttz.i64(i64 {given['size']}, i1 true)")
        own = self.op("or", self.op("shl", size, _LANE_BITS), lane)
        own = self.op("or", self.op("shl", who, _LANE_BITS + _SIZE_BITS), own)
        mark = self.op("or", self.own_period, own)
        written, read = (self.load(given[name], at) for name in ("written", "read"))
        others = [
            self.both(
                self.is_("eq", self.op("lshr", one, PERIOD), given["period"]),
                self.is_("ne", one, mark),
            )
            for one in (written, read)
        ]
        with self.when(self.value(f"or i1 {others[0]}, {self.both(self.stores, others[1])}")):
            self.store("i64", 1, "%plan", 8 * PLAN.index("suspect"))
        with self.when(self.stores):
            self.store("i64", mark, given["written"], at)
        with self.when(self.value(f"xor i1 {self.stores}, true")):
            several = self.op("or", self.own_period, SEVERAL)
            new = self.value(f"select i1 {others[1]}, i64 {several}, i64 {mark}")
            self.store("i64", new, given["read"], at)

    def _take_back(self, counter: str) -> None:
        """Let the epochs of writers be as they were, the last first."""
        given = self.given
        count = self.load(counter)
        with self.loop(count) as n:
            last = self.op("sub", self.op("sub", count, n), 1)
            room = self.at(given["scratch"], self.op("mul", last, 16))
            self.store("i64", self.load(room, 8), given["writer"], self.load(room))


def text() -> str:
    """The IR of the function."""
    return _Text().end()


DECLARED = frozenset({"declare i64 @llvm.cttz.i64(i64, i1)"})
"""What it declares."""
