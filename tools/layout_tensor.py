"""`tile-layout tcgen05.mma…`: what of an operand stands where in tensor memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from tilec.isa import TilecError
from tilec.isa.instruction_descriptor import InstructionDescriptor
from tilec.isa.lazy import cached_property
from tilec.isa.tensor_memory import LANES
from tilec.isa.tensor_products import TensorProduct
from tilec.isa.tensor_shapes import banks, product_kind
from tilec.isa.wording import counted
from tilec.layout import LinearLayout
from tilec.layout.drawing import Cell, Grid, picture
from tilec.layout.tensor_memory import (
    accumulator,
    layout_name,
    left_operand,
    metadata,
    scale_factors,
    scale_rows,
)
from tilec.layout.tensor_reads import Moves, moves_for

_BLOCK = (16, 8)
"""Lanes and columns of a cell of a picture."""
OPERANDS = ("d", "a", "e", "sfa", "sfb")


class Held(NamedTuple):
    """An element in tensor memory.

    Attributes:
        cta: of the pair.
        lane, column: where.
        low: first of its bits in the column.
        row, col: which element; of scale factors and metadata, `col` counts along K.
    """

    cta: int
    lane: int
    column: int
    low: int
    row: int
    col: int


@dataclass(frozen=True)
class TensorView:
    """An operand of a product in tensor memory.

    Attributes:
        one: the instruction.
        descriptor: its types and shape.
        name: the operand, one of `OPERANDS`.
    """

    one: TensorProduct
    descriptor: InstructionDescriptor
    name: str

    @classmethod
    def of(
        cls, one: TensorProduct, name: str, shape: tuple[int, int] | None, types: str
    ) -> TensorView:
        """The view of operand `name`.

        Args:
            one: the instruction.
            name: the operand.
            shape: M and N; the largest by default.
            types: those of D, A and B, with dots between; the first legal ones by default.

        Raises:
            TilecError: if there is no such operand there, or no such product.
        """
        fields = {} if shape is None else {"m": shape[0], "n": shape[1]}
        descriptor = one.describe(tuple(types.split(".")) if types else (), **fields)
        has = {"d": True, "a": one.a == "tensor", "e": one.sparse}
        has |= dict.fromkeys(("sfa", "sfb"), one.scaled)
        if not has.get(name, False):
            legal = ", ".join(word for word in OPERANDS if has[word])
            raise TilecError(f"{one.ptx} has no operand '{name}' in tensor memory; it has {legal}")
        if name == "e" and descriptor.m // one.group != LANES and not one.stationary:
            raise TilecError(
                "the metadata of 64 rows of a CTA is published only as a picture; legal: M = "
                f"{LANES * one.group}"
            )
        return cls(one, descriptor, name)

    @cached_property
    def held(self) -> list[Held]:
        """Every element, as often as it stands there."""
        made = {"d": self._accumulator, "a": self._left, "e": self._metadata}
        return sorted(made.get(self.name, self._scales)())

    def _accumulator(self) -> Iterator[Held]:
        m, n, _ = self.descriptor.shape
        layout = accumulator(
            m, n, self.one.group, stationary=self.one.stationary, sparse=self.one.sparse
        )
        for (row, col), place in _each(layout.places()):
            yield Held(*place, 0, row, col)

    def _left(self) -> Iterator[Held]:
        m, _, k = self.descriptor.shape
        container = product_kind(self.descriptor.kind).container
        layout, packed = left_operand(
            m, k // 2 if self.one.sparse else k, container, self.one.group,
            stationary=self.one.stationary, sparse=self.one.sparse,
        )  # fmt: skip
        for (row, col), (cta, lane, column) in _each(layout.places()):
            for bank in range(self._banks):
                for part in range(packed):
                    yield Held(
                        cta, lane + LANES // self._banks * bank, column, part * container,
                        row, col * packed + part,
                    )  # fmt: skip

    @property
    def _banks(self) -> int:
        """How often A stands there: in each bank of lanes that D has."""
        given = {"stationary": self.one.stationary, "sparse": self.one.sparse}
        return banks(self.descriptor.m, self.one.group, **given)

    def _metadata(self) -> Iterator[Held]:
        layout = metadata(product_kind(self.descriptor.kind).container)
        for row in range(self.descriptor.m):
            for col in range(layout.in_sizes["col"]):
                lane, column, nibble = layout(row=row % LANES, col=col)
                for copy in range(0, LANES, LANES // self._banks):
                    yield Held(row // LANES, lane + copy, column, 4 * nibble, row, col)

    def _scales(self) -> Iterator[Held]:
        m, n, _ = self.descriptor.shape
        pair = self.one.group == 2
        rows = m if self.name == "sfa" else n
        per, halves = scale_rows(self.name, m, n, self.one.group)
        layout = scale_factors(per)
        for row in range(rows):
            for col in range(self.one.chunks):
                lane, column, byte = layout(row=row % per, scale=col)
                ctas = (row // per,) if pair and self.name == "sfa" else range(self.one.group)
                first = row // per * 64 if halves == 2 else 0
                for cta in ctas:
                    for copy in range(0, LANES // halves, 32):
                        yield Held(cta, first + lane + copy, column, 8 * byte, row, col)

    @property
    def columns(self) -> int:
        """Columns of tensor memory that it takes."""
        return 1 + max(one.column for one in self.held)

    @property
    def head(self) -> list[str]:
        """What it is."""
        one, given = self.one, self.descriptor
        letter = layout_name(given.m, one.group, stationary=one.stationary, sparse=one.sparse)
        bits = {"d": 32, "a": product_kind(given.kind).container, "e": 4}.get(self.name, 8)
        where = (
            f"{counted(self.columns, 'column')} of {'both CTAs' if one.group == 2 else 'its CTA'}"
        )
        return [
            one.ptx,
            f"operand {self.name} of {given.shape} {given.d} {given.a} {given.b}, layout {letter}",
            f"{bits} bits an element, in {where}",
        ]

    def loads(self, wanted: LinearLayout) -> tuple[Moves, ...]:
        """The loads that bring a warp a fragment of it, that of the fewest instructions first.

        Args:
            wanted: (register, lane) -> (row, col).

        Raises:
            TilecError: if there are none, or the operand is not D or A.
        """
        m, n, k = self.descriptor.shape
        given = {"stationary": self.one.stationary, "sparse": self.one.sparse}
        if self.name == "d":
            matrix, packed = accumulator(m, n, self.one.group, **given), 1
        elif self.name == "a":
            container = product_kind(self.descriptor.kind).container
            stored = k // 2 if self.one.sparse else k
            matrix, packed = left_operand(m, stored, container, self.one.group, **given)
        else:
            raise TilecError(f"registers hold fragments of d and a, not of {self.name}")
        given_in, given_out = set(wanted.in_sizes), set(wanted.out_sizes)
        if (given_in, given_out) != ({"register", "lane"}, {"row", "col"}):
            raise TilecError(f"registers are (register, lane) -> (row, col), not {wanted}")
        halves = self.name == "d" and self.descriptor.d == "f16"
        found = moves_for(matrix, packed, wanted, store=False, halves=halves)
        if not found:
            raise TilecError(f"no tcgen05.ld brings a warp {wanted} of operand {self.name}")
        return found

    def at(self, row: int, col: int) -> list[Held]:
        """Where an element stands.

        Raises:
            TilecError: if there is none.
        """
        found = [one for one in self.held if (one.row, one.col) == (row, col)]
        if not found:
            raise TilecError(f"no element {row},{col} in operand {self.name} of {self.one.ptx}")
        return found

    def json(self) -> dict[str, Any]:
        """The map as data: of each CTA and lane, [column, low bit, row, col] of each element."""
        lanes: list[list[list[list[int]]]] = [
            [[] for _ in range(LANES)] for _ in range(self.one.group)
        ]
        for one in self.held:
            lanes[one.cta][one.lane].append([one.column, one.low, one.row, one.col])
        return {
            "form": self.one.mnemonic,
            "operand": self.name,
            "shape": list(self.descriptor.shape),
            "types": [self.descriptor.d, self.descriptor.a, self.descriptor.b],
            "columns": self.columns,
            "lanes": lanes,
        }

    @property
    def _blocks(self) -> Iterator[tuple[int, int, int, list[Held]]]:
        """CTA, first lane and first column of every cell of the picture, and what is there."""
        found: dict[tuple[int, int, int], list[Held]] = {}
        for one in self.held:
            key = (one.cta, one.lane // _BLOCK[0], one.column // _BLOCK[1])
            found.setdefault(key, []).append(one)
        for (cta, lane, column), several in sorted(found.items()):
            yield cta, lane * _BLOCK[0], column * _BLOCK[1], several

    def text(self) -> str:
        """The head, then what stands in each sixteen lanes and eight columns."""
        lines = [
            f"CTA {cta}, lanes {lane}-{lane + _BLOCK[0] - 1}, columns {column}-"
            f"{column + min(_BLOCK[1], self.columns) - 1}: rows {_range(h.row for h in several)}, "
            f"cols {_range(h.col for h in several)}"
            for cta, lane, column, several in self._blocks
        ]
        return "\n".join((*self.head, "", *lines))

    def svg(self) -> str:
        """Tensor memory of each CTA, sixteen lanes by eight columns a cell."""
        grids = []
        width = -(-self.columns // _BLOCK[1])
        for cta in range(self.one.group):
            cells = [[Cell("", "nothing", None)] * width for _ in range(LANES // _BLOCK[0])]
            for own, lane, column, several in self._blocks:
                if own == cta:
                    rows, cols = (_range(h[at] for h in several) for at in (4, 5))
                    about = f"lanes from {lane}, columns from {column}: rows {rows}, cols {cols}"
                    hue = several[0].row // _BLOCK[0] * 4
                    cells[lane // _BLOCK[0]][column // _BLOCK[1]] = Cell(
                        f"{rows} × {cols}", about, hue
                    )
            lanes = [str(n) for n in range(0, LANES, _BLOCK[0])]
            columns = [str(n * _BLOCK[1]) for n in range(width)]
            grids.append(Grid(f"CTA {cta}" if self.one.group == 2 else "", cells, lanes, columns))
        what = "rows × cols by lane (down) and column (across)"
        return picture(self.head[0], [*self.head, what], grids)


def _each(
    places: tuple[np.ndarray[Any, Any], ...],
) -> Iterator[tuple[tuple[int, int], tuple[int, int, int]]]:
    """Elements and where each lies."""
    cta, lane, column = (one.tolist() for one in places)
    for row in range(len(cta)):
        for col in range(len(cta[row])):
            yield (row, col), (cta[row][col], lane[row][col], column[row][col])


def _range(numbers: Iterator[int]) -> str:
    """The numbers as runs."""
    found = np.unique(np.fromiter(numbers, np.int64))
    runs = np.split(found, np.flatnonzero(np.diff(found) != 1) + 1)
    return ",".join(str(r[0]) if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs)
