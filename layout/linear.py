"""Linear layouts: maps over GF(2) from named input bits to named output bits.

A layout sends an index such as (register, lane, warp) to a place such as (row, col); every
dimension has a power-of-two size, and the map is linear over the indices' bits: the place of
an index is the exclusive or of the places of its set bits. So a layout is given by the image
of each input bit, its *basis*. The idea and the division are those of "Linear Layouts: Robust
Code Generation of Efficient Tensor Computation Using F2" (arXiv 2505.23819).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tilec.isa.errors import TilecError

Bases = Mapping[str, Sequence[Sequence[int]]]
"""For each input dimension the image of each of its bits, low to high, one number an output."""


class LayoutError(TilecError):
    """Layouts that do not fit each other, or sizes and bases that make no layout."""


def log2(size: int, what: str) -> int:
    """Bits of a power of two.

    Raises:
        LayoutError: naming the nearest powers of two.
    """
    if size >= 1 and size & (size - 1) == 0:
        return size.bit_length() - 1
    if size < 1:
        raise LayoutError(f"{what} is {size}; it must be a power of two, at least 1")
    below = 1 << (size.bit_length() - 1)
    raise LayoutError(f"{what} is {size}, no power of two; nearest: {below} and {below * 2}")


@dataclass(frozen=True, slots=True)
class LinearLayout:
    """A linear map over bits.

    Attributes:
        ins: input dimensions and their numbers of bits.
        outs: output dimensions and their numbers of bits.
        columns: the image of each input bit, dimension by dimension, low to high; the outputs
            are packed into one integer, the first dimension lowest.
    """

    ins: tuple[tuple[str, int], ...]
    outs: tuple[tuple[str, int], ...]
    columns: tuple[int, ...]

    # Construction

    @classmethod
    def of(cls, bases: Bases, outs: Mapping[str, int]) -> LinearLayout:
        """The layout with these bases and output sizes.

        Raises:
            LayoutError: for a size that is no power of two, or a basis outside the outputs.
        """
        out_bits = tuple((name, log2(n, f"size of '{name}'")) for name, n in outs.items())
        columns = []
        for name, images in bases.items():
            for image in images:
                if len(image) != len(out_bits):
                    raise LayoutError(
                        f"a basis of '{name}' has {len(image)} numbers for {len(out_bits)} outputs"
                    )
                for value, (out, bits) in zip(image, out_bits, strict=True):
                    if not 0 <= value < 1 << bits:
                        raise LayoutError(
                            f"basis {list(image)} of '{name}' leaves '{out}' of size {1 << bits}"
                        )
                columns.append(_pack(image, out_bits))
        return cls(tuple((n, len(i)) for n, i in bases.items()), out_bits, tuple(columns))

    @classmethod
    def identity(cls, size: int, in_dim: str, out_dim: str) -> LinearLayout:
        """Index i of `in_dim` goes to i of `out_dim`."""
        bits = log2(size, f"size of '{in_dim}'")
        return cls(((in_dim, bits),), ((out_dim, bits),), tuple(1 << i for i in range(bits)))

    @classmethod
    def zeros(cls, size: int, in_dim: str) -> LinearLayout:
        """Every index of `in_dim` goes to the same place: a broadcast."""
        bits = log2(size, f"size of '{in_dim}'")
        return cls(((in_dim, bits),), (), (0,) * bits)

    @classmethod
    def empty(cls, ins: Iterable[str] = (), outs: Iterable[str] = ()) -> LinearLayout:
        """Dimensions of size one; the unit of the product."""
        return cls(tuple((n, 0) for n in ins), tuple((n, 0) for n in outs), ())

    # What it is

    @property
    def in_sizes(self) -> dict[str, int]:
        """Size of each input dimension."""
        return {name: 1 << bits for name, bits in self.ins}

    @property
    def out_sizes(self) -> dict[str, int]:
        """Size of each output dimension."""
        return {name: 1 << bits for name, bits in self.outs}

    @property
    def bases(self) -> dict[str, list[tuple[int, ...]]]:
        """The images of the input bits; `LinearLayout.of` takes them back."""
        found: dict[str, list[tuple[int, ...]]] = {}
        columns = iter(self.columns)
        for name, bits in self.ins:
            found[name] = [_unpack(next(columns), self.outs) for _ in range(bits)]
        return found

    @property
    def rank(self) -> int:
        """Dimension of the image."""
        return len(_eliminate(self.columns))

    @property
    def is_injective(self) -> bool:
        """Whether no two indices share a place."""
        return self.rank == len(self.columns)

    @property
    def is_surjective(self) -> bool:
        """Whether every place has an index."""
        return self.rank == sum(bits for _, bits in self.outs)

    @property
    def is_bijective(self) -> bool:
        """Whether indices and places correspond one to one."""
        return self.is_injective and self.is_surjective

    def free(self, in_dim: str) -> int:
        """Mask of the bits of `in_dim` whose image depends on the bits before them.

        Indices that differ in those bits hold copies: broadcasting is what they do.
        """
        seen: list[int] = []
        mask = 0
        for name, start, bits in self._spans():
            for bit in range(bits):
                rest = _reduce(self.columns[start + bit], seen)
                if rest:
                    seen.append(rest)
                elif name == in_dim:
                    mask |= 1 << bit
        return mask

    # Application

    def __call__(self, **indices: Any) -> tuple[Any, ...]:
        """The place of an index: one number for each output, in their order.

        Indices are integers or integer numpy arrays that broadcast against each other; a
        dimension left out is 0.

        Raises:
            LayoutError: for a dimension that the layout does not have.
        """
        known = dict(self.ins)
        for name in indices:
            if name not in known:
                raise LayoutError(f"no input dimension '{name}'; there are {', '.join(known)}")
        packed: Any = 0
        for name, start, bits in self._spans():
            index = indices.get(name, 0)
            for bit in range(bits):
                packed = packed ^ ((index >> bit) & 1) * self.columns[start + bit]
        places = []
        for _, bits in self.outs:
            places.append(packed & ((1 << bits) - 1))
            packed = packed >> bits
        return tuple(places)

    # Algebra

    def then(self, other: LinearLayout) -> LinearLayout:
        """First this layout, then `other`.

        Raises:
            LayoutError: if this layout's outputs are not the other's inputs, or are larger.
        """
        theirs = dict(other.ins)
        ours = dict(self.outs)
        if set(theirs) != set(ours):
            raise LayoutError(
                f"layouts do not compose: outputs ({', '.join(ours)}) "
                f"against inputs ({', '.join(theirs)})"
            )
        for name, bits in ours.items():
            if bits > theirs[name]:
                raise LayoutError(
                    f"layouts do not compose: '{name}' has {1 << bits} places, "
                    f"but only {1 << theirs[name]} indices"
                )
        starts = {name: start for name, start, _ in other._spans()}
        images = [
            other.columns[starts[name] + bit] for name, bits in self.outs for bit in range(bits)
        ]
        return LinearLayout(self.ins, other.outs, tuple(_combine(c, images) for c in self.columns))

    def __mul__(self, other: LinearLayout) -> LinearLayout:
        """The direct product: `other` repeats this layout, in the higher bits of each dimension."""
        outs = _merge(self.outs, other.outs)
        ins = _merge(self.ins, other.ins)
        low = dict(self.outs)
        mine = {n: [_unpack(c, self.outs) for c in cs] for n, cs in self._columns_of().items()}
        theirs = {n: [_unpack(c, other.outs) for c in cs] for n, cs in other._columns_of().items()}
        columns = []
        for name, _ in ins:
            for image in mine.get(name, ()):
                place = dict(zip(low, image, strict=True))
                columns.append(_pack([place.get(n, 0) for n, _ in outs], outs))
            for image in theirs.get(name, ()):
                place = {
                    n: value << low.get(n, 0)
                    for (n, _), value in zip(other.outs, image, strict=True)
                }
                columns.append(_pack([place.get(n, 0) for n, _ in outs], outs))
        return LinearLayout(ins, outs, tuple(columns))

    def inverse(self) -> LinearLayout:
        """From place to index.

        Raises:
            LayoutError: if the layout is not a bijection.
        """
        if not self.is_injective:
            raise LayoutError(f"no inverse: two indices share a place in {self}")
        return self.right_inverse()

    def right_inverse(self) -> LinearLayout:
        """From each place to one index that goes there, the free input bits being zero.

        Raises:
            LayoutError: if some place has no index.
        """
        rows = [(column, 1 << i) for i, column in enumerate(self.columns)]
        solved: dict[int, tuple[int, int]] = {}
        for image, source in rows:
            for pivot, (other, its) in solved.items():
                if image >> pivot & 1:
                    image, source = image ^ other, source ^ its  # noqa: PLW2901
            if not image:
                continue
            pivot = image.bit_length() - 1
            for known, (other, its) in solved.items():
                if other >> pivot & 1:
                    solved[known] = (other ^ image, its ^ source)
            solved[pivot] = (image, source)
        places = sum(bits for _, bits in self.outs)
        if len(solved) < places:
            raise LayoutError(f"no inverse: some place has no index in {self}")
        return LinearLayout(self.outs, self.ins, tuple(solved[p][1] for p in range(places)))

    def divide_left(self, divisor: LinearLayout) -> LinearLayout | None:
        """The layout q with `divisor * q == self`, or None where there is none.

        The quotient has all of this layout's dimensions, those used up at size one.
        """
        low_in, low_out = dict(divisor.ins), dict(divisor.outs)
        if not (set(low_in) <= set(dict(self.ins)) and set(low_out) <= set(dict(self.outs))):
            return None
        outs = []
        for name, bits in self.outs:
            if low_out.get(name, 0) > bits:
                return None
            outs.append((name, bits - low_out.get(name, 0)))
        theirs = divisor._columns_of()
        ins, columns = [], []
        for name, images in self._columns_of().items():
            own = [dict(zip(dict(self.outs), _unpack(c, self.outs), strict=True)) for c in images]
            cut = low_in.get(name, 0)
            if cut > len(own):
                return None
            for place, column in zip(own[:cut], theirs.get(name, ()), strict=True):
                image = dict(zip(low_out, _unpack(column, divisor.outs), strict=True))
                if any(value != image.get(n, 0) for n, value in place.items()):
                    return None
            for place in own[cut:]:
                if any(value & ((1 << low_out.get(n, 0)) - 1) for n, value in place.items()):
                    return None
                columns.append(_pack([place[n] >> low_out.get(n, 0) for n, _ in outs], outs))
            ins.append((name, len(own) - cut))
        return LinearLayout(tuple(ins), tuple(outs), tuple(columns))

    # Dimensions

    def rename(self, names: Mapping[str, str]) -> LinearLayout:
        """The same map with dimensions, in or out, under other names."""
        return LinearLayout(
            tuple((names.get(n, n), b) for n, b in self.ins),
            tuple((names.get(n, n), b) for n, b in self.outs),
            self.columns,
        )

    def reorder(self, ins: Sequence[str], outs: Sequence[str]) -> LinearLayout:
        """The same map with its dimensions in this order.

        Raises:
            LayoutError: if these are not the layout's dimensions.
        """
        for given, mine in ((ins, self.ins), (outs, self.outs)):
            if sorted(given) != sorted(dict(mine)):
                raise LayoutError(
                    f"dimensions ({', '.join(given)}) are not those of the layout: "
                    f"({', '.join(dict(mine))})"
                )
        bits, places = dict(self.ins), dict(self.outs)
        new_outs = tuple((n, places[n]) for n in outs)
        images = self.bases
        return LinearLayout(
            tuple((n, bits[n]) for n in ins),
            new_outs,
            tuple(
                _pack([dict(zip(places, image, strict=True))[n] for n in outs], new_outs)
                for name in ins
                for image in images[name]
            ),
        )

    def restrict(
        self, ins: Sequence[str] | None = None, outs: Sequence[str] | None = None
    ) -> LinearLayout:
        """The part of the map between some of its dimensions, the other indices being 0."""
        images = self.bases
        kept_outs = [n for n, _ in self.outs if outs is None or n in outs]
        at = {n: i for i, (n, _) in enumerate(self.outs)}
        sizes = self.out_sizes
        return LinearLayout.of(
            {
                n: [[image[at[o]] for o in kept_outs] for image in images[n]]
                for n, _ in self.ins
                if ins is None or n in ins
            },
            {n: sizes[n] for n in kept_outs},
        )

    def flatten_outs(self, name: str) -> LinearLayout:
        """All outputs as one, the first lowest."""
        return LinearLayout(self.ins, ((name, sum(b for _, b in self.outs)),), self.columns)

    def flatten_ins(self, name: str) -> LinearLayout:
        """All inputs as one, the first lowest."""
        return LinearLayout(((name, len(self.columns)),), self.outs, self.columns)

    # Text

    def __str__(self) -> str:
        """`register [0,1] [8,0]; lane [0,2] … -> row 16, col 8`; `parse` reads it."""
        parts = []
        for name, images in self.bases.items():
            places = [f"[{','.join(str(n) for n in image)}]" for image in images]
            parts.append(" ".join([name, *places]))
        outs = ", ".join(f"{name} {size}" for name, size in self.out_sizes.items())
        return f"{'; '.join(parts)} -> {outs}"

    @classmethod
    def parse(cls, text: str) -> LinearLayout:
        """Read what `str` writes.

        Raises:
            LayoutError: if the text is no layout.
        """
        left, arrow, right = text.partition("->")
        if not arrow:
            raise LayoutError(f"layout '{text}' has no '->'")
        bases: dict[str, list[list[int]]] = {}
        for part in filter(str.strip, left.split(";")):
            match = re.fullmatch(r"\s*(\w+)((?:\s*\[[\d\s,]*\])*)\s*", part)
            if not match or match[1] in bases:
                raise LayoutError(f"'{part.strip()}' is no input dimension with its bases")
            images = re.findall(r"\[([\d\s,]*)\]", match[2])
            try:
                bases[match[1]] = [[int(n) for n in i.split(",")] if i else [] for i in images]
            except ValueError:
                raise LayoutError(f"'{part.strip()}' has a basis that is no list") from None
        outs: dict[str, int] = {}
        for part in filter(str.strip, right.split(",")):
            match = re.fullmatch(r"\s*(\w+)\s+(\d+)\s*", part)
            if not match or match[1] in outs:
                raise LayoutError(f"'{part.strip()}' is no output dimension with its size")
            outs[match[1]] = int(match[2])
        return cls.of(bases, outs)

    # Inside

    def _spans(self) -> list[tuple[str, int, int]]:
        """Name, first column and number of bits of each input dimension."""
        spans, start = [], 0
        for name, bits in self.ins:
            spans.append((name, start, bits))
            start += bits
        return spans

    def _columns_of(self) -> dict[str, tuple[int, ...]]:
        return {name: self.columns[start : start + bits] for name, start, bits in self._spans()}


def _merge(
    low: tuple[tuple[str, int], ...], high: tuple[tuple[str, int], ...]
) -> tuple[tuple[str, int], ...]:
    total = dict(low)
    for name, bits in high:
        total[name] = total.get(name, 0) + bits
    return tuple(total.items())


def _pack(place: Sequence[int], outs: Sequence[tuple[str, int]]) -> int:
    packed, shift = 0, 0
    for value, (_, bits) in zip(place, outs, strict=True):
        packed |= value << shift
        shift += bits
    return packed


def _unpack(packed: int, outs: Sequence[tuple[str, int]]) -> tuple[int, ...]:
    place = []
    for _, bits in outs:
        place.append(packed & ((1 << bits) - 1))
        packed >>= bits
    return tuple(place)


def _combine(selector: int, images: Sequence[int]) -> int:
    """Exclusive or of the images whose bit is set."""
    total = 0
    for i, image in enumerate(images):
        if selector >> i & 1:
            total ^= image
    return total


def _reduce(column: int, pivots: Sequence[int]) -> int:
    """What is left of a column after elimination by rows in echelon form, in order of entry."""
    for pivot in pivots:
        column = min(column, column ^ pivot)
    return column


def _eliminate(columns: Iterable[int]) -> list[int]:
    """A basis of the span of `columns`."""
    pivots: list[int] = []
    for column in columns:
        rest = _reduce(column, pivots)
        if rest:
            pivots.append(rest)
    return pivots
