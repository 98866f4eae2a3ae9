"""`tile.tcgen05_ld` and its kin: what moves tensor memory, and what orders it.

PTX ISA 9.7.16.8, 9.7.16.11, 9.7.16.12.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tilec.dialects.semantics import Access, Resource, Scope, Semantics, Touch, Variation
from tilec.dialects.semantics.effects import MEETS
from tilec.dialects.semantics.upstream import constant_of
from tilec.ir.aliases import Value
from tilec.ir.mlir import ext, ir
from tilec.isa import Family, TilecError
from tilec.layout import LinearLayout

from ..tensor import TensorBuffer, check_matrix, tensor_buffer
from .barrier import check_barrier
from .base import TileOp, check_indices, form_of, fragment_value
from .tensor_memory import GroupedOp

if TYPE_CHECKING:
    from tilec.isa.tensor_moves import TensorMove

_ORDERS = Touch(Access.ORDER, Resource.TENSOR)


class TensorMoveOp(TileOp):
    """What a load and a store have in common."""

    FAMILY = Family.TCGEN05_LD
    MEMORY = 0
    FIXED = 1

    @property
    def key(self) -> "TensorMove":
        """The instruction.

        Raises:
            TilecError: if `form` names none of the op's family.
        """
        from tilec.isa.tensor_moves import TensorMove  # noqa: PLC0415 (for Blackwell only)

        found = form_of(ir.StringAttr(self.attributes["form"]).value, self.FAMILY)
        assert isinstance(found, TensorMove)
        return found

    @property
    def place(self) -> list[Value]:
        """Where the fragment begins in the memref."""
        return list(self.operands)[self.FIXED :]

    @property
    def held(self) -> Value:
        """The fragment."""
        raise NotImplementedError

    def check(self) -> None:
        """Verify the form, the place, and the fragment."""
        form = self.key
        value = self.operands[self.MEMORY]
        buffer = tensor_buffer(value, "buffer")
        check_indices(self.place, ir.MemRefType(value.type).rank, "the move")
        legal = moved_layout(form, buffer)
        tile = fragment_value(self.held, "what is moved")
        element = ir.MemRefType(value.type).element_type
        rows, cols = legal.out_sizes.values()
        if tile.shape != (rows, cols) or tile.element != element or tile.layout != legal:
            raise TilecError(
                f"what {form.ptx} moves of {value.type} is !tile.frag<tensor<{rows}x{cols}x"
                f'{element}>, #tile.layout<"{legal}">>, not {self.held.type}'
                f"{_instead(form, buffer, tile.layout)}"
            )
        check_matrix(value, self.place)
        self._check_place(buffer, rows, cols)

    def _check_place(self, buffer: TensorBuffer, rows: int, cols: int) -> None:
        *_, row, col = (constant_of(index) for index in self.place)
        for what, first, taken, there, step in (
            ("row", row, rows, buffer.rows, rows),
            ("column", col, cols, buffer.cols, buffer.packed),
        ):
            if first is None:
                continue
            if first % step:
                raise TilecError(f"{what}s start at multiples of {step}, not at {first}")
            if not 0 <= first <= there - taken:
                raise TilecError(
                    f"takes {what}s {first} to {first + taken - 1} of a matrix of {there}"
                )
        if col is not None and col % buffer.bank + cols > buffer.bank:
            raise TilecError(
                f"takes columns {col} to {col + cols - 1}, of which {buffer.bank} are in "
                "separate lanes; legal: columns in the same lanes"
            )


def _instead(form: "TensorMove", buffer: TensorBuffer, wanted: LinearLayout) -> str:
    """What moves a fragment that a load or store does not; nothing of those that reduce."""
    from tilec.layout.tensor_reads import moves_for  # noqa: PLC0415 (for Blackwell only)

    if form.reduction or {*wanted.out_sizes} != {"row", "col"}:
        return ""
    given = {"store": form.is_store, "halves": form.packed}
    found = moves_for(buffer.layout, buffer.packed, wanted, **given)
    if not found:
        return ""
    best = found[0]
    many = f"{best.count} of {best.move.ptx} move" if best.count > 1 else f"{best.move.ptx} moves"
    return f"; {many} that"


def moved_layout(form: "TensorMove", buffer: TensorBuffer) -> LinearLayout:
    """The layout of the fragment that a load or store moves.

    Raises:
        TilecError: if it moves none of such a buffer.
    """
    from tilec.layout.tensor_moves import moved_into  # noqa: PLC0415 (for Blackwell only)

    if buffer.held == "scale":
        raise TilecError("scale factors are copied by tile.tcgen05_cp, not loaded as fragments")
    halves = buffer.held == "d" and buffer.element_bits == 16
    if form.packed != halves:
        word = ".unpack::16b" if form.is_store else ".pack::16b"
        raise TilecError(
            f"{form.ptx} moves {'two columns' if form.packed else 'one column'} in a "
            f"register; 16-bit elements with one column each need {word}, others do not"
        )
    return moved_into(form, buffer.layout, buffer.packed)


class Tcgen05LdOp(TensorMoveOp, name="tcgen05_ld"):
    """Load a fragment of a warp from tensor memory (`tcgen05.ld`).

    All lanes of a warp execute it; the warp reaches rows in its quarter of the lanes alone: those
    of warp number mod 4. The fragment may be used behind a `tile.tcgen05_wait_ld` of it, which also
    is what lets others write there.
    """

    assembly_format = (
        "$source `[` ranked($indices, $source) `]` attr-dict `:` type($source) `->` type($fragment)"
    )
    inferred_types = {"indices": "index"}

    SEMANTICS = Semantics(
        scope=Scope.WARP,
        effects=(Touch(Access.READ, None, 0, asynchronous=True), _ORDERS),
        varies=Variation.AS_OPERANDS,
    )

    source: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr
    fragment: ext.Result[Any]

    @property
    def held(self) -> Value:
        """The result."""
        return self.results[0]


class Tcgen05StOp(TensorMoveOp, name="tcgen05_st"):
    """Store a fragment of a warp to tensor memory (`tcgen05.st`); as `tile.tcgen05_ld`.

    Done behind a `tile.tcgen05_wait_st` of the warp.
    """

    assembly_format = (
        "$fragment `,` $target `[` ranked($indices, $target) `]` attr-dict "
        "`:` type($fragment) `,` type($target)"
    )
    inferred_types = {"indices": "index"}

    FAMILY = Family.TCGEN05_ST
    MEMORY = 1
    FIXED = 2
    SEMANTICS = Semantics(
        scope=Scope.WARP, effects=(Touch(Access.WRITE, None, 1, asynchronous=True),)
    )

    fragment: ext.Operand[Any]
    target: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr

    @property
    def held(self) -> Value:
        """Operand 0."""
        return self.operands[0]


class Tcgen05WaitLdOp(TileOp, name="tcgen05_wait_ld"):
    """Wait for the warp's loads from tensor memory (`tcgen05.wait::ld`).

    It takes fragments that were loaded and returns them: whatever uses a result uses what has come.
    All have one type.
    """

    assembly_format = "$fragments attr-dict (`:` type($fragments)^)?"
    inferred_types = {"waited": "$fragments"}

    SEMANTICS = Semantics(scope=Scope.WARP, effects=(_ORDERS,), varies=Variation.AS_OPERANDS)

    fragments: Sequence[ext.Operand[Any]]
    waited: Sequence[ext.Result[Any]]

    @property
    def mnemonic(self) -> str:
        """`tcgen05.wait::ld`."""
        return "tcgen05.wait::ld.sync.aligned"

    def check(self) -> None:
        """Verify that the results are as the operands."""
        given, back = [v.type for v in self.operands], [v.type for v in self.results]
        if given != back:
            raise TilecError(
                f"returns each fragment with its type: {len(given)} of them, not "
                f"({', '.join(map(str, back))})"
            )
        for number, value in enumerate(self.operands):
            fragment_value(value, f"operand {number}")


class Tcgen05WaitStOp(TileOp, name="tcgen05_wait_st"):
    """Wait for the warp's stores to tensor memory (`tcgen05.wait::st`)."""

    assembly_format = "attr-dict"

    SEMANTICS = Semantics(scope=Scope.WARP, effects=(_ORDERS,))

    @property
    def mnemonic(self) -> str:
        """`tcgen05.wait::st`."""
        return "tcgen05.wait::st.sync.aligned"


