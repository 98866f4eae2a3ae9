"""What conversions and reductions are said to take of shared memory is what they take."""

from __future__ import annotations

import os
from types import ModuleType

import pytest
import tilec
from tilec.dialects.tile.ops import AllocSharedOp, ConvertLayoutOp, ReduceOp
from tilec.dialects.tile.shared import shared_buffer
from tilec.isa import target as find_target
from tilec.passes.analysis.shared_space import aligned, trip_bytes
from tilec.passes.base import ProgramError
from tilec.passes.functions import functions, gpu_modules
from tilec.passes.search import named
from tilec.pipelines import pipeline

COUNT = int(os.environ.get("TILEC_RANDOM_PROGRAMS", "24"))
PASSES = ("tile-stage-reductions", "tile-stage-conversions")


@pytest.mark.parametrize("seed", range(COUNT))
def test_any_program(random_tiles: ModuleType, seed: int) -> None:
    program = random_tiles.Program(seed)
    target = find_target(program.target)
    passes = pipeline(target).tile
    try:
        before = tilec.transform(program.text, *passes[: passes.index(PASSES[0])])
    except ProgramError:
        return
    (function,) = functions(next(gpu_modules(before.module)))
    told = sum(trip_bytes(op, target) for op in named(function, [ConvertLayoutOp, ReduceOp]))
    had = taken(function)
    after = tilec.transform(before.module, *PASSES)
    (function,) = functions(next(gpu_modules(after.module)))
    assert taken(function) - had == told


def taken(function) -> int:
    """Bytes of all buffers."""
    buffers = [op.results[0].type for op in named(function, [AllocSharedOp])]
    return sum(aligned(shared_buffer(type_).bytes) for type_ in buffers)
