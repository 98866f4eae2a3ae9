"""The swizzle that makes given accesses to a tile free of conflicts.

Everything is said in bits of the *plain offset*, the place of an element in the unswizzled tile.
A phase of an access touches a subspace: the elements that each lane moves, and the steps from
lane to lane. Swizzling chooses another basis: some vectors become the offset's low bits, that
each access must find side by side, some the bits that choose a bank, the rest the *segments*,
lines of 128 bytes above each other. A phase has conflicts exactly where its subspace meets the
span of the segments; so a segment basis is wanted that meets none. For two accesses there always
is one. ("Linear Layouts", arXiv 2505.23819, "Optimal Swizzling".)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from tilec.isa import LANES, MatrixMemory

from . import banks
from .access import matrix_tile
from .gf2 import Echelon, combine, rank
from .linear import LayoutError, LinearLayout, log2
from .swizzle import Swizzle


@dataclass(frozen=True, slots=True)
class Pattern:
    """One access to a tile, before it is known where in shared memory the tile's elements lie.

    Attributes:
        width: bytes at each address.
        run: plain offsets that must lie side by side at an address: of the bits of the
            element's number within the access.
        together: plain offsets between the addresses of one phase: of the bits of the lane
            or row within it.
        phases: phases in all.
        further: plain offsets between all addresses of plain loads and stores at which a run of
            neighbours may begin.
    """

    width: int
    run: tuple[int, ...]
    together: tuple[int, ...]
    phases: int
    further: tuple[int, ...] = ()

    @classmethod
    def vector(
        cls, offsets: LinearLayout, bits: int, run: Sequence[int], *, store: bool
    ) -> Pattern | None:
        """Plain loads or stores of a fragment.

        Args:
            offsets: (register, lane, …) -> plain offset.
            bits: bits of an element.
            run: what shall lie side by side; used as far as the fragment's registers have it.
            store: whether they store.

        Returns:
            The pattern, or None if less than a byte could be accessed.
        """
        registers = Echelon(offsets.columns_of("register"))
        own = 0
        while own < len(run) and bits << own < 128 and run[own] in registers:
            own += 1
        width = (bits << own) // 8
        if width == 0:
            return None
        lanes = offsets.columns_of("lane")
        together = log2(banks.lanes_together(lanes, width, store=store), "lanes")
        phases = (1 << registers.rank - own) * (LANES >> together)
        further = tuple(v for v in offsets.columns if not v % (1 << own))
        return cls(width, tuple(run[:own]), lanes[:together], phases, further)

    @staticmethod
    def matrix(form: MatrixMemory, offsets: LinearLayout, bits: int) -> Pattern | None:
        """`ldmatrix` or `stmatrix` of a fragment.

        Args:
            form: the instruction.
            offsets: (register, lane, …) -> plain offset.
            bits: bits of an element.

        Returns:
            The pattern, or None if the form does not fit the fragment.
        """
        return _of_matrices(form, offsets, bits)

    def move(self, layout: LinearLayout) -> Pattern:
        """The same access where `layout` takes each offset."""
        run = tuple(combine(vector, layout.columns) for vector in self.run)
        together = tuple(combine(vector, layout.columns) for vector in self.together)
        further = tuple(combine(vector, layout.columns) for vector in self.further)
        return Pattern(self.width, run, together, self.phases, further)

    def leaves_whole(self, swizzle: LinearLayout) -> bool:
        """Whether runs of neighbours still begin at multiples of their length, in all phases."""
        return not any(combine(v, swizzle.columns) % (1 << len(self.run)) for v in self.further)

    def count(self, swizzle: LinearLayout, bits: int) -> banks.Count | None:
        """Wavefronts under a swizzle of plain offsets; None if it does not keep the run together.

        Args:
            swizzle: offset -> offset, in elements.
            bits: bits of an element.
        """
        if [combine(r, swizzle.columns) for r in self.run] != [
            1 << i for i in range(len(self.run))
        ]:
            return None
        addresses = [combine(t, swizzle.columns) for t in self.together]
        if any(address % (1 << len(self.run)) for address in addresses):
            return None
        each = banks.degree([address * bits // 8 for address in addresses], self.width)
        return banks.Count(each * self.phases, (each - 1) * self.phases)


@lru_cache(maxsize=1024)
def _of_matrices(form: MatrixMemory, offsets: LinearLayout, bits: int) -> Pattern | None:
    """The pattern of `ldmatrix` or `stmatrix`, as of `Pattern.matrix`."""
    tile = matrix_tile(form, offsets, bits, placed=False)
    if tile is None:
        return None
    rows = tile.base.columns_of("row")
    together = log2(banks.ROWS_PER_PHASE, "rows")
    phases = form.matrices * form.rows // banks.ROWS_PER_PHASE << len(tile.steps)
    run = tile.base.columns_of("element")
    if rank(run) < len(run):  # copies cannot lie side by side
        return None
    return Pattern(form.row_bytes, run, rows[:together], phases)


class Swizzling(NamedTuple):
    """A swizzle that was found.

    Attributes:
        swizzle: its name, if it is one of CuTe's; else None.
        layout: plain offset -> offset, both in elements.
        counts: wavefronts and conflicts of each access under it.
    """

    swizzle: Swizzle | None
    layout: LinearLayout
    counts: tuple[banks.Count, ...]

    @property
    def conflicts(self) -> int:
        """Conflicts of all accesses."""
        return sum(count.conflicts for count in self.counts)

    @property
    def wavefronts(self) -> int:
        """Wavefronts of all accesses."""
        return sum(count.wavefronts for count in self.counts)


def find_swizzle(size: int, bits: int, patterns: Sequence[Pattern]) -> Swizzling:
    """The best swizzle found; one of CuTe's, of few bits, where one is as good.

    For up to two patterns it has no conflicts. For more, all of CuTe's are tried, and one built
    to avoid as many conflicts as can be, vector by vector: what is left, `counts` says.

    Args:
        size: elements of the tile.
        bits: bits of an element.
        patterns: the accesses.

    Raises:
        LayoutError: if the accesses need different elements to be adjacent, or one begins where
            another's run goes on.
    """
    offset_bits = log2(size, "elements of the tile")
    best: Swizzling | None = None
    # CuTe's leave in place what lies side by side in the plain tile, and bring nothing together.
    plain = all(_neighbours(p.run) == 1 << len(p.run) for p in patterns)
    for swizzle in (*(_cute(offset_bits, bits) if plain else ()), None):
        layout = swizzle.layout(size, bits) if swizzle else _general(offset_bits, bits, patterns)
        counts = [pattern.count(layout, bits) for pattern in patterns]
        kept = tuple(count for count in counts if count)
        if len(kept) < len(counts):
            continue
        if plain and not all(pattern.leaves_whole(layout) for pattern in patterns):
            continue
        found = Swizzling(swizzle, layout, kept)
        if best is None or found.wavefronts < best.wavefronts:
            best = found
        if not best.conflicts:
            break
    if best is None:
        raise LayoutError("no swizzle: the accesses need different elements to be adjacent")
    return best


def _cute(offset_bits: int, bits: int) -> Iterator[Swizzle]:
    """CuTe's swizzles within a tile, those that change less of it first."""
    unit = log2(bits, "bits of an element") - 3
    end = offset_bits + unit  # of the bits of a byte offset
    line = log2(banks.LINE_BYTES, "bytes of a line")
    yield Swizzle(0, 4, 3)
    for count in range(1, line):
        for base in range(min(4, line - count), max(unit, 0) - 1, -1):
            for shift in range(max(count, line - base - count + 1), end - base - count + 1):
                yield Swizzle(count, base, shift)


