"""Random expressions, accesses and views of every type give what numpy gives, run on the simulator.

`TILEC_RANDOM_PROGRAMS` says how many cases there are: many stand in one kernel.
"""

import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

CASES = int(os.environ.get("TILEC_RANDOM_PROGRAMS", "64"))
TOGETHER = 16
"""Cases in a kernel."""
BATCHES = -(-CASES // TOGETHER)


Define = Callable[[str], Any]


@pytest.mark.parametrize("seed", range(BATCHES))
def test_expressions(random_values: ModuleType, define: Define, seed: int) -> None:
    batch = random_values.Batch(seed, TOGETHER)
    run = define(batch.text)
    for inputs in (random_values.inputs(2 * seed), random_values.inputs(2 * seed + 1)):
        out = np.zeros((TOGETHER, random_values.LANES), np.int64)
        run[1](out, *batch.arguments(inputs))
        for case, got, wanted in zip(batch.cases, out, batch.expected(inputs), strict=True):
            what = "\n".join([*case.lines, case.result])
            np.testing.assert_array_equal(got, wanted, f"{case.expression.type.name} of\n{what}")


@pytest.mark.parametrize("seed", range(BATCHES))
def test_accesses(random_accesses: ModuleType, define: Define, seed: int) -> None:
    program = random_accesses.Accesses(seed, TOGETHER)
    before = [memory.base.copy() for memory in program.memories]
    out = np.zeros((TOGETHER, random_accesses.WIDTH), np.int64)
    define(program.text)[1](out, *program.arguments)
    np.testing.assert_array_equal(out, program.rows, program.text)
    for memory, after in program.stored:
        held = random_accesses.held(memory)
        np.testing.assert_array_equal(held, random_accesses.as_bits(after), program.text)
        random_accesses.restore(memory)
    for memory, base in zip(program.memories, before, strict=True):
        assert memory.base.tobytes() == base.tobytes(), f"beside {memory.name}\n{program.text}"


@pytest.mark.parametrize("seed", range(-(-CASES // 4)))
def test_overlapping_views(random_accesses: ModuleType, define: Define, seed: int) -> None:
    program = random_accesses.Overlaps(seed)
    define(program.text)[1](*program.views)
    np.testing.assert_array_equal(program.base, program.expected, program.text)


STEPS = 5
"""Steps of a chain."""
UPDATES = 6
"""Steps of a kernel of updates."""
TARGETS = ("sm_80", "sm_90a", "sm_75", "sm_120a")


@pytest.mark.parametrize("seed", range(-(-CASES // 8)))
def test_chains_of_shapes_and_scans(random_shapes: ModuleType, define: Define, seed: int) -> None:
    chain = random_shapes.Chain(seed, STEPS)
    out = np.zeros((STEPS, random_shapes.LARGEST), np.int64)
    define(chain.text).using(target=TARGETS[seed % len(TARGETS)])[1](chain.start, out)
    for step, got, wanted in zip(chain.steps, out, chain.expected(), strict=True):
        what = f"{step.text}\nin\n{chain.text}"
        np.testing.assert_array_equal(got[: wanted.size], wanted, what)
        assert not got[wanted.size :].any(), what


@pytest.mark.parametrize("seed", range(-(-CASES // 8)))
def test_updates(random_updates: ModuleType, define: Define, seed: int) -> None:
    program = random_updates.Updates(seed, UPDATES)
    text, out = program.text, np.zeros((UPDATES, random_updates.WIDTH), np.int64)
    given = [array.copy() for array in program.arguments]
    report = define(text).using(target=TARGETS[seed % len(TARGETS)])[1](out, *given)
    assert report.ok, f"{report.findings}\n{text}"
    np.testing.assert_array_equal(out, program.rows, text)
    for name, wanted in program.expected():
        np.testing.assert_array_equal(given[int(name[1:])], wanted, f"{name}\n{text}")
