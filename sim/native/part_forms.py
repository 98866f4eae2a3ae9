"""Parts of blocks in LLVM IR, as the scheduler executes them (`control_forms`).

Each function gives DONE, or why it has come back. Loads and stores are by their own functions
(`access_forms`), with global memory watched (`global_forms`); registers that nobody else has are
written in place.
"""

from __future__ import annotations

from tilec.isa import LANES

from ..checks.owners import TIME as EPOCH_TIME
from ..checks.stamps import TIME
from . import access_forms, driver
from .access_forms import MOVE, PATTERN, PROBE
from .access_forms import PLAN as ACCESS
from .control_tables import (
    ARRAYS,
    CHECKS,
    COUNT,
    DONE,
    PART_OF,
    REFUSED,
    ROOM,
    SHARED,
    STEP,
    WATCHED,
    ControlText,
    field_at,
)
from .global_tables import FULL, LOG, ROW
from .global_tables import PLAN as WATCH
from .lanes import BYTES


def _fits() -> str:
    """`fits(state, array, entry, dtype)`: whether an array is for a result, and nobody else's."""
    f = ControlText("define internal i64 @fits(ptr %state, ptr %array, ptr %entry, i64 %dtype)")
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


def _results(f: ControlText) -> tuple[str, str, str]:
    """Of a part: how many results it has, the table of them, and the list of their arrays."""
    plan, outs = (f.of_part("%part", n) for n in ("plan", "outs"))
    number = f.load(plan, 8 * driver.PLAN.index("outputs"))
    table = f.load(plan, 8 * driver.PLAN.index("output_table"), "ptr")
    return number, table, f.load(outs, driver.ITEMS, "ptr")


def _register(f: ControlText, entry: str) -> str:
    """Where the list of registers has that of a result."""
    registers = f.load(f.state("registers"), driver.ITEMS, "ptr")
    return f.at(registers, f.op("mul", f.load(entry, 8 * driver.OUTPUT.index("slot")), 8))


def _lend() -> str:
    """`lend(state, stretch)`: whether there is an array for each result.

    Registers that nobody else has are written in place: they stand in the list of arrays while the
    stretch is executed, and what stood there is kept.
    """
    f = ControlText("define internal i64 @lend(ptr %state, ptr %part)")
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
    f = ControlText("define internal void @exchange(ptr %state, ptr %part, i1 %done)")
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
    f = ControlText("define internal i64 @stretch(ptr %state, ptr %part, ptr %merge)")
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
    f = ControlText(
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
    room, copy = f.keep(BYTES, "zeroinitializer"), f.state("copy")
    stride, mask = driver.get(f, entry, "of_lane"), f.of_group("%group", "mask")
    flips = f.spread(BYTES, "i8", f.value(f"trunc i64 {negated} to i8"))
    any_ = f.keep(BYTES, "zeroinitializer")
    with f.loop(rows) as cta, f.loop(warps) as warp:
        from_ = driver.place_of(f, entry, cta, warp)
        f.do(f"call void {copy}(ptr {room}, ptr {from_}, i64 {stride})")
        found = f.value(f"icmp ne {BYTES} {f.get(BYTES, room)}, zeroinitializer")
        byte = f.value(f"zext <{LANES} x i1> {found} to {BYTES}")
        holds = f.value(f"xor {BYTES} {byte}, {flips}")
        at = f.op("mul", f.op("add", f.op("mul", cta, warps), warp), LANES)
        own = f.keep(BYTES, "splat (i8 1)")
        with f.when(grouped):
            f.put(BYTES, f.value(f"load {BYTES}, ptr {f.at(mask, at)}, align 1"), own)
        chosen = f.value(f"and {BYTES} {f.get(BYTES, own)}, {holds}")
        f.do(f"store {BYTES} {chosen}, ptr {f.at(to, at)}, align 1")
        f.put(BYTES, f.value(f"or {BYTES} {f.get(BYTES, any_)}, {chosen}"), any_)
    bits = f.value(f"icmp ne {BYTES} {f.get(BYTES, any_)}, zeroinitializer")
    none = f.is_("eq", f.value(f"bitcast <{LANES} x i1> {bits} to i32"), 0, "i32")
    with f.when(none):
        f.leave(DONE)
    arrays = f.state("some_array"), f.state("one_array")
    array = f.value(f"select i1 {alike}, ptr {arrays[1]}, ptr {arrays[0]}")
    f.do(f"ret i64 {f.value(f'call i64 @access({given}, ptr {to}, ptr {array})')}")
    return f.end()


def _outputs() -> str:
    """`outputs(state, part, merge, array)`: note how registers are loaded; 0 for what is none."""
    f = ControlText("define internal i64 @outputs(ptr %state, ptr %part, ptr %merge, ptr %array)")
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
    f = ControlText("define internal i64 @access(ptr %state, ptr %part, ptr %merge, ptr %array)")
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
        f.add("%part", field_at(PART_OF, "done"), 1)
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
        f.add("%part", field_at(PART_OF, "same"), 1)
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
            f.add("%part", field_at(PART_OF, name), more)
    run(MOVE)
    with f.when(checked):
        f.store("i64", 0, f.of_checks("values"))
    go_on()
    f.do(f"ret i64 {DONE}")
    return f.end()


def _meet() -> str:
    """`meet(state)`: all threads meet at a barrier, where nothing has to be looked for."""
    f = ControlText("define internal i64 @meet(ptr %state)")
    with f.when(f.is_("eq", f.state("checks"), "null", "ptr")):
        f.leave(DONE)
    clocks, now = f.load(f.of_checks("clocks")), f.of_checks("now")
    alone = f.both(f.is_("ne", f.of_checks("alike"), 0), f.is_("ne", f.of_checks("quiet"), 0))
    with f.when(f.not_(alone)):
        f.leave(STEP)
    log, rows = f.of_checks("log"), f.of_checks("rows")
    with f.loop(f.of_checks("allocations")) as n:
        row = f.at(rows, f.op("mul", n, 8 * len(ROW)))
        both = f.op(
            "and", f.load(row, field_at(ROW, "suspect")), f.load(row, field_at(ROW, "touched"))
        )
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
        f.add(log, field_at(LOG, "period"), 1)
        f.store("i64", f.load(log, field_at(LOG, "base")), log, field_at(LOG, "at"))
        f.store("i64", 0, log, field_at(LOG, "threads"))
        f.store("i64", 1, log, field_at(LOG, "dropped"))
        with f.loop(f.of_checks("allocations")) as n:
            row = f.at(rows, f.op("mul", n, 8 * len(ROW)))
            for name in ("suspect", "touched"):
                f.store("i64", 0, row, field_at(ROW, name))
    f.add(f.state("checks"), field_at(CHECKS, "met"), 1)
    f.do(f"ret i64 {DONE}")
    return f.end()


def text() -> str:
    """The IR of the functions."""
    parts = (
        _fits(), _lend(), _exchange(), _stretch(), _guarded(), _outputs(), _access(), _meet(),
    )  # fmt: skip
    return "\n".join(parts)
