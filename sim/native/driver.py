"""The loop that executes a stretch, in LLVM IR.

It reads numpy's arrays where they lie, by the layout of CPython's and numpy's objects
(`PyObject`, `PyListObject`, `PyArrayObject_fields` of numpy's C API). `library` tries that layout
on arrays before it is relied on.

    run(plan, registers, initial, outs, merge, ctas, warps) -> i64

`plan` holds the tables below, `registers` and `initial` are the lists of `Registers`, `outs` is a
list of arrays for the results, `merge` the bytes of `Registers.merge`, or null. It returns DONE;
RESHAPE, if `outs` do not have the shapes that the results have, which are then in the table; or
REFUSED for an array that it does not know. In the last two cases it has done nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from tilec.isa import LANES

from .ir import Text

DONE, RESHAPE, REFUSED = 0, 1, 2

UNIFORM, FULL, MERGED = 0, 1, 2
"""How a result is written: once, of every thread, or of those in `merge`, the others' as before."""

PLAN = (
    "inputs", "input_table", "operations", "operation_table", "outputs", "output_table",
    "file", "uniform", "varying", "types", "fused",
)  # fmt: skip
"""Fields of a plan, 8 bytes each: numbers of entries, and pointers.

`file` has a place of 32 lanes for every value, `uniform` a byte for each, set where all lanes of
the wave have the same, `varying` room for a pointer to every operation. `types` is a table of the
addresses of numpy's array type and dtypes (`type_table`). `fused` is a function that does all
operations for a warp (`tilec.sim.native.fused`), or null.
"""

INPUT = ("slot", "place", "value", "size", "data", "of_cta", "of_warp", "of_lane")
"""Fields of an input: its slot, place in the file, value and size (log2 of bytes); then, for the
driver, where its elements are, and the strides."""

OUTPUT = (*INPUT, "mode", "target")
"""Fields of an output: as of an input, for what the register was before; how it is written and
where."""

FUNCTION, PLACES, COUNT, OPERANDS, RESULT = 0, 8, 40, 44, 72
OPERATION_BYTES = 80
"""Offsets in an operation: its function, its 8 places, the number of its operands, their
values (7), and that of its results, which are uniform together."""

MOST_OPERANDS = 7
MOST_PLACES = 8

_HEAD = object.__basicsize__
ITEMS = _HEAD + 8  # ob_size, then ob_item
REFERENCES = 0
DATA, _RANK, EXTENTS, _STRIDES, BASE, _DESCR, FLAGS = (
    _HEAD, _HEAD + 8, _HEAD + 16, _HEAD + 24, _HEAD + 32, _HEAD + 40, _HEAD + 48,
)  # fmt: skip
_TYPE = _HEAD - 8
_OF_A_SIZE = 4
_SIZES = (1, 2, 4, 8)


_PLAIN = 0x1 | 0x4 | 0x100 | 0x400
"""numpy's flags of an array of its own, in C's order, aligned and writable."""

SHARED = ("describe", *(f"copy{size}" for size in _SIZES))
"""Functions of the driver that others call too."""


def type_table() -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Addresses of the dtypes that a register of each size may have, four each, and the type's."""
    names = (("?", "u1", "i1"), ("u2", "i2", "f2"), ("u4", "i4", "f4"), ("u8", "i8", "f8"))
    found = [id(np.dtype(name)) for row in names for name in (*row, *row)[:_OF_A_SIZE]]
    return np.array([*found, id(np.ndarray)], np.int64)


def copies() -> Iterator[str]:
    """`copyN(to, from, stride)`: the lanes of a warp, N bytes each."""
    for size in _SIZES:
        bits = 8 * size
        vector, element = f"<{LANES} x i{bits}>", f"i{bits}"
        f = Text(f"define void @copy{size}(ptr %to, ptr %from, i64 %stride)")
        with f.when(f.is_("eq", "%stride", size)):
            all_ = f.value(f"load {vector}, ptr %from, align {size}")
            f.do(f"store {vector} {all_}, ptr %to, align {size}")
            f.do("ret void")
            f.do("after_whole:")
        with f.loop(LANES) as lane:
            one = f.load("%from", f.op("mul", lane, "%stride"), element)
            f.store(element, one, "%to", f.op("mul", lane, size))
        f.do("ret void")
        yield f.end()
        f = Text(
            f"define internal void @merge{size}"
            "(ptr %to, ptr %new, ptr %old, i64 %stride, ptr %mask)"
        )
        f.slots.append(f"%before = alloca {vector}")
        f.do(f"call void @copy{size}(ptr %before, ptr %old, i64 %stride)")
        bytes_ = f.value(f"load <{LANES} x i8>, ptr %mask, align 1")
        chosen = f.value(f"icmp ne <{LANES} x i8> {bytes_}, zeroinitializer")
        new = f.value(f"load {vector}, ptr %new, align {LANES}")
        old = f.value(f"load {vector}, ptr %before")
        picked = f.value(f"select <{LANES} x i1> {chosen}, {vector} {new}, {vector} {old}")
        f.do(f"store {vector} {picked}, ptr %to, align {size}")
        f.do("ret void")
        yield f.end()


