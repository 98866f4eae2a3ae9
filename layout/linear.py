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
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from tilec.isa import TilecError
from tilec.isa.wording import counted

from .gf2 import Echelon, combine, rank

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    IntegerArray: TypeAlias = NDArray[np.integer[Any]]

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
    raise LayoutError(
        f"{what} is {size}, which is not a power of two; nearest: {below} and {below * 2}"
    )


@dataclass(frozen=True, slots=True)
class LinearLayout:
    """A linear map over bits. Constructed directly, it is not checked; `of` and `parse` check.

    Attributes:
        ins: input dimensions and their numbers of bits.
        outs: output dimensions and their numbers of bits.
        columns: the image of each input bit, dimension by dimension, low to high; the outputs
            are packed into one integer, the first dimension lowest.
    """

    ins: tuple[tuple[str, int], ...]
    outs: tuple[tuple[str, int], ...]
    columns: tuple[int, ...]

    def __hash__(self) -> int:
        return hash(self.columns)  # names and sizes seldom make the difference

    # Construction

    @classmethod
    def of(cls, bases: Bases, outs: Mapping[str, int]) -> LinearLayout:
        """The layout with these bases and output sizes.

        Raises:
            LayoutError: for a size that is not a power of two, or a basis outside the outputs.
        """
        out_bits = tuple((name, log2(n, f"size of '{name}'")) for name, n in outs.items())
        columns = []
        for name, images in bases.items():
            for image in images:
                if len(image) != len(out_bits):
                    raise LayoutError(
                        f"a basis of '{name}' has {counted(len(image), 'number')} for "
                        f"{counted(len(out_bits), 'output')}"
                    )
                column = low = 0
                for value, (out, bits) in zip(image, out_bits, strict=True):
                    if not 0 <= value < 1 << bits:
                        raise LayoutError(
                            f"basis {list(image)} of '{name}' leaves '{out}' of size {1 << bits}"
                        )
                    column |= value << low
                    low += bits
                columns.append(column)
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

    def in_size(self, in_dim: str) -> int:
        """Size of one input dimension; 1 if there is no such input."""
        for name, bits in self.ins:
            if name == in_dim:
                return 1 << bits
        return 1

    @property
    def out_sizes(self) -> dict[str, int]:
        """Size of each output dimension."""
        return {name: 1 << bits for name, bits in self.outs}

    @property
    def bases(self) -> dict[str, list[tuple[int, ...]]]:
        """The images of the input bits; `LinearLayout.of` takes them back."""
        places = iter(_images(self.columns, self.outs))
        return {name: [next(places) for _ in range(bits)] for name, bits in self.ins}

    def columns_of(self, in_dim: str) -> tuple[int, ...]:
        """The packed images of the bits of one input; none if there is no such input."""
        return self._by_input().get(in_dim, ())

    @property
    def rank(self) -> int:
        """Dimension of the image."""
        return rank(self.columns)

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

    @property
    def is_disjoint(self) -> bool:
        """Whether no two inputs set a bit of a place in common, so that their places add up."""
        taken = 0
        for images in self._by_input().values():
            own = 0
            for image in images:
                own |= image
            if own & taken:
                return False
            taken |= own
        return True

    def free(self, in_dim: str) -> int:
        """Mask of the bits of `in_dim` whose image depends on the bits before them.

        Indices that differ in those bits hold copies: broadcasting is what they do.
        """
        return _free(self, in_dim)

    # Application

    @overload
    def __call__(self, **indices: int) -> tuple[int, ...]: ...  # type: ignore[overload-overlap] # integers alone give integers
    @overload
    def __call__(self, **indices: int | IntegerArray) -> tuple[NDArray[np.int64], ...]: ...
    def __call__(self, **indices: int | IntegerArray) -> tuple[int | NDArray[np.int64], ...]:
        """The place of an index: one number for each output, in their order.

        Indices are integers or integer numpy arrays that broadcast against each other; a
        dimension left out is 0, and bits beyond a dimension's size are ignored. Arrays give
        int64 arrays.

        Raises:
            LayoutError: for a dimension that the layout does not have.
        """
        packed: Any = 0
        known = self._by_input()
        for name, given in indices.items():
            columns = known.get(name)
            if columns is None:
                raise LayoutError(f"no input dimension '{name}'; there are {', '.join(known)}")
            if type(given) is int:
                packed = packed ^ combine(given, columns)
                continue
            # A place may not fit the index's type.
            index: Any = given.astype("int64") if hasattr(given, "astype") else given
            packed = packed ^ (index & 0)  # the shape, though the dimension had no bits
            for bit, column in enumerate(columns):
                packed = packed ^ ((index >> bit) & 1) * column
        return tuple([packed >> low & mask for low, mask in _fields(self.outs)])

    # Algebra

    def then(self, other: LinearLayout) -> LinearLayout:
        """First this layout, then `other`.

        Raises:
            LayoutError: if this layout's outputs are not the other's inputs, or are larger.
        """
        return _composed(self, other)

    def __mul__(self, other: LinearLayout) -> LinearLayout:
        """The direct product: `other` repeats this layout, in the higher bits of each dimension."""
        outs = _merge(self.outs, other.outs)
        ins = _merge(self.ins, other.ins)
        at, low = _starts(outs), dict(self.outs)
        mine = _moved(self, [(n, 0, bits, at[n]) for n, bits in self.outs])
        theirs = _moved(other, [(n, 0, bits, at[n] + low.get(n, 0)) for n, bits in other.outs])
        columns = [c for n, _ in ins for of in (mine, theirs) for c in of.get(n, ())]
        return LinearLayout(ins, outs, tuple(columns))

    def inverse(self) -> LinearLayout:
        """From place to index.

        Raises:
            LayoutError: if the layout is not a bijection.
        """
        return _inverse(self)

    def right_inverse(self) -> LinearLayout:
        """From each place to one index that goes there, the free input bits being zero.

        Raises:
            LayoutError: if some place has no index.
        """
        return _right_inverse(self)

    def left_inverse(self) -> LinearLayout:
        """From each place that has an index to that index; from the others to any.

        Raises:
            LayoutError: if two indices share a place.
        """
        if not self.is_injective:
            raise LayoutError(f"no left inverse: two indices have the same image in {self}")
        units = [1 << bit for bit in range(sum(b for _, b in self.outs))]
        echelon = Echelon([*self.columns, *units])
        own = (1 << len(self.columns)) - 1
        return LinearLayout(
            self.outs, self.ins, tuple((echelon.solve(unit) or 0) & own for unit in units)
        )

    def divide_left(self, divisor: LinearLayout) -> LinearLayout | None:
        """The layout q with `divisor * q == self` up to the order of dimensions, or None.

        The quotient has all of this layout's dimensions, in its order, those used up at size
        one.
        """
        low_in, low_out = dict(divisor.ins), dict(divisor.outs)
        if not (set(low_in) <= set(dict(self.ins)) and set(low_out) <= set(dict(self.outs))):
            return None
        if any(low_out.get(name, 0) > bits for name, bits in self.outs):
            return None
        at, low_mask = _starts(self.outs), 0
        for name, bits in divisor.outs:
            low_mask |= (1 << bits) - 1 << at[name]
        outs = tuple((name, bits - low_out.get(name, 0)) for name, bits in self.outs)
        there = _starts(outs)
        theirs = _moved(divisor, [(n, 0, bits, at[n]) for n, bits in divisor.outs])
        rest = _moved(self, [(n, low_out.get(n, 0), bits, there[n]) for n, bits in outs])
        ins, columns = [], []
        for name, images in self._by_input().items():
            cut = low_in.get(name, 0)
            if list(images[:cut]) != theirs.get(name, []):
                return None
            if any(image & low_mask for image in images[cut:]):
                return None
            ins.append((name, len(images) - cut))
            columns += rest[name][cut:]
        return LinearLayout(tuple(ins), outs, tuple(columns))

    # Dimensions

    def rename(self, names: Mapping[str, str]) -> LinearLayout:
        """The same map with dimensions, in or out, under other names.

        Raises:
            LayoutError: if two inputs, or two outputs, would share a name.
        """
        for dims in (self.ins, self.outs):
            renamed = [names.get(n, n) for n, _ in dims]
            if len(set(renamed)) < len(renamed):
                raise LayoutError(f"two dimensions have the same name: {', '.join(renamed)}")
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
        return self._selected(ins, outs)

    def restrict(
        self, ins: Sequence[str] | None = None, outs: Sequence[str] | None = None
    ) -> LinearLayout:
        """The part of the map between some of its dimensions, the other indices being 0.

        Raises:
            LayoutError: for a dimension that the layout does not have.
        """
        for given, mine in ((ins, self.ins), (outs, self.outs)):
            for name in given or ():
                if name not in dict(mine):
                    raise LayoutError(f"no dimension '{name}'; there are {', '.join(dict(mine))}")
        return self._selected(
            [n for n, _ in self.ins if ins is None or n in ins],
            [n for n, _ in self.outs if outs is None or n in outs],
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
        return _text(self)

    def _repr_svg_(self) -> str | None:
        """What a notebook shows: who holds each element."""
        from .drawing import layout_svg  # noqa: PLC0415 (only to draw)

        return layout_svg(self)

    @classmethod
    def parse(cls, text: str) -> LinearLayout:
        """Read what `str` writes.

        Raises:
            LayoutError: if the text is not a layout.
        """
        left, arrow, right = text.partition("->")
        if not arrow:
            raise LayoutError(f"layout '{text}' has no '->'")
        bases: dict[str, list[list[int]]] = {}
        for part in filter(str.strip, left.split(";")):
            match = re.fullmatch(r"\s*(\w+)((?:\s*\[[\d\s,]*\])*)\s*", part)
            if not match or match[1] in bases:
                raise LayoutError(f"'{part.strip()}' is not an input dimension with its bases")
            images = re.findall(r"\[([\d\s,]*)\]", match[2])
            try:
                bases[match[1]] = [[int(n) for n in i.split(",")] if i else [] for i in images]
            except ValueError:
                raise LayoutError(f"'{part.strip()}' has a basis that is not a list") from None
        outs: dict[str, int] = {}
        for part in filter(str.strip, right.split(",")):
            match = re.fullmatch(r"\s*(\w+)\s+(\d+)\s*", part)
            if not match or match[1] in outs:
                raise LayoutError(f"'{part.strip()}' is not an output dimension with its size")
            outs[match[1]] = int(match[2])
        return cls.of(bases, outs)

    # Inside

    def _by_input(self) -> Mapping[str, tuple[int, ...]]:
        return _by_name(self.ins, self.columns)

    def _selected(self, ins: Sequence[str], outs: Sequence[str]) -> LinearLayout:
        """The map between these of its dimensions, in this order."""
        return _selected(self, tuple(ins), tuple(outs))


def _moved(
    layout: LinearLayout, moves: Iterable[tuple[str, int, int, int]]
) -> dict[str, list[int]]:
    """The columns of each input with some bits of its outputs, elsewhere.

    Args:
        layout: the layout.
        moves: an output, the first of its bits that are kept, how many they are, and where in
            the packed place they go.
    """
    starts, moved = _starts(layout.outs), [0] * len(layout.columns)
    for name, first, bits, there in moves:
        shift, mask = starts[name] + first, (1 << bits) - 1
        moved = [
            m | (c >> shift & mask) << there for m, c in zip(moved, layout.columns, strict=True)
        ]
    rest = iter(moved)
    return {name: list(islice(rest, bits)) for name, bits in layout.ins}


@lru_cache(maxsize=1024)
def places(layout: LinearLayout, in_dim: str) -> tuple[tuple[int, ...], ...]:
    """The place of each index of an input, the others being 0, in the index's order."""
    columns = _by_name(layout.ins, layout.columns).get(in_dim, ())
    packed = [0]
    for column in columns:
        packed += [place ^ column for place in packed]
    return _images(tuple(packed), layout.outs)


@lru_cache(maxsize=1024)
def _by_name(
    dims: tuple[tuple[str, int], ...], columns: tuple[int, ...]
) -> Mapping[str, tuple[int, ...]]:
    """The images of each dimension's bits, of those of all."""
    rest = iter(columns)
    return {name: tuple(islice(rest, bits)) for name, bits in dims}


@lru_cache(maxsize=1024)
def _fields(dims: tuple[tuple[str, int], ...]) -> tuple[tuple[int, int], ...]:
    """Where each dimension's bits lie in a packed place: the lowest, and a mask once it is 0."""
    starts = _starts(dims)
    return tuple((starts[name], (1 << bits) - 1) for name, bits in dims)


def _starts(dims: Iterable[tuple[str, int]]) -> dict[str, int]:
    """The first bit of each dimension where they are packed into one integer."""
    starts, start = {}, 0
    for name, bits in dims:
        starts[name] = start
        start += bits
    return starts


def _merge(
    low: tuple[tuple[str, int], ...], high: tuple[tuple[str, int], ...]
) -> tuple[tuple[str, int], ...]:
    total = dict(low)
    for name, bits in high:
        total[name] = total.get(name, 0) + bits
    return tuple(total.items())


@lru_cache(maxsize=4096)
def _text(layout: LinearLayout) -> str:
    """The text of a layout; a compilation asks for that of few layouts, often."""
    parts = []
    for name, images in layout.bases.items():
        places = [f"[{','.join(map(str, image))}]" for image in images]
        parts.append(" ".join([name, *places]))
    outs = ", ".join(f"{name} {size}" for name, size in layout.out_sizes.items())
    return f"{'; '.join(parts)} -> {outs}"


@lru_cache(maxsize=4096)
def _images(
    columns: tuple[int, ...], outs: tuple[tuple[str, int], ...]
) -> tuple[tuple[int, ...], ...]:
    """The place of each column; a compilation asks for those of few layouts, often."""
    return tuple(_unpack(column, outs) for column in columns)


def _unpack(packed: int, outs: Sequence[tuple[str, int]]) -> tuple[int, ...]:
    place = []
    for _, bits in outs:
        place.append(packed & ((1 << bits) - 1))
        packed >>= bits
    return tuple(place)


@lru_cache(maxsize=4096)
def _free(layout: LinearLayout, in_dim: str) -> int:
    """Mask of the bits of an input whose image depends on the bits before them."""
    echelon = Echelon()
    mask = 0
    for name, columns in _by_name(layout.ins, layout.columns).items():
        for bit, column in enumerate(columns):
            if not echelon.add(column) and name == in_dim:
                mask |= 1 << bit
    return mask


@lru_cache(maxsize=4096)
def _composed(first: LinearLayout, second: LinearLayout) -> LinearLayout:
    """First the one layout, then the other."""
    theirs, ours = dict(second.ins), dict(first.outs)
    if set(theirs) != set(ours):
        raise LayoutError(
            f"layouts do not compose: outputs ({', '.join(ours)}) "
            f"against inputs ({', '.join(theirs)})"
        )
    for name, bits in ours.items():
        if bits > theirs[name]:
            raise LayoutError(
                f"layouts do not compose: '{name}' has {1 << bits} places, "
                f"but only {counted(1 << theirs[name], 'index', 'indices')}"
            )
    given = _by_name(second.ins, second.columns)
    images = [column for name, bits in first.outs for column in given[name][:bits]]
    columns = tuple(combine(column, images) for column in first.columns)
    return LinearLayout(first.ins, second.outs, columns)


@lru_cache(maxsize=4096)
def _selected(layout: LinearLayout, ins: tuple[str, ...], outs: tuple[str, ...]) -> LinearLayout:
    """The map between these of a layout's dimensions, in this order."""
    bits, places = dict(layout.ins), dict(layout.outs)
    new_outs = tuple((n, places[n]) for n in outs)
    at = _starts(new_outs)
    images = _moved(layout, [(n, 0, places[n], at[n]) for n in outs])
    return LinearLayout(
        tuple((n, bits[n]) for n in ins),
        new_outs,
        tuple(image for n in ins for image in images[n]),
    )


@lru_cache(maxsize=4096)
def _inverse(layout: LinearLayout) -> LinearLayout:
    """The inverse of a bijection."""
    if not layout.is_injective:
        raise LayoutError(f"not invertible: two indices have the same image in {layout}")
    return _right_inverse(layout)


@lru_cache(maxsize=4096)
def _right_inverse(layout: LinearLayout) -> LinearLayout:
    """The inverse whose free input bits are zero."""
    echelon = Echelon(layout.columns)
    sources = [echelon.solve(1 << bit) for bit in range(sum(b for _, b in layout.outs))]
    found = tuple(source for source in sources if source is not None)
    if len(found) < len(sources):
        raise LayoutError(f"not invertible: some output has no index in {layout}")
    return LinearLayout(layout.outs, layout.ins, found)
