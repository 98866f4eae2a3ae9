"""Findings as they are made: one for each kind and instruction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .alu import Array
from .ptx.module import Instruction, Module
from .report import Finding, SimulationError
from .wave import Wave

Place = tuple[int, ...]
"""Index of a thread in an array of (CTAs, warps, lanes)."""


class StoppedError(SimulationError):
    """A run that a kernel ended itself, or in which no thread can go on.

    Attributes:
        kind: kind of the finding that it makes.
        instruction: where the first thread concerned stands, or None.
        thread: that thread, or empty.
    """

    def __init__(
        self, kind: str, message: str, instruction: Instruction | None, thread: str
    ) -> None:
        self.kind = kind
        self.instruction = instruction
        self.thread = thread
        super().__init__(message)


def stopped(module: Module, error: StoppedError) -> Finding:
    """The finding of a run that could not go on."""
    instruction = error.instruction
    return Finding(
        error.kind,
        str(error),
        line=0 if instruction is None else module.line(instruction),
        source="" if instruction is None else module.origin(instruction),
        thread=error.thread,
    )


class Findings:
    """Collects findings.

    Attributes:
        module: the PTX text.
        wave: the threads.
        found: the findings so far.
        advice: what is not a fault, and better avoided.
        known: both by kind and position of the instruction.
    """

    def __init__(
        self, module: Module, wave: Wave, found: list[Finding], advice: list[Finding]
    ) -> None:
        self.module = module
        self.wave = wave
        self.found = found
        self.advice = advice
        self.known: dict[tuple[str, int], Finding] = {}

    def add(
        self,
        kind: str,
        instruction: Instruction,
        threads: Array,
        words: Callable[[Place], str],
        address: Callable[[Place], int] | None = None,
        *,
        harmless: bool = False,
    ) -> None:
        """Note that threads did something wrong at an instruction, or count it once more.

        Args:
            kind: kind of the finding.
            instruction: the instruction.
            threads: which threads, (CTAs, warps, lanes); one CTA stands for all.
            words: what the thread at a place did.
            address: the address that it used.
            harmless: whether it is not a fault, and better avoided.
        """
        wave, module = self.wave, self.module
        count = int(np.count_nonzero(threads)) * (wave.shape[0] if threads.shape[0] == 1 else 1)
        key = (kind, instruction.position)
        known = self.known.get(key)
        if known is not None:
            known.count += count
            return
        at = tuple(int(i) for i in np.argwhere(threads)[0])
        name = wave.thread_name((at[0], at[1], at[2]))
        finding = Finding(
            kind=kind,
            message=f"{module.place(instruction)}: {name} {words(at)} ({instruction.mnemonic})",
            line=module.line(instruction),
            source=module.origin(instruction),
            thread=name,
            address=None if address is None else address(at),
            count=count,
        )
        self.known[key] = finding
        (self.advice if harmless else self.found).append(finding)

    def note(
        self, kind: str, instruction: Instruction, words: str, address: int, count: int
    ) -> None:
        """Note that what an instruction does in some CTAs is better avoided, or count them.

        Args:
            kind: kind of the advice.
            instruction: the instruction.
            words: what it does.
            address: the first address concerned.
            count: CTAs concerned.
        """
        key = (kind, instruction.position)
        known = self.known.get(key)
        if known is not None:
            known.count += count
            return
        module = self.module
        self.known[key] = Finding(
            kind=kind,
            message=f"{module.place(instruction)}: {words} ({instruction.mnemonic})",
            line=module.line(instruction),
            source=module.origin(instruction),
            address=address,
            count=count,
        )
        self.advice.append(self.known[key])
