"""The table holds the forms that the PTX ISA's syntax blocks spell out, no more and no fewer.

The blocks are written down once more in syntax_blocks.txt, with targets, versions and register
counts; nothing of the table's own code is used.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from tilec.isa import (
    Family,
    Mma,
    TilecError,
    UnknownNameError,
    form,
    forms,
    instruction,
    target,
    warp_forms,
)


def expand(words):
    """Every word that a brace expression stands for."""
    parts = re.split(r"\{([^{}]*)\}", words)
    choices = [part.split(",") if n % 2 else [part] for n, part in enumerate(parts)]
    return ["".join(choice) for choice in product(*choices)]


@pytest.fixture(scope="module")
def blocks():
    """Family, where it is and registers, by mnemonic."""
    found, family = {}, ""
    for line in Path(__file__).with_name("syntax_blocks.txt").read_text().splitlines():
        if line.startswith("["):
            family = line.strip("[]")
        elif line and not line.startswith("#"):
            words, where, counts = line.split(" | ")
            targets = dict(pair.split(":") for pair in where.split())
            for ptx in expand(words):
                assert ptx not in found
                found[ptx] = (family, targets, [int(n) for n in counts.split()])
    return found


def test_the_forms_are_those_of_the_syntax_blocks(blocks):
    assert set(warp_forms()) == set(blocks)


def test_families_targets_and_registers(blocks):
    for ptx, (family, where, counts) in blocks.items():
        found = form(ptx)
        assert found.family == family
        assert {t: str(v) for t, v in found.targets.items()} == where
        matrices = [
            o for o in (*found.results, *found.operands) if o.name not in ("e", "sfa", "sfb")
        ]
        assert [operand.registers for operand in matrices] == counts


def test_counts_by_family():
    assert Counter(found.family.value for found in warp_forms().values()) == {
        "mma": 156, "mma.block_scale": 29, "mma.sp": 142, "mma.sp.block_scale": 29,
        "wmma.load": 88, "wmma.store": 26, "wmma.mma": 134,
        "ldmatrix": 21, "stmatrix": 9, "movmatrix": 1,
    }  # fmt: skip


def test_fragments_fill_their_tiles():
    """Lanes times elements is the tile, for every operand but the replicated f16 of wmma."""
    for found in warp_forms().values():
        for operand in (*found.results, *found.operands):
            assert operand.container >= operand.type.bits + operand.shift
            if operand.name in ("e", "sfa", "sfb"):
                assert operand.registers == 1
                continue
            tile = operand.rows * operand.cols * max(found.products, 1)
            held = 32 * operand.elements
            if found.family.startswith("wmma") and operand.type.name == "f16":
                assert held % tile == 0
            else:
                assert held == tile


def test_metadata_and_scales_fill_their_lanes():
    """Eight codes to a register: the lanes that a selector leaves out are the other selectors'."""
    for found in warp_forms().values():
        if not isinstance(found, Mma):
            continue
        if found.sparsity:
            codes = found.operand("e")
            assert (
                codes.rows * codes.cols * len(found.sparsity.selectors) == 32 * codes.per_register
            )
            kept = found.operand("a").cols
            assert kept * 2 == found.shape.k == codes.cols * found.sparsity.chunk
        if found.scaling:
            assert found.operand("sfa").cols == found.operand("sfb").rows == found.scaling.chunks
            last = max(found.scaling.byte_ids) + found.scaling.chunks
            assert last == 4


@pytest.mark.parametrize(
    ("spelling", "key"),
    [
        ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "…f64.rn"),
        (
            "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
            "…block_scale.scale_vec::2X.f32…",
        ),
        (
            "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e4m3.f32",
            "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32",
        ),
        ("wmma.load.a.sync.aligned.m16n16k16.row.f16", "…aligned.row.m16n16k16.f16"),
        ("ldmatrix.sync.aligned.x4.trans.m8n8.b16", "ldmatrix.sync.aligned.m8n8.x4.trans.b16"),
    ],
)
def test_other_spellings_name_the_same_form(spelling, key):
    pattern = ".*".join(re.escape(part) for part in key.split("…"))
    assert re.fullmatch(pattern, form(spelling).ptx)


def test_state_spaces():
    found = form("wmma.load.a.sync.aligned.row.m16n16k16.f16")
    assert instruction("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16") == (found, "shared")
    assert instruction("wmma.load.a.sync.aligned.m16n16k16.row.global.f16") == (found, "global")
    moved = form("ldmatrix.sync.aligned.m8n16.x2.b8x16.b4x16_p64")
    assert moved.mnemonic("shared") == "ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64"
    with pytest.raises(UnknownNameError, match=r"m8n8\.x1\.shared\.b16"):
        instruction("ldmatrix.sync.aligned.m8n8.x1.global.b16")
    with pytest.raises(UnknownNameError):
        form("ldmatrix.sync.aligned.m8n8.x1.shared.b16")


def test_a_form_says_where_it_is():
    found = form("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e2m1.e2m1.f16")
    assert str(found.require(target("sm_121a"))) == "8.8"
    with pytest.raises(
        TilecError,
        match=r"not available on sm_120; .* on sm_120a from PTX 8\.7, sm_120f",
    ):
        found.require(target("sm_120"))


def test_nothing_heavy_is_imported():
    code = (
        "import sys, tilec.isa, tilec.isa.llvm, tilec.isa.kernel, tilec.isa.sass; "
        "print([m for m in ('numpy', 'llvmlite', 'torch_mlir', 'mlir') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_family_has_forms():
    assert {found.family for found in forms().values()} == set(Family)
