"""`tile.mma_sp`: one sparse `mma.sp` instruction."""

from typing import Any

from tilec.dialects.semantics.declaration import OF_A_WARP
from tilec.ir.aliases import Value
from tilec.ir.mlir import ext, ir
from tilec.isa import Family, Mma, TilecError

from .base import TileOp, check_selectors, form_of
from .mma import check_product


class MmaSpOp(TileOp, name="mma_sp"):
    """`d = a · b + c` with a sparse A, by one `mma.sp` instruction.

    `a` is the fragment of A as stored, `e` that of the metadata: 4-bit codes by row, chunk and
    selector. `selector` selects the metadata that the instruction reads.
    """

    assembly_format = (
        "$a `,` $b `,` $c `,` $e attr-dict "
        "`:` type($a) `,` type($b) `,` type($c) `,` type($e) (`->` type($d)^)?"
    )
    inferred_types = {"d": "$c"}

    SEMANTICS = OF_A_WARP

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    c: ext.Operand[Any]
    e: ext.Operand[Any]
    form: ir.StringAttr
    selector: ir.IntegerAttr
    d: ext.Result[Any]

    def check(self) -> None:
        """Verify form, operands, selector, and metadata that is constant."""
        form = form_of(self.form.value, Family.MMA_SP)
        assert isinstance(form, Mma)
        check_product(form, self)
        check_selectors(form, self)
        check_metadata(form, self.operands[3])


def check_metadata(form: Mma, metadata: Value) -> None:
    """Check the codes of metadata that `tile.fill` makes of a constant.

    Raises:
        TilecError: naming the codes that are defined.
    """
    assert form.sparsity is not None
    code, legal = _constant(metadata), form.sparsity.defined_codes
    if code is not None and code not in legal:
        names = ", ".join(f"{c:#06b}" for c in legal)
        raise TilecError(f"metadata {code:#06b} is not a code of {form.ptx}; legal: {names}")


def _constant(metadata: Value) -> int | None:
    """The code that all the metadata is, if that is known."""
    fill = metadata.owner
    if isinstance(fill, ir.Block) or fill.name != "tile.fill":
        return None
    scalar = fill.operands[0].owner
    if isinstance(scalar, ir.Block) or scalar.name != "arith.constant":
        return None
    return int(ir.IntegerAttr(scalar.attributes["value"]).value) & 0xF
