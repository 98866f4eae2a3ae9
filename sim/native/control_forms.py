"""The scheduler in LLVM IR, while groups of threads stand at blocks that are stretches alone.

    advance(state) -> i64

It does what `Scheduler.run` and `Scheduler.advance` do with groups of one frame, none of which
waits: executes blocks, sends groups where branches lead, splits and joins them, and picks the next
as `order.Together` does. `state` holds the tables below; the answer says why it came back.
"""

from __future__ import annotations

from tilec.isa import LANES

from ..checks.owners import TIME as EPOCH_TIME
from ..checks.stamps import TIME
from ..order import PATIENCE
from . import access_forms, driver
from .access_forms import MOVE, PATTERN, PROBE
from .access_forms import PLAN as ACCESS
from .global_forms import FULL, LOG, ROW
from .global_forms import PLAN as WATCH
from .lanes import Lanes

LEAVE, ALONE, ARRAYS, REFUSED, BRANCH, PAUSE, STEP, COUNT, ROOM, PART = range(10)
"""All groups are queued, and the next is not for machine code; one group is left, likewise, and
goes on in its turn; a part of a block needs arrays for its results, or a stretch numpy; numpy has
to decide a branch; or it has run so many blocks that it is time to look up. A load, store or
barrier is for Python; it is asked for the first time for the wavefronts of a pattern; a log needs
room; or the group goes on in its turn in the middle of a block."""
DONE = -1
"""Of a part: it has been executed."""

NAME = "advance_groups"
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

_BYTES = f"<{LANES} x i8>"

DECLARED = frozenset({"declare i32 @llvm.ctpop.i32(i32)", "declare i64 @llvm.smax.i64(i64, i64)"})
"""What the functions declare."""


def _field(fields: tuple[str, ...], name: str) -> int:
    return 8 * fields.index(name)


class _Text(Lanes):
    """A function that reads the state."""

    def state(self, name: str) -> str:
        pointer = STATE.index(name) < _POINTERS
        return self.load("%state", _field(STATE, name), "ptr" if pointer else "i64")

    def set_state(self, name: str, value: str | int) -> None:
        self.store("i64", value, "%state", _field(STATE, name))

    def group(self, number: str) -> str:
        """The row of a group."""
        return self.at(self.state("groups"), self.op("mul", number, 8 * len(GROUP)))

    def of_group(self, row: str, name: str) -> str:
        pointer = name in ("mask", "array")
        return self.load(row, _field(GROUP, name), "ptr" if pointer else "i64")

    def set_group(self, row: str, name: str, value: str | int) -> None:
        self.store("i64", value, row, _field(GROUP, name))

    def block(self, number: str) -> str:
        """The row of a block."""
        return self.at(self.state("blocks"), self.op("mul", number, 8 * len(BLOCK)))

    def of_block(self, row: str, name: str) -> str:
        return self.load(row, _field(BLOCK, name), "ptr" if name == "table" else "i64")

    def of_part(self, part: str, name: str) -> str:
        pointer = PART_OF.index(name) < PART_OF.index("kind")
        return self.load(part, _field(PART_OF, name), "ptr" if pointer else "i64")

    def of_checks(self, name: str) -> str:
        at = self.state("checks")
        return self.load(at, _field(CHECKS, name), "ptr" if name in _OF_CHECKS else "i64")

    def add(self, pointer: str, offset: int, more: str | int) -> None:
        self.store("i64", self.op("add", self.load(pointer, offset), more), pointer, offset)

    def truth(self, condition: str) -> str:
        return self.value(f"zext i1 {condition} to i64")

    def either(self, first: str, *others: str) -> str:
        for other in others:
            first = self.value(f"or i1 {first}, {other}")
        return first

    def not_(self, condition: str) -> str:
        return self.value(f"xor i1 {condition}, true")


def _count() -> str:
    """`count_threads(state, row)`: have a group know its threads and warps by its mask."""
    f = _Text("define internal void @count_threads(ptr %state, ptr %row)")
    threads, warps = f.variable(), f.variable()
    mask = f.of_group("%row", "mask")
    with f.loop(f.op("mul", f.state("ctas"), f.state("warps"))) as n:
        bits = f.value(f"load {_BYTES}, ptr {f.at(mask, f.op('mul', n, LANES))}, align 1")
        chosen = f.value(f"icmp ne {_BYTES} {bits}, zeroinitializer")
        number = f.value(f"bitcast <{LANES} x i1> {chosen} to i32")
        count = f.value(f"call i32 @llvm.ctpop.i32(i32 {number})")
        f.add(threads, 0, f.value(f"zext i32 {count} to i64"))
        f.add(warps, 0, f.truth(f.is_("ne", number, 0, "i32")))
    f.set_group("%row", "threads", f.load(threads))
    f.set_group("%row", "warps", f.load(warps))
    f.do("ret void")
    return f.end()


