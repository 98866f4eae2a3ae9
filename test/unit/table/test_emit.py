"""`tile-isa emit --format mlir` prints programs that `tilec` compiles as they are."""

from __future__ import annotations

import json
import re

import pytest
from tilec.dialects.tile.form_program import form_kernel
from tilec.isa import instruction, target, warp_forms
from tilec.tools import tile_isa, tilec

CASES = [
    ("mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", "sm_80", []),
    ("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", "sm_70", []),
    (
        "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
        "sm_90a",
        ["--select", "selector=1"],
    ),
    (
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e5m2"
        ".f32.ue8m0",
        "sm_120a",
        ["--select", "byte_id_a=3", "--select", "thread_id_b=2"],
    ),
    ("wmma.load.a.sync.aligned.col.m8n32k16.f16", "sm_70", []),
    ("wmma.load.b.sync.aligned.row.m16n16k8.shared.tf32", "sm_80", []),
    ("wmma.store.d.sync.aligned.col.m16n16k16.shared::cta.f32", "sm_90", []),
    ("wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", "sm_75", []),
    ("ldmatrix.sync.aligned.m16n16.x2.trans.b8x16.b4x16_p64", "sm_100a", []),
    ("stmatrix.sync.aligned.m8n8.x4.trans.b16", "sm_90", []),
    ("movmatrix.sync.aligned.m8n8.trans.b16", "sm_75", []),
]


@pytest.mark.parametrize(("mnemonic", "where", "options"), CASES, ids=lambda x: str(x)[:60])
def test_the_program_compiles(mnemonic, where, options, tmp_path, capsys) -> None:
    program, ptx = tmp_path / "try.mlir", tmp_path / "try.ptx"
    command = ["emit", mnemonic, "--target", where, "--format", "mlir", *options]
    assert tile_isa.main([*command, "-o", str(program)]) == 0
    assert tile_isa.main(command) == 0
    assert program.read_text() == capsys.readouterr().out
    assert tilec.main([str(program), "-o", str(ptx)]) == 0
    text = ptx.read_text()
    assert f".target {where}\n" in text
    form, space = instruction(mnemonic)
    place = "shared" if space or not mnemonic.startswith("wmma") else "global"
    assert form.mnemonic(place) in text.split()
    (kernel,) = json.loads((tmp_path / "try.json").read_text())["kernels"]
    assert kernel["name"] == "try_instruction"


def test_selectors_are_chosen(capsys) -> None:
    mnemonic, where, options = CASES[3]
    tile_isa.main(["emit", mnemonic, "--target", where, "--format", "mlir", *options])
    said = capsys.readouterr().out
    assert "byte_id_a = 3, thread_id_a = 0, byte_id_b = 0, thread_id_b = 2}" in said


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ["movmatrix.sync.aligned.m8n8.trans.b16", "--target", "sm_70"],
            "is not available on sm_70; it is",
        ),
        ([CASES[2][0], "--target", "sm_80", "--select", "selector=2"], "out of range; legal: 0, 1"),
        ([CASES[0][0], "--target", "sm_80", "--select", "selector=0"], "it has none"),
    ],
)
def test_mistakes(argv, message, tmp_path, capsys) -> None:
    file = tmp_path / "try.mlir"
    assert tile_isa.main(["emit", *argv, "--format", "mlir", "-o", str(file)]) == 1
    out, err = capsys.readouterr()
    assert (out, file.exists()) == ("", False)
    assert re.match(f"error: .*{message}", err)
    assert err.count("\n") == 1


def test_each_family_says_what_it_takes() -> None:
    for family in {form.family for form in warp_forms().values()}:
        form = next(f for f in warp_forms().values() if f.family is family)
        (where,) = [target(name) for name in list(form.targets)[:1]]
        kernel = form_kernel(form, where)
        names = [argument.name for argument in kernel.arguments]
        assert {o.name for o in (*form.results, *form.operands)} <= set(names)
        assert sum(argument.written for argument in kernel.arguments) == 1
        assert kernel.comment.startswith(f"// {form.ptx}\n")
        assert all(f"//   {argument}\n" in kernel.comment for argument in kernel.arguments)
