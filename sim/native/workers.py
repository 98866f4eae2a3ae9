"""Threads that execute products of matrices while the launch goes on to the next.

A product is a function of arrays that nobody changes, into an array that nothing reads before
`finish` but a product after it, which waits; so neither bits nor findings depend on how many
threads there are, or on who comes first.
The queue is a ring of pointers that machine code takes from without Python's lock:

    push(ring, plan) -> i64         whether there was room
    work(ring, patience) -> i64     executes what comes; returns after so many vain looks
    help(ring)                      executes what is left, and waits for what others execute
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from ..alu import Array
from .choice import threads
from .library import Library

SLOTS = 1024
"""Products that may wait; a power of two."""
_TAIL, _DONE, _STOP, _FIRST = 64, 128, 192, 256
"""Offsets of what the ring begins with, each in a cache line of its own: how many have been taken
(at 0), put in and executed; whether threads are to end; then come the pointers."""
PLAN = (
    "function", "a", "b", "c", "d", "warps", "terms", "fraction", "zero", "mask", "after", "status",
)  # fmt: skip
"""Fields of a plan, 8 bytes each: a function, and what it is called with; the plan of the product
that computes C, or 0; then PENDING, or what the function has returned: 1 where it has refused."""
PENDING = -1
_PATIENCE = 400
"""Looks of about 0.1 ms."""
_NAP, _SPINS = 30, 200
"""Microseconds between two looks, and looks before the first nap of who waits for the others."""


def _functions() -> dict[str, str]:
    """The text of the functions."""
    fields = PLAN[1:-2]
    status_at = 8 * PLAN.index("status")
    types = ["ptr" if len(name) == 1 else "i64" for name in fields]
    given = "\n".join(
        f"  %at_{name} = getelementptr i8, ptr %plan, i64 {8 * n}\n"
        f"  %{name} = load {type_}, ptr %at_{name}"
        for n, (name, type_) in enumerate(zip(fields, types, strict=True), 1)
    )
    args = ", ".join(f"{type_} %{name}" for name, type_ in zip(fields, types, strict=True))
    counter = "getelementptr i8, ptr %ring, i64"
    take = f"""
define internal i1 @take(ptr %ring) {{
begin:
  %tail_at = {counter} {_TAIL}
  %done_at = {counter} {_DONE}
  br label %again
again:
  %head = load atomic i64, ptr %ring acquire, align 8
  %tail = load atomic i64, ptr %tail_at acquire, align 8
  %none = icmp sge i64 %head, %tail
  br i1 %none, label %empty, label %try
empty:
  ret i1 false
try:
  %slot = and i64 %head, {SLOTS - 1}
  %offset = shl i64 %slot, 3
  %place = add i64 %offset, {_FIRST}
  %at = {counter} %place
  %plan = load atomic ptr, ptr %at monotonic, align 8
  %next = add i64 %head, 1
  %pair = cmpxchg ptr %ring, i64 %head, i64 %next acq_rel acquire
  %won = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %won, label %run, label %again
run:
  %at_status = getelementptr i8, ptr %plan, i64 {status_at}
  %at_after = getelementptr i8, ptr %plan, i64 {8 * PLAN.index("after")}
  %after = load ptr, ptr %at_after
  %first = icmp eq ptr %after, null
  br i1 %first, label %compute, label %wait
wait:
  %spun = phi i64 [ 0, %run ], [ %more, %spin ], [ %more, %nap ]
  %theirs_at = getelementptr i8, ptr %after, i64 {status_at}
  %theirs = load atomic i64, ptr %theirs_at acquire, align 8
  %more = add i64 %spun, 1
  %pending = icmp slt i64 %theirs, 0
  br i1 %pending, label %longer, label %there
longer:
  %long = icmp sgt i64 %more, {_SPINS}
  br i1 %long, label %nap, label %spin
spin:
  br label %wait
nap:
  %slept = call i32 @usleep(i32 {_NAP})
  br label %wait
there:
  %good = icmp eq i64 %theirs, 0
  br i1 %good, label %compute, label %note
compute:
  %function = load ptr, ptr %plan
{given}
  %found = call i64 %function({args})
  br label %note
note:
  %status = phi i64 [ 1, %there ], [ %found, %compute ]
  store atomic i64 %status, ptr %at_status release, align 8
  %before = atomicrmw add ptr %done_at, i64 1 acq_rel
  ret i1 true
}}
"""
    push = f"""