def _sized(f: Text, name: str, size: str, args: str) -> None:
    """Call the function of a name that is for elements of a size."""
    for code, bytes_ in enumerate(_SIZES):
        with f.when(f.is_("eq", size, code)):
            f.do(f"call void @{name}{bytes_}({args})")


def describe() -> str:
    """`describe(array, entry, types)`: 0 for what is no register, 2 for one element, else 1.

    The array's data and strides go to an entry of a table of inputs or outputs.
    """
    f = Text("define i64 @describe(ptr %array, ptr %entry, ptr %types)")
    size = get(f, "%entry", "size")
    kind = f.load("%array", _TYPE)
    with f.when(f.is_("ne", kind, f.load("%types", 8 * _OF_A_SIZE * len(_SIZES)))):
        f.leave(0)
    with f.when(f.is_("ne", f.load("%array", _RANK, "i32"), 3, "i32")):
        f.leave(0)
    dtype = f.load("%array", _DESCR)
    row = f.at("%types", f.op("mul", size, 8 * _OF_A_SIZE))
    same = [f.is_("eq", dtype, f.load(row, 8 * n)) for n in range(_OF_A_SIZE)]
    known = same[0]
    for other in same[1:]:
        known = f.value(f"or i1 {known}, {other}")
    with f.when(f.value(f"xor i1 {known}, true")):
        f.leave(0)
    _set(f, "%entry", "data", f.load("%array", DATA))
    extents, strides = (f.load("%array", at, "ptr") for at in (EXTENTS, _STRIDES))
    several = f.variable()
    for axis, field in enumerate(("of_cta", "of_warp", "of_lane")):
        one = f.is_("eq", f.load(extents, 8 * axis), 1)
        stride = f.value(f"select i1 {one}, i64 0, i64 {f.load(strides, 8 * axis)}")
        _set(f, "%entry", field, stride)
        more = f.value(f"select i1 {one}, i64 0, i64 1")
        f.do(f"store i64 {f.op('or', f.load(several), more)}, ptr {several}")
    f.do(f"ret i64 {f.op('sub', 2, f.load(several))}")
    return f.end()


def own() -> str:
    """`own(array, dtype)`: whether an array may be written in place, since nobody else has it."""
    f = Text("define i64 @own(ptr %array, i64 %dtype)")
    flags = f.value(f"and i32 {f.load('%array', FLAGS, 'i32')}, {_PLAIN}")
    wrong = [
        f.is_("ne", f.load("%array", REFERENCES), 1),
        f.is_("ne", f.load("%array", BASE), 0),
        f.is_("ne", f.load("%array", _DESCR), "%dtype"),
        f.is_("ne", f.load("%array", _RANK, "i32"), 3, "i32"),
        f.is_("ne", flags, _PLAIN, "i32"),
    ]
    some = wrong[0]
    for other in wrong[1:]:
        some = f.value(f"or i1 {some}, {other}")
    f.do(f"ret i64 {f.value(f'select i1 {some}, i64 0, i64 1')}")
    return f.end()


def get(f: Text, entry: str, field: str) -> str:
    """A field of an entry of inputs or outputs."""
    return f.load(entry, 8 * OUTPUT.index(field))


def _set(f: Text, entry: str, field: str, value: str | int) -> None:
    f.store("i64", value, entry, 8 * OUTPUT.index(field))


def place_of(f: Text, entry: str, cta: str, warp: str) -> str:
    """Where the elements of a warp are."""
    along = f.op("mul", cta, get(f, entry, "of_cta"))
    across = f.op("mul", warp, get(f, entry, "of_warp"))
    return f.at(f.value(f"inttoptr i64 {get(f, entry, 'data')} to ptr"), f.op("add", along, across))


