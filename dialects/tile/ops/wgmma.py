"""`tile.wgmma` and its kin: products of a warpgroup, in flight until it waits for them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tilec.dialects.semantics import Access, Resource, Scope, Semantics, Touch, Variation
from tilec.dialects.semantics.declaration import PURE
from tilec.ir.aliases import Value
from tilec.ir.mlir import ext, ir
from tilec.isa import Family, Form, Operand, TilecError
from tilec.isa.wording import counted
from tilec.layout import LinearLayout, any_fragment_of
from tilec.layout.operands import operand_layout

from ..tiles import TileValue, element_name
from ..warpgroup import warp_part, warpgroup_fragment
from .base import TileOp, check_indices, form_of, fragment_value, integer

if TYPE_CHECKING:
    from ..matrix_operands import MatrixOperand

_PRODUCT = Semantics(
    scope=Scope.WARPGROUP,
    effects=(
        Touch(Access.READ, Resource.SHARED, asynchronous=True),
        Touch(Access.WRITE, Resource.ACCUMULATORS, asynchronous=True),
    ),
    varies=Variation.AS_OPERANDS,
)
_OPTIONAL = frozenset({"imm_scale_a", "imm_scale_b", "imm_trans_a", "imm_trans_b"})
_DEFAULTS = {"imm_scale_a": 1, "imm_scale_b": 1, "imm_trans_a": 0, "imm_trans_b": 0}


class WgmmaProduct(TileOp):
    """What dense and sparse products have in common."""

    OPTIONAL = _OPTIONAL
    SEMANTICS = _PRODUCT
    FAMILY = Family.WGMMA
    FIXED = 4
    """Operands before the indices: a, b, c, scale_d, and the metadata of a sparse one."""

    @property
    def key(self) -> Form:
        """The instruction.

        Raises:
            TilecError: if `form` names none of the op's family.
        """
        return form_of(ir.StringAttr(self.attributes["form"]).value, self.FAMILY)

    def selector_value(self, name: str) -> int:
        """The value of a selector, its default where the op has none."""
        return integer(self, name) if name in self.attributes else _DEFAULTS[name]

    def indices_of(self, name: str) -> list[Value]:
        """Where operand `a` or `b` begins in its memref; none of one in registers."""
        operands = list(self.operands)
        rank = _rank(operands[0])
        indices = operands[self.FIXED :]
        return indices[:rank] if name == "a" else indices[rank:]

    def check(self) -> None:
        """Verify form, fragments, matrices in shared memory, and selectors."""
        form = self.key
        a, b, c, scale = list(self.operands)[:4]
        for name, value in (("c", c), ("d", self.results[0])):
            check_warpgroup_operand(form, form.operand(name), value)
        if str(scale.type) != "i1":
            raise TilecError(f"scale_d must be an i1, not {scale.type}")
        _check_selectors(form, self)
        for name, value in (("a", a), ("b", b)):
            operand = form.operand(name)
            if operand.threads:
                check_warpgroup_operand(form, operand, value)
            else:
                self.matrix(form, name, value)  # that it lies in shared memory
        rank = _rank(a) + _rank(b)
        check_indices(list(self.operands)[self.FIXED :], rank, "a and b in shared memory")
        for name, value in (("a", a), ("b", b)):
            if _rank(value):
                self.matrix(form, name, value).check(self.indices_of(name))

    def matrix(self, form: Form, name: str, value: Value) -> "MatrixOperand":
        """Operand `a` or `b` in shared memory.

        Raises:
            TilecError: if no descriptor tells it.
        """
        from ..matrix_operands import described_operand  # noqa: PLC0415 (for Hopper only)

        transposed = bool(self.selector_value(f"imm_trans_{name}"))
        return described_operand(form, name, value, transposed=transposed)


class WgmmaOp(WgmmaProduct, name="wgmma"):
    """`d = a · b + c`, or `a · b` where `scale_d` is false, by one `wgmma.mma_async`.

    Four warps execute it; it and `d` are in flight until a `tile.wgmma_wait` that covers its group
    returns `d`. `form` is the key in the instruction table, which determines where A is: `a` is
    the fragment of a warpgroup, or a memref in shared memory, like `b`. Operands: a, b, c, scale_d,
    the indices of `a` if it is a memref, those of `b`.

    The last two dimensions of a memref are the rows of A with K along them, or the columns of B
    with K along them; if `imm_trans_a` or `imm_trans_b` is 1, the other way round. An operand that
    is wider continues in the next matrix. The swizzle must be one that a descriptor can express:
    rows of 128 bytes in `"128B"`, of 64 in `"64B"`, of 32 in `"32B"`, of 16 in `"none"`.
    `imm_scale_a` and `imm_scale_b` may be -1.
    """

    assembly_format = (
        "$a (`[` ranked($indices, $a)^ `]`)? `,` $b `[` ranked($indices, $b) `]` `,` $c "
        "`if` $scale_d attr-dict `:` type($a) `,` type($b) `,` type($c) (`->` type($d)^)?"
    )
    inferred_types = {"indices": "index", "scale_d": "i1", "d": "$c"}

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    c: ext.Operand[Any]
    scale_d: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr
    d: ext.Result[Any]


class WgmmaSpOp(WgmmaProduct, name="wgmma_sp"):
    """`tile.wgmma` with a sparse A, by one `wgmma.mma_async.sp`.

    `a` is A as stored, `e` the warpgroup's fragment of the metadata: 4-bit codes. `selector`
    selects the lanes of each four that provide them.
    """

    assembly_format = (
        "$a (`[` ranked($indices, $a)^ `]`)? `,` $b `[` ranked($indices, $b) `]` `,` $c `,` $e "
        "`if` $scale_d attr-dict "
        "`:` type($a) `,` type($b) `,` type($c) `,` type($e) (`->` type($d)^)?"
    )
    inferred_types = {"indices": "index", "scale_d": "i1", "d": "$c"}

    FAMILY = Family.WGMMA_SP
    FIXED = 5

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    c: ext.Operand[Any]
    scale_d: ext.Operand[Any]
    e: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr
    selector: ir.IntegerAttr
    d: ext.Result[Any]

    def check(self) -> None:
        """Verify what a dense product has, and the metadata."""
        super().check()
        form = self.key
        check_warpgroup_operand(form, form.operand("e"), self.operands[4])


def _rank(value: Value) -> int:
    """Of a memref; 0 of what lies in registers."""
    return value.type.rank if isinstance(value.type, ir.MemRefType) else 0


def check_warpgroup_operand(form: Form, operand: Operand, value: Value) -> None:
    """Check that `value` is the fragment of a warpgroup that `form` takes as `operand`.

    Raises:
        TilecError: naming the type that would be legal.
    """
    tile = warpgroup_fragment(value, f"operand {operand.name}")
    name = operand.name
    legal = operand_layout(form, name) if name == "e" else any_fragment_of(form, name)
    element = element_name(operand)
    extents = tuple(legal.out_sizes.values())
    if tile.shape != extents or str(tile.element) != element:
        text = "x".join(map(str, extents))
        raise TilecError(
            f"operand {operand.name} of {form.ptx} is a fragment of tensor<{text}x{element}>, "
            f"not {value.type}"
        )
    if tile.layout != legal:
        raise TilecError(
            f"operand {operand.name} of {form.ptx} has the layout '{legal}', not '{tile.layout}'"
        )


def _check_selectors(form: Form, op: WgmmaProduct) -> None:
    known = {selector.name: selector for selector in form.selectors}
    for name in sorted(_OPTIONAL & set(op.attributes)):
        if name not in known:
            legal = ", ".join(n for n in known if n != "scale_d") or "none"
            raise TilecError(f"{form.ptx} has no {name}; it has {legal}")
    for name, selector in known.items():
        if name != "scale_d":
            value = integer(op, name) if name in op.attributes else _DEFAULTS[name]
            if value not in selector.legal:
                legal = ", ".join(str(n) for n in selector.legal)
                raise TilecError(f"{name} of {form.ptx} is {legal}, not {value}")


class OrderingOp(TileOp):
    """What orders products of a warpgroup, by an instruction without registers of its own."""

    @property
    def mnemonic(self) -> str:
        """The instruction."""
        raise NotImplementedError


class PassingOp(OrderingOp):
    """What gives each fragment of a warpgroup back as it takes it, ordered."""

    SEMANTICS = Semantics(
        scope=Scope.WARPGROUP,
        effects=(Touch(Access.ORDER, Resource.ACCUMULATORS),),
        varies=Variation.AS_OPERANDS,
    )

    def check(self) -> None:
        """Verify that the results are as the operands."""
        given, back = [v.type for v in self.operands], [v.type for v in self.results]
        if given != back:
            raise TilecError(
                f"returns each fragment with its type: {len(given)} of them, not "
                f"({', '.join(map(str, back))})"
            )
        for number, value in enumerate(self.operands):
            warpgroup_fragment(value, f"operand {number}")


class WgmmaFenceOp(PassingOp, name="wgmma_fence"):
    """Order registers before the `tile.wgmma`s that use them (`wgmma.fence`).

    It takes the accumulators, and fragments of A, that other ops have written since the last
    fence, and returns them for the next products. All have one type; fragments of another type need
    their own fence. The first product also needs a fence; consecutive products on one accumulator
    do not need a fence between them.
    """

    assembly_format = "$registers attr-dict (`:` type($registers)^)?"
    inferred_types = {"ordered": "$registers"}

    registers: Sequence[ext.Operand[Any]]
    ordered: Sequence[ext.Result[Any]]

    @property
    def mnemonic(self) -> str:
        """`wgmma.fence`."""
        return "wgmma.fence.sync.aligned"


class WgmmaCommitOp(OrderingOp, name="wgmma_commit"):
    """Close the group of the warpgroup's `tile.wgmma`s so far (`wgmma.commit_group`)."""

    assembly_format = "attr-dict"

    SEMANTICS = Semantics(
        scope=Scope.WARPGROUP, effects=(Touch(Access.WRITE, Resource.ACCUMULATORS),)
    )

    @property
    def mnemonic(self) -> str:
        """`wgmma.commit_group`."""
        return "wgmma.commit_group.sync.aligned"