def _enter() -> str:
    """`enter(state, number)`: queue a group, with one that stands at the same block if any does."""
    f = _Text("define internal void @enter(ptr %state, i64 %number)")
    own = f.group("%number")
    block = f.of_group(own, "block")
    with f.loop(GROUPS) as n:
        other = f.group(n)
        alike = f.is_("eq", f.of_group(other, "block"), block)
        with f.when(f.both(alike, f.is_("ne", n, "%number"))):
            masks = f.of_group(own, "mask"), f.of_group(other, "mask")
            with f.loop(f.op("mul", f.state("ctas"), f.state("warps"))) as warp:
                at = f.op("mul", warp, LANES)
                a, b = (f.value(f"load {_BYTES}, ptr {f.at(m, at)}, align 1") for m in masks)
                both = f.value(f"or {_BYTES} {a}, {b}")
                f.do(f"store {_BYTES} {both}, ptr {f.at(masks[1], at)}, align 1")
            f.do(f"call void @count_threads(ptr %state, ptr {other})")
            f.set_group(other, "turn", f.of_group(own, "turn"))
            boosts = f.of_group(own, "boost"), f.of_group(other, "boost")
            more = f.is_("sgt", *boosts)
            with f.when(more):
                f.set_group(other, "boost", boosts[0])
            f.set_group(own, "block", -1)
            f.do("ret void")
            f.do("after_join:")
    f.set_group(own, "sequence", f.state("sequence"))
    f.set_state("sequence", f.op("add", f.state("sequence"), 1))
    f.do("ret void")
    return f.end()


def _pick() -> str:
    """`pick(state, turn)`: the group that runs in a turn, by its number."""
    f = _Text("define internal i64 @pick(ptr %state, i64 %turn)")
    count, only = f.variable(), f.variable()
    oldest, boosted, lowest = f.variable(-1), f.variable(-1), f.variable(-1)

    def better(variable: str, n: str, field: str, how: str) -> None:
        """Take a group if it is the first, or better, or as good and queued before."""
        now = f.load(variable)
        none = f.is_("slt", now, 0)
        safe = f.value(f"select i1 {none}, i64 {n}, i64 {now}")
        mine, other = f.group(n), f.group(safe)
        a, b = f.of_group(mine, field), f.of_group(other, field)
        before = f.is_("slt", f.of_group(mine, "sequence"), f.of_group(other, "sequence"))
        tie = f.both(f.is_("eq", a, b), before)
        wins = f.value(f"or i1 {f.is_(how, a, b)}, {tie}")
        with f.when(f.value(f"or i1 {none}, {wins}")):
            f.do(f"store i64 {n}, ptr {variable}")

    with f.loop(GROUPS) as n, f.when(f.is_("sge", f.of_group(f.group(n), "block"), 0)):
        f.add(count, 0, 1)
        f.do(f"store i64 {n}, ptr {only}")
        better(oldest, n, "turn", "slt")
        better(lowest, n, "block", "slt")
    with f.when(f.is_("eq", f.load(count), 1)):
        f.leave(f.load(only))
    first = f.group(f.load(oldest))
    waited = f.op("sub", "%turn", f.of_group(first, "turn"))
    with f.when(f.is_("sgt", waited, PATIENCE)):
        f.set_group(first, "boost", f.op("add", "%turn", PATIENCE))
    with f.loop(GROUPS) as n, f.when(f.is_("sge", f.of_group(f.group(n), "block"), 0)):
        better(boosted, n, "boost", "sgt")
    now = f.load(boosted)
    ahead = f.is_("sgt", f.of_group(f.group(now), "boost"), "%turn")
    f.do(f"ret i64 {f.value(f'select i1 {ahead}, i64 {now}, i64 {f.load(lowest)}')}")
    return f.end()


def _fits() -> str:
    """`fits(state, array, entry, dtype)`: whether an array is for a result, and nobody else's."""
    f = _Text("define internal i64 @fits(ptr %state, ptr %array, ptr %entry, i64 %dtype)")
    mode = f.load("%entry", 8 * driver.OUTPUT.index("mode"))
    one = f.is_("eq", mode, driver.UNIFORM)
    own = f.value(f"call i64 {f.state('own')}(ptr %array, i64 %dtype)")
    with f.when(f.is_("eq", own, 0)):
        f.leave(0)
    extents = f.load("%array", driver.EXTENTS, "ptr")
    for axis, extent in enumerate((f.state("ctas"), f.state("warps"), LANES)):
        wanted = f.value(f"select i1 {one}, i64 1, i64 {extent}")
        with f.when(f.is_("ne", f.load(extents, 8 * axis), wanted)):
            f.leave(0)
    f.do("ret i64 1")
    return f.end()


