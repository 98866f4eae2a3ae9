"""A kernel of somebody else's compiler, what it is given, and what it is to give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tilec.sim import Debugger, Report, launch

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    """A launch.

    Attributes:
        file: of the PTX, beside this one.
        kernel: its name.
        grid: CTAs.
        block: threads of a CTA.
        args: as `tilec.sim.launch` takes them.
        expected: what arrays hold afterwards, by the argument's number; of a structure, what its
            first member points to holds.
        symbols: variables that are set before.
        sorted_by: of arrays whose first elements are in no order, how many these are.
        tolerance: relative; 0 for equal.
        shared: dynamic shared memory in bytes.
        lines: what threads print, in any order.
    """

    file: str
    kernel: str
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    args: Sequence[Any]
    expected: Mapping[int, Any]
    symbols: Mapping[str, Any] = field(default_factory=dict)
    sorted_by: Mapping[int, int] = field(default_factory=dict)
    tolerance: float = 0
    shared: int = 0
    lines: Sequence[str] = ()

    @property
    def name(self) -> str:
        return f"{Path(self.file).stem}-{self.kernel}"

    def run(
        self,
        order: int | None = None,
        debugger: Debugger | None = None,
        *,
        every_order: bool = False,
    ) -> Report:
        """Run it, and hold its arrays against what is expected."""
        args = [_copied(arg) for arg in self.args]
        report = launch(
            HERE / self.file, self.kernel, self.grid, self.block, args, order=order,
            symbols=dict(self.symbols), dynamic_smem=self.shared, debugger=debugger,
            every_order=every_order,
        )  # fmt: skip
        for number, wanted in self.expected.items():
            found, count = args[number], self.sorted_by.get(number, 0)
            if isinstance(found, tuple):
                found = found[0]
            if count:
                found = np.concatenate([np.sort(found[:count]), found[count:]])
            np.testing.assert_allclose(found, wanted, rtol=self.tolerance, err_msg=self.name)
        assert sorted(report.output.splitlines()) == sorted(self.lines)
        return report


def _copied(arg: Any) -> Any:
    """An argument whose arrays a launch may change."""
    if isinstance(arg, tuple):
        return tuple(_copied(member) for member in arg)
    return np.copy(arg) if isinstance(arg, np.ndarray) else arg
