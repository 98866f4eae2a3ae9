"""The scheduler in LLVM IR, while groups of threads stand at blocks of parts alone (`parts`).

    advance(state) -> i64

It does what `Scheduler.run` and `Scheduler.advance` do with groups of one frame, none of which
waits: executes blocks, sends groups where branches lead, splits and joins them, and picks the next
as `order.Together` does. `state` holds the tables of `control_tables`; the answer says why it came
back.
"""

from __future__ import annotations

from tilec.isa import LANES

from ..order import PATIENCE
from . import driver, part_forms
from .control_tables import (
    ALONE,
    BARRIER,
    BLOCK,
    BRANCH,
    DONE,
    GLOBAL,
    GROUPS,
    LEAVE,
    PART,
    PART_OF,
    PAUSE,
    SHARED,
    STEP,
    STRETCH,
    WATCHED,
    ControlText,
    field_at,
)
from .lanes import BYTES

NAME = "advance_groups"

DECLARED = frozenset({"declare i32 @llvm.ctpop.i32(i32)", "declare i64 @llvm.smax.i64(i64, i64)"})
"""What the functions declare."""


def _count() -> str:
    """`count_threads(state, row)`: have a group know its threads and warps by its mask."""
    f = ControlText("define internal void @count_threads(ptr %state, ptr %row)")
    threads, warps = f.variable(), f.variable()
    mask = f.of_group("%row", "mask")
    with f.loop(f.op("mul", f.state("ctas"), f.state("warps"))) as n:
        bits = f.value(f"load {BYTES}, ptr {f.at(mask, f.op('mul', n, LANES))}, align 1")
        chosen = f.value(f"icmp ne {BYTES} {bits}, zeroinitializer")
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
    f = ControlText("define internal void @enter(ptr %state, i64 %number)")
    own = f.group("%number")
    block = f.of_group(own, "block")
    with f.loop(GROUPS) as n:
        other = f.group(n)
        alike = f.is_("eq", f.of_group(other, "block"), block)
        with f.when(f.both(alike, f.is_("ne", n, "%number"))):
            masks = f.of_group(own, "mask"), f.of_group(other, "mask")
            with f.loop(f.op("mul", f.state("ctas"), f.state("warps"))) as warp:
                at = f.op("mul", warp, LANES)
                a, b = (f.value(f"load {BYTES}, ptr {f.at(m, at)}, align 1") for m in masks)
                both = f.value(f"or {BYTES} {a}, {b}")
                f.do(f"store {BYTES} {both}, ptr {f.at(masks[1], at)}, align 1")
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
    f = ControlText("define internal i64 @pick(ptr %state, i64 %turn)")
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


def _part() -> str:
    """`part(state, row, other, negated)`: leave in `other` who does not take a branch.

    The predicates are in the entry. The answer is how many take it; the mask of the group becomes
    theirs unless that is all or none.
    """
    f = ControlText("define internal i64 @part(ptr %state, ptr %row, ptr %other, i64 %negated)")
    taken, left = f.variable(), f.variable()
    mask, rest = f.of_group("%row", "mask"), f.of_group("%other", "mask")
    entry, copy = f.state("entry"), f.state("copy")
    room = f.keep(BYTES, "zeroinitializer")
    flip = f.value("trunc i64 %negated to i8")
    flips = f.spread(BYTES, "i8", flip)
    stride = driver.get(f, entry, "of_lane")
    ctas, warps = f.state("ctas"), f.state("warps")
    with f.loop(ctas) as cta, f.loop(warps) as warp:
        from_ = driver.place_of(f, entry, cta, warp)
        f.do(f"call void {copy}(ptr {room}, ptr {from_}, i64 {stride})")
        found = f.value(f"icmp ne {BYTES} {f.get(BYTES, room)}, zeroinitializer")
        byte = f.value(f"zext <{LANES} x i1> {found} to {BYTES}")
        holds = f.value(f"xor {BYTES} {byte}, {flips}")
        at = f.op("mul", f.op("add", f.op("mul", cta, warps), warp), LANES)
        own = f.value(f"load {BYTES}, ptr {f.at(mask, at)}, align 1")
        goes = f.value(f"and {BYTES} {own}, {holds}")
        stays = f.value(f"xor {BYTES} {own}, {goes}")
        f.do(f"store {BYTES} {stays}, ptr {f.at(rest, at)}, align 1")
        for bytes_, variable in ((goes, taken), (stays, left)):
            some = f.value(f"icmp ne {BYTES} {bytes_}, zeroinitializer")
            number = f.value(f"bitcast <{LANES} x i1> {some} to i32")
            count = f.value(f"call i32 @llvm.ctpop.i32(i32 {number})")
            f.add(variable, 0, f.value(f"zext i32 {count} to i64"))
    split = f.both(f.is_("ne", f.load(taken), 0), f.is_("ne", f.load(left), 0))
    with f.when(split), f.loop(f.op("mul", ctas, warps)) as n:
        at = f.op("mul", n, LANES)
        own, stays = (f.value(f"load {BYTES}, ptr {f.at(m, at)}, align 1") for m in (mask, rest))
        goes = f.value(f"xor {BYTES} {own}, {stays}")
        f.do(f"store {BYTES} {goes}, ptr {f.at(mask, at)}, align 1")
    f.do(f"ret i64 {f.load(taken)}")
    return f.end()


def _advance() -> str:
    f = ControlText(f"define i64 @{NAME}(ptr %state)")
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
        f.add(block, field_at(BLOCK, "runs"), 1)
        f.add(block, field_at(BLOCK, "entered_warps"), f.of_group(row, "warps"))
        f.add(block, field_at(BLOCK, "entered_threads"), f.of_group(row, "threads"))
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
    parts = (_count(), _enter(), _pick(), part_forms.text(), _part(), _advance())
    return "\n".join(parts)