def _results(f: _Text) -> tuple[str, str, str]:
    """Of a part: how many results it has, the table of them, and the list of their arrays."""
    plan, outs = (f.of_part("%part", n) for n in ("plan", "outs"))
    number = f.load(plan, 8 * driver.PLAN.index("outputs"))
    table = f.load(plan, 8 * driver.PLAN.index("output_table"), "ptr")
    return number, table, f.load(outs, driver.ITEMS, "ptr")


def _register(f: _Text, entry: str) -> str:
    """Where the list of registers has that of a result."""
    registers = f.load(f.state("registers"), driver.ITEMS, "ptr")
    return f.at(registers, f.op("mul", f.load(entry, 8 * driver.OUTPUT.index("slot")), 8))


def _lend() -> str:
    """`lend(state, stretch)`: whether there is an array for each result.

    Registers that nobody else has are written in place: they stand in the list of arrays while the
    stretch is executed, and what stood there is kept.
    """
    f = _Text("define internal i64 @lend(ptr %state, ptr %part)")
    number, table, items = _results(f)
    dtypes, kept = (f.of_part("%part", n) for n in ("dtypes", "kept"))
    with f.loop(number) as n:
        at = f.op("mul", n, 8)
        entry = f.at(table, f.op("mul", n, 8 * len(driver.OUTPUT)))
        dtype, spare = f.load(dtypes, at), f.load(items, at, "ptr")
        register = f.load(_register(f, entry), 0, "ptr")
        given = f"ptr {entry}, i64 {dtype}"
        own = f.value(f"call i64 @fits(ptr %state, ptr {register}, {given})")
        f.store("ptr", "null", kept, at)
        with f.when(f.is_("ne", own, 0)):
            f.store("ptr", spare, kept, at)
            f.store("ptr", register, items, at)
        with f.when(f.is_("eq", own, 0)):
            new = f.value(f"call i64 @fits(ptr %state, ptr {spare}, {given})")
            with f.when(f.is_("eq", new, 0)):
                with f.loop(n) as before:
                    place = f.op("mul", before, 8)
                    other = f.load(kept, place, "ptr")
                    with f.when(f.is_("ne", other, "null", "ptr")):
                        f.store("ptr", other, items, place)
                f.leave(0)
    f.do("ret i64 1")
    return f.end()


def _exchange() -> str:
    """`exchange(state, stretch, done)`: let registers be the results, and keep what they were."""
    f = _Text("define internal void @exchange(ptr %state, ptr %part, i1 %done)")
    number, table, items = _results(f)
    kept = f.of_part("%part", "kept")
    with f.loop(number) as n:
        at = f.op("mul", n, 8)
        entry = f.at(table, f.op("mul", n, 8 * len(driver.OUTPUT)))
        spare = f.load(kept, at, "ptr")
        with f.when(f.is_("ne", spare, "null", "ptr")):
            f.store("ptr", spare, items, at)
        with f.when(f.both(f.is_("eq", spare, "null", "ptr"), "%done")):
            place = _register(f, entry)
            new, old = f.load(items, at, "ptr"), f.load(place, 0, "ptr")
            f.store("ptr", old, items, at)
            f.store("ptr", new, place)
    f.do("ret void")
    return f.end()


def _stretch() -> str:
    """`stretch(state, part, merge)`: execute a stretch."""
    f = _Text("define internal i64 @stretch(ptr %state, ptr %part, ptr %merge)")
    fits = f.value("call i64 @lend(ptr %state, ptr %part)")
    with f.when(f.is_("eq", fits, 0)):
        f.leave(ARRAYS)
    plan, outs = (f.of_part("%part", name) for name in ("plan", "outs"))
    run, registers, initial = (f.state(name) for name in ("run", "registers", "initial"))
    status = f.value(
        f"call i64 {run}(ptr {plan}, ptr {registers}, ptr {initial}, ptr {outs}, "
        f"ptr %merge, i64 {f.state('ctas')}, i64 {f.state('warps')})"
    )
    done = f.is_("eq", status, driver.DONE)
    f.do(f"call void @exchange(ptr %state, ptr %part, i1 {done})")
    with f.when(f.not_(done)):
        again = f.is_("eq", status, driver.RESHAPE)
        f.leave(f.value(f"select i1 {again}, i64 {ARRAYS}, i64 {REFUSED}"))
    f.do(f"ret i64 {DONE}")
    return f.end()


