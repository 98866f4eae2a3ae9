"""The interpreter computes what numpy does, at level 1 and after every pass up to level 3.

What is expected comes from the generators, which know nothing of tilec.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.interpret import arithmetic_of, interpret
from tilec.isa import target
from tilec.passes.base import ProgramError
from tilec.passes.pipeline import run_pipeline
from tilec.pipelines import pipeline
from tilec.report.diagnostics import Source

from ..tiles import random_memory, random_tiles
from .arrays import contents, kernel_of, views

SEEDS = 12


def expectation(program: Any) -> tuple[list[Any], dict[int, Any]]:
    """Arguments, and by place among them what must be there."""
    if isinstance(program, random_tiles.Program):
        return [*program.arguments, 1], program.expected
    return list(program.arguments), dict(enumerate(program.expect()))


@pytest.mark.parametrize("numerics", ["hardware", "f64"])
@pytest.mark.parametrize("generator", [random_tiles, random_memory])
def test_every_level(generator: ModuleType, numerics: str) -> None:
    arithmetic, tried = arithmetic_of(numerics), 0
    for seed in range(SEEDS):
        program = generator.Program(seed)
        arguments, expected = expectation(program)
        try:
            module = parse(Source("-", program.text), new_context())
        except ProgramError:
            continue  # wrong on purpose
        with module.context:
            for one in ("", *map(str, pipeline(target(program.target)).tile)):
                try:
                    if one:
                        run_pipeline(module, one)
                except ProgramError:
                    break  # a product that the target has not
                function = kernel_of(module)
                given = views(function, arguments, arithmetic)
                done = interpret(function, given, arithmetic, target=program.target)
                assert not done.findings, (seed, one, done.findings)
                for at, value in expected.items():
                    got = contents(given[at], done.memories[at])
                    wanted = np.asarray(value).astype(got.dtype)
                    np.testing.assert_array_equal(got, wanted, f"seed {seed}, after '{one}'")
                    tried += 1
    assert tried > SEEDS * 10