def _general(offset_bits: int, bits: int, patterns: Sequence[Pattern]) -> LinearLayout:
    """Any linear swizzle: run, bank and segment vectors chosen, then inverted.

    Neighbours in the plain tile are kept out of the others, so that their runs begin whole.
    """
    run: tuple[int, ...] = max((p.run for p in patterns), key=len, default=())
    if any(run[: len(p.run)] != p.run for p in patterns):
        raise LayoutError("no swizzle: the accesses need different elements to be adjacent")
    line = min(offset_bits, log2(banks.LINE_BYTES * 8 // bits, "elements of a line"))
    touched = [[*p.run, *p.together] for p in patterns]
    segments: list[int] = []
    while len(segments) < offset_bits - line:
        segments.append(_segment(offset_bits, run, segments, touched))
    spanned = Echelon([*run, *segments])
    # What phases step by comes before plain units, so that it keeps clear of the run.
    steps = [*(t for p in patterns for t in p.together), *(1 << b for b in range(offset_bits))]
    if (neighbours := _neighbours(run)) > 1:
        steps = [step // neighbours * neighbours for step in steps]
    chosen = sorted(step for step in steps if spanned.add(step))
    basis = LinearLayout(
        (("offset", offset_bits),), (("offset", offset_bits),), (*run, *chosen, *segments)
    )
    return basis.inverse()


def _neighbours(run: Sequence[int]) -> int:
    """Elements of a run that lie side by side in the plain tile; 1 if any do not."""
    return 1 << len(run) if all(v == 1 << bit for bit, v in enumerate(run)) else 1


def _segment(
    offset_bits: int, run: Sequence[int], segments: Sequence[int], touched: Sequence[Sequence[int]]
) -> int:
    """The next segment vector: one that brings no subspace nearer to the segments, if there is.

    Sums of units do, as many as there are subspaces: where one is outside a first subspace
    and another outside a second, their sum is outside both.
    """
    spans = [Echelon([*vectors, *segments]) for vectors in touched]
    taken = Echelon([*run, *segments])
    low = _neighbours(run).bit_length() - 1
    units = [1 << bit for bit in reversed(range(low, offset_bits))]
    best, fewest = 0, len(spans) + 1
    for many in range(1, max(2, len(spans)) + 1):
        for chosen in combinations(units, many):
            vector = sum(chosen)
            if vector in taken:
                continue
            met = sum(vector in span for span in spans)
            if met < fewest:
                best, fewest = vector, met
            if not fewest:
                return best
    return best
