"""What the driver says of a kernel, and what it may be allowed."""

from __future__ import annotations

from typing import Any

from tilec.isa import LaunchError
from tilec.isa.launch import Extents
from tilec.isa.lazy import cached_property
from tilec.isa.wording import counted

from .code import Code
from .device import Device
from .driver import bindings
from .errors import DriverError
from .header import Entry, Param


class Function:
    """A kernel on a GPU, as the driver knows it.

    Attributes:
        module: what it was loaded with.
        name: its `.entry`.
    """

    def __init__(self, module: Code, name: str) -> None:
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

    @property
    def waits(self) -> bool:
        """Whether its PTX waits for the grids before it, so that it may begin before they end."""
        return self._entry is not None and self._entry.waits

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

    def allow_shared(self, dynamic: int) -> None:
        """Opt in to so much dynamic shared memory, where a CTA does not have it anyway.

        Raises:
            LaunchError: if the GPU has less.
        """
        size = self.static_shared + dynamic
        most = self.device.attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")
        if dynamic < 0 or size > most:
            raise LaunchError(
                f"kernel '{self.name}' uses {counted(size, 'byte')} of shared memory, {dynamic} of "
                "them "
                f"dynamic; {self.device} has {most} per CTA"
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
