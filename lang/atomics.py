"""Atomic operations on memory, under Triton's names, and the barrier of a CTA.

Each gives what memory held before, of the type that is stored; a scalar, if a scalar or number was
given and the index is of one element. Elements outside the array, or that a mask leaves out, are 0.
`sem` says how it is ordered with the thread's other accesses: relaxed, acquire, release, acq_rel;
`scope` among which threads: cta, gpu or sys (PTX ISA, "Memory Consistency Model"). Elements of one
tile that go to one place are all applied, in no order.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, NamedTuple

from tilec.ir import ops
from tilec.isa import TilecError

from .array import AnyArray, array_of
from .emit import emit, result, text, type_of
from .memory import check_element, of_elements, stored_tile
from .places import Index, places, shape_of
from .shapes import reshape
from .tile import Operand, Tile

_FUNCTIONS = MappingProxyType(
    {
        # numpy's name: upstream's op by kind of element
        "add": {"float": "arith.addf", "int": "arith.addi", "uint": "arith.addi"},
        "max": {"float": "arith.maximumf", "int": "arith.maxsi", "uint": "arith.maxui"},
        "min": {"float": "arith.minimumf", "int": "arith.minsi", "uint": "arith.minui"},
        "and": {"int": "arith.andi", "uint": "arith.andi"},
        "or": {"int": "arith.ori", "uint": "arith.ori"},
        "xor": {"int": "arith.xori", "uint": "arith.xori"},
        "xchg": dict.fromkeys(("float", "int", "uint"), "exchange"),
    }
)


def atomic_add(
    array: AnyArray,
    index: Index,
    tile: Operand,
    *,
    mask: Tile | bool | None = None,
    sem: str = "relaxed",
    scope: str = "gpu",
    bounds: bool = True,
) -> Tile:
    """Add a tile to what memory holds, each element at once; the order among CTAs is open.

    Args:
        array: an argument of the kernel.
        index: as of `store`; what goes to one place is added up there.
        tile: what to add; a number or scalar at each index.
        mask: as of `store`.
        sem: relaxed, acquire, release or acq_rel.
        scope: cta, gpu or sys.
        bounds: as of `store`.

    Returns:
        What memory held.
    """
    return _apply("add", array, index, tile, _How(mask, sem, scope, bounds))


def atomic_max(
    array: AnyArray,
    index: Index,
    tile: Operand,
    *,
    mask: Tile | bool | None = None,
    sem: str = "relaxed",
    scope: str = "gpu",
    bounds: bool = True,
) -> Tile:
    """Put the larger of a tile's and memory's elements into memory; as `atomic_add`."""
    return _apply("max", array, index, tile, _How(mask, sem, scope, bounds))


def atomic_min(
    array: AnyArray,
    index: Index,
    tile: Operand,
    *,
    mask: Tile | bool | None = None,
    sem: str = "relaxed",
    scope: str = "gpu",
    bounds: bool = True,
) -> Tile:
    """Put the smaller of a tile's and memory's elements into memory; as `atomic_add`."""
    return _apply("min", array, index, tile, _How(mask, sem, scope, bounds))


def atomic_and(
    array: AnyArray,
    index: Index,
    tile: Operand,
    *,
    mask: Tile | bool | None = None,
    sem: str = "relaxed",
    scope: str = "gpu",
    bounds: bool = True,
) -> Tile:
    """Clear the bits in memory that a tile of integers has not set; as `atomic_add`."""
    return _apply("and", array, index, tile, _How(mask, sem, scope, bounds))


def atomic_or(
    array: AnyArray,
    index: Index,
    tile: Operand,
    *,
    mask: Tile | bool | None = None,
    sem: str = "relaxed",
    scope: str = "gpu",
    bounds: bool = True,
) -> Tile:
    """Set the bits in memory that a tile of integers has set; as `atomic_add`."""
    return _apply("or", array, index, tile, _How(mask, sem, scope, bounds))


def atomic_xor(
    array: AnyArray,
    index: Index,
    tile: Operand,
    *,
    mask: Tile | bool | None = None,
    sem: str = "relaxed",
    scope: str = "gpu",
    bounds: bool = True,
) -> Tile:
    """Invert the bits in memory that a tile of integers has set; as `atomic_add`."""
    return _apply("xor", array, index, tile, _How(mask, sem, scope, bounds))


def atomic_xchg(
    array: AnyArray,
    index: Index,
    tile: Operand,
    *,
    mask: Tile | bool | None = None,
    sem: str = "relaxed",
    scope: str = "gpu",
    bounds: bool = True,
) -> Tile:
    """Put a tile in place of what memory holds; as `atomic_add`."""
    return _apply("xchg", array, index, tile, _How(mask, sem, scope, bounds))


def atomic_cas(
    array: AnyArray,
    index: Index,
    compare: Operand,
    tile: Operand,
    *,
    mask: Tile | bool | None = None,
    sem: str = "relaxed",
    scope: str = "gpu",
    bounds: bool = True,
) -> Tile:
    """Put a tile into memory where that holds `compare`, integers of 16, 32 or 64 bits.

    Args:
        array: an argument of the kernel.
        index: as of `store`.
        compare: what memory must hold, a tile, number or scalar.
        tile: what to store there.
        mask: as of `store`.
        sem: relaxed, acquire, release or acq_rel.
        scope: cta, gpu or sys.
        bounds: as of `store`.

    Returns:
        What memory held.
    """
    array = array_of(array, "atomic_cas")
    shape = next((t.shape for t in (compare, tile) if isinstance(t, Tile) and t.shape), None)
    wanted = _whole(array, tile, index, mask, shape)
    expected = _whole(array, compare, index, mask, shape)
    if expected.shape != wanted.shape:
        raise TilecError(
            "atomic_cas needs the values to compare and to store in one shape, not "
            f"{compare!r} and "
            f"{tile!r}"
        )
    fixed = [expected.value, array.value, wanted.value]
    how = _How(mask, sem, scope, bounds)
    old = _emit("tile.atomic_cas", array, index, wanted, fixed, how, {})
    is_one = shape is None and shape_of(index, mask) == (1,)
    return reshape(old, ()) if is_one else old


def debug_barrier() -> None:
    """Let all threads of the CTA wait for each other, and see what the others have stored."""
    emit(ops.gpu.barrier)


class _How(NamedTuple):
    """What all of them are told besides."""

    mask: Tile | bool | None
    sem: str
    scope: str
    bounds: bool


def _apply(name: str, array: AnyArray, index: Index, value: Operand, how: _How) -> Tile:
    array = array_of(array, f"atomic_{name}")
    tile = _whole(array, value, index, how.mask)
    kinds = _FUNCTIONS[name]
    if tile.dtype.kind not in kinds:
        raise TilecError(f"atomic_{name} does not take {tile.dtype!r}; legal: {', '.join(kinds)}")
    attributes = {"fn": text(kinds[tile.dtype.kind])}
    fixed = [tile.value, array.value]
    old = _emit("tile.atomic_rmw", array, index, tile, fixed, how, attributes)
    is_scalar = not isinstance(value, Tile) or not value.shape
    return reshape(old, ()) if is_scalar and tile.shape == (1,) else old


def _whole(
    array: AnyArray, value: object, index: Index, mask: Any, shape: tuple[int, ...] | None = None
) -> Tile:
    """A tile of the array's elements."""
    if isinstance(value, Tile):
        check_element(array, value.dtype, array.dtype)
    return stored_tile(array, value, index, mask, shape)


def _emit(
    name: str,
    array: AnyArray,
    index: Index,
    tile: Tile,
    fixed: list[Any],
    how: _How,
    attributes: dict[str, Any],
) -> Tile:
    given = places(array, index, tile.shape, how.mask)
    operands, found = of_elements(fixed, given, bounds=how.bounds)
    for key, word, default in (("order", how.sem, "relaxed"), ("scope", how.scope, "gpu")):
        if word != default:
            attributes = attributes | {key: text(word)}
    array.mark_written(updated=True)
    value = result(name, operands, type_of(tile.dtype, tile.shape), attributes | found)
    return Tile(value, tile.dtype, tile.shape)
