"""Launches of compiled kernels, on a GPU or the simulator."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Protocol

from tilec import sim
from tilec.isa import LaunchError, Target, TilecError, nearest
from tilec.isa.launch import Extents, extents
from tilec.isa.wording import counted
from tilec.runtime import cuda
from tilec.runtime.cuda.bound import Launch
from tilec.runtime.cuda.launch import loaded
from tilec.runtime.cuda.views import is_shared
from tilec.sim.report import TENSOR_FENCE

from .abi import KernelEntry
from .arguments import passed
from .findings import name_lines, with_lines_named
from .simulated import SMS, for_simulator

DEVICES = ("cuda", "sim")


class Launchable(Protocol):
    """PTX and how its kernels are launched; `Compiled` is one."""

    target: Target

    @property
    def ptx(self) -> str:
        """PTX."""
        ...

    @property
    def kernels(self) -> Sequence[KernelEntry]:
        """How each kernel is launched."""
        ...

    def with_lines(self) -> str:
        """The same PTX, with the lines of the program that it comes from."""
        ...


def launch(
    compiled: Launchable,
    args: Sequence[Any],
    *,
    grid: int | Sequence[int] | None,
    block: int | Sequence[int] | None,
    kernel: str | None,
    device: str | None,
    dynamic_smem: int | None,
    cluster: int | Sequence[int] | None,
    stream: Any,
    sms: int | None,
    timeline: Sequence[int] | None,
) -> sim.Report | None:
    """What `Compiled.launch` does."""
    where = _device(compiled, args, device)
    if timeline is not None and where != "sim":
        raise LaunchError("only the simulator records timelines; use device='sim'")
    found = _kernel(compiled, kernel)
    threads = _threads(found, block)
    shared = found.dynamic_shared if dynamic_smem is None else dynamic_smem
    if not isinstance(shared, int):
        raise LaunchError(f"dynamic shared memory is a number of bytes, not {shared!r}")
    clusters = _clusters(found, cluster)
    ctas = _grid(found, args, grid)
    if where == "sim":
        for number, value in enumerate(args):
            if is_shared(value):
                raise LaunchError(
                    f"argument {number} is on a GPU; the simulator takes numpy arrays"
                )
        try:
            report = sim.launch(
                compiled.ptx,
                found.name,
                found.launched(ctas, SMS, sms),
                threads,
                for_simulator(passed(found, args, grid=ctas)),
                arch=compiled.target.name,
                dynamic_smem=shared,
                cluster=clusters,
                timeline=timeline,
            )
        except sim.SimulationError as error:
            raise with_lines_named(error, compiled.ptx, compiled.with_lines) from None
        report.demand(TENSOR_FENCE)  # what is compiled here does not rely on what hardware does
        sys.stdout.write(report.output)  # as the driver does
        name_lines(report, compiled.ptx, compiled.with_lines)
        return report.require_ok()
    gpu = cuda.gpu()
    gpu.activate()  # after a fault a new context, where the arrays of before are lost
    parameters = passed(found, args, stream, grid=ctas)
    cuda.launch(
        compiled.ptx,
        found.name,
        _launched(found, ctas, sms),
        threads,
        parameters,
        dynamic_smem=shared,
        cluster=clusters,
        stream=stream,
    )
    return None


def bind(
    compiled: Launchable,
    args: Sequence[Any],
    *,
    grid: int | Sequence[int],
    stream: Any,
    sms: int | None,
) -> Launch:
    """What `Compiled.bind` does."""
    found = _kernel(compiled, None)
    module = loaded(compiled.ptx)
    ctas = _grid(found, args, grid)
    return module.kernel(found.name).bind(
        _launched(found, ctas, sms),
        _threads(found, None),
        passed(found, args, stream, grid=ctas),
        dynamic_smem=found.dynamic_shared,
        cluster=_clusters(found, None),
        stream=stream,
    )


def _launched(kernel: KernelEntry, grid: Extents, sms: int | None) -> Extents:
    """The CTAs that are launched on a GPU for a grid."""
    there = 1 if kernel.ctas_per_sm is None else cuda.gpu().multiprocessors
    return kernel.launched(grid, there, sms)


def _threads(kernel: KernelEntry, block: int | Sequence[int] | None) -> Extents:
    if block is None:
        if kernel.block is None:
            raise LaunchError(f"kernel '{kernel.name}' does not fix its block; give one")
        return kernel.block
    given = extents(block, "block")
    if kernel.block is not None and given != kernel.block:
        raise LaunchError(
            f"kernel '{kernel.name}' is compiled for blocks of {counted(kernel.block, 'thread')}, "
            f"not {given}"
        )
    return given


def _clusters(kernel: KernelEntry, given: int | Sequence[int] | None) -> Extents | None:
    """CTAs of a cluster: what the kernel fixes, else what the launch says."""
    if given is None:
        return kernel.cluster
    wanted = extents(given, "cluster")
    if kernel.cluster not in (None, wanted):
        raise LaunchError(
            f"kernel '{kernel.name}' is compiled for clusters of {counted(kernel.cluster, 'CTA')}, "
            "not "
            f"{wanted}"
        )
    return wanted


def _device(compiled: Launchable, args: Sequence[Any], device: str | None) -> str:
    if device is None:
        on_gpu = any(map(is_shared, args)) or cuda.available(compiled.target)
        return "cuda" if on_gpu else "sim"
    if device not in DEVICES:
        raise TilecError(f"unknown device '{device}'; legal: {', '.join(DEVICES)}, None for either")
    return device


def _grid(kernel: KernelEntry, args: Sequence[Any], given: int | Sequence[int] | None) -> Extents:
    """The CTAs that are given, or those that the kernel asks for."""
    if given is not None:
        return extents(given, "grid")
    ctas = kernel.ctas([getattr(value, "shape", ()) for value in args])
    if ctas is None:
        raise LaunchError(f"kernel '{kernel.name}' does not fix its grid; give one")
    return extents(ctas, "grid")


def _kernel(compiled: Launchable, name: str | None) -> KernelEntry:
    known = {kernel.name: kernel for kernel in compiled.kernels}
    if name is None:
        if len(known) > 1:
            raise LaunchError(f"which kernel should be launched? There are: {', '.join(known)}")
        (name,) = known
    if name not in known:
        raise LaunchError(
            f"there is no kernel '{name}'; nearest: {', '.join(nearest(name, known))}"
        )
    return known[name]
