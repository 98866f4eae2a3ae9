"""The scheduler in LLVM IR, while groups of threads stand at blocks that are stretches alone.

    advance(state) -> i64

It does what `Scheduler.run` and `Scheduler.advance` do with groups of one frame, none of which
waits: executes blocks, sends groups where branches lead, splits and joins them, and picks the next
as `order.Together` does. `state` holds the tables below; the answer says why it came back.
"""

from __future__ import annotations

from tilec.isa import LANES

from ..order import PATIENCE
from . import driver
from .lanes import Lanes

LEAVE, ALONE, ARRAYS, REFUSED, BRANCH, PAUSE = range(6)
"""All groups are queued, and the next is not for machine code; one group is left, likewise, and
goes on in its turn; a stretch needs arrays for its results, or numpy; numpy has to decide a branch;
or it has run so many blocks that it is time to look up."""

NAME = "advance_groups"
GROUPS = 16
"""Groups at most."""

STATE = (
    "groups", "blocks", "registers", "initial", "types", "run", "describe", "entry", "copy",
    "ctas", "warps", "whole", "turn", "steps", "max_steps", "sequence", "current", "resume",
    "budget", "last",
)  # fmt: skip
"""Fields, 8 bytes each: tables; the lists of registers; the driver's table of types and functions;
an entry of the driver's for predicates; the shape of the wave; threads that have not exited; the
scheduler's counters; the next place in the order of entering; the group that runs; the number, from
1, of the stretch that it goes on with, or 0 before a block; how many blocks may be run; and the
group that was queued last."""
_POINTERS = 9

GROUP = ("block", "threads", "warps", "turn", "boost", "sequence", "mask")
"""Fields of a group: as of `Group`; -1 for the block of none. `sequence` is its place among those
that are queued, and `mask` points to a byte for each thread."""

BLOCK = (
    "native", "stretches", "table", "steps", "slot", "negated", "where", "otherwise",
    "runs", "entered_warps", "entered_threads",
)  # fmt: skip
"""Fields of a block: whether it is for machine code; its stretches; its steps; the predicate that
decides at its end, or -1; where the threads go then; how often it has run, for how many warps and
threads."""

STRETCH = ("plan", "outs", "dtypes", "kept")
"""Fields of a stretch: its plan, the list of arrays for its results, these arrays' dtypes, and room
for what stood in the list."""

_FLAGS = 0x1 | 0x4 | 0x100 | 0x400
"""numpy's flags of an array of its own, in C's order, aligned and writable."""
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
        return self.load(row, _field(GROUP, name), "ptr" if name == "mask" else "i64")

    def set_group(self, row: str, name: str, value: str | int) -> None:
        self.store("i64", value, row, _field(GROUP, name))

    def block(self, number: str) -> str:
        """The row of a block."""
        return self.at(self.state("blocks"), self.op("mul", number, 8 * len(BLOCK)))

    def of_block(self, row: str, name: str) -> str:
        return self.load(row, _field(BLOCK, name), "ptr" if name == "table" else "i64")

    def add(self, pointer: str, offset: int, more: str | int) -> None:
        self.store("i64", self.op("add", self.load(pointer, offset), more), pointer, offset)

    def truth(self, condition: str) -> str:
        return self.value(f"zext i1 {condition} to i64")

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
    flags = f.value(f"and i32 {f.load('%array', driver.DATA + 48, 'i32')}, {_FLAGS}")
    wrong = [
        f.is_("ne", f.load("%array", 0), 1),
        f.is_("ne", f.load("%array", driver.DATA + 32), 0),
        f.is_("ne", f.load("%array", driver.DATA + 40), "%dtype"),
        f.is_("ne", f.load("%array", driver.DATA + 8, "i32"), 3, "i32"),
        f.is_("ne", flags, _FLAGS, "i32"),
    ]
    some = wrong[0]
    for other in wrong[1:]:
        some = f.value(f"or i1 {some}, {other}")
    with f.when(some):
        f.leave(0)
    extents = f.load("%array", driver.DATA + 16, "ptr")
    for axis, extent in enumerate((f.state("ctas"), f.state("warps"), LANES)):
        wanted = f.value(f"select i1 {one}, i64 1, i64 {extent}")
        with f.when(f.is_("ne", f.load(extents, 8 * axis), wanted)):
            f.leave(0)
    f.do("ret i64 1")
    return f.end()


def _results(f: _Text) -> tuple[str, str, str]:
    """Of a stretch: how many results it has, the table of them, and the list of their arrays."""
    plan, outs = (f.load("%stretch", _field(STRETCH, n), "ptr") for n in ("plan", "outs"))
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
    f = _Text("define internal i64 @lend(ptr %state, ptr %stretch)")
    number, table, items = _results(f)
    dtypes, kept = (f.load("%stretch", _field(STRETCH, n), "ptr") for n in ("dtypes", "kept"))
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
    f = _Text("define internal void @exchange(ptr %state, ptr %stretch, i1 %done)")
    number, table, items = _results(f)
    kept = f.load("%stretch", _field(STRETCH, "kept"), "ptr")
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
    run = f.state("run")
    registers, initial = f.state("registers"), f.state("initial")
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
    merge = f.value(f"select i1 {every}, ptr null, ptr {f.of_group(row, 'mask')}")
    table = f.of_block(block, "table")
    begin = f.value(f"call i64 @llvm.smax.i64(i64 {f.op('sub', resume, 1)}, i64 0)")
    with f.loop(f.op("sub", f.of_block(block, "stretches"), begin)) as n:
        now = f.op("add", n, begin)
        stretch = f.at(table, f.op("mul", now, 8 * len(STRETCH)))
        fits = f.value(f"call i64 @lend(ptr %state, ptr {stretch})")
        with f.when(f.is_("eq", fits, 0)):
            f.set_state("resume", f.op("add", now, 1))
            f.leave(ARRAYS)
        plan, outs = (f.load(stretch, _field(STRETCH, name), "ptr") for name in STRETCH[:2])
        status = f.value(
            f"call i64 {run}(ptr {plan}, ptr {registers}, ptr {initial}, ptr {outs}, "
            f"ptr {merge}, i64 {ctas}, i64 {warps})"
        )
        done = f.is_("eq", status, driver.DONE)
        f.do(f"call void @exchange(ptr %state, ptr {stretch}, i1 {done})")
        with f.when(f.not_(done)):
            f.set_state("resume", f.op("add", now, 1))
            again = f.is_("eq", status, driver.RESHAPE)
            f.leave(f.value(f"select i1 {again}, i64 {ARRAYS}, i64 {REFUSED}"))
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
    parts = (_count(), _enter(), _pick(), _fits(), _lend(), _exchange(), _part(), _advance())
    return "\n".join(parts)
