"""A program in tensor memory compiled, assembled, simulated and interpreted, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tilec
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.interpret import arithmetic_of, interpret
from tilec.isa import target
from tilec.report.diagnostics import Source

from ..interpret.arrays import contents, kernel_of, views


def agree(
    text: str,
    given: list[Any],
    wanted: Any,
    assemblers_for: Callable[..., list[Any]],
    *,
    on: str = "sm_100a",
    arithmetic: str = "f64",
) -> str:
    """Check the last argument after the program; the PTX.

    Args:
        text: the program.
        given: its arguments.
        wanted: what the last one should hold.
        assemblers_for: the fixture.
        on: the target.
        arithmetic: of the interpreter.
    """
    compiled = tilec.compile(text, target=on, cache=False)
    before = [array.copy() for array in given]
    compiled.launch(*given, grid=1, device="sim").require_ok()
    np.testing.assert_array_equal(given[-1].astype(np.float64), wanted)
    for ptxas in assemblers_for(target(on))[-1:]:
        assert ptxas.run(compiled.ptx, on) == (0, "")
    module, numbers = parse(Source("-", text), new_context()), arithmetic_of(arithmetic)
    function = kernel_of(module)
    arrays = views(function, before, numbers)
    done = interpret(function, arrays, numbers, grid=(1, 1, 1), target=on)
    assert not done.findings, done.findings
    np.testing.assert_array_equal(contents(arrays[-1], done.memories[len(given) - 1]), wanted)
    return compiled.ptx
