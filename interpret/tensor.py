"""Tensor memory with what is known of it: who has columns, what lies there, who touched it.

Elements are where the hardware has them, so that what is written through one buffer is seen, or
overwritten, through another. What touches them is watched for each column of sixteen lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from tilec.dialects.tile.tensor import TensorBuffer
from tilec.isa.tensor_memory import COLUMNS, LANES

from .arithmetic.base import Arithmetic
from .memory import dtype_of
from .numbers import Array, Number
from .order import Order, later
from .touches import Touch, Touches

Report: TypeAlias = Callable[[str, str], None]
"""Takes a finding's kind and message."""

_GROUP = 16
"""Lanes that every instruction touches together."""
_GROUPS = LANES // _GROUP


@dataclass(eq=False, slots=True)
class Pipe:
    """What a thread has done in tensor memory: its products and copies follow each other.

    Attributes:
        source: by which others know how far they are.
        is_open: whether some are not told to an mbarrier.
        behind: what happens before them, as far as their thread knew.
    """

    source: int
    is_open: bool = False
    behind: Array | None = None

    def issue(self, known: Array) -> None:
        """Begin something behind all that is known."""
        self.is_open, self.behind = True, later(self.behind, known.copy())

    def commit(self, order: Order) -> Array:
        """What who waits for all that was begun knows then."""
        self.is_open = False
        return later(self.behind, order.release_copies(self.source))


@dataclass(frozen=True, eq=False, slots=True)
class TensorView:
    """What a memref in tensor memory is.

    Attributes:
        buffer: its matrices.
        number: its element type.
        column: its first column.
    """

    buffer: TensorBuffer
    number: Number
    column: int


@dataclass(frozen=True, eq=False, slots=True)
class Elements:
    """Elements of a matrix in tensor memory.

    Attributes:
        store: what says how they are kept: their type, and how many share a column.
        lanes, at: of each element, `at` counting elements along a lane.
        cells: each column of sixteen lanes that they lie in, once.
    """

    store: tuple[Number, int]
    lanes: Array
    at: Array
    cells: Array


@lru_cache(maxsize=64)
def _places(buffer: TensorBuffer) -> tuple[Array, Array]:
    """Lane and column of each word of a matrix."""
    _, lanes, columns = buffer.layout.places()
    return lanes, columns


