"""`tile-layout --descriptor`: an operand of wgmma in shared memory, and who reads which bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tilec.isa import Form, TilecError
from tilec.isa.lazy import cached_property
from tilec.isa.wording import counted
from tilec.layout import SWIZZLES, LayoutError, Swizzle
from tilec.layout.banks import LINE_BYTES
from tilec.layout.descriptors import DescribedOperand, indices, solve_descriptor
from tilec.layout.drawing import Cell, Grid, picture
from tilec.layout.shared_matrix import SharedMatrix
from tilec.layout.swizzle import CHUNK_BYTES
from tilec.layout.tma_boxes import Boxes, find_boxes

from .layout_terminal import folded
from .layout_text import Table, span

_K_BYTES = 128
"""Of K in a matrix that nobody gave the shape of: four instructions, two where A is sparse."""


@dataclass(frozen=True)
class DescribedView:
    """An operand in shared memory, filled by TMA and read by wgmma.

    Attributes:
        form: the instruction.
        name: `a` or `b`.
        matrix: where its elements lie.
        boxes: the copies that fill it.
        operand: how the instructions are told it.
    """

    form: Form
    name: str
    matrix: SharedMatrix
    boxes: Boxes
    operand: DescribedOperand

    @classmethod
    def of(
        cls,
        form: Form,
        name: str,
        shape: tuple[int, int] | None,
        swizzle: Swizzle | None,
        major: str | None,
    ) -> DescribedView:
        """The view of operand `name`.

        Args:
            form: the form.
            name: `a` or `b`.
            shape: rows and columns of the whole; a line of 128 bytes along K by default.
            swizzle: the largest that fits by default.
            major: `row` or `col`; contiguous along K by default.

        Raises:
            TilecError: if no descriptor tells such an operand, saying why.
        """
        if form.a_kind is None:
            raise TilecError(f"{form.ptx} takes no descriptor; wgmma.mma_async does")
        k = indices(name)[1]
        own = form.operand(name)
        bits = own.type.bits
        extents = {"row": own.rows, "col": own.cols}
        if shape is None:
            extents[k] = max(extents[k], _K_BYTES * 8 // bits)
        else:
            extents = dict(zip(("row", "col"), shape, strict=True))
        contiguous = {None: k, "row": "col", "col": "row"}.get(major)
        if contiguous is None:
            raise TilecError(f"no major '{major}'; legal: row, col")
        matrix = _panels(extents, bits, swizzle, contiguous)
        return cls(form, name, matrix, find_boxes(matrix), solve_descriptor(form, name, matrix))

    @cached_property
    def reads(self) -> list[dict[int, list[tuple[int, int]]]]:
        """For each instruction along K the elements that it finds in each 16-byte chunk.

        Told by the descriptor alone, for all instructions along M or N together.
        """
        own, (along, k) = self.form.operand(self.name), indices(self.name)
        extents = {"row": own.rows, "col": own.cols}
        bits, told = self.matrix.bits, self.operand
        one = told.descriptor.matrix(extents, bits, k, transposed=told.transposed)
        found = []
        for step, at in enumerate(told.steps):
            chunks: dict[int, list[tuple[int, int]]] = {}
            for block, further in enumerate(told.blocks):
                first = {along: block * extents[along], k: step * extents[k]}
                for row in range(extents["row"]):
                    for col in range(extents["col"]):
                        chunk = one.address(at + further, row=row, col=col) // CHUNK_BYTES
                        place = (first["row"] + row, first["col"] + col)
                        chunks.setdefault(chunk, []).append(place)
            found.append(chunks)
        return found

    @property
    def head(self) -> list[str]:
        """What it is, the descriptor, the starts, the copies."""
        told, boxes, matrix = self.operand, self.boxes, self.matrix
        rows, cols = matrix.extents["row"], matrix.extents["col"]
        word = told.descriptor.encode(0)
        copies = ", ".join(f"{c.place[0]},{c.place[1]} at {c.offset}" for c in boxes.copies)
        lines = [
            self.form.mnemonic(),
            f"operand {self.name}: {rows}×{cols} {self.form.operand(self.name).type} in shared "
            f"memory, contiguous along {boxes.indices[0]}, swizzle {matrix.swizzle}, from a "
            f"multiple of {told.alignment} on",
            f"descriptor {word:#018x} + (address >> 4): leading byte offset "
            f"{told.descriptor.leading}, stride byte offset {told.descriptor.stride}",
        ]
        if self.form.operand("a").type.bits == 16:
            lines.append(f"imm_trans_{self.name} = {int(told.transposed)}")
        lines.append(f"instructions along K start at {', '.join(map(str, told.steps))}")
        if len(told.blocks) > 1:
            mn = {"a": "M", "b": "N"}[self.name]
            lines.append(f"and along {mn} {', '.join(map(str, told.blocks))} further")
        lines.append(
            f"TMA: box {boxes.box[0]},{boxes.box[1]} of {counted(boxes.bytes, 'byte')}, swizzle "
            f"{boxes.swizzle}; {boxes.indices[0]},{boxes.indices[1]} {copies}"
        )
        return lines

    def json(self) -> dict[str, Any]:
        """Everything as data; `reads` has the bytes of each instruction along K, as ranges."""
        told, boxes, matrix = self.operand, self.boxes, self.matrix
        return {
            "form": self.form.mnemonic(),
            "operand": self.name,
            "shape": [matrix.extents["row"], matrix.extents["col"]],
            "type": self.form.operand(self.name).type.name,
            "swizzle": str(matrix.swizzle),
            "contiguous": boxes.indices[0],
            "alignment": told.alignment,
            "bytes": matrix.bytes,
            "descriptor": {
                "word": f"{told.descriptor.encode(0):#018x}",
                "leading": told.descriptor.leading,
                "stride": told.descriptor.stride,
            },
            "transposed": told.transposed,
            "steps": list(told.steps),
            "blocks": list(told.blocks),
            "box": {
                "extents": list(boxes.box),
                "indices": list(boxes.indices),
                "bytes": boxes.bytes,
                "copies": [{"place": list(c.place), "offset": c.offset} for c in boxes.copies],
            },
            "reads": [[list(one) for one in _ranges(chunks)] for chunks in self.reads],
        }

    def text(self, width: int | None = None) -> str:
        """The head, then shared memory line by line, folded to `width` if there is one."""
        return "\n\n".join(("\n".join(self.head), *folded(self._memory(), width)))

    def svg(self) -> str:
        """Shared memory line by line, a hue for each instruction along K."""
        memory = self._memory()
        cells = [
            [self._cell(text, line) for text in row]
            for row, line in zip(memory.body, memory.rows, strict=True)
        ]
        head = [*self.head, memory.what]
        return picture(head[0], head, [Grid("", cells, memory.rows, memory.cols)])

    @staticmethod
    def _cell(text: str, line: str) -> Cell:
        if not text:
            return Cell("", "read by none", None)
        step, _, places = text.partition(":")
        about = f"line at {line}: instruction {step} along K reads {places}"
        return Cell(text, about, int(step) % 8 * 4)

    def _memory(self) -> Table:
        per_line = LINE_BYTES // CHUNK_BYTES
        cells = [""] * (-(-self.matrix.bytes // LINE_BYTES) * per_line)
        for step, chunks in enumerate(self.reads):
            for chunk, places in chunks.items():
                cells[chunk] = f"{step}:{span(sorted(places))}"
        body = [cells[at : at + per_line] for at in range(0, len(cells), per_line)]
        names = [f"+{n * CHUNK_BYTES}" for n in range(per_line)]
        labels = [str(n * LINE_BYTES) for n in range(len(body))]
        what = "instruction along K:(row,col) that it reads, by byte (down and across)"
        return Table("", what, body, labels, names)


def _panels(
    extents: dict[str, int], bits: int, swizzle: Swizzle | None, contiguous: str
) -> SharedMatrix:
    """The matrix as TMA fills it, with the widest swizzle that its lines allow if none is given."""
    if swizzle is not None:
        return SharedMatrix.panels(extents, bits, swizzle, contiguous)
    for wide in reversed(list(SWIZZLES.values())):
        try:
            return SharedMatrix.panels(extents, bits, wide, contiguous)
        except LayoutError as error:
            last = error
    raise last


def _ranges(chunks: dict[int, list[tuple[int, int]]]) -> Iterator[tuple[int, int]]:
    """Runs of chunks, as first byte and the one after the last."""
    start = end = -1
    for chunk in sorted(chunks):
        if chunk != end:
            if end >= 0:
                yield start * CHUNK_BYTES, end * CHUNK_BYTES
            start = chunk
        end = chunk + 1
    if end >= 0:
        yield start * CHUNK_BYTES, end * CHUNK_BYTES
