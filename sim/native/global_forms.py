"""The checks of global memory in LLVM IR.

    watch(plan) -> i64

It takes the offsets of a load or store (`access_forms`), asks whether numpy would find that
anything has to be looked at (`checks.grid_races`, of two CTAs; `checks.whole_warps`, of two threads
of one), and remembers the access as numpy does: by epochs (`epoch_forms`), by marks, and in a log
(`pending`). The answer is DONE; FULL, where the log has no room; or REFUSED, where CTAs may meet.
Then it has changed nothing that numpy sees.
"""

from __future__ import annotations

from tilec.isa import LANES

from ..checks.whole_warps import PERIOD, SEVERAL
from .access_forms import APART, DONE, TOUCHES_NOTHING
from .epoch_forms import EpochText
from .global_tables import FULL, LOG, PLAN, RECORD
from .lanes import LONGS, iota, splat

NAME = "watch_global"
DECLARED = frozenset({"declare i64 @llvm.cttz.i64(i64, i1)", "declare i64 @llvm.ctpop.i64(i64)"})
"""What the function declares."""
_LANE_BITS, _SIZE_BITS = 5, 3


class _Text(EpochText):
    """The text of the function."""

    def __init__(self) -> None:
        super().__init__(f"define i64 @{NAME}(ptr %plan)")
        self.own_period = self.op("shl", self.period, PERIOD)
        self.whole = self.variable(1)
        self._look()
        record = self._record_room()
        self.remember()
        self._mark_all()
        self.settle()
        self._record(*record)
        self.do(f"ret i64 {DONE}")
        self.leaving()

    def _look(self) -> None:
        """Note which lanes touch segments as a whole; leave where CTAs may meet."""
        with self.warps(self.given["ctas"]) as (who, number):
            with self.when(self.is_("slt", self.first(number), 0)):
                self.do(f"store i64 0, ptr {self.whole}")
            wholes, apart = self.sort(number)
            self.keep_sorted(number, wholes, apart)
            with self.when(self.epochs):
                self.look(who, number, wholes, apart)
        self.look_again()

    # Threads of one CTA

    def _mark_all(self) -> None:
        """Mark what is touched, and note whether another thread has touched it before."""
        given = self.given
        suspect = self.variable()
        with self.warps(given["ctas"]) as (who, number):
            wholes, apart = self.sorted(number)
            with self.whole_groups(number, wholes) as (lane, segment):
                self._mark(self.op("mul", segment, 8), who, lane, suspect)
            with self.lanes_apart(number, apart) as place:
                self._mark_apart(place, suspect)
        self.flag("suspect", self.load(suspect))
        self.flag("touched", self.value(f"zext i1 {self.stores} to i64"))

    def _mark_apart(self, place: str, suspect: str) -> None:
        """Mark what is not touched as a whole: whoever else does may be another thread."""
        given = self.given
        several = self.op("or", self.own_period, SEVERAL)
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

    # The log

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
        self.leave_if(self.value(f"or i1 {above}, {many}"), FULL)
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
            first = self.first(number)
            with self.when(self.is_("ne", whole, 0)):
                self.store("i64", first, to, self.op("mul", number, 8))
            with self.when(self.is_("eq", whole, 0)):
                place = self.at(to, self.op("mul", number, 8 * LANES))
                with self.when(self.is_("eq", first, APART)):
                    self.store_longs(self.offsets(number), place)
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
