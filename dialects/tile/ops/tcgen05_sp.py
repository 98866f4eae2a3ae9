"""`tile.tcgen05_mma_sp` and its kin with scale factors, issued by one thread. PTX ISA 9.7.16.10.

A has two of four columns along K, or one of two; metadata in tensor memory say which.
"""

from collections.abc import Sequence
from typing import Any

from tilec.dialects.semantics import Access, Scope, Semantics, Touch
from tilec.ir.mlir import ext, ir

from .tcgen05 import PRODUCT_EFFECTS, TensorProductOp
from .tensor_options import OPTIONS


class Tcgen05MmaSpOp(TensorProductOp, name="tcgen05_mma_sp"):
    """`tile.tcgen05_mma` of a sparse A, by one `tcgen05.mma.sp` or `.ws.sp`.

    `a` holds the elements that are stored, half of those along K. `e` is the metadata, in
    `#tile.tensor<"e">`: a row of 32-bit words for each lane of a CTA, with codes of 4 bits as PTX
    ISA 9.7.16.10.8 has them. Those of the instruction begin in the column that is its last index, a
    constant: elements of 16 and 32 bits take one, others two, from an even one on. With `.ws` those
    of 64 or 32 rows stand in each bank of lanes. Of 64 rows of a CTA without it the places of
    metadata are published only as a picture: M is 128, or 256 of a pair. `keep_lanes`, `exponent`
    and `zero_columns` are as in `tile.tcgen05_mma`.
    """

    assembly_format = (
        "$a `[` ranked($indices, $a) `]` `,` $b `[` ranked($indices, $b) `]` `,` "
        "$d `[` ranked($indices, $d) `]` `metadata` $e `[` ranked($indices, $e) `]` "
        "`if` $accumulate attr-dict "
        "`:` type($a) `,` type($b) `,` type($d) `metadata` type($e)"
    )
    inferred_types = {"indices": "index", "accumulate": "i1"}

    OPTIONAL = OPTIONS
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


class Tcgen05MmaSpScaledOp(TensorProductOp, name="tcgen05_mma_sp_scaled"):
    """`tile.tcgen05_mma_sp` of operands with scale factors, by one `tcgen05.mma.sp.….block_scale`.

    `e` is as there, `sfa` and `sfb` are as in `tile.tcgen05_mma_scaled`; of K that is twice as long
    a scale factor has twice as many elements, of which A stores half. M is 128, or 256 of a pair.
    """

    assembly_format = (
        "$a `[` ranked($indices, $a) `]` `,` $b `[` ranked($indices, $b) `]` `,` "
        "$d `[` ranked($indices, $d) `]` `metadata` $e `[` ranked($indices, $e) `]` "
        "`scale` $sfa `[` ranked($indices, $sfa) `]` `,` $sfb `[` ranked($indices, $sfb) `]` "
        "`if` $accumulate attr-dict `:` type($a) `,` type($b) `,` type($d) "
        "`metadata` type($e) `scale` type($sfa) `,` type($sfb)"
    )
    inferred_types = {"indices": "index", "accumulate": "i1"}

    MATRICES = tuple[str, ...](("a", "b", "d", "e", "sfa", "sfb"))
    SEMANTICS = Semantics(
        scope=Scope.ONE_THREAD,
        effects=(
            *PRODUCT_EFFECTS,
            *(Touch(Access.READ, None, at, asynchronous=True) for at in (4, 5, 6)),
        ),
    )

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    d: ext.Operand[Any]
    accumulate: ext.Operand[Any]
    e: ext.Operand[Any]
    sfa: ext.Operand[Any]
    sfb: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr
    types: ir.StringAttr
