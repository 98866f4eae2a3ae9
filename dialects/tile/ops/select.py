"""`tile.select`: of two fragments one, element by element."""

from typing import Any

from tilec.dialects.semantics.declaration import PURE
from tilec.ir.mlir import ext
from tilec.isa import TilecError

from .base import TileOp, fragment_value
from .elementwise import check_mask


class SelectOp(TileOp, name="select"):
    """`arith.select` on fragments: elements of the first value where the condition holds.

    The condition is a fragment of i1 with the values' layout, or one i1 for all elements.
    """

    assembly_format = (
        "$condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,` type($result)"
    )
    inferred_types = {"on_true": "$result", "on_false": "$result"}

    SEMANTICS = PURE

    condition: ext.Operand[Any]
    on_true: ext.Operand[Any]
    on_false: ext.Operand[Any]
    result: ext.Result[Any]

    def check(self) -> None:
        """Verify that the types fit."""
        condition, *values = self.operands
        chosen = fragment_value(self.results[0], "result")
        for value in values:
            if value.type != self.results[0].type:
                raise TilecError(
                    f"values and result must be of one type: {value.type} and "
                    f"{self.results[0].type}"
                )
        if str(condition.type) != "i1":
            mask = fragment_value(condition, "a condition that is not an i1")
            check_mask(mask, chosen, condition.type)
