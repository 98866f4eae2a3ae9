"""`tile-layout smem`: a tile in shared memory, its banks, and what an access to it costs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tilec.isa import ElementType, MatrixMemory, TilecError, UnknownNameError, form
from tilec.isa.lazy import cached_property
from tilec.isa.wording import counted
from tilec.layout import (
    NO_SWIZZLE,
    Access,
    LinearLayout,
    Pattern,
    Swizzle,
    find_form,
    find_swizzle,
    fragment_of,
    matrix_access,
    shared_layout,
    vector_access,
)
from tilec.layout.banks import BANK_BYTES, BANKS, LINE_BYTES, ROWS_PER_PHASE, lanes_together
from tilec.layout.drawing import Cell, Grid, picture
from tilec.layout.fragments import warp_tile
from tilec.layout.tiling import row_tile

from .layout_terminal import folded
from .layout_text import Table, span, table
from .smem_picture import Phase, lanes_grid

_CHUNK_BYTES = 16
_MATRIX = re.compile(r"(ldmatrix|stmatrix)\.x([124])(\.trans)?")
_KINDS = ("ldmatrix.x4", "ldmatrix.x4.trans", "stmatrix.x4", "cp.async", "m16n8k16:a")


@dataclass(frozen=True)
class SharedTile:
    """A tile in shared memory and one warp's access to its corner.

    Attributes:
        rows, cols: extents.
        type: element type.
        swizzle: how its plain offsets are swizzled.
        kind: the access: `ldmatrix.xN` or `stmatrix.xN`, either with `.trans`; `cp.async`, 16
            bytes of a row for each lane; `SHAPE:OPERAND`, plain loads of that fragment.
    """

    rows: int
    cols: int
    type: ElementType
    swizzle: Swizzle
    kind: str

    @cached_property
    def layout(self) -> LinearLayout:
        """Offset -> (row, col)."""
        return self._swizzled(self.swizzle)

    def _swizzled(self, swizzle: Swizzle) -> LinearLayout:
        return shared_layout({"row": self.rows, "col": self.cols}, self.type.bits, swizzle)

    @cached_property
    def _form(self) -> MatrixMemory | None:
        match = _MATRIX.fullmatch(self.kind)
        if not match:
            return None
        name, count, trans = match.groups()
        found = form(f"{name}.sync.aligned.m8n8.x{count}{trans or ''}.b16")
        assert isinstance(found, MatrixMemory)
        return found

    @cached_property
    def registers(self) -> LinearLayout:
        """What the access moves: (register, lane) -> (row, col) of the tile.

        Raises:
            TilecError: if there is no such access, or the tile is too small for it.
        """
        bits = self.type.bits
        if self._form:
            # As the fragments lie: matrices down the rows first, then along.
            down = 8 * min(self._form.matrices, 2)
            along = (self._form.matrices * 8 // down) * 128 // bits
            inner, outer = ("row", "col") if self._form.transposed else ("col", "row")
            held = warp_tile(inner, along, outer, down, max(1, 32 // bits))
        elif self.kind == "cp.async":
            held = row_tile(self.rows, self.cols, 128 // bits, 1).restrict(("register", "lane"))
        elif ":" in self.kind:
            shape, _, operand = self.kind.partition(":")
            held = fragment_of(find_form(shape, operand, self.type.name), operand)
        else:
            raise UnknownNameError("access", self.kind, _KINDS)
        held = held.reorder(("register", "lane"), ("row", "col"))
        sizes = held.out_sizes
        if sizes["row"] > self.rows or sizes["col"] > self.cols:
            raise TilecError(
                f"{self.kind} moves {sizes['row']}×{sizes['col']} elements of "
                f"{self.type}; "
                f"the tile has {self.rows}×{self.cols}"
            )
        return held

    @property
    def _store(self) -> bool:
        return self.kind.startswith(("stmatrix", "cp.async"))

    @cached_property
    def access(self) -> Access:
        """The instructions.

        Raises:
            TilecError: if the tile, as swizzled, does not keep together what they need.
        """
        offsets = self.registers.then(self.layout.inverse())
        bits = self.type.bits
        found = (
            matrix_access(self._form, offsets, bits)
            if self._form
            else vector_access(offsets, bits, store=self._store)
        )
        if found is None:
            raise TilecError(
                f"{self.kind} needs rows of 16 contiguous bytes, which there are not in a tile of "
                f"{self.type} with swizzle {self.swizzle}"
            )
        return found

    @property
    def instruction(self) -> str:
        """The instruction as PTX names it."""
        if self.kind == "cp.async":
            return f"cp.async.ca.shared.global {self.access.width} bytes"
        return self.access.name

    def phases(self) -> Iterator[Phase]:
        """What is served together, instruction by instruction."""
        access = self.access
        columns = [c * access.bits // 8 for c in access.offsets.columns_of("lane")]
        supplying, together = 32, ROWS_PER_PHASE
        if access.form:
            supplying = access.form.rows * access.form.matrices
        else:
            together = lanes_together(columns, access.width, store=access.store)
        for number in range(access.instructions):
            for start in range(0, supplying, together):
                lanes = range(start, start + together)
                offsets = [access.offsets(instruction=number, lane=n)[0] for n in lanes]
                addresses = [offset * access.bits // 8 for offset in offsets]
                words: list[set[int]] = [set() for _ in range(BANKS)]
                for address in addresses:
                    for word in range(
                        address // BANK_BYTES, -(-(address + access.width) // BANK_BYTES)
                    ):
                        words[word % BANKS].add(word)
                yield Phase(number, lanes, addresses, max(map(len, words)))

    def suggestion(self) -> Swizzle | None:
        """CuTe's swizzle without conflicts, where this tile has some and there is one."""
        if not self.access.count().conflicts:
            return None
        offsets = self.registers.then(self._swizzled(NO_SWIZZLE).inverse())
        bits = self.type.bits
        run = [1 << i for i in range((self.access.width * 8 // bits).bit_length() - 1)]
        pattern = (
            Pattern.matrix(self._form, offsets, bits)
            if self._form
            else Pattern.vector(offsets, bits, run, store=self._store)
        )
        if pattern is None:
            return None
        found = find_swizzle(self.rows * self.cols, bits, [pattern])
        return None if found.conflicts else found.swizzle

    def json(self) -> dict[str, Any]:
        """Everything as data."""
        count = self.access.count()
        suggestion = self.suggestion()
        return {
            "shape": [self.rows, self.cols],
            "type": self.type.name,
            "swizzle": str(self.swizzle),
            "access": self.kind,
            "instruction": self.instruction,
            "instructions": self.access.instructions,
            "wavefronts": count.wavefronts,
            "conflicts": count.conflicts,
            "phases": [
                {
                    "instruction": phase.instruction,
                    "lanes": list(phase.lanes),
                    "addresses": phase.addresses,
                    "banks": [a // BANK_BYTES % BANKS for a in phase.addresses],
                    "wavefronts": phase.wavefronts,
                }
                for phase in self.phases()
            ],
            "suggested": suggestion and str(suggestion),
        }

    def text(self, width: int | None = None) -> str:
        """The lines of shared memory, folded to `width` if there is one, the access, its cost."""
        count = self.access.count()
        lines = [
            f"{self.rows}×{self.cols} {self.type}, swizzle {self.swizzle}",
            f"{self.kind}: {self.access.instructions} × {self.instruction}, "
            f"{counted(count.wavefronts, 'wavefront')}, {count.conflicts} of them conflicts",
        ]
        suggestion = self.suggestion()
        if suggestion:
            lines.append(f"without conflicts: --swizzle {suggestion}")
        return "\n\n".join(("\n".join(lines), *folded(self._memory(), width), self._phases()))

    def svg(self) -> str:
        """The lines of shared memory, a hue for each 16 bytes of a row, and who accesses them."""
        memory = self._memory()
        cells = [
            [self._cell(cell, address, banks) for cell, banks in zip(row, memory.cols, strict=True)]
            for row, address in zip(memory.body, memory.rows, strict=True)
        ]
        count = self.access.count()
        head = [
            f"{self.rows}×{self.cols} {self.type}, swizzle {self.swizzle}",
            f"{self.kind}: {counted(count.wavefronts, 'wavefront')}, {count.conflicts} of them "
            f"conflicts",
            memory.what,
            "phase:lanes that access 16 bytes; red: in that phase a bank serves several words",
        ]
        held = Grid("elements", cells, memory.rows, memory.cols)
        return picture(head[0], head, [held, *self._accesses(memory.rows)])

    def _accesses(self, lines: list[str]) -> Iterator[Grid]:
        """Who accesses which bytes, without a swizzle first, where that differs."""
        plain = replace(self, swizzle=NO_SWIZZLE)
        for one in (self,) if self.swizzle == NO_SWIZZLE else (plain, self):
            try:
                access = one.access
            except TilecError:  # without a swizzle it may not find its rows
                continue
            title = f"lanes, swizzle {one.swizzle}: {counted(access.count().conflicts, 'conflict')}"
            yield lanes_grid(title, list(one.phases()), access.width, lines)

    def _cell(self, text: str, address: str, banks: str) -> Cell:
        if not text:
            return Cell("", "beyond the tile", None)
        column = int(re.split("[,-]", text.partition(",")[2], maxsplit=1)[0])
        chunk = column * self.type.bits // (8 * _CHUNK_BYTES)
        return Cell(text, f"line at {address}, {banks}: {text}", chunk % 8 * 4)

    def _memory(self) -> Table:
        chunk = _CHUNK_BYTES * 8 // self.type.bits
        size = self.rows * self.cols
        per_line = LINE_BYTES // _CHUNK_BYTES
        cells = [
            span([self.layout(offset=at + i) for i in range(min(chunk, size))])
            for at in range(0, size, chunk)
        ]
        body = [cells[at : at + per_line] for at in range(0, len(cells), per_line)]
        body[-1] += [""] * (per_line - len(body[-1]))
        banks = _CHUNK_BYTES // BANK_BYTES
        names = [f"banks {n * banks}-{n * banks + banks - 1}" for n in range(per_line)]
        labels = [str(n * LINE_BYTES) for n in range(len(body))]
        return Table("", "(row,col) by byte address (down) and bank (across)", body, labels, names)

    def _phases(self) -> str:
        body, labels = [], []
        for phase in self.phases():
            banks = [a // BANK_BYTES % BANKS for a in phase.addresses]
            lanes = f"{phase.lanes[0]}-{phase.lanes[-1]}"
            body.append([lanes, " ".join(map(str, banks)), str(phase.wavefronts)])
            labels.append(str(phase.instruction))
        title = "banks that each lane's address begins in, by instruction (down)"
        return title + "\n" + table(body, labels, ["lanes", "banks", "wavefronts"])
