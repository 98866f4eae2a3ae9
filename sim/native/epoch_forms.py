"""The checks of global memory in LLVM IR: who touched it last, of all CTAs (`checks.grid_races`).

Epochs are of segments, or of the granules of segments that lanes touch in part, which are split
then. `look` leaves where CTAs may meet, and splits; `remember` leaves epochs. Where either leaves,
all that numpy sees is as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..checks.owners import CTA, CTAS
from .access_forms import REFUSED
from .global_lanes import GlobalLanes
from .global_tables import BY_NUMPY, EPOCHS, LOG, MOST_GRANULES, NONE, ROW

_CTA_BITS = (CTAS - 1) << CTA
_SPLIT, _NEW = 1, 2
"""What stands for a segment that is split, and for one that the present access splits."""


Touch = Callable[[str, str], None]
"""Does something with an epoch: the name of the array, and where in it."""


class EpochText(GlobalLanes):
    """The text of a function that holds accesses against epochs."""

    def __init__(self, head: str) -> None:
        super().__init__(head)
        given = self.given
        self.fine_shift = self.value(f"call i64 @llvm.cttz.i64(i64 {given['granule']}, i1 true)")
        self.each_granules = self.op("lshr", given["size"], self.fine_shift)
        self.readers = self.is_("ne", given["readers"], 0)
        asked = self.both(self.is_("eq", given["apart"], 0), self.is_("ne", given["epochs"], NONE))
        self.epochs = self.both(asked, self.is_("eq", given["epochs"], EPOCHS))
        self.answer, self.count, self.stored = (self.variable() for _ in range(3))
        self.finds, self.finds_fine = self.variable(), self.variable()
        finer = self.both(self.epochs, self.is_("slt", given["size"], given["granule"]))
        numpys = self.both(asked, self.is_("eq", given["epochs"], BY_NUMPY))
        self.leave_if(self.value(f"or i1 {finer}, {numpys}"))

    # Leaving

    def leave_if(self, condition: str, answer: int = REFUSED) -> None:
        """Leave, with everything as it was."""
        with self.when(condition):
            self.do(f"store i64 {answer}, ptr {self.answer}")
            self.do("br label %refuse")
            self.do(f"{self._new('after')}:")

    def leaving(self) -> None:
        """What is done there: the end of the function."""
        given = self.given
        self.do("refuse:")
        count = self.load(self.stored)
        with self.loop(count) as n:
            last = self.op("sub", self.op("sub", count, n), 1)
            room = self.at(given["scratch"], self.op("mul", last, 16))
            to = self.load(room, 0, "ptr")
            self.store("i64", self.load(room, 8), to)
        self._settle(0)
        self.do(f"ret i64 {self.load(self.answer)}")

    def _settle(self, state: int) -> None:
        """Have segments that have been split now be split, or not."""
        given = self.given
        with self.loop(self.load(self.count)) as n:
            segment = self.load(given["fresh"], self.op("mul", n, 8))
            self.store("i8", state, given["split"], segment)

    def settle(self) -> None:
        """Segments that have been split now stay so."""
        some = self.is_("ne", self.load(self.count), 0)
        with self.when(some):
            self._settle(_SPLIT)
            self.flag("parted", 1)
            self.flag("fine_readers", self.value(f"zext i1 {self.readers} to i64"))
            row, at = self.given["row"], 8 * ROW.index("splits")
            self.store("i64", self.op("add", self.load(row, at), self.load(self.count)), row, at)
        self.flag("readers", self.load(self.finds))
        self.flag("fine_readers", self.load(self.finds_fine))

    # Looking

    def look(self, who: str, number: str, wholes: str, apart: str) -> None:
        """Leave if a warp touches what is another CTA's; split what it touches in part."""
        given = self.given
        warp = self.load(given["who"], self.op("mul", who, 8))
        with self.whole_groups(number, wholes) as (_, segment):
            split = self._is_split(segment)
            with self.when(split), self.lanes_of(segment) as place:
                self._look_at_granules(place, warp)
            with self.when(self.not_(split)):
                self._look_at_segment(segment, warp)
        with self.lanes_apart(number, apart) as place:
            segment = self.op("lshr", place, given["shift"])
            split = self._is_split(segment)
            with self.when(self.not_(split)):
                self.leave_if(self.is_("eq", given["splitting"], 0))
                self._look_at_segment(segment, warp)
                self._split(segment)
            with self.when(split):
                self._look_at_granules(place, warp)

    def look_again(self) -> None:
        """Leave if a segment is touched as a whole, and in part: numpy takes the former first."""
        given = self.given
        some = self.is_("ne", self.load(self.count), 0)
        with self.when(some), self.warps(given["rows"]) as (_, number):
            wholes, _ = self.sorted(number)
            with self.whole_groups(number, wholes) as (_, segment):
                state = self.load(given["split"], segment, "i8")
                self.leave_if(self.is_("eq", state, _NEW, "i8"))

    def _is_split(self, segment: str) -> str:
        found, some = self.variable(), self.op("or", self.given["parted"], self.load(self.count))
        with self.when(self.is_("ne", some, 0)):
            one = self.load(self.given["split"], segment, "i8")
            self.do(f"store i64 {self.value(f'zext i8 {one} to i64')}, ptr {found}")
        return self.is_("ne", self.load(found), 0)

    def _look_at_segment(self, segment: str, warp: str) -> None:
        at = self.op("mul", segment, 8)
        self.leave_if(self._foreign(self.of_row("writer", at), warp))
        with self.when(self.both(self.stores, self.readers)):
            for name in ("reader", "second"):
                self.leave_if(self._foreign(self.of_row(name, at), warp))

    def _look_at_granules(self, place: str, warp: str) -> None:
        with self.when(self.stores):
            self.leave_if(self.is_("ugt", self.each_granules, MOST_GRANULES))
        with self._granules(place) as at:
            self.leave_if(self._foreign(self.of_row("fine_writer", at), warp))
            with self.when(self.stores):
                for name in ("fine_reader", "fine_second"):
                    self.leave_if(self._foreign(self.of_row(name, at), warp))

    def _split(self, segment: str) -> None:
        """Split a segment: its granules are as it is."""
        given = self.given
        with self.when(self.stores):
            self.leave_if(self.is_("ugt", self.each_granules, MOST_GRANULES))
        count = self.load(self.count)
        self.store("i64", segment, given["fresh"], self.op("mul", count, 8))
        self.do(f"store i64 {self.op('add', count, 1)}, ptr {self.count}")
        self.store("i8", _NEW, given["split"], segment)
        bits = self.op("sub", given["shift"], self.fine_shift)
        begin = self.op("shl", segment, bits)
        at = self.op("mul", segment, 8)
        epochs = {name: self.of_row(name, at) for name in ("writer", "reader", "second")}
        with self.loop(self.op("shl", 1, bits)) as n:
            to = self.op("mul", self.op("add", begin, n), 8)
            for name, epoch in epochs.items():
                self.store("i64", epoch, given[f"fine_{name}"], to)

    @contextmanager
    def _granules(self, place: str) -> Iterator[str]:
        """Where the epochs of the granules are that a lane touches."""
        begin = self.op("lshr", place, self.fine_shift)
        with self.loop(self.each_granules) as part:
            yield self.op("mul", self.op("add", begin, part), 8)

    def _foreign(self, epoch: str, stamp: str) -> str:
        """Whether an epoch is of another CTA."""
        differs = self.op("and", self.op("xor", epoch, stamp), _CTA_BITS)
        return self.both(self.is_("ne", differs, 0), self.is_("ne", epoch, 0))

    # Remembering

    def remember(self) -> None:
        """Leave epochs; or leave, with all as it was, if CTAs store to one place at once."""
        with self.when(self.both(self.epochs, self.stores)):
            self._remember_stores()
        with self.when(self.both(self.epochs, self.loads)):
            self._remember_loads()

    def _stamp(self, who: str) -> str:
        """The epoch of a warp at the instruction."""
        given = self.given
        cta = self.op("udiv", who, given["warps"])
        step = self.load(given["log"], 8 * LOG.index("step"))
        time = self.load(given["times"], self.op("mul", cta, step))
        warp = self.load(given["who"], self.op("mul", who, 8))
        return self.op("or", self.op("or", time, warp), given["what"])

    def _remember_stores(self) -> None:
        given = self.given
        with self.warps(given["ctas"]) as (who, number):
            stamp = self._stamp(who)

            def write(name: str, at: str, stamp: str = stamp) -> None:
                self._write(self.at(given[name], at), stamp)

            self._touched(number, write, "writer")
        # What has read what is written no longer matters.
        fine = self.is_("ne", self.op("or", given["fine_readers"], given["readers"]), 0)
        forgets = {"": self.readers, "fine_": fine}

        def forget(name: str, at: str) -> None:
            prefix = name.removesuffix("writer")
            with self.when(forgets[prefix]):
                for one in ("reader", "second"):
                    self.store("i64", 0, given[f"{prefix}{one}"], at)

        with self.when(fine), self.warps(given["rows"]) as (_, number):
            self._touched(number, forget, "writer")

    def _touched(self, number: str, do: Touch, name: str) -> None:
        """Do something with epochs of what a warp touches: of segments, or of granules."""
        wholes, apart = self.sorted(number)
        with self.whole_groups(number, wholes) as (_, segment):
            split = self._is_split(segment)
            with self.when(split), self.lanes_of(segment) as place, self._granules(place) as at:
                do(f"fine_{name}", at)
            with self.when(self.not_(split)):
                do(name, self.op("mul", segment, 8))
        with self.lanes_apart(number, apart) as place, self._granules(place) as at:
            do(f"fine_{name}", at)

    def _write(self, to: str, stamp: str) -> None:
        """Something is written; leave, as it was, what another CTA writes by this instruction."""
        before = self.load(to)
        self.leave_if(self._foreign(before, stamp))
        done = self.load(self.stored)
        room = self.at(self.given["scratch"], self.op("mul", done, 16))
        self.store("ptr", to, room)
        self.store("i64", before, room, 8)
        self.do(f"store i64 {self.op('add', done, 1)}, ptr {self.stored}")
        self.store("i64", stamp, to)

    def _remember_loads(self) -> None:
        given = self.given
        with self.warps(given["ctas"]) as (who, number):
            stamp = self._stamp(who)

            def read(name: str, at: str, stamp: str = stamp) -> None:
                prefix = name.removesuffix("reader")
                reader = self.of_row(name, at)
                with self.when(self._foreign(reader, stamp)):
                    self.store("i64", reader, given[f"{prefix}second"], at)
                self.store("i64", stamp, given[name], at)
                self.do(f"store i64 1, ptr {self.finds_fine if prefix else self.finds}")

            self._touched(number, read, "reader")
