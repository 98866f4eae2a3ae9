"""Order along an axis: the place of the largest and smallest, sorts, the k largest."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tilec.isa import TilecError
from tilec.isa.wording import counted
from tilec.layout.extents import is_one_unit

from .casts import astype, check_computed, view
from .dtypes import int8, int16, int32, int64, uint8
from .elementwise import where
from .reductions import combined
from .shapes import axis_of, broadcast_to
from .takes import apart, check_bits, numbers, part, take
from .tile import Tile

_SIGNED = {8: int8, 16: int16, 32: int32, 64: int64}
_LAST = 2**31 - 1


def argmax(x: Tile, axis: int | None = None, *, keepdims: bool = False) -> Tile:
    """The index along `axis`, int32, of the largest element, the first of several; of NaN's.

    Without an axis it is the number of the element in row-major order.
    """
    return _place("max", x, axis, keepdims)


def argmin(x: Tile, axis: int | None = None, *, keepdims: bool = False) -> Tile:
    """The index along `axis` of the smallest element; as `argmax`."""
    return _place("min", x, axis, keepdims)


def _place(name: str, x: Tile, axis: int | None, keepdims: bool) -> Tile:
    _check(x, f"arg{name}")
    flat = x.reshape(x.size) if axis is None and is_one_unit(x.shape) else x
    at = None if axis is None and flat is x else axis_of(flat, 0 if axis is None else axis)
    values = astype(flat, uint8) if flat.dtype.kind == "bool" else flat
    best = combined(name, values, at, True)
    found = values == best
    if values.dtype.kind == "float":
        found = found | (values != values)  # noqa: PLR0124 (NaN)
    number = _row_major(values) if at is None else numbers(values, at)
    place = where(found, broadcast_to(number, values.shape), _LAST)
    place = combined("min", place, at, keepdims)
    return place.reshape((1,) * x.ndim) if keepdims and axis is None else place


def _row_major(x: Tile) -> Tile:
    """Of each element its number in row-major order."""
    found = numbers(x, x.ndim - 1)
    for axis in range(x.ndim - 1):
        found = found + numbers(x, axis) * prod(x.shape[axis + 1 :])
    return found


def sort(x: Tile, axis: int = -1, *, descending: bool = False) -> Tile:
    """The elements along `axis` in order, NaN last, as `numpy.sort` has it; -0.0 before 0.0.

    Args:
        x: a tile.
        axis: the axis.
        descending: whether the largest comes first, and NaN before them.
    """
    _check(x, "sort")
    at = axis_of(x, axis)
    (keys,) = _sorted((apart(_keys(x)),), at, descending)
    return apart(_from_keys(keys, x))


def argsort(x: Tile, axis: int = -1, *, descending: bool = False) -> Tile:
    """The indices along `axis`, int32, that put the elements in order; equal ones keep theirs."""
    _, order = sort_by(x, broadcast_to(numbers(x, axis_of(x, axis)), x.shape), axis, descending)
    return order


def sort_by(
    keys: Tile, values: Tile | Sequence[Tile], axis: int = -1, descending: bool = False
) -> tuple[Tile, ...]:
    """Keys along `axis` in order, and tiles of the same shape brought into the same order.

    Args:
        keys: what is compared; of equal ones the first stays before the others.
        values: a tile, or several.
        axis: the axis.
        descending: whether the largest key comes first.

    Returns:
        The keys and the values.
    """
    _check(keys, "sort_by")
    others = [values] if isinstance(values, Tile) else list(values)
    for other in others:
        if not isinstance(other, Tile) or other.shape != keys.shape:
            raise TilecError(f"values are tiles of the keys' shape {keys.shape}, not {other!r}")
    at = axis_of(keys, axis)
    number = broadcast_to(numbers(keys, at), keys.shape)
    if descending:  # equal ones keep their order all the same
        number = ~number
    compared, number = _equal_zeros(keys, _keys(keys), number)
    held = _sorted(tuple(map(apart, (compared, number, *others))), at, descending, ties=True)
    found = (_from_keys(_own_zeros(keys, *held[:2]), keys), *held[2:])
    return tuple(apart(tile) for tile in found)


def topk(x: Tile, k: int, axis: int = -1) -> Tile:
    """The `k` largest elements along `axis`, the largest first; NaN counts as the largest.

    Raises:
        TilecError: if `k` is not a power of two, or more than there are.
    """
    _check(x, "topk")
    at = axis_of(x, axis)
    if not isinstance(k, int) or k < 1 or k & (k - 1) or k > x.shape[at]:
        raise TilecError(
            f"topk gives a power of two of {counted(x.shape[at], 'element')} or fewer, not {k!r}"
        )
    return part(sort(x, at, descending=True), at, 0, k)


def _check(x: object, what: str) -> None:
    if not isinstance(x, Tile) or not x.shape:
        raise TilecError(f"{what} takes a tile with a dimension at least, not {x!r}")
    check_computed(x, what)


def _keys(x: Tile) -> Tile:
    """Integers in the order of the elements: of floats those of one sign with NaN last."""
    if x.dtype.kind == "bool":
        return astype(x, uint8)
    if x.dtype.kind != "float":
        return x
    same = where(x == x, x, float("nan"))  # noqa: PLR0124 (NaN)
    bits = view(same, _SIGNED[x.dtype.bits])
    return where(bits < 0, bits ^ ((1 << (x.dtype.bits - 1)) - 1), bits)


_NEGATIVE_ZERO = -1
"""What `_keys` makes of it: one less than of zero, to which it is equal."""


def _equal_zeros(x: Tile, keys: Tile, number: Tile) -> tuple[Tile, Tile]:
    """Keys that are equal where the elements are; the lowest bit of a number says which zero."""
    if x.dtype.kind != "float":
        return keys, number
    negative = keys == _NEGATIVE_ZERO
    return where(negative, 0, keys), number * 2 + astype(negative, number.dtype)


def _own_zeros(x: Tile, keys: Tile, number: Tile) -> Tile:
    """The keys that `_equal_zeros` was given."""
    return where((number & 1) != 0, _NEGATIVE_ZERO, keys) if x.dtype.kind == "float" else keys


def _from_keys(keys: Tile, x: Tile) -> Tile:
    if x.dtype.kind == "bool":
        return astype(keys, x.dtype)
    if x.dtype.kind != "float":
        return keys
    return view(where(keys < 0, keys ^ ((1 << (x.dtype.bits - 1)) - 1), keys), x.dtype)


def _sorted(
    held: tuple[Tile, ...], axis: int, descending: bool, *, ties: bool = False
) -> tuple[Tile, ...]:
    """Tiles in the order of the first, along an axis: Batcher's bitonic sort.

    Args:
        held: the keys, with `ties` numbers that tell equal ones apart, and what goes with them.
        axis: the axis.
        descending: whether the largest comes first.
        ties: whether there are such numbers.
    """
    check_bits(held[0], axis, "a sort")
    number = numbers(held[0], axis)
    stages = held[0].shape[axis].bit_length() - 1
    for stage in range(1, stages + 1):
        up = (number & (1 << stage)) == (1 << stage if descending else 0)
        if stage == stages:
            up = (number & 0) == (1 if descending else 0)
        for bit in reversed(range(stage)):
            others = tuple(take(tile, axis, flip=1 << bit) for tile in held)
            least = ((number & (1 << bit)) == 0) == up
            chosen = _less(others, held, ties) == broadcast_to(least, held[0].shape)
            held = tuple(where(chosen, b, a) for a, b in zip(held, others, strict=True))
    return held


def _less(one: tuple[Tile, ...], other: tuple[Tile, ...], ties: bool) -> Tile:
    """Where elements come before others."""
    less = one[0] < other[0]
    return less | ((one[0] == other[0]) & (one[1] < other[1])) if ties else less
