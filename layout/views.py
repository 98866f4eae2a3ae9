"""Layouts seen through a view of the tile: dimensions added, dropped, permuted, split.

Dimensions are counted from 0; those of what comes out are named by rank (`dims`). Inputs stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod

from tilec.isa.wording import counted

from .gf2 import Echelon
from .linear import LayoutError, LinearLayout, log2


def dims(rank: int) -> tuple[str, ...]:
    """Names of a tile's dimensions: `row`; `row`, `col`; `d0`, …, `row`, `col`."""
    if rank < 2:
        return ("row",)[:rank]
    return (*(f"d{at}" for at in range(rank - 2)), "row", "col")


def collapse(layout: LinearLayout, axes: Sequence[int]) -> LinearLayout:
    """The layout of a tile of extent 1 along `axes`, of which the others are copies.

    Raises:
        LayoutError: for a dimension that the layout does not have.
    """
    return _collapsed(layout, tuple(axes))


@lru_cache(maxsize=4096)
def _collapsed(layout: LinearLayout, axes: tuple[int, ...]) -> LinearLayout:
    for axis in axes:
        _check_axis(axis, len(layout.outs))
    extents = [1 if at in axes else size for at, size in enumerate(layout.out_sizes.values())]
    return _map(
        layout,
        extents,
        lambda place: [0 if at in axes else value for at, value in enumerate(place)],
    )


@lru_cache(maxsize=4096)
def drop_dim(layout: LinearLayout, axis: int) -> LinearLayout:
    """The layout of what is left when dimension `axis` is reduced away.

    A register bit goes with it if the ones before it tell all elements apart.

    Raises:
        LayoutError: for a dimension that the layout does not have.
    """
    _check_axis(axis, len(layout.outs))
    extents = [size for at, size in enumerate(layout.out_sizes.values()) if at != axis]
    rest = _map(layout, extents, lambda place: [v for at, v in enumerate(place) if at != axis])
    ins: list[tuple[str, int]] = []
    columns: list[int] = []
    for name, bits in rest.ins:
        own = rest.columns_of(name)
        if name == "register":
            distinct = Echelon()
            own = tuple(column for column in own if distinct.add(column))
            bits = len(own)  # noqa: PLW2901 (what is left of them)
        ins.append((name, bits))
        columns += own
    return LinearLayout(tuple(ins), rest.outs, tuple(columns))


@lru_cache(maxsize=4096)
def expand(layout: LinearLayout, axis: int) -> LinearLayout:
    """The layout with a dimension of extent 1 put in at `axis`.

    Raises:
        LayoutError: if the axis is past the end.
    """
    _check_axis(axis, len(layout.outs) + 1)
    extents = list(layout.out_sizes.values())
    return _map(
        layout,
        [*extents[:axis], 1, *extents[axis:]],
        lambda place: [*place[:axis], 0, *place[axis:]],
    )


@lru_cache(maxsize=4096)
def transpose(layout: LinearLayout, permutation: tuple[int, ...]) -> LinearLayout:
    """The layout with its dimensions permuted: dimension i was dimension `permutation[i]`.

    Raises:
        LayoutError: if that is not a permutation of the dimensions.
    """
    if sorted(permutation) != list(range(len(layout.outs))):
        raise LayoutError(
            f"{list(permutation)} is not a permutation of {counted(len(layout.outs), 'dimension')}"
        )
    extents = list(layout.out_sizes.values())
    return _map(
        layout, [extents[p] for p in permutation], lambda place: [place[p] for p in permutation]
    )


@lru_cache(maxsize=4096)
def reshape(layout: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
    """The layout of the same elements, in row-major order, under another shape.

    Raises:
        LayoutError: if the number of elements differs, or an extent is not a power of two.
    """
    before = tuple(layout.out_sizes.values())
    for extent in shape:
        log2(extent, "an extent")
    if prod(before) != prod(shape):
        raise LayoutError(f"{_written(before)} elements cannot be {_written(shape)}")

    def move(place: Sequence[int]) -> list[int]:
        number = 0
        for value, size in zip(place, before, strict=True):
            number = number * size + value
        values = []
        for size in reversed(shape):
            values.append(number % size)
            number //= size
        return values[::-1]

    return _map(layout, shape, move)


@lru_cache(maxsize=4096)
def register_map(source: LinearLayout, result: LinearLayout) -> LinearLayout | None:
    """Register of the result -> register of the source that holds the same, in the same lane.

    None if there is no such map that is one for all lanes and warps. Dimensions of the tile are
    compared by position.
    """
    if [bits for _, bits in source.outs] != [bits for _, bits in result.outs]:
        return None
    others = {name: bits for name, bits in result.ins if name != "register"}
    if {name: bits for name, bits in source.ins if name != "register"} != others:
        return None
    if any(source.columns_of(name) != result.columns_of(name) for name in others):
        return None
    echelon = Echelon(source.columns_of("register"))
    found = [echelon.solve(column) for column in result.columns_of("register")]
    columns = tuple(column for column in found if column is not None)
    if len(columns) < len(found):
        return None
    held = len(source.columns_of("register"))
    return LinearLayout((("register", len(columns)),), (("register", held),), columns)


def _map(
    layout: LinearLayout,
    extents: Sequence[int],
    place: Callable[[tuple[int, ...]], Sequence[int]],
) -> LinearLayout:
    """The layout with each place, a linear function of the old one, in a tile of these extents."""
    return LinearLayout.of(
        {name: [place(image) for image in images] for name, images in layout.bases.items()},
        dict(zip(dims(len(extents)), extents, strict=True)),
    )


def _check_axis(axis: int, rank: int) -> None:
    if not 0 <= axis < rank:
        raise LayoutError(f"axis {axis} is outside the {counted(rank, 'dimension')}")


def _written(shape: Sequence[int]) -> str:
    return "x".join(str(extent) for extent in shape)


@lru_cache(maxsize=4096)
def repeat(source: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
    """The layout of a tile repeated along axes of extent 1.

    Lanes and warps that held copies share what is repeated; registers take the rest.

    Args:
        source: the layout of the tile.
        shape: what its extents become.
    """
    names = list(source.out_sizes)
    missing = [
        tuple((1 << bit) * (name == at) for at in names)
        for name, before, after in zip(names, source.out_sizes.values(), shape, strict=True)
        if before != after
        for bit in range(after.bit_length() - 1)
    ]
    missing.reverse()
    bases = {}
    for dim in ("lane", "warp"):
        images = source.bases[dim]
        bases[dim] = [missing.pop() if missing and not any(i) else i for i in images]
    registers = [*source.bases["register"], *reversed(missing)]
    return LinearLayout.of({"register": registers, **bases}, dict(zip(names, shape, strict=True)))
