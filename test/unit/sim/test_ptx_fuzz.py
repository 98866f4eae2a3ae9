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
from tilec.sim import LaunchError, PtxError, check, launch, read

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
    text = perturb(rng)
    try:
        launch(text, "kernel", 1, 128, [array, bytes(12), 1.0], dynamic_smem=64,
               checks=rng.random() < 0.5, max_steps=2000)  # fmt: skip
    except (PtxError, LaunchError) as error:
        refused = error
    except TilecError:
        return False
    else:
        return True
    assert "argument" in str(refused) or foretold(text, refused), seed
    return False


def foretold(text: str, error: TilecError) -> bool:
    """Whether the dry run says, or raises, what a launch did."""
    try:
        return any(str(error) in str(one) for one in check(text, "kernel"))
    except TilecError as raised:
        return str(raised) == str(error)


HEAD = ".version 8.6\n.target {}\n.address_size 64\n{}.visible .entry k(.param .u64 x){}\n{{\n{}"
REFUSED = {
    "shared memory": ("sm_90", "", "", ".shared .b8 s[400000]; .reg .u32 %r; mov.u32 %r, s;"),
    "a cluster": ("sm_80", "", " .explicitcluster .reqnctapercluster 2", ""),
    "a cluster of 32": ("sm_90", "", " .explicitcluster .reqnctapercluster 32", ""),
    "threads": ("sm_90", "", " .reqntid 2048", ""),
    "local memory": ("sm_90", "", "", ".local .b8 l[1000000]; .reg .u64 %r; mov.u64 %r, l;"),
    "an initial value": ("sm_90", ".global .u64 g = nowhere;\n", "", ""),
    "a texture": ("sm_90", ".global .texref t;\n", "", ".reg .b32 %r<5>; "
                  "tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [t, {%r1}];"),
    "a call of nothing": ("sm_90", ".extern .func f ();\n", "", "call f, ();"),
    "128 bits": ("sm_90", "", "", ".reg .b128 %q; mov.b128 %q, {%q, %q};"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_every_launch_refuses_is_foretold(name: str) -> None:
    text = HEAD.format(*REFUSED[name]) + "\nret; }\n"
    block = 2048 if name == "threads" else 32
    grid = 32 if "cluster" in name else 1
    with pytest.raises((PtxError, LaunchError)) as refused:
        launch(text, "k", grid, block, [None])
    try:
        found = check(text)
    except PtxError as error:
        found = [error]
    (foretells,) = found
    assert str(refused.value) in str(foretells)


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