def elements(view: TensorView, matrix: int, rows: slice, cols: slice) -> Elements:
    """Where rows and columns of a matrix of a buffer lie."""
    buffer, packed = view.buffer, view.buffer.packed
    lanes, columns = (one[rows] for one in _places(buffer))
    first = view.column + matrix * buffer.matrix_columns
    word, part = np.divmod(np.arange(*cols.indices(buffer.cols)), packed)
    lanes, columns = lanes[:, word], columns[:, word] + first
    cells = np.unique(columns * _GROUPS + lanes // _GROUP)
    if buffer.held == "scale":  # in each quarter of the lanes, or of their half
        quarters = np.arange(0, _GROUPS // 2 if buffer.halves else _GROUPS, 2)
        cells = np.unique(cells[:, None] + quarters)
    return Elements((view.number, packed), lanes, columns * packed + part, cells)


def only(found: Elements, some: Array) -> Elements:
    """Those of some elements that are chosen."""
    lanes, at = found.lanes[some], found.at[some]
    cells = np.unique(at // found.store[1] * _GROUPS + lanes // _GROUP)
    return Elements(found.store, lanes, at, cells)


@dataclass(eq=False)
class TensorMemory:
    """What a CTA has of it.

    Attributes:
        size: columns; more than there are where a program does not say yet which are shared.
        warps: of the CTA.
        order: among the warps of its cluster.
        first: the number of its first warp there.
        closed: whether the CTA allocates no more.
        owed: the first column of each allocation that is not given back.
        loaded: what loads bring, by the number of the array that stands for it until then.
    """

    size: int
    warps: int
    order: Order
    first: int
    closed: bool = False
    owed: set[int] = field(default_factory=set)
    loaded: dict[int, tuple[Array, Array]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.size = max(self.size, COLUMNS)
        cells = self.size * _GROUPS
        self._touches = Touches(cells, self.warps, self.order, self.first)
        self._data: dict[tuple[Number, int], Array] = {}
        self._stores: list[tuple[Number, int]] = []
        self._held = np.full(cells, -1, np.int32)
        self._columns = np.zeros(self.size, bool)
        self._moving = np.zeros((2, cells), np.int16)
        self._moves: list[list[tuple[Touch, Array]]] = [[] for _ in range(self.warps)]

    # Columns

    def allocate(self, columns: int, limit: int = COLUMNS) -> int | None:
        """The first of columns that nobody has, of those below a limit; None if there are none."""
        for first in range(limit - columns + 1):
            if not self._columns[first : first + columns].any():
                self._columns[first : first + columns] = True
                return first
        return None

    def free(self, first: int, columns: int, agent: int, report: Report) -> None:
        """Give columns back, by a warp of the cluster."""
        if not self._columns[first : first + columns].all():
            report("uninitialised", "deallocates columns that are not allocated")
        cells = np.arange(first * _GROUPS, (first + columns) * _GROUPS)
        if self._moving[:, cells].any():
            report("in flight", "deallocates columns that a load or store in flight uses")
        if self._touches.copy(cells, np.array([agent])):
            report(
                "race", "deallocates columns that other warps access, without a barrier in between"
            )
        self.owed.discard(first)
        self._columns[first : first + columns] = False
        self._held[cells] = -1

    # Elements

    def _cells(self, found: Elements, report: Report) -> Array:
        """Their columns of sixteen lanes, those that the CTA has."""
        columns = found.cells // _GROUPS
        inside = columns < self.size
        inside[inside] = self._columns[columns[inside]]
        if not inside.all():
            report("bounds", "accesses columns of tensor memory that are not allocated")
        return found.cells[inside]

    def _check_held(self, found: Elements, cells: Array, report: Report) -> None:
        """Say what is wrong with reading."""
        number = self._stores.index(found.store) if found.store in self._stores else -2
        if (self._held[cells] != number).any():
            never = (self._held[cells] == -1).any()
            report(
                "uninitialised" if never else "overwritten",
                "reads tensor memory that "
                + ("was never written" if never else "holds elements of another type"),
            )

    def _store(self, found: Elements, arithmetic: Arithmetic) -> Array:
        number, packed = found.store
        if found.store not in self._data:
            shape = LANES, self.size * packed
            self._data[found.store] = np.zeros(shape, dtype_of(number, arithmetic))
            self._stores.append(found.store)
        return self._data[found.store]

    def _get(self, found: Elements, arithmetic: Arithmetic) -> Array:
        data = self._store(found, arithmetic)
        taken: Array = data[found.lanes, np.minimum(found.at, data.shape[1] - 1)]
        return taken

    def _set(self, found: Elements, values: Array, arithmetic: Arithmetic) -> None:
        data = self._store(found, arithmetic)
        inside = found.at < data.shape[1]
        data[found.lanes[inside], found.at[inside]] = values[inside].astype(data.dtype)
        cells = found.cells[found.cells < len(self._held)]
        self._held[cells] = self._stores.index(found.store)

    # Products and copies

    def read_by(
        self, found: Elements, issuer: int, pipe: Pipe, arithmetic: Arithmetic, report: Report
    ) -> Array:
        """Elements that a thread's products read.

        Args:
            found: which.
            issuer: the thread's warp, by its number in the cluster.
            pipe: what the thread does.
            arithmetic: of floats.
            report: takes findings.
        """
        cells = self._cells(found, report)
        self._check_held(found, cells, report)
        if self._moving[Touch.WRITE, cells].any():
            report("in flight", "reads tensor memory that a store is writing")
        if self._touches.work(Touch.READ, cells, issuer, pipe.source):
            report(
                "race",
                "reads tensor memory that another warp wrote, without synchronisation in between",
            )
        return self._get(found, arithmetic)

    def write_by(
        self, found: Elements, values: Array, issuer: int, pipe: Pipe, arithmetic: Arithmetic,
        report: Report,
    ) -> None:  # fmt: skip
        """Write elements by a thread's products or copies; arguments as of `read_by`."""
        cells = self._cells(found, report)
        if self._moving[:, cells].any():
            report("in flight", "writes tensor memory that a load or store in flight uses")
        if self._touches.work(Touch.WRITE, cells, issuer, pipe.source):
            report(
                "race",
                "writes tensor memory that other warps access, without synchronisation in between",
            )
        self._set(found, values, arithmetic)

    # Loads and stores

    def load(self, found: Elements, warp: int, arithmetic: Arithmetic, report: Report) -> Array:
        """Elements that a warp of the CTA loads."""
        cells = self._cells(found, report)
        self._check_held(found, cells, report)
        if self._moving[Touch.WRITE, cells].any():
            report("in flight", "loads tensor memory that a store is writing")
        if self._touches.read(cells, np.asarray(np.uint64(1 << warp))):
            report(
                "race",
                "loads tensor memory that other warps write, without synchronisation in between",
            )
        self._begin(Touch.READ, warp, cells)
        return self._get(found, arithmetic)

    def store(
        self, found: Elements, values: Array, warp: int, arithmetic: Arithmetic, report: Report
    ) -> None:
        """Store elements, by a warp of the CTA."""
        cells = self._cells(found, report)
        if self._moving[:, cells].any():
            report("in flight", "stores to tensor memory that a load or store in flight uses")
        mask = np.asarray(np.uint64(1 << warp))
        if self._touches.write(cells, mask, np.zeros(len(cells), bool)):
            report(
                "race",
                "stores to tensor memory that other warps access, without "
                "synchronisation in between",
            )
        self._begin(Touch.WRITE, warp, cells)
        self._set(found, values, arithmetic)

    def _begin(self, kind: Touch, warp: int, cells: Array) -> None:
        self._moving[kind, cells] += 1
        self._moves[warp].append((kind, cells))

    def wait(self, kind: Touch, warp: int) -> None:
        """Wait for a warp's loads, or for its stores: only now has it touched what they touch."""
        mask, left = np.asarray(np.uint64(1 << warp)), []
        for one, cells in self._moves[warp]:
            if one is not kind:
                left.append((one, cells))
                continue
            self._moving[kind, cells] -= 1
            if kind is Touch.READ:
                self._touches.read(cells, mask)
            else:
                self._touches.write(cells, mask, np.ones(len(cells), bool))
        self._moves[warp] = left