def _guarded() -> str:
    """`guarded(state, part, merge, array, group)`: load or store where a guard holds, if any.

    `merge` is what registers are changed by and `array` what threads are active; null for all.
    """
    f = _Text(
        "define internal i64 @guarded(ptr %state, ptr %part, ptr %merge, ptr %array, ptr %group)"
    )
    guard = f.of_part("%part", "guard")
    given = "ptr %state, ptr %part"
    with f.when(f.is_("slt", guard, 0)):
        f.leave(f.value(f"call i64 @access({given}, ptr %merge, ptr %array)"))
    registers = f.load(f.state("registers"), driver.ITEMS, "ptr")
    predicate, entry = f.load(registers, f.op("mul", guard, 8), "ptr"), f.state("entry")
    kind = f.value(
        f"call i64 {f.state('describe')}(ptr {predicate}, ptr {entry}, ptr {f.state('types')})"
    )
    with f.when(f.is_("eq", kind, 0)):
        f.leave(STEP)
    negated = f.of_part("%part", "negated")
    with f.when(f.is_("eq", kind, 2)):
        data = f.value(f"inttoptr i64 {driver.get(f, entry, 'data')} to ptr")
        holds = f.truth(f.is_("ne", f.load(data, 0, "i8"), 0, "i8"))
        with f.when(f.is_("eq", holds, negated)):
            f.leave(DONE)
        f.leave(f.value(f"call i64 @access({given}, ptr %merge, ptr %array)"))
    ctas, warps = f.state("ctas"), f.state("warps")
    grouped = f.is_("ne", "%array", "null", "ptr")
    alike = f.both(f.not_(grouped), f.is_("eq", driver.get(f, entry, "of_cta"), 0))
    some, one = f.state("some"), f.state("one")
    to = f.value(f"select i1 {alike}, ptr {one}, ptr {some}")
    rows = f.value(f"select i1 {alike}, i64 1, i64 {ctas}")
    room, copy = f.keep(_BYTES, "zeroinitializer"), f.state("copy")
    stride, mask = driver.get(f, entry, "of_lane"), f.of_group("%group", "mask")
    flips = f.spread(_BYTES, "i8", f.value(f"trunc i64 {negated} to i8"))
    any_ = f.keep(_BYTES, "zeroinitializer")
    with f.loop(rows) as cta, f.loop(warps) as warp:
        from_ = driver.place_of(f, entry, cta, warp)
        f.do(f"call void {copy}(ptr {room}, ptr {from_}, i64 {stride})")
        found = f.value(f"icmp ne {_BYTES} {f.get(_BYTES, room)}, zeroinitializer")
        byte = f.value(f"zext <{LANES} x i1> {found} to {_BYTES}")
        holds = f.value(f"xor {_BYTES} {byte}, {flips}")
        at = f.op("mul", f.op("add", f.op("mul", cta, warps), warp), LANES)
        own = f.keep(_BYTES, "splat (i8 1)")
        with f.when(grouped):
            f.put(_BYTES, f.value(f"load {_BYTES}, ptr {f.at(mask, at)}, align 1"), own)
        chosen = f.value(f"and {_BYTES} {f.get(_BYTES, own)}, {holds}")
        f.do(f"store {_BYTES} {chosen}, ptr {f.at(to, at)}, align 1")
        f.put(_BYTES, f.value(f"or {_BYTES} {f.get(_BYTES, any_)}, {chosen}"), any_)
    bits = f.value(f"icmp ne {_BYTES} {f.get(_BYTES, any_)}, zeroinitializer")
    none = f.is_("eq", f.value(f"bitcast <{LANES} x i1> {bits} to i32"), 0, "i32")
    with f.when(none):
        f.leave(DONE)
    arrays = f.state("some_array"), f.state("one_array")
    array = f.value(f"select i1 {alike}, ptr {arrays[1]}, ptr {arrays[0]}")
    f.do(f"ret i64 {f.value(f'call i64 @access({given}, ptr {to}, ptr {array})')}")
    return f.end()


