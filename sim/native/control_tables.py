"""Tables of the scheduler in machine code, and text that reads them."""

from __future__ import annotations

from .lanes import Lanes

LEAVE, ALONE, ARRAYS, REFUSED, BRANCH, PAUSE, STEP, COUNT, ROOM, PART = range(10)
"""All groups are queued, and the next is not for machine code; one group is left, likewise, and
goes on in its turn; a part of a block needs arrays for its results, or a stretch numpy; numpy has
to decide a branch; or it has run so many blocks that it is time to look up. A load, store or
barrier is for Python; it is asked for the first time for the wavefronts of a pattern; a log needs
room; or the group goes on in its turn in the middle of a block."""
DONE = -1
"""Of a part: it has been executed."""

GROUPS = 16
"""Groups at most."""

STATE = (
    "groups", "blocks", "registers", "initial", "types", "run", "describe", "own", "entry", "copy",
    "access", "watch", "some", "one", "some_array", "one_array", "checks",
    "ctas", "warps", "whole", "turn", "steps", "max_steps", "sequence", "current", "resume",
    "budget", "last",
)  # fmt: skip
"""Fields, 8 bytes each: tables; the lists of registers; the driver's table of types and functions;
an entry of the driver's for predicates; what accesses have in common, and what watches global
memory; room for predicates of all CTAs and of one, and the arrays that these are; the checks, or
null; the shape of the wave; threads that have not exited; the scheduler's counters; the next place
in the order of entering; the group that runs; the number, from 1, of the part that it goes on with,
or 0 before a block; how many blocks may be run; and the group that was queued last."""
_POINTERS = STATE.index("ctas")

GROUP = ("block", "threads", "warps", "turn", "boost", "sequence", "mask", "array")
"""Fields of a group: as of `Group`; -1 for the block of none. `sequence` is its place among those
that are queued, `mask` points to a byte for each thread, and `array` is numpy's array of these."""

BLOCK = (
    "native", "parts", "table", "steps", "slot", "negated", "where", "otherwise",
    "runs", "entered_warps", "entered_threads",
)  # fmt: skip
"""Fields of a block: whether it is for machine code; its parts; its steps; the predicate that
decides at its end, or -1; where the threads go then; how often it has run, for how many warps and
threads."""

PART_OF = (
    "plan", "outs", "dtypes", "kept", "function", "watched", "kind", "index", "guard", "negated",
    "same", "requests", "sectors", "done",
)  # fmt: skip
"""Fields of a part: its plan, the list of arrays for its results, these arrays' dtypes, and room
for what stood in the list; of a load or store, its function and plan, and the plan of what watches
it; the kind; its first instruction; the predicate that guards it, or -1, and whether that must be
false; how often the pattern of the last time was accessed, the requests and their sectors; and how
often it was executed."""
STRETCH, SHARED, GLOBAL, WATCHED, BARRIER, NUMPY = range(6)
"""A stretch; a load or store of shared memory, of global memory that nobody needs to watch, or of
what is watched; a barrier; what Python has to execute."""

CHECKS = (
    "stamp", "seen", "floor", "clocks", "now", "times", "log", "rows", "values", "shift",
    "alike", "quiet", "most", "allocations", "met", "shares", "stores",
)  # fmt: skip
"""Fields of the checks: the threads' stamps, what warps have seen and what all have; how many CTAs
have clocks, their times, and these as epochs have them; the log of global memory, and the rows of
its allocations; where values that are stored are kept; the log2 of the bytes of a stamp of shared
memory; whether all of that is as it was; whether nothing is remembered beside; the last time of a
CTA; how many allocations there are; how often all threads have met; whether shared memory may be
checked, and stores to global memory. Pointers, but `log` and `rows`, are to fields of tables."""
_OF_CHECKS = {"stamp", "seen", "floor", "clocks", "now", "times", "log", "rows", "values", "shift"}


def field_at(fields: tuple[str, ...], name: str) -> int:
    """Where a field of a table is, in bytes."""
    return 8 * fields.index(name)


class ControlText(Lanes):
    """A function that reads the state."""

    def state(self, name: str) -> str:
        """A field of the state."""
        pointer = STATE.index(name) < _POINTERS
        return self.load("%state", field_at(STATE, name), "ptr" if pointer else "i64")

    def set_state(self, name: str, value: str | int) -> None:
        """Write it."""
        self.store("i64", value, "%state", field_at(STATE, name))

    def group(self, number: str) -> str:
        """The row of a group."""
        return self.at(self.state("groups"), self.op("mul", number, 8 * len(GROUP)))

    def of_group(self, row: str, name: str) -> str:
        """A field of a group."""
        pointer = name in ("mask", "array")
        return self.load(row, field_at(GROUP, name), "ptr" if pointer else "i64")

    def set_group(self, row: str, name: str, value: str | int) -> None:
        """Write it."""
        self.store("i64", value, row, field_at(GROUP, name))

    def block(self, number: str) -> str:
        """The row of a block."""
        return self.at(self.state("blocks"), self.op("mul", number, 8 * len(BLOCK)))

    def of_block(self, row: str, name: str) -> str:
        """A field of a block."""
        return self.load(row, field_at(BLOCK, name), "ptr" if name == "table" else "i64")

    def of_part(self, part: str, name: str) -> str:
        """A field of a part."""
        pointer = PART_OF.index(name) < PART_OF.index("kind")
        return self.load(part, field_at(PART_OF, name), "ptr" if pointer else "i64")

    def of_checks(self, name: str) -> str:
        """A field of the checks."""
        at = self.state("checks")
        return self.load(at, field_at(CHECKS, name), "ptr" if name in _OF_CHECKS else "i64")

    def add(self, pointer: str, offset: int, more: str | int) -> None:
        """Add to what lies somewhere."""
        self.store("i64", self.op("add", self.load(pointer, offset), more), pointer, offset)

    def truth(self, condition: str) -> str:
        """1 where a condition holds, else 0."""
        return self.value(f"zext i1 {condition} to i64")

    def either(self, first: str, *others: str) -> str:
        """Whether any of some conditions holds."""
        for other in others:
            first = self.value(f"or i1 {first}, {other}")
        return first

    def not_(self, condition: str) -> str:
        """Whether a condition does not hold."""
        return self.value(f"xor i1 {condition}, true")
