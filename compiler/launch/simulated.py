"""What a launch on the simulator passes for tensor maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilec import sim
from tilec.runtime.tensor_maps import BoxedArray

SMS = 132
"""SMs of the GPU that a launch on the simulator takes it for: an H100's, or an H200's."""


def for_simulator(parameters: Sequence[Any]) -> list[Any]:
    """The parameters of a launch, the simulator's tensor maps in place of boxed arrays."""
    return [_map(one) if isinstance(one, BoxedArray) else one for one in parameters]


def _map(boxed: BoxedArray) -> sim.TensorMap:
    return sim.TensorMap(
        boxed.array,
        box=None if boxed.im2col else boxed.box,
        swizzle=boxed.swizzle,
        element_strides=boxed.element_strides or None,
        im2col=boxed.im2col,
    )
