"""Kernels of a loaded module, and their launch."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tilec.isa import LaunchError
from tilec.isa.launch import encode, extents

from .arguments import Arrays
from .bound import Launch
from .function import Function
from .settings import check_extents, configuration
from .streams import handle


class Kernel(Function):
    """A kernel on a GPU.

    Attributes:
        module: the module that holds it.
        name: its `.entry`.
    """

    def occupancy(self, block: int | Sequence[int], dynamic_smem: int = 0) -> int:
        """CTAs that an SM holds at once.

        Args:
            block: threads of a CTA.
            dynamic_smem: its dynamic shared memory in bytes.

        Raises:
            LaunchError: if the GPU has not so much shared memory.
        """
        self.allow_shared(dynamic_smem)
        threads = prod(extents(block, "block"))
        count: int = self._call(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor", threads, dynamic_smem
        )
        return count

    def clusters(
        self,
        cluster: int | Sequence[int],
        block: int | Sequence[int],
        dynamic_smem: int = 0,
    ) -> int:
        """Clusters that the GPU holds at once.

        Args:
            cluster: CTAs of a cluster.
            block: threads of a CTA.
            dynamic_smem: its dynamic shared memory in bytes.

        Raises:
            LaunchError: if the GPU has no such clusters, or not so much shared memory.
        """
        ctas, threads = extents(cluster, "cluster"), extents(block, "block")
        check_extents(self, ctas, threads, ctas)
        config = configuration(self, ctas, threads, dynamic_smem, ctas, 0)
        count: int = self._call("cuOccupancyMaxActiveClusters", config)
        return count

    def bind(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any],
        *,
        dynamic_smem: int = 0,
        cluster: int | Sequence[int] | None = None,
        stream: Any = None,
    ) -> Launch:
        """A launch with everything settled, to be made many times; it takes arrays on the GPU only.

        Args:
            grid: as `launch` takes it, like what follows.
            block: threads of a CTA.
            args: arguments.
            dynamic_smem: dynamic shared memory in bytes.
            cluster: CTAs of a cluster.
            stream: the stream.

        Raises:
            LaunchError: if extents or arguments do not fit.
        """
        self.module.function(self.name)  # after a fault in a new context, where others are lost
        queue = handle(stream)
        arrays = Arrays(self.device, queue)
        try:
            launch = self._bound(grid, block, args, dynamic_smem, cluster, arrays)
            if arrays.copied:
                raise LaunchError(
                    f"kernel '{self.name}': a bound launch takes arrays on the GPU; "
                    "tilec.runtime.cuda.Array.of copies one there"
                )
        finally:
            arrays.close()
        return launch

    def launch(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any],
        *,
        dynamic_smem: int = 0,
        cluster: int | Sequence[int] | None = None,
        stream: Any = None,
    ) -> None:
        """Run the kernel.

        It waits for the kernel's end, unless a stream is given and no array is copied.

        Args:
            grid: CTAs along x, y and z.
            block: threads of a CTA along x, y and z.
            args: one for each parameter, as `tilec.sim.launch` takes them: numpy arrays (copied to
                the GPU and, if they are writable, back), numpy or Python scalars, None for a
                null pointer, structures; and arrays on the GPU by DLPack or
                `__cuda_array_interface__`, whose address is passed.
            dynamic_smem: dynamic shared memory in bytes.
            cluster: CTAs of a cluster along x, y and z, where it is not fixed in the code.
            stream: a `Stream`, one of another library, or a handle; by default the default stream.

        Raises:
            LaunchError: if extents or arguments do not fit, or the driver refuses the launch.
            OutOfMemoryError: if an array does not fit.
            FaultError: if the kernel has faulted, or one before it whose end nobody awaited.
        """
        self.module.function(self.name)  # after a fault in a new context, where others are lost
        queue = handle(stream)
        arrays = Arrays(self.device, queue)
        try:
            self._bound(grid, block, args, dynamic_smem, cluster, arrays)()
            if arrays.copied:
                arrays.copy_back()
            elif stream is None:
                self.device.call("cuStreamSynchronize", queue)
        finally:
            arrays.close()

    def _bound(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any],
        dynamic_smem: int,
        cluster: int | Sequence[int] | None,
        arrays: Arrays,
    ) -> Launch:
        ctas, threads = extents(grid, "grid"), extents(block, "block")
        clustered = None if cluster is None else extents(cluster, "cluster")
        check_extents(self, ctas, threads, clustered)
        config = configuration(self, ctas, threads, dynamic_smem, clustered, arrays.stream)
        arrays.copy(args)
        given = [arrays.mapped(value) for value in args]
        packed, offsets = encode(self.name, self.parameters, given, arrays.address)
        return Launch(self, config, packed, offsets, arrays.kept)