class WgmmaWaitOp(PassingOp, name="wgmma_wait"):
    """Wait until at most `pending` of the warpgroup's latest groups are in flight.

    It takes accumulators in flight and returns them when they are complete: ops that read an
    accumulator use the result. Accumulators whose groups may remain in flight are not operands. All
    have one type; accumulators of another type need their own wait after it.
    """

    assembly_format = "$pending $accumulators attr-dict (`:` type($accumulators)^)?"
    inferred_types = {"waited": "$accumulators"}

    accumulators: Sequence[ext.Operand[Any]]
    pending: ir.IntegerAttr
    waited: Sequence[ext.Result[Any]]

    @property
    def mnemonic(self) -> str:
        """`wgmma.wait_group`."""
        return "wgmma.wait_group.sync.aligned"

    def check(self) -> None:
        """Verify the count, and that the results are as the operands."""
        pending = integer(self, "pending")
        if pending < 0:
            raise TilecError(f"pending must be 0 or more, not {pending}")
        super().check()


class AccumulatorOp(TileOp, name="accumulator"):
    """A warpgroup's fragment of zeros, the first accumulator of `tile.wgmma`."""

    assembly_format = "attr-dict `:` type($result)"

    SEMANTICS = PURE

    result: ext.Result[Any]

    def check(self) -> None:
        """Verify the type."""
        warpgroup_fragment(self.results[0], "result")


