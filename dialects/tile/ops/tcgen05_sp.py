"""`tile.tcgen05_mma_sp`: sparse products in tensor memory, issued by one thread. PTX ISA 9.7.16.10.

A has two of four columns along K, or one of two; metadata in tensor memory say which.
"""

from collections.abc import Sequence
from typing import Any

from tilec.dialects.semantics import Access, Scope, Semantics, Touch
from tilec.dialects.semantics.upstream import constant_of
from tilec.ir.mlir import ext, ir
from tilec.isa import TilecError

from .tcgen05 import PRODUCT_EFFECTS, TensorProductOp

_ROWS = 128
_HALF = 16


class Tcgen05MmaSpOp(TensorProductOp, name="tcgen05_mma_sp"):
    """`tile.tcgen05_mma` of a sparse A, by one `tcgen05.mma.sp` or `.ws.sp`.

    `a` holds the elements that are stored, half of those along K. `e` is the metadata, in
    `#tile.tensor<"e">`: a row of 32-bit words for each lane of a CTA, with codes of 4 bits as PTX
    ISA 9.7.16.10.8 has them. Those of the instruction begin in the column that is its last index, a
    constant: elements of 16 and 32 bits take one, others two, from an even one on. Of 64 rows of a
    CTA the places of metadata are published only as a picture: M is 128, or 256 of a pair.
    """

    assembly_format = (
        "$a `[` ranked($indices, $a) `]` `,` $b `[` ranked($indices, $b) `]` `,` "
        "$d `[` ranked($indices, $d) `]` `metadata` $e `[` ranked($indices, $e) `]` "
        "`if` $accumulate attr-dict "
        "`:` type($a) `,` type($b) `,` type($d) `metadata` type($e)"
    )
    inferred_types = {"indices": "index", "accumulate": "i1"}

    MATRICES = tuple[str, ...](("a", "b", "d", "e"))
    SEMANTICS = Semantics(
        scope=Scope.ONE_THREAD,
        effects=(*PRODUCT_EFFECTS, Touch(Access.READ, None, 4, asynchronous=True)),
    )

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    d: ext.Operand[Any]
    accumulate: ext.Operand[Any]
    e: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr
    types: ir.StringAttr

    def fields(self) -> dict[str, int]:
        """The selector: by how many columns the metadata begin later than an even one.

        Raises:
            TilecError: if their column is not a constant.
        """
        return {"selector": self._column % 2}

    @property
    def metadata_column(self) -> int:
        """The column that the instruction is given: an even one."""
        return self._column // 2 * 2

    @property
    def _column(self) -> int:
        column = constant_of(self.indices_of("e")[-1])
        if column is None:
            raise TilecError("the last index of e is a constant")
        return column

    def check(self) -> None:
        """Verify what a dense product has, and the metadata."""
        super().check()
        product = self.product
        rows = product.shape.m // product.group
        if rows != _ROWS:
            raise TilecError(
                f"the metadata of {rows} rows of a CTA are published only as a picture; legal: "
                f"M = {_ROWS}, of a pair of CTAs {2 * _ROWS}"
            )
        buffer = self.tensor_operand("e", "e")
        a = product.operand("a")
        # Of 16 and 32 bits a lane's word has the codes of two rows, for half of K each.
        taken = 1 if a.container >= _HALF else 2
        first, row = self._column, constant_of(self.indices_of("e")[-2])
        if row != 0 or (taken > 1 and first % taken) or not 0 <= first <= buffer.cols - taken:
            raise TilecError(
                f"operand e of {product.ptx} takes {taken} of {buffer.cols} columns, from row 0 "
                f"and {'an even' if taken > 1 else 'a'} column on, not from {first}"
            )
