"""Who holds what: the fragment of every matrix operand as a linear layout.

One rule covers all of `mma`, `mma.sp` (A as stored), `ldmatrix` and `stmatrix`. A 32-bit
register holds E consecutive elements along one index of the matrix, the *inner* one; four
lanes follow each other along it, eight lanes along the outer index; then registers step
through the outer index, and last through the inner. A packs along K, B along K, the
accumulators along N. (PTX ISA 9.7.14.5.1 to 9.7.14.5.13, 9.7.14.6.2.)

The input `register` counts elements of the lane's fragment, low to high: element i is in
register i // E, at bits [W·(i % E), W·(i % E) + W).
"""

from __future__ import annotations

from functools import cache

from tilec.isa import Form, Major, Mma, Operand

from .linear import LayoutError, LinearLayout

_identity = LinearLayout.identity


def warp_tile(
    inner: str, inner_size: int, outer: str, outer_size: int, packed: int
) -> LinearLayout:
    """The rule: registers, lanes, lanes, registers, registers.

    Args:
        inner: name of the index along which a register's elements lie.
        inner_size: its extent, at least 4 · packed.
        outer: name of the other index.
        outer_size: its extent, at least 8.
        packed: E, the elements of a register.

    Returns:
        (register, lane) -> (inner, outer), in that order.
    """
    return (
        _identity(packed, "register", inner)
        * _identity(4, "lane", inner)
        * _identity(8, "lane", outer)
        * _identity(outer_size // 8, "register", outer)
        * _identity(inner_size // (4 * packed), "register", inner)
    )


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
    return spread * _identity(4, "lane", "product") * _identity(2, "lane", high)


@cache
def fragment(form: Form, name: str) -> LinearLayout:
    """The layout of operand `name` of `form`.

    Returns:
        (register, lane) -> (row, col), a bijection onto the operand's tile. For `mma.m8n8k4`
        on f16 onto (product, row, col), the four products of the warp. A sparse A is given as
        stored, col in the compressed row.

    Raises:
        LayoutError: if the form has no such operand, or the ISA leaves its layout open.
    """
    if not isinstance(form, Mma):
        raise LayoutError(f"{form.ptx} has no fragment that the ISA defines")
    try:
        operand = form.operand(name)
    except KeyError:
        names = ", ".join(o.name for o in (*form.results, *form.operands))
        raise LayoutError(f"{form.ptx} has no operand '{name}'; it has {names}") from None
    if form.products == 4:
        return quad_pairs(operand).reorder(("register", "lane"), ("product", "row", "col"))
    rows, cols = operand.rows, operand.cols
    if name == "b":
        tile = warp_tile("row", rows, "col", cols, operand.per_register)
    else:
        packed = 2 if name in "cd" else operand.per_register
        tile = warp_tile("col", cols, "row", rows, packed)
    return tile.reorder(("register", "lane"), ("row", "col"))