class WarpPartOp(TileOp, name="warp_part"):
    """Each warp's sixteen rows of a warpgroup's fragment, starting at column `column`.

    Registers are renamed, and no data is moved. Row 0 of the result is row 16·w of the source in
    warp w of the warpgroup.
    """

    assembly_format = "$source `column` $column attr-dict `:` type($source) `->` type($result)"

    SEMANTICS = PURE

    source: ext.Operand[Any]
    column: ir.IntegerAttr
    result: ext.Result[Any]

    def check(self) -> None:
        """Verify that the result is such a part."""
        source = warpgroup_fragment(self.operands[0], "source")
        result = fragment_value(self.results[0], "result")
        if len(result.shape) != 2:
            raise TilecError(f"result must have rank 2, not {len(result.shape)}")
        legal = warp_part(source, integer(self, "column"), result.shape[1])
        _check_same(result, source.element, legal)


class JoinWarpsOp(TileOp, name="join_warps"):
    """The fragments of the four warps of a warpgroup as one, the inverse of `tile.warp_part`.

    Registers are renamed, and no data is moved. Use this for A in registers and sparse metadata.
    Several sources, of one type, are concatenated along the columns.
    """

    assembly_format = "$sources attr-dict `:` one-type($sources) `->` type($result)"

    SEMANTICS = PURE

    sources: Sequence[ext.Operand[Any]]
    result: ext.Result[Any]

    def check(self) -> None:
        """Verify that the sources are the parts of the result."""
        result = warpgroup_fragment(self.results[0], "result")
        if not len(self.operands):
            raise TilecError("takes one source or more")
        if any(operand.type != self.operands[0].type for operand in self.operands):
            raise TilecError("sources must be of one type")
        source = fragment_value(self.operands[0], "source")
        columns, rest = divmod(result.shape[1], len(self.operands))
        if rest:
            raise TilecError(
                f"{counted(result.shape[1], 'column')} cannot be made of "
                f"{counted(len(self.operands), 'part')} of equal size"
            )
        _check_same(source, result.element, warp_part(result, 0, columns))


def _check_same(part: TileValue, element: ir.Type, layout: LinearLayout) -> None:
    if part.element != element or part.layout != layout:
        rows, cols = layout.out_sizes.values()
        raise TilecError(
            f"a warp's part is !tile.frag<tensor<{rows}x{cols}x{element}>, "
            f'#tile.layout<"{layout}">>'
        )
