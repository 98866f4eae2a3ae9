"""`tile.tcgen05_ld_red`: a load from tensor memory that also reduces. PTX ISA 9.7.16.8.2."""

from collections.abc import Sequence
from typing import Any

from tilec.dialects.semantics import Access, Scope, Semantics, Touch, Variation
from tilec.dialects.semantics.effects import Resource
from tilec.ir.aliases import Value
from tilec.ir.mlir import ext, ir
from tilec.isa import Family, TilecError
from tilec.layout import LinearLayout

from ..tensor import tensor_buffer
from .base import fragment_value
from .tcgen05_moves import TensorMoveOp, moved_layout

_ELEMENTS = {"f32": "f32", "u32": "i32", "s32": "i32"}
"""Elements of a buffer that a reduction of a type takes."""


class Tcgen05LdRedOp(TensorMoveOp, name="tcgen05_ld_red"):
    """Load a fragment of a warp from an accumulator, and reduce each row of it (`tcgen05.ld.red`).

    `form` says how: `min` or `max` of f32, also of magnitudes (`.abs`), or of signed or unsigned
    32-bit integers; with `.NaN` a NaN among the elements is the result, otherwise it does not
    count. The first result is as of `tile.tcgen05_ld`; of each of its rows `reduced` has one
    element. Both may be used behind a `tile.tcgen05_wait_ld` of each.
    """

    assembly_format = (
        "$source `[` ranked($indices, $source) `]` attr-dict "
        "`:` type($source) `->` type($fragment) `,` type($reduced)"
    )
    inferred_types = {"indices": "index"}

    FAMILY = Family.TCGEN05_LD_RED
    SEMANTICS = Semantics(
        scope=Scope.WARP,
        effects=(
            Touch(Access.READ, None, 0, asynchronous=True),
            Touch(Access.ORDER, Resource.TENSOR),
        ),
        varies=Variation.AS_OPERANDS,
    )

    source: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr
    fragment: ext.Result[Any]
    reduced: ext.Result[Any]

    @property
    def held(self) -> Value:
        """What is loaded."""
        return self.results[0]

    def check(self) -> None:
        """Verify the load, the element type, and what it is reduced to."""
        form = self.key
        if form.move.halves > 1:
            raise TilecError(
                f"whether {form.ptx} reduces both halves together is not published; legal: 32x32b"
            )
        super().check()
        type_ = ir.MemRefType(self.operands[0].type)
        of = form.reduction.rpartition(".")[2]
        if tensor_buffer(self.operands[0], "buffer").held != "d" or (
            str(type_.element_type) != _ELEMENTS[of]
        ):
            raise TilecError(
                f"{form.ptx} reduces an accumulator of {_ELEMENTS[of]}, not {self.operands[0].type}"
            )
        found = fragment_value(self.results[1], "what it is reduced to")
        legal = reduced_layout(moved_layout(form, tensor_buffer(self.operands[0], "buffer")))
        rows, _ = legal.out_sizes.values()
        same = found.shape == (rows, 1) and found.element == type_.element_type
        if not same or found.layout != legal:
            raise TilecError(
                f"each row is reduced to one element of !tile.frag<tensor<{rows}x1x"
                f'{type_.element_type}>, #tile.layout<"{legal}">>, not {self.results[1].type}'
            )


def reduced_layout(moved: LinearLayout) -> LinearLayout:
    """The layout of what the rows of a fragment are reduced to, whose lanes have a row each."""
    rows, _ = moved.out_sizes.values()
    bases = {"register": [], "lane": list(moved.bases["lane"])}
    return LinearLayout.of(bases, {"row": rows, "col": 1})
