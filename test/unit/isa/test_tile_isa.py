"""`tile-isa` prints the table as it is, shows every form, emits kernels, and refuses by name."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys

import pytest
from tilec.isa import forms, target, warp_forms
from tilec.isa.instructions import instructions
from tilec.isa.kernel import kernel
from tilec.tools import tile_isa
from tilec.tools.form_text import TILE_OPS, details


@pytest.fixture
def tool(capsys):
    """Run the tool; exit code, standard output, standard error."""

    def run(*argv):
        try:
            code = tile_isa.main(argv)
        except SystemExit as stopped:
            code = stopped.code
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_list_json(tool):
    code, out, _ = tool("list", "--format", "json")
    listed = json.loads(out)
    assert code == 0
    names = [entry.get("key", entry["ptx"]) for entry in listed]
    assert names == [*forms(), *instructions()]
    by_name = {entry["ptx"]: entry for entry in listed}
    f16 = by_name["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"]
    assert f16 == {
        "ptx": "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "family": "mma",
        "min_ptx": "7.0",
        "targets": {"sm_80": "7.0"},
    }
    fp4 = by_name["mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32"]
    assert fp4["targets"] == {"sm_120a": "8.7", "sm_120f": "8.8"}
    assert fp4["min_ptx"] == "8.7"


def test_list_formats_agree(tool):
    _, data, _ = tool("list", "--family", "ldmatrix", "--format", "json")
    names = [entry["ptx"] for entry in json.loads(data)]
    assert len(names) == 21
    _, table, _ = tool("list", "--family", "ldmatrix", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [row["ptx"] for row in rows] == names
    assert dict(pair.split(":") for pair in rows[-1]["targets"].split())["sm_90a"] == "9.4"
    _, table, _ = tool("list", "--family", "ldmatrix", "--format", "md")
    assert re.findall(r"^\| `(\S+)` \|", table, re.M) == names
    _, text, _ = tool("list", "--family", "ldmatrix")
    assert [line.split()[0] for line in text.splitlines()] == names


@pytest.mark.parametrize("name", ["sm_75", "sm_90a", "sm_120f"])
def test_list_of_a_target(tool, name):
    _, out, _ = tool("list", "--target", name, "--format", "json")
    every = {**forms(), **instructions()}
    have = [ptx for ptx, found in every.items() if found.min_ptx(target(name))]
    assert [entry.get("key", entry["ptx"]) for entry in json.loads(out)] == have
    assert 0 < len(have) < len(every)


def test_show_every_form(tool):
    for ptx, found in (*warp_forms().items(), *list(forms().items())[::9]):
        data = details(found)
        json.dumps(data)
        assert len(data["operands"]) == len(found.results) + len(found.operands)
        assert data["instruction"].startswith(found.mnemonic("shared" if found.spaces else ""))
        assert data.get("key", data["ptx"]) == ptx


def test_show(tool):
    code, out, _ = tool("show", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32")
    assert code == 0
    assert re.search(r"from sm_90 to below sm_120: 2 HMMA, emulated", out)
    assert re.search(r"tile\.mma \{form = ", out)
    assert re.search(r"a +16×32 e4m3, 4 registers \.b32, 4 elements each, read", out)
    assert "register [0,1] [0,2] [8,0] [0,16]; lane" in out
    _, out, _ = tool("show", "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32")
    assert "from sm_90 on: 2 IMMA, emulated" in out
    _, out, _ = tool("show", "ldmatrix.sync.aligned.x4.m8n8.shared.b16", "--format", "json")
    assert json.loads(out)["ptx"] == "ldmatrix.sync.aligned.m8n8.x4.b16"
    _, out, _ = tool("show", "wmma.load.a.sync.aligned.row.m16n16k16.f16")
    assert "not defined by the ISA" in out


def test_emit(tool, tmp_path):
    ptx = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
    where = target("sm_80")
    code, out, _ = tool("emit", ptx, "--target", "sm_80", "--select", "selector=1")
    assert (code, out) == (0, kernel(forms()[ptx], where, selectors={"selector": 1}).ptx)
    assert "%e0, 1;" in out
    file = tmp_path / "kernel.ptx"
    code, out, _ = tool("emit", ptx, "--target", "sm_80", "-o", str(file))
    assert (code, out) == (0, "")
    assert file.read_text() == kernel(forms()[ptx], where).ptx


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["show", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32"], r"m16n8k16.*f32\.f16"),
        (["list", "--family", "wgmm"], "unknown family 'wgmm'; nearest legal: .*wgmma"),
        (["list", "--target", "sm_91"], "unknown target 'sm_91'; nearest legal: .*sm_90"),
        (
            ["emit", "movmatrix.sync.aligned.m8n8.trans.b16", "--target", "sm_70"],
            "is not available on sm_70; it is available on sm_75 from PTX 7.8",
        ),
        (
            ["emit", "movmatrix.sync.aligned.m8n8.trans.b16", "--target=sm_80", "--select=a=1"],
            "has no selector 'a'; it has none",
        ),
        (
            ["emit", "movmatrix.sync.aligned.m8n8.trans.b16", "--target=sm_80", "--types=f16"],
            "has no types to choose: only tcgen05.mma has",
        ),
        (["show", "ldmatrix.sync.aligned.m8n8.x1.global.b16"], "legal: .*shared.b16"),
    ],
)
def test_mistakes(tool, tmp_path, argv, message):
    code, out, err = tool(*argv)
    assert (code, out) == (1, "")
    assert re.match(f"error: .*{message}", err)
    assert err.count("\n") == 1


def test_no_output_file_after_a_mistake(tool, tmp_path):
    file = tmp_path / "kernel.ptx"
    name = "movmatrix.sync.aligned.m8n8.trans.b16"
    assert tool("emit", name, "--target", "sm_70", "-o", str(file))[0] == 1
    assert not file.exists()


@pytest.mark.parametrize("argv", [[], ["emit", "x"], ["list", "--format", "xml"], ["frobnicate"]])
def test_wrong_usage(tool, argv):
    code, _, err = tool(*argv)
    assert code == 2
    assert "error: " in err


def test_the_tool_starts_light():
    code = (
        "import sys; from tilec.tools import tile_isa; tile_isa.main(['list']); "
        "bad = [m for m in ('llvmlite', 'torch_mlir', 'mlir', 'ml_dtypes') if m in sys.modules]; "
        "sys.exit(1 if bad else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_tile_ops_are_those_of_the_dialect():
    pytest.importorskip("torch_mlir")
    from tilec.dialects.tile import ops
    from tilec.dialects.tile.ops.base import TileOp

    assert ops
    # A dot, of warps or warpgroups, is as many instructions as its tiles need.
    every, found = [], [TileOp]
    while found:
        every += found
        found = [under for op in found for under in op.__subclasses__()]
    with_form = {
        op.OPERATION_NAME
        for op in every
        if any("form" in vars(one).get("__annotations__", {}) for one in op.__mro__)
        and getattr(op, "OPERATION_NAME", None)
    }
    assert set(TILE_OPS.values()) == with_form - {
        *("tile.dot", "tile.tensor_dot", "tile.tensor_dot_scaled", "tile.warpgroup_dot"),
        "tile.warpgroup_dot_sp",
        "tile.warpgroup_start",
        # The forms of these stand in a table of their own.
        *("tile.tcgen05_cp", "tile.tcgen05_mma", "tile.tcgen05_mma_scaled", "tile.tcgen05_mma_sp"),
        "tile.tcgen05_mma_sp_scaled",
    }
    assert set(TILE_OPS) == {str(found.family) for found in forms().values()}