def _outputs() -> str:
    """`outputs(state, part, merge, array)`: note how registers are loaded; 0 for what is none."""
    f = _Text("define internal i64 @outputs(ptr %state, ptr %part, ptr %merge, ptr %array)")
    number, table, _ = _results(f)
    access, types = f.of_part("%part", "function"), f.state("types")
    plan = f.load(access, 8, "ptr")
    registers = f.load(f.state("registers"), driver.ITEMS, "ptr")
    initial = f.load(f.state("initial"), driver.ITEMS, "ptr")
    slot = f.load(plan, 8 * ACCESS.index("address"))
    address = f.load(registers, f.op("mul", slot, 8), "ptr")
    entry = f.at(plan, access_forms.ENTRIES)
    kind = f.value(f"call i64 {f.state('describe')}(ptr {address}, ptr {entry}, ptr {types})")
    with f.when(f.is_("eq", kind, 0)):
        f.leave(0)
    shared = f.is_("eq", f.of_part("%part", "kind"), SHARED)
    several = f.both(shared, f.is_("ne", f.state("ctas"), 1))
    single = f.both(f.is_("eq", kind, 2), f.is_("eq", "%array", "null", "ptr"))
    single = f.both(single, f.not_(several))
    mode = f.value(f"select i1 {single}, i64 {driver.UNIFORM}, i64 {driver.FULL}")
    merging = f.is_("ne", "%merge", "null", "ptr")
    at = 8 * driver.OUTPUT.index("mode")
    with f.loop(number) as n:
        one = f.at(table, f.op("mul", n, 8 * len(driver.OUTPUT)))
        place = f.op("mul", f.load(one, 8 * driver.OUTPUT.index("slot")), 8)
        before, first = f.load(registers, place, "ptr"), f.load(initial, place, "ptr")
        merged = f.both(merging, f.is_("ne", before, first, "ptr"))
        f.store("i64", mode, one, at)
        with f.when(merged):
            f.store("i64", driver.MERGED, one, at)
            known = f.value(f"call i64 {f.state('describe')}(ptr {before}, ptr {one}, ptr {types})")
            with f.when(f.is_("eq", known, 0)):
                f.leave(0)
    extents = f.state("ctas"), f.state("warps"), str(LANES)
    for name, extent in zip(("of_ctas", "of_warps", "of_lanes"), extents, strict=True):
        wanted = f.value(f"select i1 {single}, i64 1, i64 {extent}")
        f.store("i64", wanted, plan, 8 * ACCESS.index(name))
    f.do("ret i64 1")
    return f.end()


def _access() -> str:
    """`access(state, part, merge, array)`: load or store what threads do, checks included."""
    f = _Text("define internal i64 @access(ptr %state, ptr %part, ptr %merge, ptr %array)")
    given = "ptr %state, ptr %part"
    fits = f.value(f"call i64 @outputs({given}, ptr %merge, ptr %array)")
    with f.when(f.is_("eq", fits, 0)):
        f.leave(STEP)
    fits = f.value(f"call i64 @lend({given})")
    with f.when(f.is_("eq", fits, 0)):
        f.leave(ARRAYS)
    access, outs = f.of_part("%part", "function"), f.of_part("%part", "outs")
    function, plan = f.load(access, 0, "ptr"), f.load(access, 8, "ptr")
    ctas, warps = f.state("ctas"), f.state("warps")
    checked = f.is_("ne", f.state("checks"), "null", "ptr")

    def run(phase: int) -> str:
        return f.value(
            f"call i64 {function}(ptr {plan}, ptr {f.state('access')}, "
            f"ptr {f.state('registers')}, ptr {outs}, ptr %array, i64 {ctas}, i64 {warps}, "
            f"i64 {phase})"
        )

    def stop(wrong: str, answer: str | int) -> None:
        with f.when(wrong):
            f.do(f"call void @exchange({given}, i1 false)")
            f.leave(answer)

    def go_on() -> None:
        f.do(f"call void @exchange({given}, i1 true)")
        f.add("%part", _field(PART_OF, "done"), 1)
        f.leave(DONE)

    kind = f.of_part("%part", "kind")
    with f.when(f.is_("eq", kind, SHARED)):
        with f.when(checked):
            size = f.load(access, 16)
            coarse = f.is_("eq", f.op("lshr", size, f.load(f.of_checks("shift"))), 0)
            stop(f.either(coarse, f.is_("eq", f.of_checks("shares"), 0)), STEP)
        status = run(PROBE | PATTERN | MOVE)
        new = f.is_("eq", status, access_forms.NEW)
        answer = f.value(f"select i1 {new}, i64 {COUNT}, i64 {STEP}")
        stop(f.is_("ne", status, access_forms.DONE), answer)
        f.add("%part", _field(PART_OF, "same"), 1)
        go_on()
    with f.when(checked):
        stores = f.is_("ne", f.load(access, 24), 0)
        stop(f.both(stores, f.is_("eq", f.of_checks("stores"), 0)), STEP)
    status = run(PROBE)
    stop(f.is_("ne", status, access_forms.DONE), STEP)
    with f.when(f.is_("eq", kind, WATCHED)):
        watched = f.of_part("%part", "watched")
        status = f.value(f"call i64 {f.state('watch')}(ptr {watched})")
        full = f.is_("eq", status, FULL)
        answer = f.value(f"select i1 {full}, i64 {ROOM}, i64 {STEP}")
        stop(f.is_("ne", status, access_forms.DONE), answer)
        kept = f.load(watched, 8 * WATCH.index("values"))
        f.store("i64", kept, f.of_checks("values"))
    with f.when(checked):
        rows = f.load(plan, 8 * ACCESS.index("rows"))
        times = f.op("udiv", ctas, rows)
        for name in ("requests", "sectors"):
            more = f.op("mul", f.load(plan, 8 * ACCESS.index(name)), times)
            f.add("%part", _field(PART_OF, name), more)
    run(MOVE)
    with f.when(checked):
        f.store("i64", 0, f.of_checks("values"))
    go_on()
    f.do(f"ret i64 {DONE}")
    return f.end()


