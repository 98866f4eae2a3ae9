"""`tile.ldmatrix` and `tile.stmatrix`."""

from collections.abc import Sequence
from typing import Any

from tilec.dialects.semantics.declaration import OF_A_WARP
from tilec.dialects.semantics.effects import reads, writes_to
from tilec.ir.aliases import Value
from tilec.ir.mlir import ext, ir
from tilec.isa import Family, MatrixMemory, TilecError
from tilec.isa.wording import counted

from ..dialect import SharedAttr
from ..matrices import matrix_origins
from ..shared import shared_buffer
from ..tiles import TileValue
from .base import Region, TileOp, form_of, fragment_value, memory
from .memory import check_access, stored_shape

_UNPACKED = {"b4x16_p64": ("f4E2M1FN",), "b6x16_p32": ("f6E3M2FN", "f6E2M3FN"), "s4": ()}
"""By the packed source's format, the floats that come out in bytes; integers come as i8."""


def matrix_form(name: str, family: Family) -> MatrixMemory:
    """The form of `family` called `name`; raises TilecError if there is none."""
    found = form_of(name, family)
    assert isinstance(found, MatrixMemory)
    return found


def _check(
    op: TileOp, found: MatrixMemory, value: Value, mem: Value, indices: Sequence[Value]
) -> None:
    tile = fragment_value(value, "the fragment")
    type_ = memory(mem)
    transposed = "transposed" in op.attributes
    if not isinstance(type_.memory_space, SharedAttr):
        raise TilecError(f'memory must be in the space #tile.shared<"…">, not {type_}')
    check_access(tile, type_, indices, transposed=transposed)
    buffer = shared_buffer(type_)
    if not buffer.together(found.row_bytes // buffer.element_bytes):
        raise TilecError(
            f"{found.ptx} takes rows of {counted(found.row_bytes, 'byte')} whole, unlike {type_}"
        )
    _check_unpacked(found, tile)
    matrix_origins(found, tile, transposed=transposed)


def _check_unpacked(form: MatrixMemory, tile: TileValue) -> None:
    """Check that a form that unpacks elements gives those of the tile.

    Raises:
        TilecError: naming the element types that it gives.
    """
    if form.source is None:
        return
    legal = ("i8", *(f"!tile.byte<{name}>" for name in _UNPACKED[form.source]))
    if str(tile.element) not in legal:
        raise TilecError(f"{form.ptx} gives {' or '.join(legal)}, not {tile.element}")


class LdmatrixOp(TileOp, name="ldmatrix"):
    """A fragment from shared memory by one `ldmatrix`.

    Element (r, c) is `memory[…, i + r, j + c]`, or `memory[…, i + c, j + r]` with the unit
    attribute `transposed`. The fragment's layout must be the instruction's.

    A form that unpacks reads 16 packed elements from the start of each 16 bytes (8 for the `s4`
    form), one for each byte in the fragment. 4-bit floats in `!tile.byte` are then moved to the
    bits that this type requires, two bits above those of `ldmatrix`.
    """

    assembly_format = (
        "$source `[` $indices `]` (`transposed` $transposed^)? attr-dict "
        "`:` type($source) `->` type($tile)"
    )
    inferred_types = {"indices": "index"}

    UNITS = frozenset({"transposed"})
    SEMANTICS = OF_A_WARP.but(effects=(reads(0),))

    source: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr
    tile: ext.Result[Any]

    def check(self) -> None:
        """Verify form, types and that the layout is the instruction's."""
        source, *indices = self.operands
        form = matrix_form(self.form.value, Family.LDMATRIX)
        _check(self, form, self.results[0], source, indices)


class StmatrixOp(TileOp, name="stmatrix"):
    """A fragment to shared memory by one `stmatrix`; the reverse of `tile.ldmatrix`."""

    assembly_format = (
        "$tile `,` $target `[` $indices `]` (`transposed` $transposed^)? attr-dict "
        "`:` type($tile) `,` type($target)"
    )
    inferred_types = {"indices": "index"}

    UNITS = frozenset({"transposed"})
    SEMANTICS = OF_A_WARP.but(effects=(writes_to(1),))

    tile: ext.Operand[Any]
    target: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr

    def check(self) -> None:
        """Verify form, types and that the layout is the instruction's."""
        tile, target, *indices = self.operands
        _check(self, matrix_form(self.form.value, Family.STMATRIX), tile, target, indices)

    def reached(self) -> Region:
        """The whole fragment."""
        transposed = "transposed" in self.attributes
        return Region(self.indices, stored_shape(self.tile, transposed=transposed))
