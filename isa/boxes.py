"""Boxes of im2col: what a tensor map says of them besides the array. PTX ISA, "im2col mode"."""

from __future__ import annotations

from typing import NamedTuple


class Im2col(NamedTuple):
    """The box of an im2col map, of arrays (N, …, W, C).

    Attributes:
        lower, upper: corners of the pixels that the box covers, relative to the first and the last
            pixel, W first.
        channels: channels of a pixel that are copied, at most 256.
        pixels: pixels that are copied, at most 1024.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    channels: int
    pixels: int
