"""`tile.tensor_dot_scaled`: products with scale factors whose accumulators tensor memory holds."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from tilec.dialects.semantics.upstream import constant_of
from tilec.ir.mlir import ext, ir
from tilec.isa import TilecError
from tilec.isa.wording import counted

from ..scale_images import FACTORS, image_of, image_rows
from ..tiles import element_name
from .tensor_dot import TensorDot

FACTOR_NAMES = ("sfa", "sfb")


class TensorDotScaledOp(TensorDot, name="tensor_dot_scaled"):
    """`tile.tensor_dot` of operands with scale factors, by `tcgen05.mma.….block_scale`.

    `sfa` and `sfb` are in shared memory in the order that `tcgen05.cp` copies them in: the last two
    dimensions are rows of A, or columns of B, in whole 128s, and four factors of each, in a
    `#tile.shared` of that layout; the dimension before counts such fours along K. They begin at row
    and column 0, constants. Of a pair of CTAs each has the factors of its rows of A, and those of
    all columns of B.
    """

    assembly_format = (
        "$a `[` ranked($indices, $a) `]` `,` $b `[` ranked($indices, $b) `]` `,` $c "
        "`scale` $sfa `[` ranked($indices, $sfa) `]` `,` $sfb `[` ranked($indices, $sfb) `]` "
        "attr-dict `:` type($a) `,` type($b) `,` type($c) `scale` type($sfa) `,` type($sfb) "
        "(`->` type($d)^)?"
    )
    inferred_types = {"indices": "index", "d": "$c"}

    SCALED = True
    FIXED = 5
    MATRICES = MappingProxyType({"a": 0, "b": 1, "sfa": 3, "sfb": 4})

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    c: ext.Operand[Any]
    sfa: ext.Operand[Any]
    sfb: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr
    types: ir.StringAttr
    warps: Any
    d: ext.Result[Any]

    def tiles(self) -> dict[str, int]:
        """By name the numbers of the operands that are tiles."""
        return {"c": 2}

    def factors(self) -> int:
        """Scale factors of a row along K."""
        product = self.key
        assert product.scaling is not None
        return self.depth() // product.operand("b").rows * product.scaling.chunks

    def check(self) -> None:
        """Verify what a product without has, and the scale factors."""
        super().check()
        type_ = ir.RankedTensorType(self.results[0].type)
        for name, rows in zip(FACTOR_NAMES, type_.shape, strict=True):
            held = ir.MemRefType(self.operands[self.MATRICES[name]].type)
            whole = image_rows(rows)
            legal = (element_name(self.key.operand(name)), "i8")
            if str(held.element_type) not in legal:
                raise TilecError(
                    f"operand {name} has elements of type {' or '.join(legal)}, not "
                    f"{held.element_type}"
                )
            if image_of(held) != whole:
                raise TilecError(
                    f"operand {name} has {counted(whole, 'row')} of {FACTORS} factors in the "
                    f"order of tcgen05.cp, not {held}"
                )
            panels = held.shape[-3] if held.rank > 2 else 1
            if panels * FACTORS < self.factors():
                raise TilecError(
                    f"operand {name} has {panels * FACTORS} factors of a row in memory, and K "
                    f"takes {self.factors()}"
                )
            if [constant_of(index) for index in self.indices_of(name)[-2:]] != [0, 0]:
                raise TilecError(f"operand {name} begins at row 0 and column 0 of its fours")
