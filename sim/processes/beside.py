"""When other processes are asked to help with a launch, and what becomes of it.

The launch is run here, wave by wave, as if there were no others. Where what is left takes long,
workers start from a snapshot of global memory as it is then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..native.choice import threads
from ..parts import why_whole
from ..report import Report
from ..run import Run
from .messages import Launch, environment, write_from

if TYPE_CHECKING:
    from .crew import Crew

WORTH, WORTH_AT_ONCE = 1.5, 0.5
"""Seconds that are left at least where workers have to be started, and where they are there."""

Progress = Callable[[int, int], None]


class Beside:
    """What a launch knows of others that run waves of it.

    Args:
        run: the launch, with checks.
        settings: arguments of `Run` after those of the kernel.
        count: processes, this one included, at least 2.
        progress: told how many CTAs have ended, and how many there are.
    """

    def __init__(
        self, run: Run, settings: Mapping[str, Any], count: int, progress: Progress | None
    ) -> None:
        self._run, self._settings, self._count = run, settings, count
        self._progress = progress
        self._ended = self._told = 0
        self._then = time.perf_counter()
        self._pace = float("inf")
        self._crew: Crew | None = None
        self._alone = False
        self._whole = False
        self._threaded = run.machine.threaded

    def progress(self, ended: int, ctas: int) -> None:
        """So many CTAs have ended here."""
        self._ended = ended
        there = 0 if self._crew is None else self._crew.ctas
        now = min(ended + there, ctas)
        if self._progress is not None and now > self._told:
            self._told = now
            self._progress(now, ctas)

    def met(self, number: int) -> bool:
        """Whether a wave and all that follow have been run by others; see `Run.simulate`."""
        if self._alone:
            return False
        if self._crew is None:
            now = time.perf_counter()
            self._pace, self._then = min(self._pace, now - self._then), now
            self._consider(number)
            return False
        if self._crew.leaves(number):
            if self._crew.why:
                self._run.machine.threaded = self._threaded
            return False
        ctas = self._run.machine.geometry.ctas
        self._alone = bool(self._crew.finish(number, lambda: self.progress(self._ended, ctas)))
        self._whole = not self._alone
        self._run.machine.threaded = self._threaded
        return self._whole

    def _consider(self, number: int) -> None:
        """Have workers help from a wave on, where that is worth it."""
        left = self._pace * (self._run.waves - number)
        if left < WORTH_AT_ONCE:
            return
        if why_whole(self._run):
            self._alone = True
            return
        from .crew import Crew  # noqa: PLC0415 (only where launches take long)
        from .pool import pool  # noqa: PLC0415
        from .room import workers_at_most  # noqa: PLC0415

        workers, size = pool(), self._run.machine.memory.shared_base
        count = min(self._count - 1, self._run.waves - number - 1, workers_at_most(size))
        if count < 1 or (left < WORTH and not workers.idle) or not workers.acquire():
            return
        try:
            write_from(workers.snapshot, self._run.machine.memory.data[:size])
            self._crew = Crew(workers, self._launch(), self._run, number, count, self._pace)
            # The cores are the workers' now.
            self._run.machine.threaded = self._threaded and threads() > count + 1
        except (OSError, RuntimeError):  # no room for the snapshot, or no threads
            self._alone = True
        finally:
            if self._crew is None:
                workers.release()

    def _launch(self) -> Launch:
        run = self._run
        source, geometry = run.module.source, run.machine.geometry
        assert run.machine.observer is not None
        known = run.machine.observer.global_.grid.known
        return Launch(
            source.original,
            source.name,
            run.placement.kernel.name,
            geometry.grid,
            geometry.block,
            run.outline,
            {**self._settings, "resident": run.resident},
            run.machine.memory.shared_base,
            {start: (one.segment, one.granule) for start, one in known.items()},
            environment(),
        )

    def end(self) -> None:
        """The launch has ended here, in whatever way."""
        if self._crew is not None:
            self._crew.end()

    def report(self) -> Report | None:
        """The report, if others have run waves; the launch's arrays are changed in place."""
        if self._crew is None or not self._whole:
            return None
        return self._crew.assembly.report()