def _meet() -> str:
    """`meet(state)`: all threads meet at a barrier, where nothing has to be looked for."""
    f = _Text("define internal i64 @meet(ptr %state)")
    with f.when(f.is_("eq", f.state("checks"), "null", "ptr")):
        f.leave(DONE)
    clocks, now = f.load(f.of_checks("clocks")), f.of_checks("now")
    alone = f.both(f.is_("ne", f.of_checks("alike"), 0), f.is_("ne", f.of_checks("quiet"), 0))
    with f.when(f.not_(alone)):
        f.leave(STEP)
    log, rows = f.of_checks("log"), f.of_checks("rows")
    with f.loop(f.of_checks("allocations")) as n:
        row = f.at(rows, f.op("mul", n, 8 * len(ROW)))
        both = f.op("and", f.load(row, _field(ROW, "suspect")), f.load(row, _field(ROW, "touched")))
        with f.when(f.is_("ne", both, 0)):
            f.leave(STEP)
    with f.loop(clocks) as cta:
        time = f.load(now, f.op("mul", cta, 8))
        with f.when(f.is_("sge", time, f.of_checks("most"))):
            f.leave(STEP)
    # Time passes, and everybody has seen what was before.
    stamp, seen = (f.load(f.of_checks(name), 0, "ptr") for name in ("stamp", "seen"))
    warps, least = f.state("warps"), f.variable(1 << 62)
    with f.loop(clocks) as cta:
        at = f.at(now, f.op("mul", cta, 8))
        time = f.load(at)
        less = f.is_("slt", time, f.load(least))
        smaller = f.value(f"select i1 {less}, i64 {time}, i64 {f.load(least)}")
        f.do(f"store i64 {smaller}, ptr {least}")
        f.store("i64", f.op("add", time, 1), at)
        with f.loop(f.op("mul", warps, LANES)) as thread:
            number = f.op("add", f.op("mul", cta, f.op("mul", warps, LANES)), thread)
            place = f.at(stamp, f.op("mul", number, 4))
            later = f.value(f"add i32 {f.load(place, 0, 'i32')}, {1 << TIME}")
            f.store("i32", later, place)
        pairs = f.op("mul", warps, warps)
        with f.loop(pairs) as pair:
            place = f.op("add", f.op("mul", cta, pairs), pair)
            f.store("i64", time, seen, f.op("mul", place, 8))
    f.store("i64", f.load(least), f.of_checks("floor"))
    times = f.of_checks("times")
    with f.when(f.is_("ne", times, "null", "ptr")), f.loop(clocks) as cta:
        f.add(f.at(times, f.op("mul", cta, 8)), 0, 1 << EPOCH_TIME)
    # What was touched no longer matters.
    with f.when(f.is_("ne", log, "null", "ptr")):
        f.add(log, _field(LOG, "period"), 1)
        f.store("i64", f.load(log, _field(LOG, "base")), log, _field(LOG, "at"))
        f.store("i64", 0, log, _field(LOG, "threads"))
        f.store("i64", 1, log, _field(LOG, "dropped"))
        with f.loop(f.of_checks("allocations")) as n:
            row = f.at(rows, f.op("mul", n, 8 * len(ROW)))
            for name in ("suspect", "touched"):
                f.store("i64", 0, row, _field(ROW, name))
    f.add(f.state("checks"), _field(CHECKS, "met"), 1)
    f.do(f"ret i64 {DONE}")
    return f.end()


