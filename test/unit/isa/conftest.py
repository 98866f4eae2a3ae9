"""PTX lines for forms, and what ptxas says of a table of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from tilec.isa import TARGETS, Form, PtxVersion, Target, assembly

VERSIONS = [
    PtxVersion(major, minor)
    for major, last in ((6, 5), (7, 8), (8, 8), (9, 5))
    for minor in range(last + 1)
]
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
            if operand.register.ptx == "b64":
                places[operand.name] = ["%p"]
                continue
            pool = _POOLS[operand.register.ptx]
            places[operand.name] = [f"{pool}{n}" for n in range(count)]
        for selector in form.selectors:
            value = (selectors or {}).get(selector.name, selector.legal[0])
            places[selector.name] = [str(value)]
        return assembly(form, {**places, "address": ["%p"]}, "shared" if form.spaces else "")

    return line


@pytest.fixture(scope="session")
def versions() -> Sequence[PtxVersion]:
    """Every PTX version from 6.0 on."""
    return VERSIONS


@pytest.fixture(scope="session")
def disagreements(assemblers_for: Any) -> Callable[..., Iterator[tuple[PtxVersion, Any, str]]]:
    """Where a table of forms says other than ptxas what a target has, in every PTX version.

    Each form has `min_ptx(target)`. `declarations` stands before the forms' lines, and is never
    refused.
    """

    def oldest(form: Any) -> PtxVersion:
        versions = (form.min_ptx(target) for target in TARGETS.values())
        return min(version for version in versions if version is not None)

    def found(
        name: str, lines: Sequence[tuple[Any, str]], declarations: str = ""
    ) -> Iterator[tuple[PtxVersion, Any, str]]:
        target: Target = TARGETS[name]
        for assembler in assemblers_for(target):
            known = [(form, line) for form, line in lines if oldest(form) <= assembler.newest]
            text = [declarations, *(line for _, line in known)]
            for version in VERSIONS:
                if not target.min_ptx <= version <= assembler.newest:
                    continue
                refused = assembler.refusals(text, target, version, features=True)
                assert 0 not in refused
                for index, (form, _) in enumerate(known, start=1):
                    first = form.min_ptx(target)
                    if (first is not None and first <= version) == (index in refused):
                        yield version, form, refused.get(index, "accepted")

    return found
