"""The checks of global memory in LLVM IR, for lanes that touch segments together.

    watch(plan) -> i64

It takes the offsets of a load or store (`access_forms`), asks whether numpy would find that
anything has to be looked at (`checks.grid_races`, of two CTAs; `checks.whole_warps`, of two threads
of one), and remembers the access as numpy does: by epochs, by marks, and in a log (`pending`). The
answer is DONE; FULL, where the log has no room; or REFUSED, where CTAs may meet, or lanes touch
parts of a segment that is not split, or store to them. Then it has changed nothing that numpy sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tilec.isa import LANES

from ..checks.owners import CTA, CTAS
from ..checks.whole_warps import PERIOD, SEVERAL
from .access_forms import APART, DONE, REFUSED, TOUCHES_NOTHING
from .access_forms import PLAN as ACCESS
from .lanes import BITS, LONGS, Lanes, iota, splat

FULL = 3

PLAN = (
    "log", "row", "offsets", "firsts", "who", "times", "scratch", "wholes", "accessed", "size",
    "stores", "apart", "what", "ctas", "warps", "number", "values",
)  # fmt: skip
"""Fields, 8 bytes each: pointers to the log and to the allocation's row; to the offsets of the
warps, and the first of each; to the warps of epochs and the times of CTAs; to room for epochs, and
for which groups of lanes touch segments as a whole; to the plan of the access; bytes of a lane;
whether it stores; whether epochs are left to numpy; what the instruction adds to these; the CTAs,
and warps of each; the number of the access in the log; and, of what was found, where the values
that are stored are to be kept, or null."""
POINTERS = PLAN.index("size")

LOG = ("period", "base", "at", "end", "threads", "most", "dropped", "step")
"""Fields of a log: the period of marks (`checks.whole_warps`); where the first record is, where the
next goes, and where there is no more room; the accesses of threads that are in it, and how many may
be; whether what lies elsewhere has been dropped; and the bytes from a CTA's time, as epochs have
it, to the next one's."""
ROW = (
    "suspect", "touched", "readers", "epochs", "granule", "start", "shift", "written", "read",
    "writer", "reader", "second", "split", "fine_writer", "fine_reader", "fine_second",
    "fine_readers",
)  # fmt: skip
"""Fields of an allocation: whether two threads may have touched a byte since the last barrier of
all threads, whether any has written then, and whether there are epochs of readers; whether there
are epochs (else NONE, or numpy has to look at them: BY_NUMPY), and the bytes that they tell apart;
where it begins; the log2 of the bytes of a segment; pointers to marks of segments, to their epochs,
and to which are split; and to the epochs of granules of these, and whether any has been read."""
NONE, BY_NUMPY, EPOCHS = range(3)
RECORD = ("bytes", "number", "rows", "whole")
"""Fields of a record: its bytes, the access, how many CTAs have offsets of their own, and whether
the first offset of each warp follows, or all; then come the values of a store."""

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
        rows = self.load(given["accessed"], 8 * ACCESS.index("rows"))
        given["rows"] = rows
        pointers = {"written", "read", "writer", "reader", "second", "split"}
        pointers |= {"fine_writer", "fine_reader", "fine_second"}
        for n, name in enumerate(ROW):
            given[name] = self.load(given["row"], 8 * n, "ptr" if name in pointers else "i64")
        self.fine_shift = self.value(f"call i64 @llvm.cttz.i64(i64 {given['granule']}, i1 true)")
        self.period = self.load(given["log"], 8 * LOG.index("period"))
        self.stores, self.readers = (self.is_("ne", given[n], 0) for n in ("stores", "readers"))
        asked = self.both(self.is_("eq", given["apart"], 0), self.is_("ne", given["epochs"], NONE))
        self.epochs = self.both(asked, self.is_("eq", given["epochs"], EPOCHS))
        finer = self.both(self.epochs, self.is_("slt", given["size"], given["granule"]))
        numpys = self.both(asked, self.is_("eq", given["epochs"], BY_NUMPY))
        with self.when(self.value(f"or i1 {finer}, {numpys}")):
            self.leave(REFUSED)
        self.loads = self.value(f"xor i1 {self.stores}, true")
        # A segment has a power of two of lanes.
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
        self.own_period = self.op("shl", self.period, PERIOD)
        self.whole = self.variable(1)
        self._look()
        record = self._record_room()
        self._remember()
        self._record(*record)
        self.do(f"ret i64 {DONE}")

    def _room(self) -> str:
        name = self._new("%room")
        self.slots.append(f"{name} = alloca {LONGS}, align 64")
        return name

    def _look(self) -> None:
        """Leave where CTAs may meet; note which groups of lanes touch a segment as a whole."""
        given = self.given
        everything = self.op("sub", self.op("shl", 1, self.groups), 1)
        with self._warps(given["ctas"]) as (cta, warp, number):
            who = self._who(cta, warp)
            first = self._first(number)
            place = self.op("sub", first, given["start"])
            even = self.is_("eq", self.op("and", place, self.inside), 0)
            follows = self.is_("sge", first, 0)
            whole = self.value(f"select i1 {self.both(even, follows)}, i64 {everything}, i64 0")
            wholes = self.variable(whole)
            with self.when(self.value(f"xor i1 {follows}, true")):
                self.do(f"store i64 0, ptr {self.whole}")
            with self.when(self.is_("eq", first, APART)):
                self._find_wholes(self._offsets(number), wholes)
            self.store("i64", self.load(wholes), given["wholes"], self.op("mul", number, 8))
            with self.when(self.epochs):
                found = self.load(wholes)
                with self._groups_of(number, first) as (lane, group, begin):
                    segment = self.op("lshr", self.op("sub", begin, given["start"]), given["shift"])
                    is_whole = self._is_whole(found, group)
                    with self.when(is_whole):
                        self._look_at(self.op("mul", segment, 8), who, lane, number, first)
                    with self.when(self.value(f"xor i1 {is_whole}, true")):
                        self._look_apart(lane, number, first, who)

    def _is_whole(self, wholes: str, group: str) -> str:
        bit = self.op("and", self.op("lshr", wholes, group), 1)
        return self.is_("ne", bit, 0)

    def _find_wholes(self, offsets: str, wholes: str) -> None:
        """Which groups of lanes, that do not all follow each other, touch all of a segment."""
        places = self.lanes("sub", LONGS, offsets, self.start)
        inside = self.lanes("and", LONGS, places, self.mask)
        even = self._bits(self.lanes("icmp eq", LONGS, inside, self.expected))
        active = self._bits(self.lanes("icmp sge", LONGS, offsets, splat(0)))
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
                alike = self._bits(self.lanes("icmp eq", LONGS, segments, one))
                with self.when(self.is_("eq", self.op("and", here, alike), lanes)):
                    bit = self.op("shl", 1, group)
                    self.do(f"store i64 {self.op('or', self.load(wholes), bit)}, ptr {wholes}")

    def _offset(self, number: str, first: str, lane: str) -> str:
        """The offset of a lane; negative where it takes no part."""
        thread = self.op("add", self.op("mul", number, LANES), lane)
        moved = self.op("add", first, self.op("shl", lane, self.log_size))
        found = self.variable(moved)
        with self.when(self.is_("slt", first, 0)):
            one = self.load(self.given["offsets"], self.op("mul", thread, 8))
            self.do(f"store i64 {one}, ptr {found}")
        return self.load(found)

    @contextmanager
    def _groups_of(self, number: str, first: str) -> Iterator[tuple[str, str, str]]:
        """Groups of lanes of a warp that touches anything: first lane, number, its offset."""
        some = self.is_("ne", first, TOUCHES_NOTHING)
        with self.when(some), self.loop(self.groups) as group:
            lane = self.op("shl", group, self.each_bits)
            yield lane, group, self._offset(number, first, lane)

    @contextmanager
    def _lanes_of(self, lane: str, number: str, first: str) -> Iterator[str]:
        """The lanes of a group that take part, as places in the allocation; each place once."""
        before = self.variable(-1)
        with self.loop(self.each) as more:
            offset = self._offset(number, first, self.op("add", lane, more))
            new = self.is_("ne", offset, self.load(before))
            self.do(f"store i64 {offset}, ptr {before}")
            with self.when(self.both(new, self.is_("sge", offset, 0))):
                yield self.op("sub", offset, self.given["start"])

    @contextmanager
    def _granules(self, place: str) -> Iterator[str]:
        """Where the epochs of the granules are that a lane touches."""
        begin = self.op("lshr", place, self.fine_shift)
        with self.loop(self.op("lshr", self.given["size"], self.fine_shift)) as part:
            yield self.op("mul", self.op("add", begin, part), 8)

    def _look_apart(self, lane: str, number: str, first: str, who: str) -> None:
        """Leave unless lanes read granules of segments that are split, which no other CTA wrote."""
        given = self.given
        with self._lanes_of(lane, number, first) as place:
            split = self.load(given["split"], self.op("lshr", place, given["shift"]), "i8")
            whole = self.is_("eq", split, 0, "i8")
            with self.when(self.value(f"or i1 {whole}, {self.stores}")):
                self.leave(REFUSED)
            warp = self.load(given["who"], self.op("mul", who, 8))
            with (
                self._granules(place) as at,
                self.when(self._foreign(self.load(given["fine_writer"], at), warp)),
            ):
                self.leave(REFUSED)

    def _remember(self) -> None:
        """Leave epochs and marks, or leave if CTAs store to a segment at once."""
        given = self.given
        suspect = self.variable()
        counter = self.variable()
        with self.when(self.both(self.epochs, self.stores)):
            with self._segments(given["ctas"]) as (cta, warp, _, at):
                self._write_epoch(at, self._who(cta, warp), counter)
            # What has read the segments that are written no longer matters.
            with self.when(self.readers), self._segments(given["rows"]) as (_, _, _, at):
                for name in ("reader", "second"):
                    self.store("i64", 0, given[name], at)
        reads = self.both(self.epochs, self.loads)
        readers, fine = self.variable(), self.variable()
        with self._warps(given["ctas"]) as (cta, warp, number):
            who, first = self._who(cta, warp), self._first(number)
            wholes = self.load(given["wholes"], self.op("mul", number, 8))
            with self._groups_of(number, first) as (lane, group, begin):
                is_whole = self._is_whole(wholes, group)
                segment = self.op("lshr", self.op("sub", begin, given["start"]), given["shift"])
                at = self.op("mul", segment, 8)
                with self.when(is_whole):
                    with self.when(reads):
                        self._read_whole(at, segment, who, (lane, number, first), (readers, fine))
                    self._mark(at, who, lane, suspect)
                with self.when(self.value(f"xor i1 {is_whole}, true")):
                    with self.when(reads):
                        self._read_fine(who, (lane, number, first), fine)
                    self._mark_apart((lane, number, first), suspect)
        self._flag("readers", self.load(readers))
        self._flag("fine_readers", self.load(fine))
        self._flag("suspect", self.load(suspect))
        self._flag("touched", self.value(f"zext i1 {self.stores} to i64"))

    def _read_by(self, names: tuple[str, str], at: str, stamp: str) -> None:
        """What is read has a new reader."""
        given = self.given
        reader = self.load(given[names[0]], at)
        with self.when(self._foreign(reader, stamp)):
            self.store("i64", reader, given[names[1]], at)
        self.store("i64", stamp, given[names[0]], at)

    def _read_whole(
        self, at: str, segment: str, who: str, lanes: tuple[str, str, str], seen: tuple[str, str]
    ) -> None:
        """A segment is read as a whole, which may be split."""
        split = self.is_("ne", self.load(self.given["split"], segment, "i8"), 0, "i8")
        with self.when(split):
            self._read_fine(who, lanes, seen[1])
        with self.when(self.value(f"xor i1 {split}, true")):
            self._read_by(("reader", "second"), at, self._stamp(who))
            self.do(f"store i64 1, ptr {seen[0]}")

    def _read_fine(self, who: str, lanes: tuple[str, str, str], seen: str) -> None:
        """Granules of split segments are read."""
        stamp = self._stamp(who)
        with self._lanes_of(*lanes) as place, self._granules(place) as at:
            self._read_by(("fine_reader", "fine_second"), at, stamp)
            self.do(f"store i64 1, ptr {seen}")

    def _mark_apart(self, lanes: tuple[str, str, str], suspect: str) -> None:
        """Mark what is not touched as a whole: whoever else does may be another thread."""
        given = self.given
        several = self.op("or", self.own_period, SEVERAL)
        with self._lanes_of(*lanes) as place:
            at = self.op("mul", self.op("lshr", place, given["shift"]), 8)
            written = self.load(given["written"], at)
            now = self.is_("eq", self.op("lshr", written, PERIOD), self.period)
            found = self.value(f"or i1 {self.stores}, {now}")
            more = self.value(f"zext i1 {found} to i64")
            self.do(f"store i64 {self.op('or', self.load(suspect), more)}, ptr {suspect}")
            with self.when(self.stores):
                self.store("i64", several, given["written"], at)
            with self.when(self.loads):
                self.store("i64", several, given["read"], at)

    def _flag(self, name: str, more: str | int) -> None:
        row, at = self.given["row"], 8 * ROW.index(name)
        self.store("i64", self.op("or", self.load(row, at), more), row, at)

    def _who(self, cta: str, warp: str) -> str:
        return self.op("add", self.op("mul", cta, self.given["warps"]), warp)

    def _first(self, number: str) -> str:
        return self.load(self.given["firsts"], self.op("mul", number, 8))

    def _offsets(self, number: str) -> str:
        return self.load_longs(self.at(self.given["offsets"], self.op("mul", number, 8 * LANES)))

    @contextmanager
    def _warps(self, ctas: str) -> Iterator[tuple[str, str, str]]:
        """The CTA, the warp, and the number of the one that has its offsets."""
        given = self.given
        one = self.is_("eq", given["rows"], 1)
        with self.loop(ctas) as cta, self.loop(given["warps"]) as warp:
            row = self.value(f"select i1 {one}, i64 0, i64 {cta}")
            yield cta, warp, self.op("add", self.op("mul", row, given["warps"]), warp)

    @contextmanager
    def _segments(self, ctas: str) -> Iterator[tuple[str, str, str, str]]:
        """Segments that warps touch as a whole: CTA, warp, first lane, and the place of epochs."""
        given = self.given
        with self._warps(ctas) as (cta, warp, number):
            first = self._first(number)
            with (
                self._groups_of(number, first) as (lane, _, begin),
                self.when(self.is_("sge", begin, 0)),
            ):
                place = self.op("sub", begin, given["start"])
                segment = self.op("lshr", place, given["shift"])
                yield cta, warp, lane, self.op("mul", segment, 8)

    def _bits(self, p: str) -> str:
        """A predicate as a number."""
        bits = self.value(f"bitcast {BITS} {p} to i32")
        return self.value(f"zext i32 {bits} to i64")

    def _stamp(self, who: str) -> str:
        """The epoch of a warp at the instruction."""
        given = self.given
        cta = self.op("udiv", who, given["warps"])
        step = self.load(given["log"], 8 * LOG.index("step"))
        time = self.load(given["times"], self.op("mul", cta, step))
        warp = self.load(given["who"], self.op("mul", who, 8))
        return self.op("or", self.op("or", time, warp), given["what"])

    def _foreign(self, epoch: str, stamp: str) -> str:
        """Whether an epoch is of another CTA."""
        differs = self.op("and", self.op("xor", epoch, stamp), _CTA_BITS)
        return self.both(self.is_("ne", differs, 0), self.is_("ne", epoch, 0))

    def _look_at(self, at: str, who: str, lane: str, number: str, first: str) -> None:
        """Leave if a segment is another CTA's."""
        given = self.given
        split = self.is_("ne", self.load(given["split"], self.op("lshr", at, 3), "i8"), 0, "i8")
        with self.when(split):
            self._look_apart(lane, number, first, who)
        with self.when(self.value(f"xor i1 {split}, true")):
            warp = self.load(given["who"], self.op("mul", who, 8))
            with self.when(self._foreign(self.load(given["writer"], at), warp)):
                self.leave(REFUSED)
            with self.when(self.both(self.stores, self.readers)):
                for name in ("reader", "second"):
                    with self.when(self._foreign(self.load(given[name], at), warp)):
                        self.leave(REFUSED)

    def _write_epoch(self, at: str, who: str, counter: str) -> None:
        """A segment is written; leave, as it was, what another CTA writes by this instruction."""
        given, stamp = self.given, self._stamp(who)
        before = self.load(given["writer"], at)
        with self.when(self._foreign(before, stamp)):
            self._take_back(counter)
            self.leave(REFUSED)
        done = self.load(counter)
        room = self.at(given["scratch"], self.op("mul", done, 16))
        self.store("i64", at, room)
        self.store("i64", before, room, 8)
        self.do(f"store i64 {self.op('add', done, 1)}, ptr {counter}")
        self.store("i64", stamp, given["writer"], at)

    def _mark(self, at: str, who: str, lane: str, suspect: str) -> None:
        """Mark a segment, and note whether another thread has touched it before."""
        given = self.given
        own = self.op("or", self.op("shl", self.log_size, _LANE_BITS), lane)
        own = self.op("or", self.op("shl", who, _LANE_BITS + _SIZE_BITS), own)
        mark = self.op("or", self.own_period, own)
        written, read = (self.load(given[name], at) for name in ("written", "read"))
        others = [
            self.both(
                self.is_("eq", self.op("lshr", one, PERIOD), self.period),
                self.is_("ne", one, mark),
            )
            for one in (written, read)
        ]
        found = self.value(f"or i1 {others[0]}, {self.both(self.stores, others[1])}")
        more = self.value(f"zext i1 {found} to i64")
        self.do(f"store i64 {self.op('or', self.load(suspect), more)}, ptr {suspect}")
        with self.when(self.stores):
            self.store("i64", mark, given["written"], at)
        with self.when(self.loads):
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

    def _record_room(self) -> tuple[str, str, str, str]:
        """Leave if there is no room for a record; else what it takes."""
        given = self.given
        warps = self.op("mul", given["rows"], given["warps"])
        threads = self.op("mul", self.op("mul", given["ctas"], given["warps"]), LANES)
        whole = self.is_("ne", self.load(self.whole), 0)
        each = self.value(f"select i1 {whole}, i64 8, i64 {8 * LANES}")
        offsets = self.op("mul", warps, each)
        values = self.op("mul", threads, given["size"])
        values = self.value(f"select i1 {self.stores}, i64 {values}, i64 0")
        bytes_ = self.op("add", self.op("add", offsets, values), 8 * len(RECORD))
        at, end, logged, most = (
            self.load(given["log"], 8 * LOG.index(name))
            for name in ("at", "end", "threads", "most")
        )
        above = self.is_("sgt", self.op("add", at, bytes_), end)
        many = self.is_("sgt", self.op("add", logged, threads), most)
        with self.when(self.value(f"or i1 {above}, {many}")):
            self.leave(FULL)
        return bytes_, offsets, threads, at

    def _record(self, bytes_: str, offsets: str, threads: str, at: str) -> None:
        """Write a record, but for the values."""
        given = self.given
        record = self.value(f"inttoptr i64 {at} to ptr")
        whole = self.load(self.whole)
        fields = {"bytes": bytes_, "number": given["number"], "rows": given["rows"], "whole": whole}
        for name in RECORD:
            self.store("i64", fields[name], record, 8 * RECORD.index(name))
        to = self.at(record, 8 * len(RECORD))
        warps = self.op("mul", given["rows"], given["warps"])
        with self.loop(warps) as number:
            first = self._first(number)
            with self.when(self.is_("ne", whole, 0)):
                self.store("i64", first, to, self.op("mul", number, 8))
            with self.when(self.is_("eq", whole, 0)):
                place = self.at(to, self.op("mul", number, 8 * LANES))
                with self.when(self.is_("eq", first, APART)):
                    self.store_longs(self._offsets(number), place)
                with self.when(self.is_("eq", first, TOUCHES_NOTHING)):
                    self.store_longs(splat(-1), place)
                with self.when(self.is_("sge", first, 0)):
                    step = self.spread(LONGS, "i64", given["size"])
                    steps = self.lanes("mul", LONGS, step, iota(1))
                    all_ = self.lanes("add", LONGS, self.spread(LONGS, "i64", first), steps)
                    self.store_longs(all_, place)
        values = self.value(f"ptrtoint ptr {self.at(to, offsets)} to i64")
        kept = self.value(f"select i1 {self.stores}, i64 {values}, i64 0")
        self.store("i64", kept, "%plan", 8 * PLAN.index("values"))
        for name, more in (("at", bytes_), ("threads", threads)):
            field = 8 * LOG.index(name)
            new = self.op("add", self.load(given["log"], field), more)
            self.store("i64", new, given["log"], field)


def text() -> str:
    """The IR of the function."""
    return _Text().end()


DECLARED = frozenset({"declare i64 @llvm.cttz.i64(i64, i1)"})
"""What it declares."""