def _part() -> str:
    """`part(state, row, other, negated)`: leave in `other` who does not take a branch.

    The predicates are in the entry. The answer is how many take it; the mask of the group becomes
    theirs unless that is all or none.
    """
    f = _Text("define internal i64 @part(ptr %state, ptr %row, ptr %other, i64 %negated)")
    taken, left = f.variable(), f.variable()
    mask, rest = f.of_group("%row", "mask"), f.of_group("%other", "mask")
    entry, copy = f.state("entry"), f.state("copy")
    room = f.keep(_BYTES, "zeroinitializer")
    flip = f.value("trunc i64 %negated to i8")
    flips = f.spread(_BYTES, "i8", flip)
    stride = driver.get(f, entry, "of_lane")
    ctas, warps = f.state("ctas"), f.state("warps")
    with f.loop(ctas) as cta, f.loop(warps) as warp:
        from_ = driver.place_of(f, entry, cta, warp)
        f.do(f"call void {copy}(ptr {room}, ptr {from_}, i64 {stride})")
        found = f.value(f"icmp ne {_BYTES} {f.get(_BYTES, room)}, zeroinitializer")
        byte = f.value(f"zext <{LANES} x i1> {found} to {_BYTES}")
        holds = f.value(f"xor {_BYTES} {byte}, {flips}")
        at = f.op("mul", f.op("add", f.op("mul", cta, warps), warp), LANES)
        own = f.value(f"load {_BYTES}, ptr {f.at(mask, at)}, align 1")
        goes = f.value(f"and {_BYTES} {own}, {holds}")
        stays = f.value(f"xor {_BYTES} {own}, {goes}")
        f.do(f"store {_BYTES} {stays}, ptr {f.at(rest, at)}, align 1")
        for bytes_, variable in ((goes, taken), (stays, left)):
            some = f.value(f"icmp ne {_BYTES} {bytes_}, zeroinitializer")
            number = f.value(f"bitcast <{LANES} x i1> {some} to i32")
            count = f.value(f"call i32 @llvm.ctpop.i32(i32 {number})")
            f.add(variable, 0, f.value(f"zext i32 {count} to i64"))
    split = f.both(f.is_("ne", f.load(taken), 0), f.is_("ne", f.load(left), 0))
    with f.when(split), f.loop(f.op("mul", ctas, warps)) as n:
        at = f.op("mul", n, LANES)
        own, stays = (f.value(f"load {_BYTES}, ptr {f.at(m, at)}, align 1") for m in (mask, rest))
        goes = f.value(f"xor {_BYTES} {own}, {stays}")
        f.do(f"store {_BYTES} {goes}, ptr {f.at(mask, at)}, align 1")
    f.do(f"ret i64 {f.load(taken)}")
    return f.end()


