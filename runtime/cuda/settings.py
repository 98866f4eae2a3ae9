"""Extents of a launch, checked and as the driver takes them."""

from __future__ import annotations

from math import prod
from typing import Any

from tilec.isa import LaunchError
from tilec.isa.launch import Extents, check_cluster
from tilec.isa.limits import PORTABLE_CLUSTER
from tilec.isa.wording import counted

from .driver import bindings
from .function import Function


def check_extents(kernel: Function, grid: Extents, block: Extents, cluster: Extents | None) -> None:
    """Check the extents of a launch.

    Raises:
        LaunchError: naming what is too large.
    """
    device = kernel.device
    limits = tuple(device.attribute(f"MAX_GRID_DIM_{axis}") for axis in "XYZ")
    if any(n > most for n, most in zip(grid, limits, strict=True)):
        raise LaunchError(f"a grid of {grid}; at most {limits} is legal")
    if kernel.block not in (None, block):
        raise LaunchError(f"kernel '{kernel.name}' requires blocks of {kernel.block}")
    if prod(block) > kernel.max_threads:
        raise LaunchError(
            f"a CTA of {counted(prod(block), 'thread')}; kernel '{kernel.name}', with "
            f"{kernel.registers} "
            f"registers per thread, takes at most {kernel.max_threads} on {device}"
        )
    if cluster is None:
        return
    if not device.attribute("CLUSTER_LAUNCH"):
        raise LaunchError(f"{device}, {device.target}, has no clusters; sm_90 and later have")
    check_cluster(grid, cluster)


def configuration(
    kernel: Function,
    grid: Extents,
    block: Extents,
    dynamic_smem: int,
    cluster: Extents | None,
    stream: int,
) -> Any:
    """A `CUlaunchConfig`, with what the kernel has to opt in to done.

    Raises:
        LaunchError: if the GPU has not so much shared memory.
    """
    kernel.allow_shared(dynamic_smem)
    driver = bindings()
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    config.sharedMemBytes = dynamic_smem
    config.hStream = stream
    attributes: list[Any] = []
    if cluster is not None:
        if prod(cluster) > PORTABLE_CLUSTER:
            kernel.allow("NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1)
        value = driver.CUlaunchAttributeValue()
        value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = cluster
        attributes.append(_attribute("CLUSTER_DIMENSION", value))
    if kernel.waits:
        value = driver.CUlaunchAttributeValue()
        value.programmaticStreamSerializationAllowed = 1
        attributes.append(_attribute("PROGRAMMATIC_STREAM_SERIALIZATION", value))
    if attributes:
        config.attrs, config.numAttrs = attributes, len(attributes)
    return config


def _attribute(name: str, value: Any) -> Any:
    """A `CUlaunchAttribute`, by the rest of its `CU_LAUNCH_ATTRIBUTE_…`."""
    driver = bindings()
    made = driver.CUlaunchAttribute()
    made.id = getattr(driver.CUlaunchAttributeID, f"CU_LAUNCH_ATTRIBUTE_{name}")
    made.value = value
    return made
