"""What goes with A and B of `tcgen05.mma` in tensor memory: metadata and scale factors.

PTX ISA 9.7.16.10.7, 9.7.16.10.8.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from tilec.dialects.semantics.upstream import constant_of
from tilec.ir.aliases import Value
from tilec.isa import TilecError

from ..tensor import TensorBuffer
from ..tiles import element_name

if TYPE_CHECKING:
    from tilec.isa.described_product import DescribedProduct
    from tilec.isa.tensor_products import TensorProduct

_ROWS = 128
_HALF = 16


class Product(Protocol):
    """An op that is a product in tensor memory: `TensorProductOp`."""

    @property
    def key(self) -> TensorProduct:
        """The instruction."""
        ...

    @property
    def product(self) -> DescribedProduct:
        """The instruction with its descriptor."""
        ...

    def indices_of(self, name: str) -> list[Value]:
        """Where an operand begins."""
        ...

    def tensor_operand(self, name: str, held: str) -> TensorBuffer:
        """An operand in tensor memory."""
        ...

    def check_element(self, name: str, legal: Sequence[str]) -> None:
        """Check the elements of an operand."""
        ...


def first_scales(op: Product) -> dict[str, int]:
    """The bytes with which scale factors begin, as the descriptor has them.

    Raises:
        TilecError: if they are not constants.
    """
    found = {}
    for name in ("sfa", "sfb"):
        first = constant_of(op.indices_of(name)[-1])
        if first is None:
            raise TilecError(f"the last index of {name} is a constant")
        found[f"{name}_id"] = first
    return found


def check_scales(op: Product) -> None:
    """Verify the scale factors of a product.

    Raises:
        TilecError: if they are not what it takes.
    """
    from tilec.layout.tensor_memory import scale_rows  # noqa: PLC0415 (for Blackwell only)

    product = op.product
    m, n, _ = product.shape
    for name in ("sfa", "sfb"):
        buffer = op.tensor_operand(name, "scale")
        op.check_element(name, [element_name(product.operand(name)), "i8"])
        rows, parts = scale_rows(name, m, n, product.group)
        if buffer.halves != (parts > 1) or (parts > 1 and buffer.rows != n):
            words = f'{n} rows in #tile.tensor<"scale halves">' if parts > 1 else "no halves"
            raise TilecError(f"operand {name} of {product.ptx} has {words}, unlike the buffer")
        whole = -(-rows // 32) * 32
        first = constant_of(op.indices_of(name)[-2])
        if first != 0 or buffer.rows < whole:
            raise TilecError(
                f"operand {name} of {product.ptx} takes rows 0 to {whole - 1} of {buffer.rows}"
            )


def selector(op: Product) -> dict[str, int]:
    """By how many columns the metadata begin later than an even one, as the descriptor has it.

    Raises:
        TilecError: if their column is not a constant.
    """
    odd = 0 if op.key.scaled else metadata_column(op) % 2  # which `check_metadata` refuses
    return {"selector": odd}


def metadata_column(op: Product) -> int:
    """The column that the metadata begin with.

    Raises:
        TilecError: if it is not a constant.
    """
    column = constant_of(op.indices_of("e")[-1])
    if column is None:
        raise TilecError("the last index of e is a constant")
    return column


def check_metadata(op: Product) -> None:
    """Verify the metadata of a product of a sparse A.

    Raises:
        TilecError: if they are not what it takes.
    """
    product = op.product
    rows = product.shape.m // product.group
    if rows != _ROWS and not product.stationary:
        raise TilecError(
            f"the metadata of {rows} rows of a CTA are published only as a picture; legal: "
            f"M = {_ROWS}, of a pair of CTAs {2 * _ROWS}"
        )
    buffer = op.tensor_operand("e", "e")
    a = product.operand("a")
    # Of 16 and 32 bits a lane's word has the codes of two rows, for half of K each.
    taken = 1 if a.container >= _HALF else 2
    first, row = metadata_column(op), constant_of(op.indices_of("e")[-2])
    if row != 0 or (taken > 1 and first % taken) or not 0 <= first <= buffer.cols - taken:
        raise TilecError(
            f"operand e of {product.ptx} takes {taken} of {buffer.cols} columns, from row 0 "
            f"and {'an even' if taken > 1 else 'a'} column on, not from {first}"
        )
