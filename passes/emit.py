"""Short ways to emit scalar arithmetic, folding constants as it goes."""

from __future__ import annotations

from typing import Any

from tilec.dialects.semantics.upstream import CONSTANTS
from tilec.ir.mlir import ir
from tilec.layout import LinearLayout

_create = ir.Operation.create


def create(name: str, operands: list[Any], result: Any, **attributes: Any) -> ir.OpResult:
    """One op with one result."""
    return _create(name, [result], operands, attributes).result


def inline_assembly(code: str, constraints: str, operands: list[Any], result: Any) -> Any:
    """Inline assembly with effects; its result of that type, or None if the type is None."""
    op = ir.Operation.create(
        "llvm.inline_asm",
        results=[] if result is None else [result],
        operands=operands,
        attributes={
            "asm_string": ir.StringAttr.get(code),
            "constraints": ir.StringAttr.get(constraints),
            "has_side_effects": ir.UnitAttr.get(),
        },
    )
    return None if result is None else op.result


def index_constant(value: int) -> Any:
    """An `arith.constant` of type index."""
    type_ = ir.IndexType.get()
    return create("arith.constant", [], type_, value=ir.IntegerAttr.get(type_, wrapped(value)))


def wrapped(value: int) -> int:
    """What 64 bits hold of a number, with a sign: arithmetic on indices and addresses wraps."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def constant_of(value: Any) -> int | None:
    """The integer that `value` is known to be, or None."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name not in CONSTANTS:
        return None
    attribute = owner.attributes["value"]
    return int(attribute.value) if isinstance(attribute, ir.IntegerAttr) else None


def add(a: Any, b: Any) -> Any:
    """`a + b` of type index."""
    if constant_of(a) == 0:
        return b
    if constant_of(b) == 0:
        return a
    return create("arith.addi", [a, b], ir.IndexType.get())


def add_constant(a: Any, n: int) -> Any:
    """`a + n` of type index."""
    return a if n == 0 else add(a, index_constant(n))


def is_zero(index: Any, mask: int) -> Any:
    """Whether the bits `mask` of an index are all zero, an i1."""
    bits = create("arith.andi", [index, index_constant(mask)], ir.IndexType.get())
    return create(
        "arith.cmpi",
        [bits, index_constant(0)],
        ir.IntegerType.get_signless(1),
        predicate=ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0),
    )


def linear(layout: LinearLayout, in_dim: str, index: Any) -> list[Any]:
    """The places of an index of `in_dim` under a layout, the other inputs being 0.

    Runs of bits that go to consecutive bits become one shift and mask.

    Args:
        layout: the layout.
        in_dim: its input.
        index: a value of type index, less than the input's size.

    Returns:
        One value of type index an output.
    """
    type_ = ir.IndexType.get()
    bases = layout.bases[in_dim]
    places: list[Any] = []
    for out in range(len(layout.outs)):
        total: Any = None
        for first, low, count in _runs([image[out] for image in bases]):
            moved = index
            if first:
                moved = create("arith.shrui", [moved, index_constant(first)], type_)
            if first + count < len(bases):
                moved = create("arith.andi", [moved, index_constant((1 << count) - 1)], type_)
            if low:
                moved = create("arith.shli", [moved, index_constant(low)], type_)
            total = moved if total is None else create("arith.xori", [total, moved], type_)
        places.append(index_constant(0) if total is None else total)
    return places


def _runs(images: list[int]) -> list[tuple[int, int, int]]:
    """(input bit, output bit, count) of runs of consecutive bits that make up a linear map."""
    runs: list[tuple[int, int, int]] = []
    for bit, image in enumerate(images):
        for place in range(image.bit_length()):
            if image >> place & 1:
                for at, (first, low, count) in enumerate(runs):
                    if first + count == bit and low + count == place:
                        runs[at] = (first, low, count + 1)
                        break
                else:
                    runs.append((bit, place, 1))
    return runs
