"""A launch as far as counting needs it: extents, and parameters whose pointers point nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from tilec.isa.launch import Extents, encode, extents
from tilec.launch.abi import KernelEntry
from tilec.launch.arguments import passed
from tilec.launch.simulated import for_simulator
from tilec.sim import TensorMap
from tilec.sim.memory import GLOBAL_BASE
from tilec.sim.ptx.module import Function

from ..errors import TuningError

_APART = 1 << 40
"""Bytes from one array's address to the next, beyond the size of any."""
_MAP_BYTES = 128


@dataclass(frozen=True)
class PlainLaunch:
    """A launch without data.

    Attributes:
        grid: CTAs along x, y and z.
        block: threads of a CTA.
        cluster: CTAs of a cluster.
        parameters: the bytes of all parameters.
        offsets: of each parameter, by name.
        boxes: bytes of a copy by the tensor map at an offset.
        dynamic_shared: bytes.
    """

    grid: Extents
    block: Extents
    cluster: Extents
    parameters: bytes
    offsets: dict[str, int]
    boxes: dict[int, int]
    dynamic_shared: int = 0

    @property
    def ctas(self) -> int:
        """How many there are."""
        return prod(self.grid)

    @property
    def threads(self) -> int:
        """Of a CTA."""
        return prod(self.block)


def plain_launch(
    kernel: KernelEntry, function: Function, args: Sequence[Any], grid: Extents | None, sms: int
) -> PlainLaunch:
    """The launch of a kernel that tilec compiled.

    Args:
        kernel: how it is launched.
        function: its PTX.
        args: arrays, of which extents and strides are read alone, and scalars.
        grid: the CTAs that the launch names; None for what the kernel says.
        sms: SMs of the GPU.

    Raises:
        LaunchError: for arguments and grids that do not fit.
        TuningError: for a kernel that does not fix what it is launched with.
    """
    ctas = kernel.ctas([getattr(one, "shape", ()) for one in args]) if grid is None else grid
    if ctas is None or kernel.block is None:
        raise TuningError(f"kernel '{kernel.name}' does not fix its grid and threads")
    named = extents(ctas, "grid")
    return plain(
        function,
        for_simulator(passed(kernel, args, grid=named)),
        kernel.launched(named, sms),
        kernel.block,
        kernel.cluster or (1, 1, 1),
        kernel.dynamic_shared,
    )


def plain(
    function: Function,
    parameters: Sequence[Any],
    grid: Extents,
    block: Extents,
    cluster: Extents = (1, 1, 1),
    dynamic_shared: int = 0,
) -> PlainLaunch:
    """The launch of any kernel, with a value for each of its parameters."""
    boxed = {at: _box_bytes(one) for at, one in enumerate(parameters) if isinstance(one, TensorMap)}
    values = [bytes(_MAP_BYTES) if at in boxed else one for at, one in enumerate(parameters)]
    addresses: dict[int, int] = {}

    def address(value: object, name: str) -> int | None:
        del name
        if value is None:
            return 0
        if not isinstance(value, np.ndarray) or not value.ndim:
            return None
        return addresses.setdefault(id(value), GLOBAL_BASE + _APART * (len(addresses) + 1))

    packed, offsets = encode(function.name, function.parameters, values, address)
    names = [one.name for one in function.parameters]
    boxes = {offsets[at]: size for at, size in boxed.items()}
    by_name = dict(zip(names, offsets, strict=True))
    return PlainLaunch(grid, block, cluster, packed, by_name, boxes, dynamic_shared)


def _box_bytes(one: TensorMap) -> int:
    """Bytes that a copy by a tensor map brings."""
    known, size = one.descriptor, one.array.itemsize
    if known.im2col is not None:
        return known.im2col.pixels * known.im2col.channels * size
    steps = zip(known.box, known.steps, strict=True)
    return prod(-(-n // step) for n, step in steps) * size
