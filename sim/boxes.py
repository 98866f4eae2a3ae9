"""What a tensor copy moves: elements of an array, and their places in shared memory.

PTX ISA, "Tensors": boxes, im2col, swizzles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from tilec.layout.swizzle import SWIZZLES

from .alu import Array
from .map_bytes import Descriptor


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements of one copy.

    Attributes:
        size: bytes of each.
        source: byte address of each in the array's state space.
        inside: which of them lie in the array.
        offset: byte of each in the packed box, before any swizzle.
    """

    size: int
    source: Array
    inside: Array
    offset: Array

    @property
    def bytes(self) -> int:
        """Bytes of the box, elements outside the array included."""
        return self.size * self.offset.size


def swizzled(address: Array, swizzle: str) -> Array:
    """Addresses in shared memory of bytes that a swizzle moves."""
    return SWIZZLES[swizzle](address)


@lru_cache(maxsize=64)
def _box(extents: tuple[int, ...], steps: tuple[int, ...]) -> tuple[Array, ...]:
    """Coordinates in the box, along each dimension, of the elements that are copied."""
    counts = [-(-n // step) for n, step in zip(extents, steps, strict=True)]
    index = np.arange(int(np.prod(counts)))
    found = []
    for count, step in zip(counts, steps, strict=True):
        found.append(index % count * step)
        index = index // count
    return tuple(found)


def tile(descriptor: Descriptor, first: tuple[int, ...]) -> Elements:
    """The elements of a tiled copy whose box begins at some coordinates, dimension 0 first."""
    steps = descriptor.steps
    if descriptor.interleave == "none":
        steps = (1, *steps[1:])
    coordinates = [at + along for at, along in zip(first, _box(descriptor.box, steps), strict=True)]
    return _elements(descriptor, coordinates)


def rows(descriptor: Descriptor, first: tuple[int, ...]) -> Elements:
    """The elements of four rows of a matrix: the first column, then the number of each row."""
    column, *numbers = first
    wide = descriptor.box[0]
    columns = np.tile(column + np.arange(wide), len(numbers))
    return _elements(descriptor, [columns, np.repeat(numbers, wide)])


def im2col(descriptor: Descriptor, first: tuple[int, ...], offsets: tuple[int, ...]) -> Elements:
    """The elements of an im2col copy.

    Args:
        descriptor: of an array (N, …, W, C).
        first: channel and pixel that the copy begins at, and the image.
        offsets: what is added to each pixel's coordinates, W first.
    """
    box = descriptor.im2col
    assert box is not None
    channel, *pixel, image = first
    spans = [
        (low, dim + high - 1)
        for low, high, dim in zip(box.lower, box.upper, descriptor.dims[1:-1], strict=True)
    ]
    walked: list[list[int]] = []
    at = list(pixel)
    for _ in range(box.pixels):
        walked.append([*at, image])
        for number, (low, high) in enumerate(spans):
            at[number] += descriptor.steps[number + 1]
            if at[number] <= high:
                break
            at[number] = low
        else:
            image += 1
    pixels = np.array(walked).T.repeat(box.channels, axis=1)
    channels = np.tile(channel + np.arange(box.channels), box.pixels)
    moved = [p + o for p, o in zip(pixels, (*offsets, 0), strict=True)]
    return _elements(descriptor, [channels, *moved])


def _elements(descriptor: Descriptor, coordinates: list[Array]) -> Elements:
    size = descriptor.size
    inside = np.ones(coordinates[0].shape, np.bool_)
    source = np.full(coordinates[0].shape, descriptor.address, np.int64)
    strides = (size, *descriptor.strides)
    for along, dim, stride in zip(coordinates, descriptor.dims, strides, strict=True):
        inside &= (along >= 0) & (along < dim)
        source += along * stride
    return Elements(size, source, inside, np.arange(len(source)) * size)
