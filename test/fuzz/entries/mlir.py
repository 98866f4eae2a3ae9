"""Programs of MLIR: parsed, passed and compiled; one that compiles may also be run."""

from __future__ import annotations

import random
from typing import Any

import mutations
import seeds
from case import Case, Reached, WrongError

_TARGETS = (None, None, None, "sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120")


def make(rng: random.Random) -> Case:
    """A program of the tests with some changes, and its own pipeline or tilec's."""
    text, pipeline = seeds.program(rng)
    if rng.random() < 0.95:
        text = mutations.mutated(text, rng, seeds.words(), seeds.program(rng)[0])
    whole = not pipeline or rng.random() < 0.5
    options = {
        "pipeline": None if whole else pipeline,
        "target": rng.choice(_TARGETS),
        "level": rng.choice((0, 3, 3)),
        "lineinfo": rng.random() < 0.2,
    }
    return Case("mlir", text, options)


def run(case: Case) -> Reached:
    """Parse, verify, and pass or compile."""
    from tilec.isa import TilecError
    from tilec.passes.base import ProgramError, remarks

    try:
        with remarks():
            return _run(case.text, case.options)
    except ProgramError as error:
        check_places(error)
        return Reached.REFUSED
    except TilecError as error:
        if not str(error) or len(str(error)) > 20_000:
            raise WrongError(f"an error of {len(str(error))} characters") from None
        return Reached.REFUSED


def check_places(error: Any) -> None:
    """See that a program's errors say something."""
    for one in error.diagnostics:
        if not one.message.strip() or len(one.message) > 20_000:
            raise WrongError(f"an error of {len(one.message)} characters")


def _run(text: str, options: dict[str, Any]) -> Reached:
    import tilec
    from tilec.frontend.contexts import new_context
    from tilec.frontend.parsing import parse
    from tilec.passes.base import ProgramError
    from tilec.passes.pipeline import run_pipeline
    from tilec.report.diagnostics import Source, reports
    from tilec.report.printing import to_text

    with reports():
        if options["pipeline"] is None:
            try:
                compiled = tilec.compile(
                    text,
                    target=options["target"],
                    opt_level=options["level"],
                    lineinfo=options["lineinfo"],
                )
                str(compiled.abi)
                return Reached.PTX
            except ProgramError:
                parse(Source("-", text), new_context())
                return Reached.VERIFIED
        module = parse(Source("-", text), new_context())
        shown = to_text(module)
        again = parse(Source("-", shown), module.context)
        if again.operation.get_asm() != module.operation.get_asm():
            raise WrongError("what is printed reads as another program")
        try:
            run_pipeline(module, options["pipeline"])
        except ProgramError as error:
            check_places(error)
        to_text(module)
    return Reached.VERIFIED
