"""`tile.mma`: one dense `mma` instruction."""

from typing import Any

from tilec.dialects.semantics.declaration import OF_A_WARP
from tilec.ir.mlir import ext, ir
from tilec.isa import Family, Mma

from .base import TileOp, check_operand, form_of


def check_product(form: Mma, op: TileOp) -> None:
    """Check the operands and the result of an op that is one instruction of `form`."""
    names = [*(o.name for o in form.operands), *(o.name for o in form.results)]
    for name, value in zip(names, (*op.operands, *op.results), strict=True):
        check_operand(form, form.operand(name), value)


class MmaOp(TileOp, name="mma"):
    """`d = a · b + c` by one dense `mma` instruction.

    The operands are the instruction's fragments; `form` is its key in the instruction table.
    """

    assembly_format = (
        "$a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c) (`->` type($d)^)?"
    )
    inferred_types = {"d": "$c"}

    SEMANTICS = OF_A_WARP

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    c: ext.Operand[Any]
    form: ir.StringAttr
    d: ext.Result[Any]

    def check(self) -> None:
        """Verify form, shapes, element types and layouts."""
        form = form_of(self.form.value, Family.MMA)
        assert isinstance(form, Mma)
        check_product(form, self)