define i64 @push(ptr %ring, ptr %plan) {{
  %tail_at = {counter} {_TAIL}
  %done_at = {counter} {_DONE}
  %tail = load atomic i64, ptr %tail_at monotonic, align 8
  %done = load atomic i64, ptr %done_at acquire, align 8
  %waiting = sub i64 %tail, %done
  %full = icmp sge i64 %waiting, {SLOTS}
  br i1 %full, label %no, label %yes
no:
  ret i64 0
yes:
  %slot = and i64 %tail, {SLOTS - 1}
  %offset = shl i64 %slot, 3
  %place = add i64 %offset, {_FIRST}
  %at = {counter} %place
  store atomic ptr %plan, ptr %at monotonic, align 8
  %next = add i64 %tail, 1
  store atomic i64 %next, ptr %tail_at release, align 8
  ret i64 1
}}
"""
    work = f"""
define i64 @work(ptr %ring, i64 %patience) {{
begin:
  %stop_at = {counter} {_STOP}
  br label %look
look:
  %vain = phi i64 [ 0, %begin ], [ 0, %busy ], [ %more, %idle ]
  %stop = load atomic i64, ptr %stop_at acquire, align 8
  %ends = icmp ne i64 %stop, 0
  br i1 %ends, label %end, label %on
end:
  ret i64 0
on:
  %took = call i1 @take(ptr %ring)
  br i1 %took, label %busy, label %rest
busy:
  br label %look
rest:
  %more = add i64 %vain, 1
  %enough = icmp sgt i64 %more, %patience
  br i1 %enough, label %leave, label %idle
leave:
  ret i64 1
idle:
  %slept = call i32 @usleep(i32 {_NAP})
  br label %look
}}
"""
    help_ = f"""
