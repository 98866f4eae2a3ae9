"""Whatever a CTA loads, stores and updates, however its warps run, memory is as numpy has it.

The programs of `random_memory` name no barrier. They run with all warps in step, and warp by warp
in orders that seeds decide: what nothing orders then goes wrong, as it may on a GPU.
`TILEC_RANDOM_PROGRAMS` says how many there are.
"""

from __future__ import annotations

import os
from types import ModuleType

import numpy as np
import pytest
import tilec
from tilec.isa import target
from tilec.launch.arguments import passed
from tilec.pipelines import pipeline
from tilec.sim import launch

COUNT = int(os.environ.get("TILEC_RANDOM_PROGRAMS", "24"))
ORDERS = (None, 0, 1)
UNORDERED = "tile-order-memory"


def differences(random_memory: ModuleType, seed: int, without: str | None = None) -> list[str]:
    """What goes wrong with a program, compiled maybe without a pass, in some order of warps."""
    text, chip = random_memory.Program(seed).text, random_memory.Program(seed).target
    passes = pipeline(target(chip)).replaced(without) if without else None
    compiled = tilec.compile(text, target=chip, pipeline=passes)
    (kernel,) = compiled.kernels
    found = []
    for order in ORDERS:
        program = random_memory.Program(seed)
        expected = program.expect()
        report = launch(
            compiled.ptx,
            kernel.name,
            1,
            kernel.block,
            passed(kernel, program.arguments),
            arch=chip,
            dynamic_smem=kernel.dynamic_shared,
            order=order,
        )
        found += [f"order {order}: {finding}" for finding in report.findings]
        for name, wanted in zip(program.arrays, expected, strict=True):
            if not np.array_equal(program.arrays[name], wanted):
                found.append(f"order {order}: {name} is not what numpy has of\n{text}")
    return found


@pytest.mark.parametrize("seed", range(COUNT))
def test_any_program(random_memory: ModuleType, seed: int) -> None:
    assert not differences(random_memory, seed)


def test_without_the_barriers_it_goes_wrong(random_memory: ModuleType) -> None:
    """The programs and the orders are such that a lack of barriers is seen."""
    assert any(differences(random_memory, seed, UNORDERED) for seed in range(16))
