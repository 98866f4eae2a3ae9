"""PTX written out, on the elements of tiles, under Triton's name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from tilec.isa import TilecError

from .dtypes import DType, dtype_of
from .emit import i64, operation, text, type_of
from .shapes import broadcast_shape, broadcast_to, reshape
from .tile import Tile


@overload
def inline_asm_elementwise(
    asm: str,
    constraints: str,
    args: Sequence[Tile],
    dtype: type[DType],
    is_pure: bool = True,
    pack: int = 1,
) -> Tile: ...
@overload
def inline_asm_elementwise(
    asm: str,
    constraints: str,
    args: Sequence[Tile],
    dtype: Sequence[type[DType]],
    is_pure: bool = True,
    pack: int = 1,
) -> tuple[Tile, ...]: ...
def inline_asm_elementwise(
    asm: str,
    constraints: str,
    args: Sequence[Tile],
    dtype: Any,
    is_pure: bool = True,
    pack: int = 1,
) -> Tile | tuple[Tile, ...]:
    """What PTX makes of each element of tiles.

    Args:
        asm: the text, with `$0`, `$1`, … for registers, outputs first, and `$$` for a dollar.
        constraints: a letter for each register, with `=` before it for an output: `h` of 16 bits,
            `r` and `f` of 32, `l` and `d` of 64; `=&r` is written before all inputs are read, and
            an input `0` is the register of output 0.
        args: 1 to 4 tiles and scalars, which broadcast.
        dtype: the element type of the result, or a tuple of those of several, 4 at most.
        is_pure: whether it only computes results of its operands, so that it may be executed once
            more, elsewhere, or not at all.
        pack: elements of each operand that the text takes at once; of less than 32 bits they are
            packed into words of 32 bits, the first lowest, or one of 16.

    Returns:
        A tile, or a tuple of as many as `dtype` has.

    Raises:
        TilecError: for constraints that do not fit the elements, naming what would.
    """
    for name, value in (("asm", asm), ("constraints", constraints)):
        if not isinstance(value, str):
            raise TilecError(f"{name} of inline assembly is a string, not {value!r}")
    if not isinstance(pack, int) or isinstance(pack, bool):
        raise TilecError(f"pack is a number known when the kernel is compiled, not {pack!r}")
    several = isinstance(dtype, (tuple, list))
    dtypes = [dtype_of(one) for one in (dtype if several else (dtype,))]
    tiles = _broadcast(args)
    shape = tiles[0].shape
    held = [tile if shape else reshape(tile, 1) for tile in tiles]
    for one in (*(tile.dtype for tile in held), *dtypes):
        if one.kind in ("bool", "index"):
            raise TilecError(f"inline assembly takes no {one!r}: cast it to tl.int32")
    from tilec.dialects.tile.ops import inline_asm as ops  # noqa: PLC0415 (imports MLIR)

    attributes = {"asm": text(asm), "constraints": text(constraints)}
    attributes |= ops.sizes(len(tiles), len(dtypes))
    if pack != 1:
        attributes["pack"] = i64(pack)
    kind = ops.InlineAsmOp if is_pure else ops.InlineAsmVolatileOp
    types = [type_of(one, shape or (1,)) for one in dtypes]
    made = operation(kind.OPERATION_NAME, [tile.value for tile in held], types, attributes)
    found = [
        Tile(value, one, shape or (1,)) for value, one in zip(made.results, dtypes, strict=True)
    ]
    if not shape:
        found = [reshape(tile, ()) for tile in found]
    return tuple(found) if several else found[0]


def _broadcast(args: Any) -> list[Tile]:
    """The operands, in one shape."""
    tiles = list(args) if isinstance(args, (tuple, list)) else [args]
    for tile in tiles:
        if not isinstance(tile, Tile):
            raise TilecError(f"inline assembly takes tiles and scalars, not {tile!r}")
    if not tiles:
        raise TilecError("inline assembly takes at least one tile, which says the shape")
    shape = tiles[0].shape
    for tile in tiles[1:]:
        shape = broadcast_shape(shape, tile.shape)
    return [broadcast_to(tile, shape) for tile in tiles]