define i64 @help(ptr %ring) {{
begin:
  %tail_at = {counter} {_TAIL}
  %done_at = {counter} {_DONE}
  br label %own
own:
  %took = call i1 @take(ptr %ring)
  br i1 %took, label %own, label %wait
wait:
  %spun = phi i64 [ 0, %own ], [ %more, %spin ], [ %more, %nap ]
  %tail = load atomic i64, ptr %tail_at acquire, align 8
  %done = load atomic i64, ptr %done_at acquire, align 8
  %all = icmp sge i64 %done, %tail
  br i1 %all, label %end, label %on
end:
  ret i64 0
on:
  %more = add i64 %spun, 1
  %long = icmp sgt i64 %more, {_SPINS}
  br i1 %long, label %nap, label %spin
spin:
  br label %wait
nap:
  %slept = call i32 @usleep(i32 {_NAP})
  br label %wait
}}
"""
    return {"push": take + push, "work": work, "help": help_}


class _Waiting(NamedTuple):
    """A product that has been put into the queue.

    Attributes:
        given: arrays that it reads, which must live until then.
        result: the array that it fills.
        again: computes it where the function has refused.
    """

    given: tuple[Array, ...]
    result: Array
    again: Callable[[], Array]


class Workers:
    """The threads of a process, and products that wait for them.

    Attributes:
        unwritten: slots of the registers that they have not certainly written yet.
    """

    def __init__(self, library: Library, count: int) -> None:
        if library.address("work") is None:
            text = {"work": "\n".join(_functions().values())}
            library.load(text, frozenset({"declare i32 @usleep(i32)"}), ("push", "work", "help"))
        self._library = library  # which owns the code
        ring = np.zeros(_FIRST + 8 * SLOTS + 64, np.uint8)
        self._ring = ring
        self._at = ring.ctypes.data + -ring.ctypes.data % 64
        pointer, number = ctypes.c_void_p, ctypes.c_int64

        def address(name: str) -> int:
            found = library.address(name)
            assert found is not None
            return found

        self._push: Callable[..., int] = ctypes.PYFUNCTYPE(number, pointer, pointer)(
            address("push")
        )
        self._work: Callable[..., int] = ctypes.CFUNCTYPE(number, pointer, number)(address("work"))
        self._help: Callable[..., int] = ctypes.CFUNCTYPE(number, pointer)(address("help"))
        self.unwritten = set[int]()
        self._plans = np.zeros((SLOTS, len(PLAN)), np.int64)
        self._plan_at = self._plans.ctypes.data
        self._waiting: list[_Waiting] = []
        self._computing: dict[int, int] = {}
        self._owner = 0
        self._lock = threading.Lock()
        self._asleep = 0
        self._wake = threading.Semaphore(0)
        self._threads = [
            threading.Thread(target=self._serve, name=f"tilec-product-{n}", daemon=True)
            for n in range(count - 1)
        ]
        for thread in self._threads:
            thread.start()
        atexit.register(self.end)

    def _serve(self) -> None:
        """Execute what comes, and sleep where nothing does."""
        while self._work(self._at, _PATIENCE):
            with self._lock:
                self._asleep += 1
            self._wake.acquire()

    def end(self) -> None:
        """End the threads."""
        self._help(self._at)
        self._ring[_STOP + self._at - self._ring.ctypes.data] = 1
        for _ in self._threads:
            self._wake.release()
        for thread in self._threads:
            thread.join()

    def take(self) -> bool:
        """Whether this thread may put products into the queue: it has none of another's."""
        me = threading.get_ident()
        with self._lock:
            if self._owner not in (0, me):
                return False
            self._owner = me
        return True

    def put(
        self, numbers: tuple[int, ...], given: tuple[Array, ...], again: Callable[[], Array]
    ) -> Array:
        """Have a product computed: its result, which is there once all are finished.

        Args:
            numbers: the function's address, and what it is called with after the arrays.
            given: A, B, which are there, and C, which may be such a result.
            again: computes it where the function refuses.
        """
        if len(self._waiting) == SLOTS:
            self.finish()
        a, b, c = given
        result = np.empty(c.shape, np.uint32)
        arrays = id(a), id(b), id(c), id(result)
        at = self._plan_at + 8 * len(PLAN) * len(self._waiting)
        after = self._computing.get(id(c), 0)
        self._plans[len(self._waiting)] = (numbers[0], *arrays, *numbers[1:], after, PENDING)
        self._waiting.append(_Waiting(given, result, again))
        self._computing[id(result)] = at
        room = self._push(self._at, at)
        assert room
        if self._asleep:
            with self._lock:
                count, self._asleep = self._asleep, 0
            self._wake.release(count)
        return result

    def finish(self) -> None:
        """Have all products that this thread has put there executed, in part by itself."""
        if not self._waiting or self._owner != threading.get_ident():
            return
        self._help(self._at)
        waiting, self._waiting = self._waiting, []
        self.unwritten.clear()
        self._computing.clear()
        self._owner = 0
        for number in np.flatnonzero(self._plans[: len(waiting), -1]).tolist():
            waiting[number].result[...] = waiting[number].again()


@cache
def _workers(library: Library, count: int, process: int) -> Workers:
    del process  # threads do not live on in the child of a fork
    return Workers(library, count)


def workers(library: Library) -> Workers | None:
    """The threads of this process; None if there is to be none but that of the launch."""
    count = threads()
    return _workers(library, count, os.getpid()) if count > 1 and os.name == "posix" else None
