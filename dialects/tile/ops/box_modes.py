"""How a copy of a box walks the array: element strides, and im2col. PTX ISA, "Tensors"."""

from tilec.ir.mlir import ir
from tilec.isa import TilecError
from tilec.isa.boxes import Im2col
from tilec.isa.limits import (
    BOX_EXTENTS,
    ELEMENT_STRIDES,
    IM2COL_CORNERS,
    IM2COL_PIXELS,
    IM2COL_RANKS,
)
from tilec.isa.wording import counted

from .base import TileOp

STEPS = "element_strides"
LOWER, UPPER = "lower", "upper"


def numbers(op: TileOp, name: str, count: int, what: str) -> tuple[int, ...]:
    """An attribute of so many numbers.

    Raises:
        TilecError: saying what there must be.
    """
    given = op.attributes[name]
    if not isinstance(given, ir.DenseI64ArrayAttr) or len(given) != count:
        raise TilecError(f"{name} must be array<i64: …> of {count}, {what}, not {given}")
    return tuple(given)


def element_strides(op: TileOp, rank: int) -> tuple[int, ...]:
    """Of each dimension of an array of a rank, every how-manieth element is copied."""
    if STEPS not in op.attributes:
        return (1,) * rank
    return numbers(op, STEPS, rank, "one per dimension of the array")


def spanned(extents: tuple[int, ...], steps: tuple[int, ...]) -> tuple[int, ...]:
    """What so many elements span along each dimension, those stepped over included."""
    return tuple((n - 1) * step + 1 for n, step in zip(extents, steps, strict=True))


def im2col_box(op: TileOp, pixels: int, channels: int) -> Im2col | None:
    """The box of a copy that walks pixels; None of one that copies a tile."""
    if LOWER not in op.attributes:
        return None
    low, high = (tuple(ir.DenseI64ArrayAttr(op.attributes[n]))[::-1] for n in (LOWER, UPPER))
    return Im2col(low, high, channels, pixels)


def check_modes(op: TileOp, extents: tuple[int, ...]) -> None:
    """Verify element strides and the corners of im2col.

    Args:
        op: the copy.
        extents: what it copies along each dimension of the array; pixels stand before the last.

    Raises:
        TilecError: saying what would be legal.
    """
    steps = element_strides(op, len(extents))
    for dimension, step in enumerate(steps):
        if step not in ELEMENT_STRIDES:
            raise TilecError(
                f"element_strides are 1 to {ELEMENT_STRIDES[-1]}; dimension {dimension} has {step}"
            )
    if steps[-1] != 1:
        raise TilecError(
            f"element_strides of the last dimension, whose elements are copied in rows, is 1, not "
            f"{steps[-1]}"
        )
    walks = [name for name in (LOWER, UPPER) if name in op.attributes]
    if walks:
        _check_im2col(op, walks, extents)
        return
    for dimension, extent in enumerate(spanned(extents, steps)):
        if extent not in BOX_EXTENTS:
            raise TilecError(
                f"element_strides {list(steps)} make a box of {counted(extent, 'element')} along "
                "dimension "
                f"{dimension}; a box has 1 to {BOX_EXTENTS[-1]}"
            )


def _check_im2col(op: TileOp, given: list[str], extents: tuple[int, ...]) -> None:
    rank, pixels = len(extents), extents[-2]
    if len(given) == 1:
        raise TilecError(f"im2col takes both corners, lower and upper; given is {given[0]} only")
    if rank not in IM2COL_RANKS:
        raise TilecError(
            f"im2col takes an array of rank {IM2COL_RANKS[0]} to {IM2COL_RANKS[-1]}, images by "
            f"pixels by channels, not {rank}"
        )
    if pixels not in IM2COL_PIXELS:
        raise TilecError(f"im2col copies 1 to {IM2COL_PIXELS[-1]} pixels, not {pixels}")
    spatial = rank - 2
    legal = IM2COL_CORNERS[spatial]
    for name in given:
        for corner in numbers(op, name, spatial, "one per dimension of the pixels"):
            if corner not in legal:
                raise TilecError(
                    f"{name} of an array of rank {rank} is {legal[0]} to {legal[-1]} along each "
                    f"dimension of the pixels, not {corner}"
                )