def _run() -> str:
    f = Text(
        "define i64 @run(ptr %plan, ptr %registers, ptr %initial, ptr %outs, ptr %merge, "
        "i64 %ctas, i64 %warps)"
    )
    given = {
        name: f.load("%plan", 8 * n, "ptr" if name.endswith("table") or n > 5 else "i64")
        for n, name in enumerate(PLAN)
    }
    items, first, results = (
        f.load(name, ITEMS, "ptr") for name in ("%registers", "%initial", "%outs")
    )
    merging = f.is_("ne", "%merge", "null", "ptr")

    def entry(table: str, number: str, fields: tuple[str, ...]) -> str:
        return f.at(given[table], f.op("mul", number, 8 * len(fields)))

    def item(list_: str, number: str) -> str:
        return f.load(list_, f.op("mul", number, 8), "ptr")

    # What the inputs are
    with f.loop(given["inputs"]) as n:
        one = entry("input_table", n, INPUT)
        register = item(items, get(f, one, "slot"))
        kind = f.value(f"call i64 @describe(ptr {register}, ptr {one}, ptr {given['types']})")
        with f.when(f.is_("eq", kind, 0)):
            f.leave(REFUSED)
        byte = f.value(f"trunc i64 {f.op('lshr', kind, 1)} to i8")
        f.store("i8", byte, given["uniform"], get(f, one, "value"))
    # Which operations give the same in all threads
    changing = f.variable()
    with f.loop(given["operations"]) as n:
        one = f.at(given["operation_table"], f.op("mul", n, OPERATION_BYTES))
        all_ = f.variable(1)
        operands = f.value(f"zext i32 {f.load(one, COUNT, 'i32')} to i64")
        with f.loop(operands) as m:
            place = f.op("add", f.op("mul", m, 4), OPERANDS)
            value = f.value(f"zext i32 {f.load(one, place, 'i32')} to i64")
            same = f.value(f"zext i8 {f.load(given['uniform'], value, 'i8')} to i64")
            f.do(f"store i64 {f.op('and', f.load(all_), same)}, ptr {all_}")
        uniform = f.load(all_)
        result = f.value(f"zext i32 {f.load(one, RESULT, 'i32')} to i64")
        f.store("i8", f.value(f"trunc i64 {uniform} to i8"), given["uniform"], result)
        with f.when(f.is_("eq", uniform, 0)):
            count = f.load(changing)
            f.store("ptr", one, given["varying"], f.op("mul", count, 8))
            f.do(f"store i64 {f.op('add', count, 1)}, ptr {changing}")
    # How the results are written, and whether there is an array for each
    wrong, unmerged = f.variable(), f.variable()
    with f.loop(given["outputs"]) as n:
        one = entry("output_table", n, OUTPUT)
        slot = get(f, one, "slot")
        before = item(items, slot)
        written = f.is_("ne", before, item(first, slot), "ptr")
        merged = f.value(f"and i1 {merging}, {written}")
        same = f.load(given["uniform"], get(f, one, "value"), "i8")
        plain = f.value(f"select i1 {f.is_('eq', same, 0, 'i8')}, i64 {FULL}, i64 {UNIFORM}")
        mode = f.value(f"select i1 {merged}, i64 {MERGED}, i64 {plain}")
        with f.when(merged):
            kind = f.value(f"call i64 @describe(ptr {before}, ptr {one}, ptr {given['types']})")
            with f.when(f.is_("eq", kind, 0)):
                f.leave(REFUSED)
        with f.when(f.is_("eq", mode, FULL)):
            f.do(f"store i64 1, ptr {unmerged}")
        with f.when(f.is_("ne", mode, get(f, one, "mode"))):
            f.do(f"store i64 1, ptr {wrong}")
            _set(f, one, "mode", mode)
    with f.when(f.is_("ne", f.load(wrong), 0)):
        f.leave(RESHAPE)
    with f.loop(given["outputs"]) as n:
        one = entry("output_table", n, OUTPUT)
        _set(f, one, "target", f.load(item(results, n), DATA))
    # What is the same in all threads
    with f.loop(given["inputs"]) as n:
        one = entry("input_table", n, INPUT)
        same = f.load(given["uniform"], get(f, one, "value"), "i8")
        with f.when(f.is_("ne", same, 0, "i8")):
            to, from_ = f.at(given["file"], get(f, one, "place")), place_of(f, one, "0", "0")
            _sized(f, "copy", get(f, one, "size"), f"ptr {to}, ptr {from_}, i64 0")
    with f.loop(given["operations"]) as n:
        one = f.at(given["operation_table"], f.op("mul", n, OPERATION_BYTES))
        result = f.value(f"zext i32 {f.load(one, RESULT, 'i32')} to i64")
        with f.when(f.is_("ne", f.load(given["uniform"], result, "i8"), 0, "i8")):
            _call(f, one, given["file"])
    with f.loop(given["outputs"]) as n:
        one = entry("output_table", n, OUTPUT)
        with f.when(f.is_("eq", get(f, one, "mode"), UNIFORM)):
            _first(f, one, given["file"])
    # Every warp
    sparse = f.value(f"and i1 {merging}, {f.is_('eq', f.load(unmerged), 0)}")
    operations, fused = f.load(changing), f.is_("ne", given["fused"], "null", "ptr")
    with f.loop("%ctas") as cta, f.loop("%warps") as warp:
        number = f.op("add", f.op("mul", cta, "%warps"), warp)
        mask = f.at("%merge", f.op("mul", number, LANES))
        idle = f.variable()
        with f.when(sparse):
            bytes_ = f.value(f"load <{LANES} x i8>, ptr {mask}, align 1")
            bits = f.value(f"icmp ne <{LANES} x i8> {bytes_}, zeroinitializer")
            none = f.is_("eq", f.value(f"bitcast <{LANES} x i1> {bits} to i32"), 0, "i32")
            f.do(f"store i64 {f.value(f'zext i1 {none} to i64')}, ptr {idle}")
        with f.when(f.is_("eq", f.load(idle), 0)):
            with f.loop(given["inputs"]) as n:
                one = entry("input_table", n, INPUT)
                same = f.load(given["uniform"], get(f, one, "value"), "i8")
                with f.when(f.is_("eq", same, 0, "i8")):
                    to, from_ = (
                        f.at(given["file"], get(f, one, "place")),
                        place_of(f, one, cta, warp),
                    )
                    stride = get(f, one, "of_lane")
                    _sized(f, "copy", get(f, one, "size"), f"ptr {to}, ptr {from_}, i64 {stride}")
            apart = f.variable(operations)
            one_call = f.value(f"and i1 {fused}, {f.is_('ne', operations, 0)}")
            with f.when(one_call):
                f.do(f"call void {given['fused']}(ptr {given['file']})")
                f.do(f"store i64 0, ptr {apart}")
            with f.loop(f.load(apart)) as n:
                _call(f, f.load(given["varying"], f.op("mul", n, 8), "ptr"), given["file"])
        with f.loop(given["outputs"]) as n:
            one = entry("output_table", n, OUTPUT)
            mode, size = get(f, one, "mode"), get(f, one, "size")
            new = f.at(given["file"], get(f, one, "place"))
            target = f.value(f"inttoptr i64 {get(f, one, 'target')} to ptr")
            width = f.op("shl", 1, size)
            to = f.at(target, f.op("mul", f.op("mul", number, LANES), width))
            with f.when(f.is_("eq", mode, FULL)):
                _sized(f, "copy", size, f"ptr {to}, ptr {new}, i64 {width}")
            with f.when(f.is_("eq", mode, MERGED)):
                old, stride = place_of(f, one, cta, warp), get(f, one, "of_lane")
                args = f"ptr {to}, ptr {new}, ptr {old}, i64 {stride}, ptr {mask}"
                _sized(f, "merge", size, args)
    f.do(f"ret i64 {DONE}")
    return f.end()


