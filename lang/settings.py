"""How a kernel is compiled and where it runs."""

from __future__ import annotations

from typing import Any, NamedTuple

from tilec.isa import TilecError, UnknownNameError


class Settings(NamedTuple):
    """How a kernel is compiled and where it runs.

    Attributes:
        warps: of a CTA.
        target: such as `sm_90a`; None for tilec's default.
        device: `sim`, `cuda`, `interpret`, which runs the kernel's Python with numpy arrays for its
            tiles, or None: the GPU for arrays that are on one, else the simulator.
        opt_level: LLVM's optimisation level, 0 to 3.
        lineinfo: say in PTX and binary which line of Python each instruction comes from.
        cache: use the compile cache on disk; None for whatever the environment says.
        stream: on a GPU: a stream, of any library, or its handle; None for the one that the arrays'
            library works on, or the default stream.
        wait: on a GPU: whether a launch waits for the kernel's end; None where it must.
        pipeline: the passes to run instead of those for the target, as `tilec.compile` takes them.
        numerics: the arithmetic of `interpret`: `hardware`, every operation rounded to its type;
            `f64`, every float a float64; `algebraic`, floats as integers modulo 2^w.
    """

    warps: int = 4
    target: str | None = None
    device: str | None = None
    opt_level: int = 3
    lineinfo: bool = False
    cache: bool | None = None
    stream: Any = None
    wait: bool | None = None
    pipeline: Any = None
    numerics: str = "hardware"

    def of_compilation(self) -> Settings:
        """What a compilation depends on."""
        return self._replace(device=None, stream=None, wait=None, numerics="hardware")

    def changed(self, options: dict[str, Any]) -> Settings:
        """These settings with some others.

        Raises:
            TilecError: for a name that is none, or a value that is not legal.
        """
        for name in options:
            if name not in self._fields:
                raise UnknownNameError("setting", name, self._fields)
        found = self._replace(**options)
        if not isinstance(found.warps, int) or found.warps not in (1, 2, 4, 8, 16, 32):
            raise TilecError(f"a CTA has 1, 2, 4, 8, 16 or 32 warps, not {found.warps!r}")
        if found.device not in (None, "cuda", "sim", "interpret"):
            raise TilecError(
                f"unknown device {found.device!r}; legal: 'cuda', 'sim', 'interpret', None for one "
                "of the first two"
            )
        if found.numerics != self.numerics:
            from tilec.interpret import arithmetic_of  # noqa: PLC0415 (imports MLIR)

            arithmetic_of(str(found.numerics))
        if found.wait not in (None, True, False):
            raise TilecError(
                f"wait is True, False, or None where a launch must, not {found.wait!r}"
            )
        if found.stream is not None:
            from tilec.runtime.cuda.streams import handle  # noqa: PLC0415 (for GPUs only)

            handle(found.stream)
        if isinstance(found.pipeline, list):
            found = found._replace(pipeline=tuple(found.pipeline))
        return found
