"""Programs of MLIR: parsed, passed and compiled; one that compiles may also be run."""

from __future__ import annotations

import random
import re
from typing import Any

import mutations
import programs
import seeds
from case import Case, Reached, WrongError
from contexts import compiled_once, context

_TARGETS = (None, None, None, "sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120")
_WHOLE = 0.2
"""How many are compiled, which takes longer than all else."""
_RESOURCE = re.compile(r"dense_resource<\w+>|^ +\w+: \"0x\w+\",?$", re.MULTILINE)
"""What MLIR calls by another name if it meets it once more in a context."""
_COPIES = 0.03
_LONGEST = 20_000
"""Characters that a message may have."""


def prepare() -> None:
    """Find the programs that verify."""
    compiled_once()
    seeds.words()
    seeds.valid()


def make(rng: random.Random) -> Case:
    """A program of the tests with some changes, and its own pipeline or tilec's."""
    structured = rng.random() < 0.6
    text, pipeline = rng.choice(seeds.valid() if structured else seeds.programs())
    if structured:
        text = programs.changed(text, rng)
    if not structured or rng.random() < 0.05:
        text = mutations.mutated(text, rng, seeds.words(), seeds.program(rng)[0])
    copies = rng.random() < _COPIES
    if copies:
        text, pipeline = programs.copy_of_any(rng), ""
    options = {
        "pipeline": None if not pipeline or rng.random() < 0.3 else pipeline,
        "printed": rng.random() < 0.5,
        "commented": rng.random() < 0.03,
        "whole": copies or rng.random() < _WHOLE,
        "target": rng.choice(_TARGETS),
        "level": rng.choice((0, 3, 3)),
        "lineinfo": rng.random() < 0.2,
    }
    return Case("mlir", text, options)


def run(case: Case) -> Reached:
    """Parse, verify, print and parse again; pass or compile."""
    from tilec.frontend.parsing import parse
    from tilec.isa import TilecError
    from tilec.passes.base import ProgramError, remarks
    from tilec.report.diagnostics import Source, reports

    reached = Reached.REFUSED
    try:
        with remarks(), reports():
            module = parse(Source("-", case.text), context())
            reached = Reached.VERIFIED
            if case.options["printed"]:
                _check_printing(module)
            if case.options.get("commented"):
                _check_comments(case.text)
            if case.options["pipeline"] is None and case.options["whole"]:
                _compile(case.text, case.options)
                reached = Reached.PTX
            elif case.options["pipeline"] is not None:
                _pass(module, case.options["pipeline"])
    except ProgramError as error:
        _check_errors(error, case.text)
    except TilecError as error:
        if not 0 < len(str(error)) < _LONGEST:
            raise WrongError(f"an error of {len(str(error))} characters") from None
    return reached


def _check_printing(module: Any) -> None:
    """See that what is printed reads as the same program."""
    from tilec.frontend.parsing import parse
    from tilec.isa import TilecError
    from tilec.report.diagnostics import Source
    from tilec.report.printing import to_text

    shown = to_text(module)
    try:
        again = parse(Source("-", shown), module.context)
    except TilecError as error:
        raise WrongError("what is printed cannot be read") from error
    first, second = (_RESOURCE.sub("", one.operation.get_asm()) for one in (module, again))
    if first != second:
        raise WrongError("what is printed reads as another program")


def _check_comments(text: str) -> None:
    """See that comments may hold what would be too much outside them."""
    from tilec.frontend.parsing import parse
    from tilec.isa import TilecError
    from tilec.report.diagnostics import Source

    for much in ("{" * 1000, "%0#99999999999", "9" * 3000, "-" * 1000):
        try:
            parse(Source("-", f"// {much}\n{text}\n// {much}"), context())
        except TilecError as error:
            raise WrongError("a comment makes a program an error") from error


def _compile(text: str, options: dict[str, Any]) -> None:
    import tilec

    compiled = tilec.compile(
        text,
        target=options["target"],
        opt_level=options["level"],
        lineinfo=options["lineinfo"],
    )
    str(compiled.abi)


def _pass(module: Any, pipeline: str) -> None:
    from tilec.passes.pipeline import run_pipeline
    from tilec.report.printing import to_text

    run_pipeline(module, pipeline)
    to_text(module)


def _check_errors(error: Any, text: str) -> None:
    """See that each says something, at a place of the program."""
    from tilec.report.diagnostics import place

    lines = text.count("\n") + 2
    for one in error.diagnostics:
        if not 0 < len(one.message.strip()) < _LONGEST:
            raise WrongError(f"an error of {len(one.message)} characters")
        at = place(one.location)
        if at is None or not 0 <= at.line <= lines:  # 0: the program as such
            raise WrongError(f"an error without a place: {one.message[:60]}") from error
