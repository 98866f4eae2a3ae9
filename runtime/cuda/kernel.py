"""Kernels of a loaded module, and their launch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import Any

from tilec.isa import LaunchError
from tilec.isa.launch import Extents, encode, extents

from .arguments import Arrays
from .bound import Launch
from .device import Device
from .driver import bindings
from .errors import DriverError
from .header import Entry, Param
from .module import Module
from .settings import check_extents, configuration
from .streams import handle


class Kernel:
    """A kernel on a GPU.

    Attributes:
        module: the module that holds it.
        name: its `.entry`.
    """

    def __init__(self, module: Module, name: str) -> None:
        self.module = module
        self.name = name
        self._allowed: dict[str, tuple[int, int]] = {}
        module.function(name)

    @property
    def device(self) -> Device:
        """The GPU."""
        return self.module.device

    @cached_property
    def parameters(self) -> tuple[Param, ...]:
        """What it takes; of a binary only the sizes are known."""
        return self._entry.parameters if self._entry else tuple(self._sizes())

    @property
    def _entry(self) -> Entry | None:
        known = self.module.header
        return known.entries.get(self.name) if known else None

    def _sizes(self) -> list[Param]:
        found: list[Param] = []
        while True:
            try:
                _, size = self._call("cuFuncGetParamInfo", len(found))
            except DriverError as error:
                if error.code != "CUDA_ERROR_INVALID_VALUE":  # there is no such parameter
                    raise
                return found
            type_ = f"b{8 * size}" if size in (1, 2, 4, 8) else "b8"
            found.append(Param(str(len(found)), type_, size, 1))

    @property
    def block(self) -> Extents | None:
        """The threads of a CTA that its PTX requires, if it does."""
        return self._entry.block if self._entry else None

    @cached_property
    def registers(self) -> int:
        """32-bit registers of a thread."""
        return self._attribute("NUM_REGS")

    @cached_property
    def static_shared(self) -> int:
        """Bytes of a CTA's static shared memory."""
        return self._attribute("SHARED_SIZE_BYTES")

    @cached_property
    def local(self) -> int:
        """Bytes of a thread's local memory, which holds what is spilled."""
        return self._attribute("LOCAL_SIZE_BYTES")

    @cached_property
    def max_threads(self) -> int:
        """The most threads that a CTA of it can have."""
        return self._attribute("MAX_THREADS_PER_BLOCK")

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
        packed, offsets = encode(self.name, self.parameters, args, arrays.address)
        return Launch(self, config, packed, offsets, arrays.kept)

    def allow_shared(self, dynamic: int) -> None:
        """Opt in to so much dynamic shared memory, where a CTA does not have it anyway.

        Raises:
            LaunchError: if the GPU has less.
        """
        size = self.static_shared + dynamic
        most = self.device.attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")
        if dynamic < 0 or size > most:
            raise LaunchError(
                f"kernel '{self.name}' uses {size} bytes of shared memory, {dynamic} of them "
                f"dynamic; {self.device} has {most} for a CTA"
            )
        if size > self.device.target.static_shared:
            self.allow("MAX_DYNAMIC_SHARED_SIZE_BYTES", dynamic)

    def allow(self, attribute: str, value: int) -> None:
        """Raise a `CU_FUNC_ATTRIBUTE_…`, given by the rest of its name, to `value`."""
        if self._allowed.get(attribute, (0, 0)) < (self.device.epoch, value):
            self._call("cuFuncSetAttribute", self._named(attribute), value)
            self._allowed[attribute] = self.device.epoch, value

    def _attribute(self, name: str) -> int:
        function = self.module.function(self.name)
        number: int = self.device.call("cuFuncGetAttribute", self._named(name), function)
        return number

    def _named(self, attribute: str) -> Any:
        return getattr(bindings().CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{attribute}")

    def _call(self, function: str, *args: Any) -> Any:
        return self.device.call(function, self.module.function(self.name), *args)
