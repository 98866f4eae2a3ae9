"""The operands of `mma`: fragments of a product, metadata, scale factors."""

from __future__ import annotations

from .operands import B32, Major, Operand, Shape, matrix
from .types import element_type


def product(
    shape: Shape,
    types: tuple[str, str, str, str],
    *,
    products: int = 1,
    kind: str | None = None,
    majors: tuple[Major, Major] | None = None,
    stored_k: int | None = None,
) -> tuple[tuple[Operand, ...], tuple[Operand, ...]]:
    """Results and operands of D = A·B + C.

    Args:
        shape: logical extents.
        types: element types in the order PTX writes them: D, A, B, C.
        products: independent products a warp computes.
        kind: the form's `.kind`.
        majors: `.row`/`.col` of A and B where the form gives the choice.
        stored_k: columns of A as stored, where A is sparse.
    """
    d, a, b, c = types
    a_major, b_major = majors or (None, None)
    k = shape.k if stored_k is None else stored_k
    return (
        (matrix("d", d, shape.m, shape.n, products=products),),
        (
            matrix("a", a, shape.m, k, products=products, kind=kind, major=a_major),
            matrix("b", b, shape.k, shape.n, products=products, kind=kind, major=b_major),
            matrix("c", c, shape.m, shape.n, products=products),
        ),
    )


def scales(shape: Shape, type_name: str, chunks: int) -> tuple[Operand, Operand]:
    """The scale factors of A, m×chunks, and of B, chunks×n: four bytes in each lane's register.

    Args:
        shape: logical extents.
        type_name: `ue8m0` or `ue4m3`.
        chunks: scale factors along K.
    """
    type_ = element_type(type_name)
    return (
        Operand("sfa", type_, shape.m, chunks, 1, B32, type_.bits, listed=False),
        Operand("sfb", type_, chunks, shape.n, 1, B32, type_.bits, listed=False),
    )
