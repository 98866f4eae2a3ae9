"""A tensor load into shared memory that was filled before, and what it leaves there."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..driver import Cuda
from .ptx import POLLS, Probe, filled, given_back, module

BEFORE = 0xA5A5A5A5
"""What shared memory holds before the load, word by word."""


def program(size: int, rank: int = 2) -> str:
    """PTX of a kernel that loads one box, waits for its bytes, and gives shared memory back.

    Args:
        size: bytes of shared memory, a multiple of 512.
        rank: dimensions of the map; the parameters `c0`, … are the coordinates.
    """
    coordinates = [f"%c{n}" for n in range(rank)]
    body = [
        f".shared .align 1024 .b8 image[{size}];",
        ".shared .align 8 .b64 full;",
        ".reg .b64 %p, %map;",
        f".reg .b32 %lane, %at, %word, %bytes, %left, {', '.join(coordinates)};",
        ".reg .pred %others, %done;",
        "mov.u32 %lane, %tid.x;",
        *filled("image", size, BEFORE),
        "ld.param.u32 %bytes, [bytes];",
        "setp.ne.u32 %others, %lane, 0;",
        "@%others bra ready;",
        "mbarrier.init.shared::cta.b64 [full], 1;",
        "ready:",
        "fence.proxy.async.shared::cta;",
        "bar.sync 0;",
        "@%others bra issued;",
        *(f"ld.param.u32 {one}, [{one[1:]}];" for one in coordinates),
        "mov.b64 %map, map;",
        "cvta.param.u64 %map, %map;",
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], %bytes;",
        f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        f" [image], [%map, {{{', '.join(coordinates)}}}], [full];",
        "issued:",
        f"mov.u32 %left, {POLLS};",
        "poll:",
        "mbarrier.test_wait.parity.shared::cta.b64 %done, [full], 0;",
        "@%done bra landed;",
        "nanosleep.u32 200;",
        "sub.u32 %left, %left, 1;",
        "setp.ne.u32 %done, %left, 0;",
        "@%done bra poll;",
        "landed:",
        *given_back("image", size, "out"),
        # Whether the phase has completed.
        f"st.global.b32 [%p+{size}], %left;",
    ]
    parameters = [".align 64 .b8 map[128]", ".u64 out", ".u32 bytes"]
    return module([*parameters, *(f".u32 {one[1:]}" for one in coordinates)], body)


class Loads:
    """Loads from one array.

    Args:
        cuda: the GPU.
        array: in global memory.
        size: bytes of shared memory, a multiple of 512.
    """

    def __init__(self, cuda: Cuda, array: np.ndarray, size: int) -> None:
        self._probe = Probe(cuda, program(size))
        self._array, self._size = array, size
        self._from = self._probe.given(array)
        self._held = np.zeros(size // 4 + 128, np.uint32)
        self._out = self._probe.given(self._held)

    def load(
        self, described: Mapping[str, Any], first: tuple[int, int], count: int
    ) -> tuple[np.ndarray, bool]:
        """Load a box.

        Args:
            described: the map, less shape and strides, which are the array's.
            first: row and column that the box begins at.
            count: bytes that the phase waits for.

        Returns:
            The bytes of shared memory, and whether the phase has completed.

        Raises:
            DeviceError: for a map that the driver refuses.
        """
        shape, strides = list(self._array.shape), list(self._array.strides)
        known = {"shape": shape, "strides": strides, **described}
        map_ = self._probe.cuda.tensor_map(known, self._from)
        row, column = first
        words = [ctypes.c_uint32(n & 0xFFFFFFFF) for n in (count, column, row)]
        self._probe.launch(1, [map_, self._out, *words])
        held = self._probe.result(self._out, self._held)
        return held[: self._size // 4].view(np.uint8), bool((held[self._size // 4 :] != 0).all())

    def close(self) -> None:
        """Give everything back."""
        self._probe.close()
