"""Who holds what: every matrix operand of every form as a linear layout.

One rule covers `mma`, the stored A of `mma.sp`, `ldmatrix`, `stmatrix` and `movmatrix`. A
register holds E consecutive elements along one index of the matrix, the *inner* one; four
lanes follow each other along it, eight lanes along the outer index; then registers step
through the outer index, then the warps of a warpgroup, and last registers through the inner.
A packs along K, B along K, the accumulators along N. (PTX ISA 9.7.14.5.1 to 9.7.14.5.13,
9.7.14.6.2.)

The input `register` counts elements of the lane's fragment, low to high: element i is in
register i // E, at bits [W·(i % E), W·(i % E) + W), W being `Operand.container`. Of what a
warpgroup holds, the input `warp` counts its warps.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, singledispatch
from typing import TYPE_CHECKING

from tilec.isa import (
    LANES,
    Form,
    Major,
    MatrixMemory,
    Mma,
    MovMatrix,
    Operand,
    Storage,
    TilecError,
)

from . import selected
from .linear import LayoutError, LinearLayout

if TYPE_CHECKING:
    from .repeated import Fragment, RepeatedLayout

_identity = LinearLayout.identity


def warp_tile(
    inner: str, inner_size: int, outer: str, outer_size: int, packed: int, warps: int = 1
) -> LinearLayout:
    """The rule: registers, lanes, lanes, registers, warps, registers.

    Args:
        inner: name of the index along which a register's elements lie.
        inner_size: its extent, at least 4 · packed.
        outer: name of the other index.
        outer_size: its extent, at least 8 · warps.
        packed: E, the elements of a register.
        warps: warps that share the tile.

    Returns:
        (register, lane) -> (inner, outer), in that order; of several warps, with the input
        `warp` after `lane`.
    """
    of_warp = (
        _identity(packed, "register", inner)
        * _identity(4, "lane", inner)
        * _identity(8, "lane", outer)
        * _identity(outer_size // (8 * warps), "register", outer)
    )
    if warps > 1:
        of_warp *= _identity(warps, "warp", outer)
    return of_warp * _identity(inner_size // (4 * packed), "register", inner)


@cache
def fragment_of(form: Form, name: str) -> LinearLayout:
    """The layout of operand `name` of `form`.

    Returns:
        (register, lane) -> (row, col), or (register, lane, warp) of what a warpgroup holds; a
        bijection onto the operand's tile, with further outputs where the ISA lets lanes
        hold more than one product wants:

        * `mma.m8n8k4` on f16: (product, row, col), the four products of the warp.
        * `a` of a sparse form: as stored, col counting compressed elements.
        * `e`: (row, col, selector), col counting 4-bit codes: the lanes that the sparsity
          selector picks.
        * `sfa`: (row, col, byte_id_a, thread_id_a), and `sfb` with `…_b`; col, or for `sfb`
          row, counting scale factors along K. Injective: not every byte id is legal.
        * `r` of `ldmatrix` and `stmatrix`: (matrix, row, element), the place in shared memory.
        * `a` and `d` of `movmatrix`: the same, of the one matrix that goes in.

    Raises:
        LayoutError: if the form has no such operand, it lies in memory, the ISA leaves its
            layout open, or it repeats a number of times that is not a power of two, as what a
            warpgroup accumulates may: `any_fragment_of` gives its layout.
    """
    found = any_fragment_of(form, name)
    if not isinstance(found, LinearLayout):
        raise LayoutError(
            f"operand {name} of {form.ptx} is {found.count} copies of a linear layout, which are "
            f"not linear together"
        )
    return found


@cache
def any_fragment_of(form: Form, name: str) -> Fragment:
    """The layout of operand `name` of `form`, be it linear or a linear one repeated.

    Returns:
        As `fragment_of`; of an accumulator of a warpgroup whose N is not a power of two, its m64n8
        tiles one after the other.

    Raises:
        LayoutError: if the form has no such operand, it lies in memory, or the ISA leaves its
            layout open.
    """
    try:
        operand = form.operand(name)
    except TilecError as error:
        raise LayoutError(str(error)) from None
    if operand.opaque:
        raise LayoutError(f"the ISA does not define which elements a register of {form.ptx} holds")
    if not operand.threads:
        raise LayoutError(
            f"operand {name} of {form.ptx} lies in {operand.storage}: no register holds it"
        )
    if operand.name in "cd" and operand.storage is Storage.WARPGROUP:
        whole = accumulator(operand)
        return whole.linear or whole
    return fragment_rule(form, operand)


def accumulator(operand: Operand) -> RepeatedLayout:
    """The layout of `c` or `d` of a warpgroup: m64n8 tiles along N."""
    from .repeated import RepeatedLayout  # noqa: PLC0415 (programs without wgmma do without)

    unit = product_fragment(replace(operand, cols=8))
    return RepeatedLayout(unit, operand.cols // 8)


def has_fragment(operand: Operand) -> bool:
    """Whether threads hold the operand in registers, and the ISA says which holds what."""
    return operand.threads > 0 and not operand.opaque


@singledispatch
def fragment_rule(form: Form, operand: Operand) -> LinearLayout:
    """The layout of an operand in registers, by the form's class: of any product, the one rule.

    A class of forms whose operands lie otherwise registers a function of its own. What moves
    tensor memory has one that is not loaded before it is asked for.
    """
    if any(one.storage is Storage.TENSOR for one in form.all_operands):
        from . import tensor_moves  # noqa: PLC0415 (programs without tensor memory do without)

        return tensor_moves.fragment(form, operand)
    return _product(form, operand)


def _product(form: Form, operand: Operand) -> LinearLayout:
    """The layout of a fragment, or of the metadata of A."""
    if operand.name == "e":
        return selected.metadata(form)
    return product_fragment(operand)


def product_fragment(operand: Operand) -> LinearLayout:
    """The layout of `a`, `b`, `c` or `d` of a product, by the one rule."""
    inner, outer = ("row", "col") if operand.name == "b" else ("col", "row")
    # Two neighbours along N, be they in one register of halves or in two of words.
    packed = 2 if operand.name in "cd" else operand.per_register
    extents = {"row": operand.rows, "col": operand.cols}
    warps = operand.threads // LANES
    tile = warp_tile(inner, extents[inner], outer, extents[outer], packed, warps)
    return tile.reorder(tuple(tile.in_sizes), ("row", "col"))


@fragment_rule.register
def _mma(form: Mma, operand: Operand) -> LinearLayout:
    if operand.name in ("sfa", "sfb"):
        return selected.scale_factors(form, operand)
    if form.products == 4:
        return quad_pairs(operand)
    return _product(form, operand)


@fragment_rule.register
def _matrix_memory(form: MatrixMemory, operand: Operand) -> LinearLayout:
    del operand
    return matrices(form)


@fragment_rule.register
def _movmatrix(form: MovMatrix, operand: Operand) -> LinearLayout:
    del form
    inner, outer = ("row", "element") if operand.name == "d" else ("element", "row")
    tile = warp_tile(inner, operand.cols, outer, operand.rows, operand.per_register)
    tile *= LinearLayout.empty(outs=("matrix",))
    return tile.reorder(("register", "lane"), ("matrix", "row", "element"))


def quad_pairs(operand: Operand) -> LinearLayout:
    """Operands of `mma.m8n8k4` on f16: four products, one for each quad-pair of lanes.

    PTX ISA 9.7.14.5.1.
    """
    if operand.name in "cd":
        if operand.type.name == "f32":
            # row (lane&1) + (i&2) + 4·high, col (i&4) + (lane&2) + (i&1)
            spread = (
                _identity(2, "register", "col")
                * _identity(2, "lane", "row")
                * _identity(2, "register", "row")
                * _identity(2, "lane", "col")
                * _identity(2, "register", "col")
            )
        else:
            spread = _identity(8, "register", "col") * _identity(4, "lane", "row")
        high = "row"
    else:
        # Four elements along the contiguous index, four lanes along the other; the high
        # lanes go on along M or N.
        along, across = ("col", "row") if operand.major is Major.ROW else ("row", "col")
        spread = _identity(4, "register", along) * _identity(4, "lane", across)
        high = "row" if operand.name == "a" else "col"
    tile = spread * _identity(4, "lane", "product") * _identity(2, "lane", high)
    return tile.reorder(("register", "lane"), ("product", "row", "col"))


def matrices(form: MatrixMemory) -> LinearLayout:
    """The registers of `ldmatrix` or `stmatrix`: (register, lane) -> (matrix, row, element).

    `row` counts rows in memory, each at an address of its own (`row_addresses`); `element`
    counts the elements along it. PTX ISA 9.7.14.5.15, 9.7.14.5.16.
    """
    operand = form.fragment
    elements = operand.rows * operand.cols // (form.matrices * form.rows)
    packed = operand.per_register
    if not form.transposed:
        tile = warp_tile("element", elements, "row", form.rows, packed)
    elif 4 * packed <= form.rows:
        tile = warp_tile("row", form.rows, "element", elements, packed)
    else:
        # stmatrix m16n8.b8: bytes in the order of an accumulator, two along N, two along M.
        tile = warp_tile("row", form.rows, "element", elements, form.rows // 4)
    layout = tile * _identity(form.matrices, "register", "matrix")
    return layout.reorder(("register", "lane"), ("matrix", "row", "element"))


@cache
def row_addresses(form: MatrixMemory) -> LinearLayout:
    """Whose address is which row's: lane -> (matrix, row).

    Lanes beyond the rows repeat the low ones: they are ignored, except on sm_75, where each
    must hold a valid address.
    """
    layout = _identity(form.rows, "lane", "row") * _identity(form.matrices, "lane", "matrix")
    layout *= LinearLayout.zeros(LANES // (form.rows * form.matrices), "lane")
    return layout.reorder(("lane",), ("matrix", "row"))
