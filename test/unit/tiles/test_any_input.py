"""Whatever program comes in, what goes out is numpy's answer or an error at its place.

Random programs on tiles mix element types, shapes, targets, warps, ragged memory, products,
views and control flow. Then each is spoiled: a number, a type or an attribute of its text
changes, or a line goes. Such a program may still mean something: it compiles, or is refused where
it is wrong, and nothing else.
`TILEC_RANDOM_PROGRAMS` says how many there are.
"""

from __future__ import annotations

import os
import random
import re
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.passes.base import ProgramError
from tilec.report.diagnostics import place

COUNT = int(os.environ.get("TILEC_RANDOM_PROGRAMS", "24"))
SPOILED = 4
"""Variants of each."""
WORDS = {
    r"\b\d+\b": ["0", "-1", "1", "2", "3", "8", "64", "100", "1024", "9223372036854775807"],
    r"\b(?:i|f|bf)\d\w*(?=[>,) ])": ["f16", "f32", "i8", "i32", "tf32", "i4", "i1", "index", "i24"],
    r"(?<=tensor<)[\dx?]+(?=x)": ["16x16", "64", "1x1", "?x16", "3x5", "128x8", "16x4x2"],
    r"\barith\.\w+|(?<=tile\.)\w+": ["arith.addf", "arith.xori", "dot", "atomic", "iota"],
    r"\{masked\}": ["", "{transposed}", "{masked = 1}", "{tile.foo}", "{vector = 4}", "{maskd}"],
    r"%\w+": ["%c0", "%v1", "%v2", "%a0", "%one"],
    r"(?m)^.*\n": ["", "gpu.barrier\n", "}\n", "{\n"],
    r"\bsm_\d+": ["sm_70", "sm_75", "sm_90a", "sm_1"],
}
"""What takes the place of what a pattern finds."""


def spoiled(text: str, chance: random.Random) -> str:
    """The text with one thing changed."""
    while True:
        pattern = chance.choice(list(WORDS))
        found = list(re.finditer(pattern, text))
        if found:
            one = chance.choice(found)
            return text[: one.start()] + chance.choice(WORDS[pattern]) + text[one.end() :]


def compiled(text: str) -> Any:
    """The compilation, or None where it was refused at a place of the program."""
    try:
        result = tilec.compile(text)
    except ProgramError as error:
        astray = [one for one in error.diagnostics if place(one.location) is None]
    else:
        assert result.kernels
        return result
    assert not astray, text
    return None


@pytest.mark.parametrize("seed", range(COUNT))
def test_any_program(random_tiles: ModuleType, seed: int) -> None:
    program = random_tiles.Program(seed)
    result = compiled(program.text)
    assert not (program.contradicts and result), program.text
    if result is not None:
        result.launch(*program.arguments, 1, grid=1, device="sim")
        for number, value in program.expected.items():
            got = program.arguments[number].astype(np.float64)
            np.testing.assert_array_equal(got, value, f"argument {number} of\n{program.text}")


@pytest.mark.parametrize("seed", range(COUNT))
def test_any_spoiled_program(random_tiles: ModuleType, seed: int) -> None:
    text, chance = random_tiles.Program(seed).text, random.Random(seed)
    for _ in range(SPOILED):
        compiled(spoiled(text, chance))


def test_a_place_that_no_memory_has(random_tiles: ModuleType) -> None:
    """Addresses wrap, as the indices that make them do; nothing there is read or written."""
    far = (1 << 63) - 1
    program = random_tiles.Program(0)
    number, type_ = program.memory(np.ones(16, np.float32), "f32")
    program.lines = [
        f"%far = arith.constant {far} : index",
        f'%t = "tile.load"(%a{number}, %far) {{masked}} : ({type_}, index) -> tensor<16xf32>',
        f'"tile.store"(%t, %a{number}, %far) {{masked}} : (tensor<16xf32>, {type_}, index) -> ()',
    ]
    result = compiled(program.text)
    result.launch(*program.arguments, 1, grid=1, device="sim")
    assert (program.arguments[number] == 1).all()
