"""Boxes of arrays, as the tensor memory accelerator walks them. PTX ISA, "Tensors"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tilec.isa.boxes import Im2col
from tilec.isa.limits import MAP_ALIGNMENT

from .memory import View
from .numbers import Array


def tile_coordinates(
    first: Sequence[int], extents: tuple[int, int], steps: Sequence[int]
) -> list[Array]:
    """Where the elements of a box lie in an array, (rows, columns) along each dimension.

    Args:
        first: of its first element.
        extents: rows and columns that are copied.
        steps: along each dimension, every how-manieth element is.
    """
    rows, cols = (np.arange(n) for n in extents)
    found = [np.full(extents, at) for at in first]
    found[-2] = found[-2] + (rows * steps[-2])[:, None]
    found[-1] = found[-1] + cols * steps[-1]
    return found


def row_coordinates(rows: Sequence[int], first: int, columns: int) -> list[Array]:
    """Where the elements of some rows of a matrix lie, so many columns from the first on."""
    shape = len(rows), columns
    numbers, along = np.asarray(rows)[:, None], first + np.arange(columns)
    return [np.broadcast_to(numbers, shape), np.broadcast_to(along, shape)]


def begins_inside(
    first: Sequence[int], box: Im2col, sizes: Sequence[int], steps: Sequence[int]
) -> bool:
    """Whether the first pixel of an im2col copy is one that the corners leave."""
    inner = (one[1:-1] for one in (first, sizes, steps))
    spatial = zip(*inner, box.lower[::-1], box.upper[::-1], strict=True)
    return all(
        low <= at < size + high and (at - low) % step == 0 for at, size, step, low, high in spatial
    )


def im2col_coordinates(
    first: Sequence[int],
    box: Im2col,
    sizes: Sequence[int],
    steps: Sequence[int],
    offsets: Sequence[int],
) -> list[Array]:
    """Where the elements of an im2col copy lie in an array (N, …, W, C), (pixels, channels) each.

    The pixels are those within the corners, row after row and image after image: their number
    counts up from that of the first.

    Args:
        first: image, pixel and channel that it begins at.
        box: the corners, W first; pixels and channels.
        sizes: of the array.
        steps: along each dimension, every how-manieth element is copied.
        offsets: what is added to each pixel's place, W first.
    """
    image, *pixel, channel = first
    spatial = sizes[1:-1]
    lower, upper = box.lower[::-1], box.upper[::-1]
    spans = [
        (size + high - 1 - low) // step + 1
        for size, low, high, step in zip(spatial, lower, upper, steps[1:-1], strict=True)
    ]
    starts = [(at - low) // step for at, low, step in zip(pixel, lower, steps[1:-1], strict=True)]
    number = np.arange(box.pixels) + np.ravel_multi_index(starts, spans, mode="clip")
    image_of = image + number // int(np.prod(spans))
    within = np.unravel_index(number % int(np.prod(spans)), spans)
    moved = [
        low + along * step + offset
        for low, along, step, offset in zip(lower, within, steps[1:-1], offsets[::-1], strict=True)
    ]
    channels = channel + np.arange(box.channels)
    shape = box.pixels, box.channels
    return [
        *(np.broadcast_to(at[:, None], shape) for at in (image_of, *moved)),
        np.broadcast_to(channels, shape),
    ]


def places_of(view: View, coordinates: Sequence[Array]) -> tuple[Array, Array]:
    """The elements at coordinates, 0 for those outside, and which are inside."""
    place = np.full(coordinates[0].shape, view.offset, np.int64)
    inside = np.ones(place.shape, bool)
    for at, size, stride in zip(coordinates, view.sizes, view.strides, strict=True):
        place += at * stride
        inside &= (at >= 0) & (at < size)
    return np.where(inside, place, 0), inside


def has_map(view: View) -> bool:
    """Whether a tensor map tells an array: rows that begin at multiples of 16 bytes."""
    size = max(1, view.buffer.number.bits // 8)
    pitches = zip(view.sizes[:-1], view.strides[:-1], strict=True)
    return (
        all(size > 0 for size in view.sizes)
        and view.strides[-1] == 1
        and view.offset * size % MAP_ALIGNMENT == 0
        and all(n == 1 or stride * size % MAP_ALIGNMENT == 0 for n, stride in pitches)
    )
