"""The checks of shared memory in LLVM IR: stamps where nothing is wrong, as numpy leaves them.

`tilec.sim.checks.shared` defines them. Where any stamp is not certainly in order with the access,
or two threads store to one granule, nothing is changed and numpy does it all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tilec.isa import LANES

from ..checks.stamps import PENDING, SEVERAL, THREAD, TIME
from .access_forms import (
    APART,
    MOVE,
    NEW,
    PATTERN,
    PLAN,
    PROBE,
    REFUSED,
    Form,
)
from .lanes import BITS, INTS, splat
from .move_forms import MovingText

_LANES = "<" + ", ".join(f"i32 {lane}" for lane in range(LANES)) + ">"


class StampingText(MovingText):
    """The text of an access with checks of shared memory."""

    def __init__(self, form: Form) -> None:
        super().__init__(form)
        self.width = self.op("lshr", form.size, self.state["shift"])
        self.width_bits = self.op("sub", form.size.bit_length() - 1, self.state["shift"])

    def _of(self, name: str, granule: str) -> str:
        """Where something of a granule is."""
        return self.at(self.state[name], self.op("mul", granule, 4))

    def _granule(self, offset: str, cta: str) -> str:
        """The granule at an offset."""
        own = self.op("mul", cta, self.state["granules"])
        return self.op("add", self.op("lshr", offset, self.state["shift"]), own)

    def _wide(self, granule: str) -> str:
        """The stamps of as many granules as a warp has lanes."""
        return self.value(f"load {INTS}, ptr {granule}, align 4")

    def _put_wide(self, stamps: str, granule: str) -> None:
        self.do(f"store {INTS} {stamps}, ptr {granule}, align 4")

    @contextmanager
    def _parts(self, first: str, cta: str) -> Iterator[tuple[str, str]]:
        """The granules of a warp whose lanes follow each other, as many as lanes at a time.

        Gives the first of them, and how many come before.
        """
        begin = self._granule(first, cta)
        with self.loop(self.width) as part:
            before = self.op("mul", part, LANES)
            yield self.op("add", begin, before), before

    def _own(self, number: str, before: str) -> str:
        """The stamps of the threads that touch granules of a part."""
        lowest = self.load(self.state["stamp"], self.op("mul", number, 4 * LANES), "i32")
        first = self.spread(INTS, "i32", self.value(f"trunc i64 {before} to i32"))
        each = self.lanes("add", INTS, first, _LANES)
        by = self.spread(INTS, "i32", self.value(f"trunc i64 {self.width_bits} to i32"))
        return self.lanes(
            "add", INTS, self.spread(INTS, "i32", lowest), self.lanes("lshr", INTS, each, by)
        )

    @contextmanager
    def _each(self, cta: str, number: str) -> Iterator[tuple[str, str, str]]:
        """Granules of a warp's active lanes: the thread's number, the granule's, one of its own."""
        with self.loop(LANES) as lane:
            thread = self.op("add", self.op("mul", number, LANES), lane)
            offset = self.load(self.state["offsets"], self.op("mul", thread, 8))
            with self.when(self.is_("sge", offset, 0)):
                begin = self._granule(offset, cta)
                with self.loop(self.width) as part:
                    many = self.op("add", self.op("mul", thread, self.width), part)
                    yield thread, self.op("add", begin, part), many

    @contextmanager
    def _each_whole(self, cta: str, number: str, first: str) -> Iterator[tuple[str, str, str]]:
        """The same of a warp whose lanes follow each other."""
        begin = self._granule(first, cta)
        with self.loop(LANES) as lane, self.loop(self.width) as part:
            thread = self.op("add", self.op("mul", number, LANES), lane)
            inside = self.op("add", self.op("mul", lane, self.width), part)
            many = self.op("add", self.op("mul", thread, self.width), part)
            yield thread, self.op("add", begin, inside), many

    def _mine(self, thread: str) -> str:
        return self.load(self.state["stamp"], self.op("mul", thread, 4), "i32")

    def _stamp(self, granule: str, name: str) -> str:
        return self.load(self._of(name, granule), 0, "i32")

    # What is there

    def look(self) -> None:
        """Leave if a stamp is not in order with the access."""
        names = ("written", "read") if self.form.store else ("written",)
        floor = self.value(f"trunc i64 {self.state['floor']} to i32")
        floors = self.spread(INTS, "i32", floor)

        def look_at(cta: str, warp: str, thread: str, granule: str) -> None:
            for name in names:
                stamp = self._stamp(granule, name)
                if not self.form.store:
                    with self.when(self.is_("eq", stamp, 0, "i32")):
                        self.leave(REFUSED)
                time = self.value(f"lshr i32 {stamp}, {TIME}")
                with self.when(self.is_("ugt", time, floor, "i32")):
                    self._leave_unless_seen(cta, warp, self._mine(thread), stamp, time)

        with self.rows() as (cta, warp, number):
            first = self.first(number)
            with self.when(self.is_("sge", first, 0)):
                late = self.variable()
                with self._parts(first, cta) as (granule, _):
                    for name in names:
                        stamps = self._wide(self._of(name, granule))
                        if not self.form.store:
                            blank = self.lanes("icmp eq", INTS, stamps, "zeroinitializer")
                            with self.when(self.any(blank)):
                                self.leave(REFUSED)
                        time = self.lanes("lshr", INTS, stamps, splat(TIME, 32))
                        new = self.any(self.lanes("icmp ugt", INTS, time, floors))
                        with self.when(new):
                            self.do(f"store i64 1, ptr {late}")
                with (
                    self.when(self.is_("ne", self.load(late), 0)),
                    self._each_whole(cta, number, first) as (thread, granule, _),
                ):
                    look_at(cta, warp, thread, granule)
            with (
                self.when(self.is_("eq", first, APART)),
                self._each(cta, number) as (thread, granule, _),
            ):
                look_at(cta, warp, thread, granule)

    def _leave_unless_seen(self, cta: str, warp: str, mine: str, stamp: str, time: str) -> None:
        """Leave if a stamp is another thread's that the warp has not seen, or several's."""
        pending = self.is_("eq", time, PENDING, "i32")
        many = self.is_("ne", self.value(f"and i32 {stamp}, {SEVERAL}"), 0, "i32")
        with self.when(self.value(f"or i1 {pending}, {many}")):
            self.leave(REFUSED)
        other = self.value(f"and i32 {stamp}, {THREAD}")
        me = self.value(f"and i32 {mine}, {THREAD}")
        with self.when(self.is_("ne", other, me, "i32")):
            others = self.value(f"zext i32 {self.value(f'udiv i32 {other}, {LANES}')} to i64")
            row = self.op("add", self.op("mul", cta, "%warps"), warp)
            at = self.op("add", self.op("mul", row, "%warps"), others)
            seen = self.load(self.state["seen"], self.op("mul", at, 8))
            with self.when(self.is_("ugt", self.value(f"zext i32 {time} to i64"), seen)):
                self.leave(REFUSED)

    # What is left there

    def stamp_copies(self) -> None:
        """Stamp what is copied to as not there yet."""
        with self.rows() as (cta, _, number):
            first = self.first(number)
            with (
                self.when(self.is_("sge", first, 0)),
                self._parts(first, cta) as (granule, before),
            ):
                mine = self._late(INTS, self._own(number, before))
                self._put_wide(mine, self._of("written", granule))
            with (
                self.when(self.is_("eq", first, APART)),
                self._each(cta, number) as (thread, granule, _),
            ):
                mine = self._late("i32", self._mine(thread))
                self.store("i32", mine, self._of("written", granule))
        self._sign_stores()

    def _late(self, type_: str, stamp: str) -> str:
        """The stamp of a thread's copy that nobody has waited for."""
        thread = self.lanes("and", type_, stamp, _number(type_, THREAD))
        return self.lanes("or", type_, thread, _number(type_, PENDING << TIME))

    def stamp_stores(self) -> None:
        """Stamp what is written; leave, as it was, what two threads write."""
        twice = self.variable()

        def note(found: str) -> None:
            with self.when(found):
                self.do(f"store i64 1, ptr {twice}")

        with self.rows() as (cta, _, number):
            first = self.first(number)
            with (
                self.when(self.is_("sge", first, 0)),
                self._parts(first, cta) as (granule, before),
            ):
                mine = self._own(number, before)
                was = self._wide(self._of("written", granule))
                note(self.any(self._now(INTS, was, mine)))
                many = self.op("mul", number, self.op("mul", self.width, LANES))
                kept = self.op("mul", self.op("add", many, before), 4)
                self._put_wide(was, self.at(self.state["stamps"], kept))
                self._put_wide(mine, self._of("written", granule))
            with (
                self.when(self.is_("eq", first, APART)),
                self._each(cta, number) as (thread, granule, many),
            ):
                mine = self._mine(thread)
                before = self._stamp(granule, "written")
                note(self._now("i32", before, mine))
                self.store("i32", before, self.state["stamps"], self.op("mul", many, 4))
                self.store("i32", mine, self._of("written", granule))
        with self.when(self.is_("ne", self.load(twice), 0)):
            self._take_back()
            self.leave(REFUSED)
        self._sign_stores()

    def _sign_stores(self) -> None:
        """Note what has written; nobody has read it since."""
        position = self.value(f"trunc i64 {self.plan['position']} to i32")
        positions = self.spread(INTS, "i32", position)
        with self.rows() as (cta, _, number):
            first = self.first(number)
            with self.when(self.is_("sge", first, 0)), self._parts(first, cta) as (granule, _):
                self._put_wide(positions, self._of("writer", granule))
                self._put_wide("zeroinitializer", self._of("read", granule))
            with (
                self.when(self.is_("eq", first, APART)),
                self._each(cta, number) as (_, granule, _),
            ):
                self.store("i32", position, self._of("writer", granule))
                self.store("i32", 0, self._of("read", granule))

    def _take_back(self) -> None:
        """Let the stamps of writes be as they were."""

        def take_back(thread: str, granule: str, many: str) -> None:
            before = self.load(self.state["stamps"], self.op("mul", many, 4), "i32")
            old = self._now("i32", before, self._mine(thread))
            with self.when(self.value(f"xor i1 {old}, true")):
                self.store("i32", before, self._of("written", granule))

        with self.rows() as (cta, _, number):
            first = self.first(number)
            with (
                self.when(self.is_("sge", first, 0)),
                self._each_whole(cta, number, first) as (thread, granule, many),
            ):
                take_back(thread, granule, many)
            with (
                self.when(self.is_("eq", first, APART)),
                self._each(cta, number) as (thread, granule, many),
            ):
                take_back(thread, granule, many)

    def stamp_loads(self) -> None:
        """Stamp what is read; granules that several threads read at one time say so."""
        position = self.value(f"trunc i64 {self.plan['position']} to i32")
        positions = self.spread(INTS, "i32", position)
        with self.rows() as (cta, _, number):
            first = self.first(number)
            with (
                self.when(self.is_("sge", first, 0)),
                self._parts(first, cta) as (granule, before),
            ):
                read = self._of("read", granule)
                mine = self._own(number, before)
                self._put_wide(self._read(INTS, self._wide(read), mine), read)
                self._put_wide(positions, self._of("reader", granule))
            with (
                self.when(self.is_("eq", first, APART)),
                self._each(cta, number) as (thread, granule, _),
            ):
                found = self._read("i32", self._stamp(granule, "read"), self._mine(thread))
                self.store("i32", found, self._of("read", granule))
                self.store("i32", position, self._of("reader", granule))

    def _read(self, type_: str, before: str, mine: str) -> str:
        """The stamp of a read: of several, if another thread, or several, read at the same time."""
        time = self._holds("eq", type_, self._part("lshr", type_, before, mine, TIME))
        other = self._holds("ne", type_, self._part("and", type_, before, mine, THREAD))
        many = self.lanes("and", type_, before, _number(type_, SEVERAL))
        many = self._holds("ne", type_, many)
        bits = _predicates(type_)
        several = self.lanes("and", bits, time, self.lanes("or", bits, other, many))
        marked = self.lanes("or", type_, mine, _number(type_, SEVERAL))
        return self.value(f"select {bits} {several}, {type_} {marked}, {type_} {mine}")

    def _now(self, type_: str, before: str, mine: str) -> str:
        """Whether a stamp is another thread's of this very time.

        `look` has left none of those, so that it was made by this instruction.
        """
        time = self._holds("eq", type_, self._part("lshr", type_, before, mine, TIME))
        other = self._holds("ne", type_, self._part("and", type_, before, mine, THREAD))
        return self.lanes("and", _predicates(type_), time, other)

    def _part(self, op: str, type_: str, a: str, b: str, number: int) -> str:
        """Where a part of two stamps differs."""
        return self.lanes(op, type_, self.lanes("xor", type_, a, b), _number(type_, number))

    def _holds(self, how: str, type_: str, value: str) -> str:
        return self.value(f"icmp {how} {type_} {value}, {_number(type_, 0)}")


def _number(type_: str, number: int) -> str:
    """A constant, in all lanes if there are several."""
    return splat(number, 32) if type_ == INTS else str(number)


def _predicates(type_: str) -> str:
    return BITS if type_ == INTS else "i1"


def function(form: Form) -> str:
    """The text of a form's function."""
    stamping = form.shared and form.checked
    f = StampingText(form) if stamping else MovingText(form)
    f.describe()
    with f.when(f.is_("ne", f.op("and", "%phase", PROBE), 0)):
        f.locate()
        if isinstance(f, StampingText):
            f.look()
            if form.pending:
                f.stamp_copies()
            elif form.store:
                f.stamp_stores()
            else:
                f.stamp_loads()
            f.compare()
            new = f.is_("eq", f.load("%plan", 8 * PLAN.index("same")), 0)
            asked = f.is_("ne", f.op("and", "%phase", PATTERN), 0)
            with f.when(f.both(new, asked)):
                f.leave(NEW)
        elif form.checked:
            f.count_sectors()
    with f.when(f.is_("ne", f.op("and", "%phase", MOVE), 0)):
        if form.store:
            f.move_out()
        else:
            f.move_in()
    f.do("ret i64 0")
    return f.end()
