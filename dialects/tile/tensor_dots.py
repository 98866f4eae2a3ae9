"""Which `tcgen05.mma` computes a product of a CTA's tiles: types, M and N of its descriptor."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from tilec.ir.mlir import ir
from tilec.isa import TilecError, element_type, form
from tilec.layout import LinearLayout

from .dots import Tile

if TYPE_CHECKING:
    from tilec.isa.described_product import DescribedProduct
    from tilec.isa.tensor_products import TensorProduct

QUARTERS = 4
"""Warps that reach all lanes of tensor memory together: each a quarter."""
MOST_ROWS, MOST_COLUMNS = 128, 256
"""The largest M and N of one instruction of one CTA."""
_REGISTERS = 32
"""Of one load or store at most."""


def dot_types(key: TensorProduct, tiles: Mapping[str, Tile], unsigned: tuple[str, ...] = ()) -> str:
    """The element types of D, A and B, as PTX names them, such as `f32.f16.f16`.

    Args:
        key: the instruction.
        tiles: `a`, `b` and `d`.
        unsigned: names of the operands whose integers have no sign.

    Raises:
        TilecError: if the instruction's kind does not have them.
    """
    from tilec.isa.tensor_shapes import product_kind  # noqa: PLC0415 (for Blackwell only)

    for types in product_kind(key.kind).types:
        if all(
            _is(name, tiles[operand].element, operand in unsigned)
            for operand, name in zip("dab", types, strict=True)
        ):
            return ".".join(types)
    names = " by ".join(str(tiles[name].element) for name in "ab")
    raise TilecError(f"{key.ptx} does not multiply {names}, giving {tiles['d'].element}")


def _is(name: str, element: ir.Type, unsigned: bool) -> bool:
    """Whether PTX's type is that of elements of a tile."""
    type_ = element_type(name)
    return type_.mlir == str(element) and (type_.is_float or (name[0] == "u") == unsigned)


def described_dot(
    key: TensorProduct, types: str, shape: tuple[int, int], flags: tuple[str, ...] = ()
) -> DescribedProduct:
    """The instructions of which a product of tiles is made: all of one shape, the largest.

    Args:
        key: the instruction.
        types: of D, A and B.
        shape: rows and columns of D, of one CTA; of a pair each has as many rows.
        flags: fields of the descriptor that are 1, such as `transpose_b`.

    Raises:
        TilecError: if no whole number of instructions makes the product.
    """
    from tilec.isa.described_product import described_product  # noqa: PLC0415 (Blackwell only)

    m, n = (min(extent, most) for extent, most in zip(shape, _MOST, strict=True))
    if key.group > 1 and (m != MOST_ROWS or shape[1] > MOST_COLUMNS):
        raise TilecError(
            f"{shape[0]}x{shape[1]} of D in each CTA is not for products of a pair; legal: a "
            f"multiple of {MOST_ROWS} rows, and {MOST_COLUMNS} columns at most"
        )
    if shape[0] % m or shape[1] % n:
        raise TilecError(
            f"{shape[0]}x{shape[1]} of D is not a whole number of {m}x{n}, as instructions have it"
        )
    descriptor = key.describe(types.split("."), m=m * key.group, n=n, **dict.fromkeys(flags, 1))
    return described_product(
        descriptor, key.group, stationary=key.stationary, a=key.a, chunks=key.chunks
    )


_MOST = MOST_ROWS, MOST_COLUMNS


