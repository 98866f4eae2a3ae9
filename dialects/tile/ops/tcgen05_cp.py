"""`tile.tcgen05_cp`: rows of bytes from shared to tensor memory. PTX ISA 9.7.16.9.2."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tilec.dialects.semantics import Access, Scope, Semantics, Touch
from tilec.dialects.semantics.upstream import constant_of
from tilec.ir.aliases import Value
from tilec.ir.mlir import ext, ir
from tilec.isa import TilecError, UnknownNameError

from ..scale_images import image_of, image_rows
from ..tensor import SCALES, TensorBuffer, check_matrix, tensor_buffer
from .base import check_indices, memory
from .tensor_memory import GroupedOp

if TYPE_CHECKING:
    from tilec.isa.tensor_memory import Copy, CopyShape

    from ..matrix_operands import MatrixOperand

_LANES, _QUARTER, _BYTE = 128, 32, 8
WARPX4, _HALVES = "warpx4", "warpx2::01_23"
_SPLIT = 256
"""Rows of scale factors in halves that a copy fills."""
_REPEATED = {64: "warpx2::02_13", 32: WARPX4}
"""By the rows of A that several banks of lanes have, how a copy fills them all."""


class Tcgen05CpOp(GroupedOp, name="tcgen05_cp"):
    """Copy rows of bytes from shared to tensor memory, by one thread (`tcgen05.cp`).

    It is asynchronous as a product is, and in order before the products that the thread issues
    after it. `32x128b.warpx4` goes to `#tile.tensor<"scale">`: 32 rows of 16 bytes are the scale
    factors of 128 rows, those of row r in row r mod 32, from byte 4·(r / 32) on; the source may
    also be a buffer of that layout with a row for each, of which a constant 128 are copied.
    `64x128b.warpx2::01_23` goes to `#tile.tensor<"scale halves">` of 256 rows: its 64 rows of 16
    bytes are the factors of one half after the other.

    All others go to a buffer of 128 rows of a CTA. `128x256b` and `128x128b` go to 8 and 4 of its
    columns, row by row; rows of `64x128b` and of `32x128b.warpx4` go to 2 and 4 rows each, as the
    instruction says; those of `4x256b` to the row that is its index, below 32, and to each 32nd
    after it. A of 64 or 32 rows that stands in several banks of lanes is filled by
    `64x128b.warpx2::02_13` or `32x128b.warpx4`. With `.b8x16` elements of 6 or 4 bits, which stand
    packed at the beginning of every 16 bytes, become bytes.
    """

    assembly_format = (
        "$source `[` ranked($indices, $source) `]` `to` $target `[` ranked($indices, $target) `]` "
        "attr-dict `:` type($source) `to` type($target)"
    )
    inferred_types = {"indices": "index"}

    OPTIONAL = frozenset[str]()
    SEMANTICS = Semantics(
        scope=Scope.ONE_THREAD,
        effects=(
            Touch(Access.READ, None, 0, asynchronous=True),
            Touch(Access.WRITE, None, 1, asynchronous=True),
        ),
    )

    source: ext.Operand[Any]
    target: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr

    @property
    def mnemonic(self) -> str:
        """The instruction."""
        return ir.StringAttr(self.attributes["form"]).value

    @property
    def group(self) -> int:
        """How many CTAs take part, as the instruction says.

        Raises:
            TilecError: as `copied`.
        """
        return self._copy.group

    @property
    def copied(self) -> "CopyShape":
        """What it copies.

        Raises:
            TilecError: if `form` names none.
        """
        return self._copy.shape

    @property
    def element_bits(self) -> int:
        """Bits of the elements that it makes bytes of; 0 if it copies bytes as they are."""
        return self._copy.element_bits

    @property
    def _copy(self) -> "Copy":
        from tilec.isa.tensor_memory import copies  # noqa: PLC0415 (for Blackwell only)

        legal = {one.name: one for one in copies()}
        if self.mnemonic not in legal:
            raise UnknownNameError("tcgen05.cp", self.mnemonic, legal)
        return legal[self.mnemonic]

    @property
    def source_indices(self) -> list[Value]:
        """Where the rows begin in shared memory."""
        return list(self.operands)[2 : 2 + ir.MemRefType(self.operands[0].type).rank]

    @property
    def target_indices(self) -> list[Value]:
        """Where they go."""
        return list(self.operands)[2 + ir.MemRefType(self.operands[0].type).rank :]

    def shared_operand(self) -> "MatrixOperand":
        """The source.

        Raises:
            TilecError: if no descriptor tells it.
        """
        from ..matrix_operands import copied_image, copied_operand  # noqa: PLC0415

        if self.is_image:
            return copied_image(self.mnemonic, self.operands[0])

        shape = self.copied
        return copied_operand(self.mnemonic, shape.rows, shape.bits // 8, self.operands[0])

    def check(self) -> None:
        """Verify form, source and target."""
        shape = self.copied
        source, target = list(self.operands)[:2]
        rank = memory(source, "source").rank + memory(target, "target").rank
        check_indices(list(self.operands)[2:], rank, "the copy")
        buffer = tensor_buffer(target, "target")
        if self.is_image and buffer.held != "scale":
            raise TilecError(f'scale factors go to #tile.tensor<"scale">, not {target.type}')
        self._check_held(buffer, shape)
        if self.is_image:
            self._check_piece()
        else:
            self.shared_operand().check(self.source_indices)
        check_matrix(target, self.target_indices)
        self._check_target(buffer, shape)

    def _check_held(self, buffer: TensorBuffer, shape: "CopyShape") -> None:
        """Verify that the target is a buffer for such rows."""
        target, rows = self.operands[1], buffer.rows // buffer.group
        if buffer.held == "scale":
            fits = shape.cast == WARPX4
            if buffer.halves:
                fits = shape.cast == _HALVES and buffer.rows == _SPLIT and not self.is_image
            if not fits or self.element_bits:
                raise TilecError(f"{self.mnemonic} does not copy scale factors: {target.type}")
            return
        repeated = buffer.held == "a" and (buffer.group > 1 or buffer.stationary)
        if rows != _LANES and not (repeated and _REPEATED.get(rows) == shape.cast):
            raise TilecError(
                f"{self.mnemonic} goes to a buffer of 128 rows of a CTA, not {target.type}"
            )
        if self.element_bits and buffer.element_bits != _BYTE:
            raise TilecError(f"{self.mnemonic} makes bytes, not elements of {target.type}")

    @property
    def is_image(self) -> bool:
        """Whether the source has a row for each row of scale factors, in the order of the copy."""
        return image_of(ir.MemRefType(self.operands[0].type)) > 0

    @property
    def piece(self) -> int:
        """Of scale factors in that order the number of the 128 rows in a matrix."""
        row = constant_of(self.source_indices[-2])
        assert row is not None
        return row // image_rows(1)

    def _check_piece(self) -> None:
        """Verify which scale factors are copied."""
        rows = ir.MemRefType(self.operands[0].type).shape[-2]
        row, col = (constant_of(index) for index in self.source_indices[-2:])
        if row is None or row % image_rows(1) or not 0 <= row < rows or col != 0:
            raise TilecError(
                f"copies the factors of {image_rows(1)} rows, from a constant multiple of that "
                f"below {rows} on, and from column 0"
            )

    def _check_target(self, buffer: TensorBuffer, shape: "CopyShape") -> None:
        """Verify where it goes: constants, in whole copies."""
        *_, row, col = (constant_of(index) for index in self.target_indices)
        rows, cols = buffer.rows, shape.bits // 32 * buffer.packed
        if buffer.held == "scale":  # each of its columns has the factors of so many rows
            rows, cols = shape.rows * shape.bits // 32, SCALES
        elif shape.rows < _QUARTER:
            if row is None or not 0 <= row < _QUARTER:
                raise TilecError(f"goes to a constant row below {_QUARTER}, and each 32nd after it")
            row = 0
        for what, first, step, there in (
            ("row", row, rows, buffer.rows),
            ("column", col, cols, buffer.cols),
        ):
            if first is None or first % step or not 0 <= first <= there - step:
                raise TilecError(
                    f"goes to a {what} that is a constant multiple of {step}, below {there}"
                )