def _call(f: Text, operation: str, file: str) -> None:
    function = f.load(operation, FUNCTION, "ptr")
    f.do(f"call void {function}(ptr {file}, ptr {f.at(operation, PLACES)})")


def _first(f: Text, output: str, file: str) -> None:
    """Write the one element of a result."""
    new = f.at(file, get(f, output, "place"))
    target = f.value(f"inttoptr i64 {get(f, output, 'target')} to ptr")
    for code, bytes_ in enumerate(_SIZES):
        with f.when(f.is_("eq", get(f, output, "size"), code)):
            type_ = f"i{8 * bytes_}"
            f.store(type_, f.load(new, 0, type_), target)


def text() -> str:
    """The IR of the driver."""
    probe = """
define i64 @look(ptr %list, ptr %entry, ptr %types) {
  %at = getelementptr i8, ptr %list, i64 ITEMS
  %items = load ptr, ptr %at
  %array = load ptr, ptr %items
  %kind = call i64 @describe(ptr %array, ptr %entry, ptr %types)
  ret i64 %kind
}
define i64 @look_at_own(ptr %list, i64 %dtype) {
  %at = getelementptr i8, ptr %list, i64 ITEMS
  %items = load ptr, ptr %at
  %array = load ptr, ptr %items
  %found = call i64 @own(ptr %array, i64 %dtype)
  ret i64 %found
}
""".replace("ITEMS", str(ITEMS))
    return "\n".join((*copies(), describe(), own(), probe, _run()))
