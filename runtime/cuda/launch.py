"""Launches of a kernel by its name, as the simulator takes them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from .module import Module, load

_loaded = lru_cache(maxsize=32)(load)


def loaded(code: str | bytes, device: int = 0) -> Module:
    """A module for a GPU; of those of late none is loaded twice.

    Raises:
        CudaError: if there is no GPU, or it cannot run the module.
    """
    return _loaded(code, device=device)


def launch(
    code: str | bytes | Path,
    kernel: str,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Any],
    *,
    dynamic_smem: int = 0,
    cluster: int | Sequence[int] | None = None,
    stream: Any = None,
    device: int = 0,
) -> None:
    """Run a kernel; of the modules of late none is loaded twice.

    Args:
        code: PTX text, a cubin or fat binary, or the path of a file of either.
        kernel: name of the `.entry`.
        grid: as `Kernel.launch` takes it, like what follows.
        block: threads of a CTA.
        args: arguments.
        dynamic_smem: dynamic shared memory in bytes.
        cluster: CTAs of a cluster.
        stream: the stream.
        device: the GPU's number.

    Raises:
        CudaError: if there is no GPU, it cannot run the module, or the kernel faults.
        LaunchError: if kernel, extents or arguments do not fit.
        OSError: if the file cannot be read.
    """
    if isinstance(code, Path):
        code = code.read_bytes()
    _loaded(code, device=device).kernel(kernel).launch(
        grid, block, args, dynamic_smem=dynamic_smem, cluster=cluster, stream=stream
    )
