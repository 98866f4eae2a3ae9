"""Linear algebra over GF(2): vectors are integers, addition is exclusive or.

A set of vectors is a sequence of integers; a *selector* says which of them are added up, bit i
for the i-th.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def combine(selector: int, vectors: Sequence[int]) -> int:
    """The sum of the selected vectors."""
    total = 0
    selector &= (1 << len(vectors)) - 1
    while selector:  # from the last selected vector down
        last = selector.bit_length() - 1
        total ^= vectors[last]
        selector ^= 1 << last
    return total


class Echelon:
    """Vectors entered one by one, kept so that their span can be asked about.

    Attributes:
        kernel: selectors of the entered vectors that add up to zero, a basis of all of them.
    """

    def __init__(self, vectors: Iterable[int] = ()) -> None:
        # Each row lacks the leading bits of the rows before it, so one pass in this order
        # reduces any vector.
        self._rows: list[tuple[int, int]] = []
        self._entered = 0
        self.kernel: list[int] = []
        for vector in vectors:
            self.add(vector)

    @property
    def rank(self) -> int:
        """Dimension of the span."""
        return len(self._rows)

    def add(self, vector: int) -> bool:
        """Enter a vector; whether it is independent of those before it."""
        rest, selector = self._reduce(vector)
        selector |= 1 << self._entered
        self._entered += 1
        if rest:
            self._rows.append((rest, selector))
        else:
            self.kernel.append(selector)
        return bool(rest)

    def solve(self, vector: int) -> int | None:
        """A selector that adds up to `vector`, of independent vectors only; None if none does."""
        rest, selector = self._reduce(vector)
        return None if rest else selector

    def __contains__(self, vector: int) -> bool:
        return not self._reduce(vector)[0]

    def _reduce(self, vector: int) -> tuple[int, int]:
        """What is left of a vector, and the selector of what was added to it."""
        selector = 0
        for row, source in self._rows:
            if vector ^ row < vector:
                vector ^= row
                selector ^= source
        return vector, selector


def rank(vectors: Iterable[int]) -> int:
    """Dimension of the span."""
    return Echelon(vectors).rank


def independent(vectors: Iterable[int], beyond: Iterable[int] = ()) -> list[int]:
    """Those of `vectors` that are independent of `beyond` and of the ones before them."""
    echelon = Echelon(beyond)
    return [vector for vector in vectors if echelon.add(vector)]


def intersection(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """A basis of what the spans of `a` and `b` have in common."""
    a, b = independent(a), independent(b)
    return [combine(selector, a) for selector in Echelon([*a, *b]).kernel]
