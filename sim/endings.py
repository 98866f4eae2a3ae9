"""Why a wave cannot go on, in words."""

from __future__ import annotations

import numpy as np
from tilec.isa.wording import counted

from .findings import StoppedError
from .machine import Machine
from .ptx.module import Instruction
from .queues import Queues
from .stalls import waiting_warps
from .sync import Gate
from .translator import Translator


class Endings:
    """The errors that end a run before its threads exit."""

    def __init__(self, machine: Machine, translator: Translator, queues: Queues) -> None:
        self.machine = machine
        self.translator = translator
        self.queues = queues

    def endless(self, limit: int) -> StoppedError:
        """More steps than the limit."""
        message = f"step limit of {limit} reached; {self._places()}"
        return self._stopped("step-limit", message)

    def stuck(self) -> StoppedError:
        """Threads wait for others that do not come."""
        kind = "partial-warp" if self.queues.parked else "barrier"
        return self._stopped(kind, self._stuck())

    def deadlock(self) -> StoppedError:
        """Nobody can go on: who waits for what, warp by warp."""
        words, first, wait = self._waits()
        error = self._stopped("deadlock", "no thread can make progress: " + "; ".join(words))
        if first is not None and (first.cause or wait is None):
            wait = first.instruction
        error.instruction = wait or error.instruction
        return error

    def waits(self) -> list[str]:
        """Who waits for what, warp by warp."""
        return self._waits()[0]

    def _waits(self) -> tuple[list[str], Gate | None, Instruction | None]:
        """The same, the gate that is most likely the cause, and the first wait for an mbarrier."""
        machine, queues = self.machine, self.queues
        threads = np.zeros(machine.shape, np.bool_)
        words: list[str] = []
        first: Gate | None = None
        for group in queues.resting.values():
            code = self.translator.code(group.frame, group.block)
            sync = code.syncs[group.index] if group.index < len(code.syncs) else None
            mask = machine.full(np.asarray(True if group.mask is None else group.mask))
            if isinstance(sync, Gate):
                place = group.frame.place(group.block, group.index)
                words.append(
                    f"{counted(group.threads, 'thread')} at {place} waiting for {sync.waits}"
                )
                first = first if first is not None and not sync.cause else sync
            else:
                threads |= mask
        waits, wait = waiting_warps(machine, self.translator.program.module, threads)
        words += waits
        if queues.parked or queues.barriers.waiting:
            words.append(self._stuck())
        return words, first, wait

    def _places(self) -> str:
        queues = self.queues
        groups = [*queues.groups.values(), *queues.parked.values(), *queues.resting.values()]
        return "; ".join(
            f"{counted(g.threads, 'thread')} at {g.frame.place(g.block, g.index)}" for g in groups
        )

    def _stopped(self, kind: str, message: str) -> StoppedError:
        """The error that ends the run, at the first group that cannot go on."""
        first = next(self.queues.everyone(), None)
        if first is None:
            return StoppedError(kind, message, None, "")
        mask = self.machine.active() if first.mask is None else first.mask
        cta, warp, lane = (int(i) for i in np.argwhere(mask)[0])
        thread = self.machine.thread_name((cta, warp, lane))
        return StoppedError(kind, message, first.instruction(), thread)

    def _stuck(self) -> str:
        words = []
        if self.queues.parked:
            words.append(f"diverged warps wait for their other lanes: {self._places()}")
        words += self.queues.barriers.describe()
        if self.machine.live is not None and not self.machine.live.all():
            words.append("some threads have exited")
        return "; ".join(words)
