"""The simulator as an executor."""

from __future__ import annotations

import numpy as np
from tilec.sim import Module, launch

from .trial import Memory, Run, Trial


class Simulator:
    """Kernels of a module on the simulator, bit by bit as an architecture computes.

    Args:
        module: read PTX.
        arch: the architecture.
    """

    def __init__(self, module: Module, arch: str) -> None:
        self._module = module
        self._arch = arch

    def __call__(self, kernel: str, ctas: int, arguments: list[np.ndarray]) -> None:
        report = launch(self._module, kernel, ctas, 32, arguments, arch=self._arch, checks=False)
        report.require_ok()

    def part(self, trial: Trial, run: Run, first: int, count: int) -> tuple[Memory, np.ndarray]:
        """Some CTAs of a run alone: what they read, and their result."""
        whole = trial.memory(run)
        memory = {name: array[first : first + count].copy() for name, array in whole.items()}
        self(trial.kernel, len(memory[trial.result.name]), list(memory.values()))
        return memory, memory.pop(trial.result.name)
