"""Programs that nobody wrote: those of the generators of tiles and of memory, at every level."""

from __future__ import annotations

from types import ModuleType

import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.ir.assembly import to_custom
from tilec.passes.base import ProgramError
from tilec.passes.pipeline import run_pipeline
from tilec.report.diagnostics import Source
from tilec.report.printing import to_text

from ..tiles import random_memory, random_tiles

SEEDS = 40


@pytest.mark.parametrize("generator", [random_tiles, random_memory])
def test_random_programs_come_back(generator: ModuleType) -> None:
    context, tried = new_context(), 0
    for seed in range(SEEDS):
        text = generator.Program(seed).text
        text = text if isinstance(text, str) else text()
        try:
            module = parse(Source("-", text), context)
        except ProgramError:
            continue  # some are wrong on purpose
        tried += 1
        for _ in range(2):
            generic = module.operation.get_asm()
            custom = to_custom(generic)
            assert '"tile.' not in custom
            for shown in (custom, to_text(module)):
                assert parse(Source("-", shown), context).operation.get_asm() == generic, seed
            assert to_custom(parse(Source("-", custom), context).operation.get_asm()) == custom
            if seed % 8:
                break
            try:
                run_pipeline(module, "tile-select-mma,tile-assign-layouts")
            except ProgramError:
                break  # what the pipeline's other passes make ready for these
    assert tried > SEEDS * 3 // 4
