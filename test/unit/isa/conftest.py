"""PTX lines for forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from tilec.isa import Form, assembly

_POOLS = {"b32": "%r", "s32": "%r", "f32": "%f", "f64": "%d"}


@pytest.fixture(scope="session")
def instruction_line() -> Callable[..., str]:
    """PTX text of a form: any registers, the lowest selectors, shared memory where it has it.

    `counts` gives an operand another number of registers, `selectors` a selector another value.
    """

    def line(
        form: Form,
        counts: Mapping[str, int] | None = None,
        selectors: Mapping[str, int] | None = None,
    ) -> str:
        places = {}
        for operand in (*form.results, *form.operands):
            count = (counts or {}).get(operand.name, operand.registers)
            pool = _POOLS[operand.register.ptx]
            places[operand.name] = [f"{pool}{n}" for n in range(count)]
        for selector in form.selectors:
            value = (selectors or {}).get(selector.name, selector.legal[0])
            places[selector.name] = [str(value)]
        return assembly(form, {**places, "address": ["%p"]}, "shared" if form.spaces else "")

    return line
