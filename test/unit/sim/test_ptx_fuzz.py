"""Corrupt PTX never crashes the reader or the dry run: each text is read or gives a located error.

Texts are cut short, have pieces removed, doubled, swapped or replaced by others' pieces, or are
random tokens; they grow from a text with every construct, kept beside this file. Milder
mutations are also run. CI reads 500 and runs 150; `pytest -m slow test/unit/sim/test_ptx_fuzz.py`
reads 12,000 and runs 4,000.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest
from tilec.isa import TilecError
from tilec.sim import PtxError, check, launch, read

SEED = (Path(__file__).parent / "constructs.ptx").read_text()
TOKENS = re.findall(r"\w+|\s+|.", SEED)
NASTY = [*"{}()[];,\"<>-%@_$\0é", "0x", "0f", "/*", "//", "9" * 400, "<99999999999>", "1e999",
         "<4294967295>", ".reg", "::", "(" * 500, "{" * 500, "-" * 500, "[4294967295]",
         "[99999999999999999999]"]  # fmt: skip


def mutate(rng: random.Random) -> str:
    tokens = list(TOKENS)
    kind = rng.randrange(8)
    for _ in range(rng.choice((1, 1, 2, 5, 30))):
        at = rng.randrange(len(tokens))
        if kind == 0:
            return SEED[: rng.randrange(len(SEED))]
        if kind == 1:
            del tokens[at : at + rng.randrange(1, 9)]
        elif kind == 2:
            tokens[at:at] = tokens[at : at + rng.randrange(1, 20)]
        elif kind == 3:
            tokens[at] = rng.choice(NASTY)
        elif kind == 4:
            tokens[at] = rng.choice(TOKENS)
        elif kind == 5:
            other = rng.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 6:
            tokens[at:at] = [rng.choice(NASTY)]
        else:
            head = [".version 8.0\n.target sm_90\n.address_size 64\n"]
            return "".join(head + rng.choices(TOKENS + NASTY, k=rng.randrange(1, 200)))
        if len(tokens) < 2:
            break
    return "".join(tokens)


def located(error: PtxError, text: str) -> None:
    assert 1 <= error.line <= text.count("\n") + 2
    assert error.column >= 1
    assert str(error).startswith(f"fuzz.ptx:{error.line}:{error.column}: ")


def survive(seed: int) -> bool:
    """Whether the mutated text was read; an error must say where."""
    text = mutate(random.Random(seed))
    try:
        module = read(text + "\n", "fuzz.ptx")
    except PtxError as error:
        located(error, text)
        return False
    try:
        for error in check(module):
            located(error, text)
    except TilecError:
        return False
    return True


def test_seed_is_supported() -> None:
    assert check(SEED) == []


def test_mutated_texts() -> None:
    outcomes = [survive(seed) for seed in range(500)]
    assert 20 < sum(outcomes) < 480  # the mutations are neither harmless nor fatal throughout


def perturb(rng: random.Random) -> str:
    """A text that often can still be read: words swapped, numbers changed."""
    tokens = list(TOKENS)
    words = [i for i, token in enumerate(tokens) if re.fullmatch(r"\w+", token)]
    for _ in range(rng.choice((1, 1, 2))):
        at, other = rng.choice(words), rng.choice(words)
        number = str(rng.choice((0, 1, 3, 64, 4096, 1 << 31, 1 << 40)))
        tokens[at] = number if tokens[at].isdecimal() else tokens[other]
    return "".join(tokens)


def run(seed: int) -> bool:
    """Whether a perturbed kernel runs to some end; anything but an error of tilec's is a crash."""
    rng = random.Random(seed)
    array = np.zeros(4096, np.uint32)
    try:
        launch(perturb(rng), "kernel", 1, 128, [array, bytes(12), 1.0], dynamic_smem=64,
               checks=rng.random() < 0.5, max_steps=2000)  # fmt: skip
    except TilecError:
        return False
    return True


def test_perturbed_kernels() -> None:
    assert 10 < sum(run(seed) for seed in range(150)) < 140


@pytest.mark.slow
def test_many_perturbed_kernels() -> None:
    for seed in range(1000, 5000):
        run(seed)


@pytest.mark.slow
def test_many_mutated_texts() -> None:
    for seed in range(1000, 13_000):
        survive(seed)