def matrix_type(
    product: DescribedProduct, shape: tuple[int, int], element: ir.Type
) -> ir.MemRefType:
    """The type of the accumulator in tensor memory: a matrix for each instruction of a K step.

    A matrix of a pair of CTAs has the rows of both.
    """
    d = product.operand("d")
    text = ir.Attribute.parse(f'#tile.tensor<"d{" cta_group::2" * (product.group > 1)}">')
    return ir.MemRefType.get(
        [shape[0] * product.group // d.rows, shape[1] // d.cols, d.rows, d.cols],
        element,
        memory_space=text,
    )


def left_type(shape: tuple[int, int], element: ir.Type) -> ir.Type:
    """The type of a left operand in tensor memory: a matrix for each 128 rows."""
    text = ir.Attribute.parse('#tile.tensor<"a">')
    rows, cols = shape
    return ir.MemRefType.get([rows // MOST_ROWS, 1, MOST_ROWS, cols], element, memory_space=text)


def move_key(rows: int, columns: int, *, store: bool, packed: int = 1, halves: bool = False) -> str:
    """The load or store by which a warp moves the widest piece of an accumulator, or of A.

    Of 128 rows a thread has a row (`32x32b`); of 64 rows, which lie in half of each quarter's
    lanes, a warp has the fragment of `mma.sync` (`16x256b`).

    Args:
        rows: M of the instruction.
        columns: of D or A that a warp has.
        store: whether it stores.
        packed: columns of A in one of 32 bits; 1 of D. As many are moved at once as of D, so that
            tiles of one layout are of the same fragments.
        halves: whether D is of 16 bits, of which a register has two columns.

    Raises:
        TilecError: if there is none for so few columns, or 16 bits of D, or A, have other rows.
    """
    shape, each, registers = ("32x32b", 1, 1) if rows == MOST_ROWS else ("16x256b", 8, 4)
    if packed > 1 and rows != MOST_ROWS:
        raise TilecError(f"{rows} rows of A are not stored to tensor memory; legal: {MOST_ROWS}")
    if halves and rows != MOST_ROWS:
        raise TilecError(f"{rows} rows of sums of 16 bits are not loaded; legal: {MOST_ROWS}")
    packed = 2 if halves else packed
    count = min(columns // each, _REGISTERS // registers) // packed
    if count < 1 or columns & (columns - 1):
        raise TilecError(f"{columns} columns of a warp are no power of two from {each * packed} on")
    word, how = ("st", ".unpack::16b") if store else ("ld", ".pack::16b")
    return f"tcgen05.{word}.sync.aligned.{shape}.x{count}{how * halves}.b32"


@lru_cache(maxsize=64)
def accumulator_unit(
    matrix: tuple[int, int], columns: int, packed: int = 1, *, halves: bool = False
) -> LinearLayout:
    """(register, lane) -> (row, col) of what a warp moves at once of an accumulator, or of A.

    Args:
        matrix: M and N of the instruction; of A rows and columns.
        columns: of D or A that a warp has.
        packed: columns of A in one of 32 bits; 1 of D.
        halves: whether D is of 16 bits.

    Raises:
        TilecError: as of `move_key`.
    """
    from tilec.isa.tensor_moves import TensorMove  # noqa: PLC0415 (for Blackwell only)
    from tilec.layout.tensor_memory import accumulator, left_operand  # noqa: PLC0415
    from tilec.layout.tensor_moves import moved_into  # noqa: PLC0415

    move = form(move_key(matrix[0], columns, store=False, packed=packed, halves=halves))
    assert isinstance(move, TensorMove)
    held = left_operand(*matrix, 32 // packed)[0] if packed > 1 else accumulator(*matrix)
    return moved_into(move, held, packed)


@lru_cache(maxsize=64)
def accumulator_tile(
    matrix: tuple[int, int],
    rows: int,
    cols: int,
    warps: tuple[int, int],
    packed: int = 1,
    *,
    halves: bool = False,
) -> LinearLayout:
    """What the warps of a CTA hold of an accumulator that they have loaded from tensor memory.

    Four warps, one a quarter of the lanes, share a matrix of M rows. Groups of four along the rows
    have matrices of their own; those along the columns each a contiguous block.

    Args:
        matrix: M and N of the instruction; of A rows and columns.
        packed: columns of A in one of 32 bits; 1 of D.
        halves: whether D is of 16 bits.
        rows: of the tile.
        cols: of the tile.
        warps: along M, a multiple of four, and along N.

    Returns:
        (register, lane, warp) -> (row, col).

    Raises:
        TilecError: if that does not come out even.
    """
    along, across = warps
    groups, m = along // QUARTERS, matrix[0]
    columns = cols // across
    if along % QUARTERS or rows % (m * groups) or cols % across:
        raise TilecError(
            f"{rows}x{cols} of D is not {m} rows for each four of {along} warps along M, with "
            f"columns for {across} along N"
        )
    if any(extent & (extent - 1) for extent in (rows, cols)):
        raise TilecError(f"{rows}x{cols} of D are no powers of two")
    unit = accumulator_unit(matrix, columns, packed, halves=halves)
    identity = LinearLayout.identity
    layout = unit * identity(columns // unit.out_sizes["col"], "register", "col")
    layout *= identity(QUARTERS, "warp", "row")
    layout *= identity(groups, "warp", "row")
    layout *= identity(across, "warp", "col")
    layout *= identity(rows // m // groups, "register", "row")
    return layout.reorder(("register", "lane", "warp"), ("row", "col"))
