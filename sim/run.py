"""A launch of a kernel, wave by wave: `launch` runs all of them, `parts` some."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

from tilec.isa.launch import extents

from .alu import Array
from .arguments import Buffers, Image, pack, place
from .bound import Bound, Settings
from .counting import Counts, counts, report
from .errors import LaunchError
from .findings import StoppedError, stopped
from .fitting import (
    architecture,
    check_clusters,
    check_cooperative,
    check_extents,
    cluster_of,
    kernel_of,
    within,
)
from .heap import Heap
from .numerics import NUMERICS
from .order import Together, WarpByWarp
from .orders import ORDER_LIMIT
from .pending import Pending
from .ptx import Module
from .report import Finding, Report
from .residency import resident_ctas
from .scheduler import Scheduler
from .special import WORKSPACE
from .symbols import Symbols
from .wave import Geometry

if TYPE_CHECKING:
    from .orders.ops import Trace
    from .orders.recorder import OrderRecorder
    from .stepping.debugger import Debugger
    from .timing.recorder import EventRecorder

DEFAULT_STEPS = 5_000_000
"""Step limit where none is given; a step is an instruction for all threads that are together."""


class Run:
    """A kernel and its arguments in memory, ready to be run.

    Arguments and errors are those of `launch`; `args` may be the image of another process's, and
    `resident` says how many CTAs a wave has.

    Attributes:
        module: the PTX text.
        machine: its state.
        placement: where what the kernel names lies.
        findings: what was found wrong, in the order of discovery.
        found: the same by kind and instruction.
        advice: what is better avoided.
        completed: whether all threads of what was run came to their end.
    """

    def __init__(
        self,
        module: Module,
        kernel: str,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[object] | Image,
        *,
        arch: str | None = None,
        dynamic_smem: int = 0,
        numerics: str = "exact",
        checks: bool = True,
        max_steps: int | None = None,
        order: int | None = None,
        cluster: int | Sequence[int] | None = None,
        symbols: Mapping[str, Array] | None = None,
        timeline: Sequence[int] | None = None,
        recording: Sequence[int] | None = None,
        debugger: Debugger | None = None,
        resident: int | None = None,
        every_order: bool = False,
        order_limit: int | None = None,
    ) -> None:
        self.module = module
        arch = architecture(module) if arch is None else arch
        function = kernel_of(module, kernel)
        geometry = Geometry(
            extents(grid, "grid"), extents(block, "block"), *cluster_of(function, cluster)
        )
        check_extents(function, geometry, arch)
        check_clusters(geometry, arch)
        if numerics not in NUMERICS:
            raise LaunchError(f"numerics is '{numerics}'; legal: {', '.join(NUMERICS)}")
        settings = Settings.of(
            geometry, arch=arch, numerics=numerics, dynamic_smem=dynamic_smem, checks=checks
        )
        told = timeline is not None or recording is not None or every_order
        self._plain = not told and debugger is None
        kept = Bound.kept(function, geometry, settings) if self._plain else None
        bound = self._bound = kept or Bound(module, function, geometry, settings)
        memory, machine, placement = bound.memory, bound.machine, bound.placement
        self.machine, self.placement = machine, placement
        self._buffers: Buffers | None = None
        if isinstance(args, Image):
            place(args, placement, memory)
        else:
            self._buffers = pack(placement, memory, args)
        self._variables = Symbols(placement, memory, symbols)
        if placement.named("malloc", "free"):
            machine.heap = Heap(memory)
        self._resident = resident_ctas(placement, geometry) if resident is None else resident
        if placement.named(*WORKSPACE):
            check_cooperative(function, geometry, self._resident)
            memory.workspace = memory.allocate("the workspace of the grid's barrier", 64)
        memory.build(placement.shared_bytes, self._resident, geometry.warps, geometry.cluster_ctas)
        self.findings: list[Finding] = []
        self.advice: list[Finding] = []
        self._collected = bound.watch(self.findings, self.advice)
        self.completed = True
        self._order_limit = ORDER_LIMIT if order_limit is None else order_limit
        self._orders: OrderRecorder | None = None
        if every_order:
            if machine.observer is None:
                raise LaunchError("every_order=True needs checks=True")
            from .orders.recorder import OrderRecorder  # noqa: PLC0415 (only there)

            self._orders = OrderRecorder(machine, module, self._order_limit)
            machine.observer.record(self._orders)
        self._events: EventRecorder | None = None
        self._timeline = timeline is not None
        if recording is not None:
            self._record(recording, timeline)
        elif timeline is not None:
            from .timeline.recorder import Recorder  # noqa: PLC0415 (only there)

            number = geometry.number(within(timeline, geometry))
            machine.record(Recorder(machine, module, kernel, number))
        self._debugger = debugger
        if debugger is not None:
            debugger.begin(bound.program, self.findings)
            bound.translator.whole = True
        if self._plain:
            bound.use_machine_code()
        self._turns = Together() if order is None else WarpByWarp(order)
        if order is not None:
            from random import Random  # noqa: PLC0415 (only there)

            machine.transfers.early = Random(order)
        limit = DEFAULT_STEPS * (1 if order is None else geometry.warps)
        self._limit = limit if max_steps is None else max_steps

    def _record(self, cta: Sequence[int], timeline: Sequence[int] | None) -> None:
        """Record what a CTA and its cluster do, for a timing model."""
        from .timing.recorder import EventRecorder  # noqa: PLC0415 (only there)

        machine, geometry = self.machine, self.machine.geometry
        at = within(cta, geometry)
        if machine.observer is None:
            raise LaunchError("recording needs checks=True")
        if self._orders is not None:
            raise LaunchError("recording and every_order exclude each other")
        if timeline is not None and within(timeline, geometry) != at:
            raise LaunchError("timeline and recording are of one CTA, if both are asked for")
        name = self.placement.kernel.name
        self._events = EventRecorder(machine, self.module, name, geometry.number(at))
        machine.record(self._events)
        machine.observer.record(self._events.ops)

    @property
    def resident(self) -> int:
        """CTAs of a wave."""
        return self._resident

    @property
    def waves(self) -> int:
        """How many waves the CTAs come in, where none take over the work of others."""
        return -(-self.machine.geometry.ctas // self._resident)

    def ctas(self, waves: range) -> range:
        """The CTAs of some waves that follow each other, by their numbers."""
        most = self.machine.geometry.ctas
        return range(waves.start * self._resident, min(waves.stop * self._resident, most))

    @property
    def image(self) -> Image:
        """The arguments for another process."""
        assert self._buffers is not None
        return self._buffers.image

    @property
    def outline(self) -> Image:
        """The same without what the arrays hold."""
        assert self._buffers is not None
        return self._buffers.outline

    @property
    def found(self) -> dict[tuple[str, int], Finding]:
        """Findings and advice by kind and position of the instruction; not what ends a run."""
        return self._collected.known

    def simulate(
        self,
        waves: range | None,
        progress: Callable[[int, int], None] | None = None,
        met: Callable[[int], bool] | None = None,
    ) -> None:
        """Run waves until one does not come to its end.

        Args:
            waves: some that follow each other, of a launch whose CTAs take over no others; None
                for all.
            progress: told, after every wave, how many CTAs have ended and how many there are.
            met: asked before a wave but the first, by its number, whether that and all that follow
                have been run elsewhere.
        """
        machine = self.machine
        ctas = machine.geometry.ctas
        pending = machine.pending = Pending(
            machine.geometry,
            self._resident,
            # A recording is of a GPU, where as many start as there is room for.
            taken=self.placement.takes_over and self._events is None,
            draws=machine.transfers.early,
        )
        first = 0 if waves is None else waves.start
        pending.skip(first)
        for number in count(first):
            if waves is not None and number >= waves.stop:
                break
            if met is not None and number > first and met(number):
                break
            numbers = pending.start()
            if not numbers:
                break
            machine.begin(numbers)
            try:
                translator, entry = self._bound.translator, self._bound.entry
                Scheduler(
                    machine, translator, entry, self._limit, self._turns, self._debugger
                ).run()
            except StoppedError as error:
                self.completed = False
                if self._debugger is not None:
                    self._debugger.failed(error)
                if machine.observer is not None:
                    machine.observer.end(completed=False)
                self.findings.append(stopped(self.module, error))
                break
            finally:
                machine.settle()
            machine.transfers.end(machine.observer)
            if machine.observer is not None and machine.observer.tensor is not None:
                machine.observer.tensor.end(machine.tensor.left())
            if machine.observer is not None:
                machine.observer.end()
            if self._orders is not None:
                self._orders.end()
            if progress is not None:
                progress(ctas - pending.left, ctas)

    def copy_back(self) -> None:
        """Change the host's arrays to what memory has become."""
        assert self._buffers is not None
        self._buffers.copy_back()
        self._variables.copy_back()

    def release(self) -> None:
        """Leave what has been bound to the next launch; nobody may ask for more of this one."""
        if self._plain and self.completed:
            self._bound.keep()

    @property
    def unchecked(self) -> list[str]:
        """What was not looked for, and where."""
        observer = self.machine.observer
        return [] if observer is None else observer.global_.unchecked

    @property
    def race_bytes(self) -> int:
        """Memory that was taken for races between CTAs."""
        observer = self.machine.observer
        return 0 if observer is None else observer.global_.grid.bytes

    def counts(self) -> Counts:
        """What was executed."""
        return counts(self.machine, self._bound.entry)

    @property
    def traces(self) -> list[Trace]:
        """What the warps did that others may come before or after, with `every_order`."""
        return [] if self._orders is None else self._orders.traces

    def report(self, counted: Counts | None = None) -> Report:
        """What was found, and what this or another process counted."""
        made = report(
            self.module,
            self.placement.kernel.name,
            self.counts() if counted is None else counted,
            self.findings,
            completed=self.completed,
        )
        made.advice, made.unchecked = self.advice, self.unchecked
        made.race_bytes = self.race_bytes
        if self._orders is not None and self.completed and not self.findings:
            from .orders.verdict import verdict  # noqa: PLC0415 (only there)

            function, geometry = self.placement.kernel, self.machine.geometry
            explored = verdict(self._orders, function, geometry, self._order_limit)
            self.findings += explored.findings
            made.unchecked = [*made.unchecked, *explored.unchecked]
            made.orders = explored.summary
        recorder = self.machine.recorder
        timeline = None if recorder is None else recorder.end()
        made.timeline = timeline if self._timeline else None
        if self._events is not None:
            footprint = sum(one.end - one.start for one in self.machine.memory.allocations)
            made.recording = self._events.recording(made, footprint, self.placement)
        return made
