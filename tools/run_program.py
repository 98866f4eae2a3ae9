"""What `tile-run` runs: a kernel of a PTX text or of a tile program, and its launch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tilec import sim
from tilec.isa import TilecError, nearest
from tilec.isa.launch import Extents
from tilec.sim.fitting import architecture
from tilec.sim.ptx import read_text

from .files import read_input
from .run_arguments import Value

if TYPE_CHECKING:
    from tilec.compiled import Compiled
    from tilec.launch.abi import KernelEntry

_PTX = re.compile(r"^\s*\.version\b", re.MULTILINE)


class RefusedError(TilecError):
    """Errors of a tile program, as a terminal shows them."""


@dataclass(frozen=True, slots=True)
class LoadedProgram:
    """PTX, and what is known of its kernels.

    Attributes:
        ptx: the text, read.
        arch: architecture that it is for.
        kernels: how they are launched, where tilec compiled them; by name.
        compiled: the compilation, of a tile program.
    """

    ptx: sim.Module
    arch: str
    kernels: dict[str, KernelEntry]
    compiled: Compiled | None = None

    def kernel(self, name: str | None) -> str:
        """The name of the kernel to run; without one, the only kernel's.

        Raises:
            TilecError: if there is none, or several and no name.
        """
        names = [f.name for f in self.ptx.functions.values() if f.entry and f.body is not None]
        if name is None and len(names) == 1:
            return names[0]
        if name in names:
            return name
        if name is None:
            listed = ", ".join(names) or "none"
            raise TilecError(f"--kernel names the kernel to run; there are: {listed}")
        hint = f"; nearest: {', '.join(nearest(name, names))}" if names else ""
        raise TilecError(f"no kernel '{name}'{hint}")

    def block(self, name: str) -> tuple[int, int, int] | None:
        """The threads of a CTA, where the kernel fixes them."""
        known = self.kernels.get(name)
        if known is not None and known.block is not None:
            return known.block
        required = self.ptx.functions[name].directives.get("reqntid")
        x, y, z = (*required, 1, 1)[:3] if required else (0, 0, 0)
        return (x, y, z) if required else None

    def grid(self, name: str, values: Sequence[Value]) -> tuple[int, ...]:
        """The CTAs for arguments that fit the kernel: what it says, else one."""
        known = self.kernels.get(name)
        shapes = [getattr(value, "shape", ()) for value in values]
        return (known.ctas(shapes) if known is not None else None) or (1,)

    def cluster(self, name: str) -> tuple[int, int, int] | None:
        """The CTAs of a cluster, where the kernel fixes them."""
        required = self.ptx.functions[name].directives.get("reqnctapercluster")
        x, y, z = (*required, 1, 1)[:3] if required else (0, 0, 0)
        return (x, y, z) if required else None

    def dynamic_shared(self, name: str) -> int:
        """Bytes of dynamic shared memory that a kernel takes, as far as is known."""
        known = self.kernels.get(name)
        return known.dynamic_shared if known is not None else 0

    def launched(self, name: str, grid: Extents, sms: int, wanted: int | None) -> Extents:
        """The CTAs that are launched for a grid, as `KernelEntry.launched` has it."""
        known = self.kernels.get(name)
        return grid if known is None else known.launched(grid, sms, wanted)

    def passed(self, name: str, values: Sequence[Value], grid: Extents) -> list[Value]:
        """What the launch passes: of an array whose extents the kernel takes, those as well.

        Raises:
            TilecError: naming the argument that does not fit.
        """
        known = self.kernels.get(name)
        if known is None:
            return list(values)
        from tilec.launch.arguments import passed  # noqa: PLC0415

        return passed(known, values, grid=grid)


def load(path: str, *, arch: str | None, level: int) -> LoadedProgram:
    """Read a program, compiling it if it is MLIR.

    Beside a PTX file that tilec wrote stands the JSON that says how to launch its kernels.

    Args:
        path: a file, or `-`.
        arch: architecture to compile for and simulate; else the program's own.
        level: LLVM's optimisation level.

    Raises:
        RefusedError: for errors of a tile program.
        TilecError: for others.
        OSError: if it cannot be read.
    """
    text = read_input(path)
    name = "<stdin>" if path == "-" else path
    if Path(path).suffix == ".mlir" or (Path(path).suffix != ".ptx" and not _PTX.search(text)):
        return _compiled(text, name, arch, level)
    module = read_text(text, name)
    beside = Path(path).with_suffix(".json")
    kernels: dict[str, KernelEntry] = {}
    if path != "-" and beside.is_file():
        from .run_abi import described  # noqa: PLC0415 (with MLIR)

        kernels = described(beside)
    return LoadedProgram(module, arch or architecture(module), kernels)


def _compiled(text: str, name: str, arch: str | None, level: int) -> LoadedProgram:
    import tilec  # noqa: PLC0415 (with MLIR)
    from tilec.passes.base import ProgramError  # noqa: PLC0415
    from tilec.report.diagnostics import Source, render  # noqa: PLC0415

    try:
        compiled = tilec.compile(text, target=arch, opt_level=level, name=name, lineinfo=True)
    except ProgramError as error:
        raise RefusedError(render(error.diagnostics, Source(name, text))) from None
    kernels = {kernel.name: kernel for kernel in compiled.kernels}
    ptx = read_text(compiled.ptx, f"{name} as PTX")
    return LoadedProgram(ptx, compiled.target.name, kernels, compiled)
