"""How `ldmatrix` and `stmatrix` meet a fragment's layout: by division of layouts."""

from __future__ import annotations

from functools import cache

from tilec.isa import LANES, MatrixMemory, TilecError
from tilec.isa.wording import counted
from tilec.layout import LinearLayout, fragment_of, row_addresses

from .stored import stored_tile
from .tiles import TileValue, bits_of


@cache
def matrix_unit(form: MatrixMemory, element_bits: int) -> LinearLayout | None:
    """(register, lane) -> (row, col) in memory of one matrix, in elements of this width.

    None where the instruction would tear such elements apart: a wider or narrower element is
    whole only if the instruction's own lie side by side in a register as they do in memory.
    """
    whole = fragment_of(form, "r")
    bases = whole.bases
    sizes = whole.out_sizes
    one = LinearLayout.of(
        {
            "register": [image[1:] for image in bases["register"] if image[0] == 0],
            "lane": [image[1:] for image in bases["lane"]],
        },
        {"row": sizes["row"], "col": sizes["element"]},
    )
    (operand,) = (*form.results, *form.operands)
    if element_bits < operand.container:
        if one.bases["register"][0] != (0, 1):
            return None
        return LinearLayout.identity(operand.container // element_bits, "register", "col") * one
    if element_bits > operand.container:
        wide = LinearLayout.identity(element_bits // operand.container, "register", "col")
        return one.divide_left(wide)
    return one


def in_memory(tile: TileValue, *, transposed: bool) -> LinearLayout:
    """The tile's layout, its outputs in the order (a matrix: under the names) of memory."""
    if not transposed:
        return tile.layout
    *leading, row, col = tile.layout.out_sizes
    turned = tile.layout.reorder(tuple(tile.layout.in_sizes), (*leading, col, row))
    return turned.rename({row: col, col: row})


def matrices_of(form: MatrixMemory, tile: TileValue, *, transposed: bool) -> LinearLayout | None:
    """Where the matrices of a tile lie in memory, if it is made of such matrices as `form` moves.

    Returns:
        (register, …) -> (row, col) in units of memory (`stored_tile`): the origin of matrix
        number `register`; the further inputs are the tile's own without `lane`. None if it is
        made otherwise.
    """
    if len(tile.shape) != 2:
        return None
    try:
        tile = stored_tile(tile, transposed=transposed)
    except TilecError:
        return None
    return _origins(form, in_memory(tile, transposed=transposed), bits_of(tile.element))


@cache
def _origins(form: MatrixMemory, layout: LinearLayout, bits: int) -> LinearLayout | None:
    unit = matrix_unit(form, bits)
    quotient = layout.divide_left(unit) if unit is not None else None
    if unit is None or quotient is None or quotient.in_sizes["lane"] != 1:
        return None
    sizes = {name: unit.out_sizes[name] * n for name, n in quotient.out_sizes.items()}
    return LinearLayout.of(
        {
            name: [
                tuple(at * unit.out_sizes[o] for at, o in zip(image, sizes, strict=True))
                for image in images
            ]
            for name, images in quotient.bases.items()
            if name != "lane"
        },
        sizes,
    )


@cache
def lane_rows(form: MatrixMemory, origins: LinearLayout) -> LinearLayout:
    """(lane) -> (row, col) in memory: the row whose address a lane supplies, from the origins."""
    images = []
    for matrix, row in row_addresses(form).bases["lane"]:
        at = origins(register=matrix)
        images.append((at[0] ^ row, at[1]))
    assert 1 << len(images) == LANES
    return LinearLayout.of({"lane": images}, origins.out_sizes)


def matrix_origins(form: MatrixMemory, tile: TileValue, *, transposed: bool) -> LinearLayout:
    """`matrices_of` for the fragment that one `form` moves.

    Raises:
        TilecError: if the fragment's layout is not the instruction's.
    """
    origins = matrices_of(form, tile, transposed=transposed)
    if origins is None:
        raise TilecError(
            f"{form.ptx} does not move a fragment of {tile.element} with the layout "
            f"'{tile.layout}'{' for a transposed tile' if transposed else ''}"
        )
    count = origins.in_sizes["register"]
    if count != form.matrices:
        raise TilecError(
            f"the fragment is {counted(count, 'matrix', 'matrices')}; {form.ptx} moves "
            f"{form.matrices}"
        )
    return origins
