"""A kernel bound to a machine, which its launches have in common.

Binding a kernel's instructions, and having machine code for them, takes about as long as it takes
to run a small grid. So what has been bound is kept, and the next launch of the same kernel with the
same settings begins with it: memory, arguments, counts and checks are as new then, and addresses
are those that they were. Arrays and grid may be others.
"""

from __future__ import annotations

from typing import NamedTuple

from tilec.isa.launch import Extents

from .findings import Findings
from .fitting import check_shared
from .frames import Frame
from .machine import Machine
from .memory import Memory
from .native.choice import machine_code, threads
from .observer import Observer
from .placement import Placement
from .program import Program
from .ptx import Module
from .ptx.module import Function
from .register_pool import at_entry
from .report import Finding
from .taint.unwritten import Unwritten
from .taint.watcher import Watcher
from .traits import generation
from .translator import Translator
from .wave import Geometry


class Settings(NamedTuple):
    """What instructions are bound for.

    Attributes:
        block, cluster: threads of a CTA, and CTAs of a cluster.
        explicit: whether the launch or the kernel says how many.
        arch, numerics, dynamic_smem, checks: as of `launch`.
        native: whether machine code executes what it can.
        threads: how many threads it may use.
        generation: of the instructions that are known.
    """

    block: Extents
    cluster: Extents
    explicit: bool
    arch: str
    numerics: str
    dynamic_smem: int
    checks: bool
    native: bool
    threads: int
    generation: int

    @classmethod
    def of(
        cls, geometry: Geometry, *, arch: str, numerics: str, dynamic_smem: int, checks: bool
    ) -> Settings:
        """Those of a launch in this process.

        Raises:
            LaunchError: for an environment that names no engine, or no number of threads.
        """
        native = machine_code()
        return cls(
            geometry.block, geometry.cluster, geometry.explicit, arch, numerics, dynamic_smem,
            checks, native, threads() if native else 1, generation(),
        )  # fmt: skip


class Bound:
    """A kernel on a machine.

    Args:
        module: the PTX text.
        function: the kernel.
        geometry: extents of the launch.
        settings: what it is bound for.

    Attributes:
        machine, memory: its state.
        placement: where what the kernel names lies.
        program, translator: the kernel's instructions.
        entry: the frame of the kernel.

    Raises:
        LaunchError: for more shared memory than there is.
    """

    def __init__(
        self, module: Module, function: Function, geometry: Geometry, settings: Settings
    ) -> None:
        self._function = function
        self._settings = settings
        arch, dynamic = settings.arch, settings.dynamic_smem
        memory = self.memory = Memory()
        machine = self.machine = Machine(
            geometry, memory, arch=arch, numerics=settings.numerics, dynamic_shared=dynamic
        )
        placement = self.placement = Placement(module, function, memory, dynamic)
        check_shared(placement, dynamic, arch)
        machine.pool.entry = at_entry(function, arch)
        self.program = Program(placement, machine)
        self.translator = Translator(self.program)
        self.entry = Frame(self.program, function)

    @classmethod
    def kept(cls, function: Function, geometry: Geometry, settings: Settings) -> Bound | None:
        """What an earlier launch has left, which nobody else uses; None if there is none."""
        found = function.take(settings)
        if not isinstance(found, Bound):
            return None
        found.machine.restart(geometry)
        return found

    def watch(self, findings: list[Finding], advice: list[Finding]) -> Findings:
        """Where findings go, and who makes them, where accesses are checked.

        Memory has been laid out by now.
        """
        machine, placement = self.machine, self.placement
        collected = Findings(placement.module, machine, findings, advice)
        if not self._settings.checks:
            return collected
        if machine.observer is not None:
            machine.observer.restart(collected)
            return collected
        machine.observer = Observer(
            machine,
            collected,
            machine.phases,
            machine.clusters,
            asynchronous=placement.asynchronous,
        )
        watcher = Watcher(machine, machine.observer.taint)
        self.translator.translated = watcher.translated
        self.translator.unwritten = Unwritten(machine.observer.taint, watcher.step)
        return collected

    def use_machine_code(self) -> None:
        """Have machine code execute what it can, if it is to."""
        if self.translator.native is not None or not self._settings.native:
            return
        from .native.engine import Native  # noqa: PLC0415 (for machine code only)

        self.translator.native = Native(self.machine)
        self.machine.threaded = self._settings.threads > 1

    def keep(self) -> None:
        """Leave it to the next launch, without what this one has filled."""
        for code in self.entry.codes():
            code.entries.clear()
        machine = self.machine
        machine.restart(machine.geometry)
        self.memory.restart()
        self.placement.restart()
        if machine.observer is not None:
            module = self.placement.module
            machine.observer.restart(Findings(module, machine, [], []))
        self._function.keep(self._settings, self)
