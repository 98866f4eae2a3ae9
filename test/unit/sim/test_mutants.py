"""The mutation benchmark: its operators change what they say, and its verdicts hold."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "sim_mutants.py"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sim_mutants", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sim_mutants"] = module
    spec.loader.exec_module(module)
    return module


def test_operators_change_one_line(benchmark: ModuleType) -> None:
    ptx = """bar.sync 0;
cp.async.wait_group 1;
bar.warp.sync -1;
st.shared.v4.b32 [%r1+16], {%r2, %r3, %r4, %r5};
mov.b32 %r6, 0;
add.s32 %r6, %r6, 1;"""
    found = list(benchmark.mutants(ptx, 0, random.Random(0)))
    assert {m.line for m in found} == {1, 2, 3, 4, 5}
    assert {m.operator for m in found if m.line == 2} == {
        "no wait for a copy",
        "a weaker wait for a copy",
    }
    for mutant in found:
        pairs = zip(ptx.splitlines(), mutant.text.split("\n"), strict=True)
        assert [n for n, (a, b) in enumerate(pairs, 1) if a != b] == [mutant.line]
    weaker = next(m for m in found if m.operator == "a weaker wait for a copy")
    assert "cp.async.wait_group 2;" in weaker.text


def test_verdicts(benchmark: ModuleType) -> None:
    kernel = next(k for k in benchmark.KERNELS if k.path == "warp_gemm.mlir")
    program = benchmark.load(str(benchmark.EXAMPLES / kernel.path), arch=kernel.target, level=3)
    ptx = program.ptx.source.original
    kind, right = benchmark.run(kernel, program, ptx, None)
    assert kind == ""
    found = list(benchmark.mutants(ptx, 0, random.Random(0)))
    wait = next(m for m in found if m.operator == "no wait for a copy")
    assert benchmark.judge(kernel, program, wait, right, 0) == ("found", "async")
    same = benchmark.Mutant("none", "nothing", 1, ptx)
    assert benchmark.judge(kernel, program, same, right, 0) == ("unchanged", "")
    assert benchmark.judge(kernel, program, same, b"other", 0) == ("missed", "")


def test_the_table_has_both_rates(benchmark: ModuleType) -> None:
    verdicts = ["found"] * 6 + ["missed"] + ["incomplete"] + ["unchanged"] * 4
    found = [
        {
            "class": "synchronisation",
            "operator": "no barrier",
            "verdict": verdict,
            "kind": "order-race" if verdict == "found" else "",
        }
        for verdict in verdicts
    ]
    rows = list(benchmark.table(found))
    assert rows[1].split() == [
        "synchronisation", "12", "6", "6", "1", "1", "4", "75.0%", "50.0%",
    ]  # fmt: skip
    assert len(rows) == 3