def _advance() -> str:
    f = _Text(f"define i64 @{NAME}(ptr %state)")
    ctas, warps, whole = (f.state(name) for name in ("ctas", "warps", "whole"))
    registers = f.state("registers")
    f.label("execute")
    number = f.state("current")
    row = f.group(number)
    block = f.block(f.of_group(row, "block"))
    with f.when(f.is_("eq", f.of_block(block, "native"), 0)):
        f.leave(ALONE)
    resume = f.state("resume")
    with f.when(f.is_("eq", resume, 0)):
        with f.when(f.is_("eq", f.state("budget"), 0)):
            f.leave(PAUSE)
        f.set_state("budget", f.op("sub", f.state("budget"), 1))
        f.add(block, _field(BLOCK, "runs"), 1)
        f.add(block, _field(BLOCK, "entered_warps"), f.of_group(row, "warps"))
        f.add(block, _field(BLOCK, "entered_threads"), f.of_group(row, "threads"))
        steps = f.op("add", f.of_block(block, "steps"), 1)
        f.set_state("steps", f.op("add", f.state("steps"), steps))
    every = f.is_("eq", f.of_group(row, "threads"), whole)
    mask, array = f.of_group(row, "mask"), f.of_group(row, "array")
    merge = f.value(f"select i1 {every}, ptr null, ptr {mask}")
    table = f.of_block(block, "table")
    begin = f.value(f"call i64 @llvm.smax.i64(i64 {f.op('sub', resume, 1)}, i64 0)")
    size = f.op("mul", f.op("mul", ctas, warps), LANES)
    all_ = f.is_("eq", f.of_group(row, "threads"), size)
    chosen = f.value(f"select i1 {all_}, ptr null, ptr {array}")
    with f.loop(f.op("sub", f.of_block(block, "parts"), begin)) as n:
        now = f.op("add", n, begin)
        part = f.at(table, f.op("mul", now, 8 * len(PART_OF)))
        kind, found = f.of_part(part, "kind"), f.variable(STEP)
        with f.when(f.is_("eq", kind, STRETCH)):
            given = f"ptr %state, ptr {part}, ptr {merge}"
            f.do(f"store i64 {f.value(f'call i64 @stretch({given})')}, ptr {found}")
        moves = [f.is_("eq", kind, one) for one in (SHARED, GLOBAL, WATCHED)]
        with f.when(f.either(*moves)):
            given = f"ptr %state, ptr {part}, ptr {merge}, ptr {chosen}, ptr {row}"
            f.do(f"store i64 {f.value(f'call i64 @guarded({given})')}, ptr {found}")
        with f.when(f.is_("eq", kind, BARRIER)):
            f.do(f"store i64 {PART}, ptr {found}")
            with f.when(all_):
                f.do(f"store i64 {f.value('call i64 @meet(ptr %state)')}, ptr {found}")
        with f.when(f.is_("ne", f.load(found), DONE)):
            f.set_state("resume", f.op("add", now, 1))
            f.leave(f.load(found))
    f.set_state("resume", 0)
    f.set_group(row, "turn", f.state("turn"))
    # Where the threads go
    go, parted = f.variable(f.of_block(block, "where")), f.variable(-1)
    slot = f.of_block(block, "slot")
    with f.when(f.is_("sge", slot, 0)):
        items = f.load(registers, driver.ITEMS, "ptr")
        array, entry = f.load(items, f.op("mul", slot, 8), "ptr"), f.state("entry")
        kind = f.value(
            f"call i64 {f.state('describe')}(ptr {array}, ptr {entry}, ptr {f.state('types')})"
        )
        with f.when(f.is_("eq", kind, 0)):
            f.leave(BRANCH)
        negated, otherwise = f.of_block(block, "negated"), f.of_block(block, "otherwise")
        with f.when(f.is_("eq", kind, 2)):
            data = f.value(f"inttoptr i64 {driver.get(f, entry, 'data')} to ptr")
            holds = f.truth(f.is_("ne", f.load(data, 0, "i8"), 0, "i8"))
            with f.when(f.is_("eq", holds, negated)):
                f.do(f"store i64 {otherwise}, ptr {go}")
        with f.when(f.is_("eq", kind, 1)):
            free = f.variable(-1)
            with f.loop(GROUPS) as n, f.when(f.is_("slt", f.of_group(f.group(n), "block"), 0)):
                f.do(f"store i64 {n}, ptr {free}")
            with f.when(f.is_("slt", f.load(free), 0)):
                f.leave(BRANCH)
            other = f.group(f.load(free))
            before = f.of_group(row, "threads")
            taken = f.value(f"call i64 @part(ptr %state, ptr {row}, ptr {other}, i64 {negated})")
            none = f.is_("eq", taken, 0)
            with f.when(none):
                f.do(f"store i64 {otherwise}, ptr {go}")
            with f.when(f.both(f.not_(none), f.is_("ne", taken, before))):
                f.do(f"store i64 {f.load(free)}, ptr {parted}")
                for name in ("turn", "boost"):
                    f.set_group(other, name, f.of_group(row, name))
                f.do(f"call void @count_threads(ptr %state, ptr {row})")
                f.do(f"call void @count_threads(ptr %state, ptr {other})")
    f.set_group(row, "block", f.load(go))
    others = f.variable()
    with f.loop(GROUPS) as n:
        queued = f.is_("sge", f.of_group(f.group(n), "block"), 0)
        f.add(others, 0, f.truth(f.both(queued, f.is_("ne", n, number))))
    within = f.is_("sle", f.state("steps"), f.state("max_steps"))
    with f.when(f.is_("slt", f.load(parted), 0)):
        alone = f.both(f.is_("eq", f.load(others), 0), within)
        f.do(f"br i1 {alone}, label %execute, label %queue")
        f.do("queue:")
    f.set_state("last", number)
    f.do(f"call void @enter(ptr %state, i64 {number})")
    with f.when(f.is_("sge", f.load(parted), 0)):
        f.set_state("last", f.load(parted))
        other = f.group(f.load(parted))
        f.set_group(other, "block", f.of_block(block, "otherwise"))
        f.do(f"call void @enter(ptr %state, i64 {f.load(parted)})")
    with f.when(f.not_(within)):
        f.leave(LEAVE)
    turn = f.op("add", f.state("turn"), 1)
    next_ = f.value(f"call i64 @pick(ptr %state, i64 {turn})")
    following = f.block(f.of_group(f.group(next_), "block"))
    with f.when(f.is_("eq", f.of_block(following, "native"), 0)):
        f.leave(LEAVE)
    f.set_state("turn", turn)
    f.set_state("current", next_)
    f.do("br label %execute")
    return f.end()


def text() -> str:
    """The IR of the functions."""
    parts = (
        _count(), _enter(), _pick(), _fits(), _lend(), _exchange(), _stretch(), _guarded(),
        _outputs(), _access(), _meet(), _part(), _advance(),
    )  # fmt: skip
    return "\n".join(parts)
