"""Findings as they are made: one for each kind and instruction."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .alu import Array
from .errors import StoppedError
from .report import Finding

if TYPE_CHECKING:
    from .program import Program
    from .site import Site

Place = tuple[int, ...]
"""Index of a thread in an array of (CTAs, warps, lanes)."""


def stopped(program: Program, error: StoppedError) -> Finding:
    """The finding of a run that could not go on."""
    instruction = error.instruction
    return Finding(
        error.kind,
        str(error),
        line=0 if instruction is None else program.module.line(instruction),
        source="" if instruction is None else program.module.origin(instruction),
        thread=error.thread,
    )


class Findings:
    """Collects findings.

    Attributes:
        found: the findings so far.
    """

    def __init__(self, program: Program, found: list[Finding]) -> None:
        self.program = program
        self.found = found
        self._known: dict[tuple[str, int], Finding] = {}

    def add(
        self,
        kind: str,
        site: Site,
        threads: Array,
        words: Callable[[Place], str],
        address: Callable[[Place], int] | None = None,
    ) -> None:
        """Note that threads did something wrong at an instruction.

        Args:
            kind: kind of the finding.
            site: the instruction.
            threads: which threads, (CTAs, warps, lanes); one CTA stands for all.
            words: what the thread at a place did.
            address: the address that it used.
        """
        machine = self.program.machine
        count = int(np.count_nonzero(threads)) * (machine.shape[0] if threads.shape[0] == 1 else 1)
        key = (kind, site.instruction.position)
        known = self._known.get(key)
        if known is not None:
            known.count += count
            return
        module = self.program.module
        at = tuple(int(i) for i in np.argwhere(threads)[0])
        name = machine.thread_name((at[0], at[1], at[2]))
        place = self.program.place(site.instruction)
        finding = Finding(
            kind=kind,
            message=f"{place}: {name} {words(at)} ({site.instruction.mnemonic})",
            line=module.line(site.instruction),
            source=module.origin(site.instruction),
            thread=name,
            address=None if address is None else address(at),
            count=count,
        )
        self._known[key] = finding
        self.found.append(finding)
