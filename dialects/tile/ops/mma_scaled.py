"""`tile.mma_scaled`, `tile.mma_sp_scaled`: one block-scaled instruction, dense or sparse."""

from typing import Any

from tilec.dialects.semantics.declaration import OF_A_WARP
from tilec.ir.mlir import ext, ir
from tilec.isa import Family, Mma

from .base import TileOp, check_selectors, form_of
from .mma import check_product
from .mma_sp import check_metadata


class MmaScaledOp(TileOp, name="mma_scaled"):
    """`d = (a · sfa) · (b · sfb) + c` by one block-scaled `mma` instruction.

    `sfa` and `sfb` are fragments of scale factors: for A by row, chunk of K, byte id and thread
    id, for B by chunk and column. The ids select those that the instruction reads.
    """

    assembly_format = (
        "$a `,` $b `,` $c `,` $sfa `,` $sfb attr-dict "
        "`:` type($a) `,` type($b) `,` type($c) `,` type($sfa) `,` "
        "type($sfb) (`->` type($d)^)?"
    )
    inferred_types = {"d": "$c"}

    SEMANTICS = OF_A_WARP

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    c: ext.Operand[Any]
    sfa: ext.Operand[Any]
    sfb: ext.Operand[Any]
    form: ir.StringAttr
    byte_id_a: ir.IntegerAttr
    thread_id_a: ir.IntegerAttr
    byte_id_b: ir.IntegerAttr
    thread_id_b: ir.IntegerAttr
    d: ext.Result[Any]

    def check(self) -> None:
        """Verify form, operands and ids."""
        form = form_of(self.form.value, Family.MMA_BLOCK_SCALE)
        assert isinstance(form, Mma)
        check_product(form, self)
        check_selectors(form, self)


class MmaSpScaledOp(TileOp, name="mma_sp_scaled"):
    """`tile.mma_scaled` with a sparse A, whose metadata and selector are those of `tile.mma_sp`."""

    assembly_format = (
        "$a `,` $b `,` $c `,` $e `,` $sfa `,` $sfb attr-dict "
        "`:` type($a) `,` type($b) `,` type($c) `,` type($e) `,` type($sfa) `,` "
        "type($sfb) (`->` type($d)^)?"
    )
    inferred_types = {"d": "$c"}

    SEMANTICS = OF_A_WARP

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    c: ext.Operand[Any]
    e: ext.Operand[Any]
    sfa: ext.Operand[Any]
    sfb: ext.Operand[Any]
    form: ir.StringAttr
    selector: ir.IntegerAttr
    byte_id_a: ir.IntegerAttr
    thread_id_a: ir.IntegerAttr
    byte_id_b: ir.IntegerAttr
    thread_id_b: ir.IntegerAttr
    d: ext.Result[Any]

    def check(self) -> None:
        """Verify form, operands, metadata that is constant, selector and ids."""
        form = form_of(self.form.value, Family.MMA_SP_BLOCK_SCALE)
        assert isinstance(form, Mma)
        check_product(form, self)
        check_selectors(form, self)
        check_metadata(form, self.operands[3])
