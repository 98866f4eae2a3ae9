"""The dry run: every instruction that would not be executed, at once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from .errors import LaunchError, PtxError
from .fitting import architecture, check_kernel, check_shared, kernel_of
from .frames import Frame
from .machine import Machine
from .memory import Memory
from .placement import Placement
from .program import Program
from .ptx import Module, read
from .ptx.module import Function
from .translator import Translator
from .wave import Geometry


def check(ptx: str | Path | Module, kernel: str | None = None) -> list[PtxError]:
    """What the simulator does not execute in a PTX text, without running it.

    That is every instruction that is not supported, and what every launch of a kernel would
    refuse, whatever its grid and arguments.

    Args:
        ptx: PTX text, or a path to it, or a module already read.
        kernel: one kernel and what it calls; by default all of them.

    Returns:
        An error for each such instruction, or kernel, in the order of the text.

    Raises:
        PtxError: for a text that cannot be read.
        LaunchError: if there is no such kernel.
    """
    module = ptx if isinstance(ptx, Module) else read(ptx)
    if kernel is not None:
        kernels = [kernel_of(module, kernel)]
    else:
        kernels = [f for f in module.functions.values() if f.entry and f.body is not None]
    found: dict[tuple[int, int, str], PtxError] = {}
    for function in kernels:
        for error in _of_kernel(module, function):
            found.setdefault((error.line, error.column, error.reason), error)
    return [found[place] for place in sorted(found)]


def _of_kernel(module: Module, kernel: Function) -> Iterator[PtxError]:
    arch = architecture(module)
    machine = Machine(Geometry((1, 1, 1), (32, 1, 1)), Memory(), arch=arch, numerics="exact")
    placement = Placement(module, kernel, machine.memory, 0)
    checks = partial(check_kernel, kernel, arch), partial(check_shared, placement, 0, arch)
    for refuse in checks:
        try:
            refuse()
        except LaunchError as error:
            yield module.source.error(str(error), kernel.position)
    machine.memory.build(placement.shared_bytes, 1, 1)
    program = Program(placement, machine)
    translator = Translator(program)
    machine.begin([0])
    for function in placement.functions:
        if function.body is None:
            continue
        # Bound alone, a function's parameters lie nowhere in particular.
        parameters = [*function.returns, *function.parameters]
        places = {p.name: ("local", 0) for p in parameters}
        try:
            frame = Frame(program, function, arguments=None if function.entry else places)
            yield from translator.unsupported(frame)
        except LaunchError as error:
            yield module.source.error(str(error), function.position)