class Tcgen05CommitOp(GroupedOp, name="tcgen05_commit"):
    """Arrive at an mbarrier when the products and copies that the thread has issued are done.

    One of the arrivals that its phase counts (`tcgen05.commit`), by the thread that issued them.
    With `multicast`, at the same place in each CTA of the cluster whose rank is a bit of the mask.
    """

    assembly_format = "$barriers `[` $index `]` (`multicast` $mask^)? attr-dict `:` type($barriers)"
    inferred_types = {"index": "index", "mask": "index"}

    SEMANTICS = Semantics(
        scope=Scope.ONE_THREAD,
        effects=(*MEETS, _ORDERS, Touch(Access.WRITE, Resource.BARRIERS, asynchronous=True)),
    )

    barriers: ext.Operand[Any]
    index: ext.Operand[Any]
    mask: Sequence[ext.Operand[Any]]

    @property
    def mnemonic(self) -> str:
        """`tcgen05.commit`."""
        cast = ".multicast::cluster" if self.mask else ""
        words = "mbarrier::arrive::one.shared::cluster"
        return f"tcgen05.commit.cta_group::{self.group}.{words}{cast}.b64"

    def check(self) -> None:
        """Verify the mbarrier, the group and the mask."""
        super().check()
        check_barrier(self.operands[0], [self.operands[1]])
        if len(self.mask) > 1:
            raise TilecError(f"takes one mask, not {len(self.mask)}")
        check_indices(self.mask, len(self.mask), "the mask")


class Tcgen05FenceOp(TileOp, name="tcgen05_fence"):
    """Order tensor memory `before` or `after` what synchronises threads (`tcgen05.fence`).

    `after` follows a barrier or a wait for a commit, in front of loads, stores and products that
    must come behind it; `before` stands in front of the barrier, behind such.
    """

    assembly_format = "keyword($side) attr-dict"

    SEMANTICS = Semantics(scope=Scope.LANE, effects=(_ORDERS,))

    side: ir.StringAttr

    @property
    def mnemonic(self) -> str:
        """`tcgen05.fence`."""
        return f"tcgen05.fence::{self._side}_thread_sync"

    @property
    def _side(self) -> str:
        return ir.StringAttr(self.attributes["side"]).value

    def check(self) -> None:
        """Verify the side."""
        if self._side not in ("before", "after"):
            raise TilecError(f"orders before or after, not {self._side}")
