"""What becomes of a run's results: the default configuration, and pictures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


def row(section, dtype, shape, rate, configuration="", right=True, **peers):
    return {
        "section": section,
        "dtype": dtype,
        "shape": list(shape),
        "tflops": rate,
        "right": right,
        "configuration": configuration,
        "peers": {name: {"ms": 1.0, "tflops": value} for name, value in peers.items()},
    }


RESULTS = {
    "gpu": "NVIDIA Test",
    "date": "2026-11-30T12:00:00+00:00",
    "versions": {"tilec": "0.1.0"},
    "rows": [
        row("sweep", "f16", (4096,) * 3, 400.0, "quick here"),
        row("sweep", "f16", (8192,) * 3, 300.0, "quick here"),
        row("sweep", "f16", (4096,) * 3, 380.0, "good at both"),
        row("sweep", "f16", (8192,) * 3, 390.0, "good at both"),
        row("sweep", "f16", (4096,) * 3, 500.0, "wrong", right=False),
        row("sweep", "f16", (4096,) * 3, 450.0, "only once"),
        row("gemm", "f16", (512,) * 3, 100.0, cuBLAS=150.0),
        row("gemm", "f16", (512,) * 3, 110.0, cuBLAS=140.0),
        row("gemm", "f16", (512, 1024, 512), 90.0, cuBLAS=95.0),
        row("gemm", "s8", (1024,) * 3, 300.0),
        row("attention", "f16-d64", (32, 8192, 64), 350.0, Flash=400.0),
    ],
}


def test_the_default_is_what_is_good_everywhere():
    from sweep import measured

    named = ("quick here", "good at both", "only once", "never timed")
    document = {
        "dtype": "f16",
        "target": "sm_90a",
        "default": "never timed",
        "configurations": [{"configuration": name, "refused": ""} for name in named],
    }
    found = measured(document, RESULTS)
    assert found["default"] == "good at both"
    assert found["chosen_by"] == "measured on NVIDIA Test, 2026-11-30"
    rates = {one["configuration"]: one["tflops"] for one in found["configurations"]}
    assert rates["quick here"] == {"4096x4096x4096": 400.0, "8192x8192x8192": 300.0}
    assert rates["never timed"] is None


def test_results_without_times_are_refused():
    from sweep import measured
    from tilec.isa import TilecError

    with pytest.raises(TilecError, match="no times of bf16"):
        measured({"dtype": "bf16", "target": "sm_90a", "configurations": []}, RESULTS)


def test_candidates_are_pruned():
    """What the simulator and ptxas say of three configurations of which two are no good."""
    from device_pack.candidates import examine
    from device_pack.gemm_kernel import Configuration
    from device_pack.kernels import GEMMS

    good = examine(GEMMS[0], Configuration((64, 64, 64), (2, 2), 2), "sm_90a")
    assert not good.refused
    # A warp reads 32 x 16 of A with two ldmatrix.x4 of four passes each, as much of B, for 8 mma;
    # the CTA copies 64 rows of A and of B, a pass each, for 128 mma in each slice of 64.
    assert good.conflicts == 0
    assert good.wavefronts == pytest.approx(4 * 4 / 8 + 2 * 64 / 128)
    assert good.traffic == pytest.approx(1000 * (64 + 64) * 2 / (64 * 64))
    plain = examine(GEMMS[0], Configuration((64, 64, 64), (2, 2), 2, swizzle=0), "sm_90a")
    assert "bank conflicts" in plain.refused
    huge = examine(GEMMS[0], Configuration((256, 256, 64), (4, 4), 4), "sm_90a")
    assert "262144 bytes of shared memory; sm_90a has 232448 a CTA" in huge.refused


def test_configurations_have_names_that_say_all():
    from device_pack.candidates import configurations
    from device_pack.gemm_kernel import Configuration

    for how in configurations():
        assert Configuration.of(how.name) == how


def test_lines_of_a_picture():
    from plot_results import lines

    gemm = lines(RESULTS["rows"], "gemm")
    assert gemm == {
        "f16": {"tilec": {512: 110.0}, "cuBLAS": {512: 150.0}},
        "s8": {"tilec": {1024: 300.0}},
    }
    assert lines(RESULTS["rows"], "attention") == {
        "f16-d64": {"tilec": {8192: 350.0}, "Flash": {8192: 400.0}}
    }


def run(*arguments):
    command = [sys.executable, str(BENCHMARKS / "plot_results.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_pictures(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: the extra 'plots'")
    results = tmp_path / "results.json"
    results.write_text(json.dumps(RESULTS))
    for folder in ("one", "two"):
        done = run(results, "--out", tmp_path / folder)
        assert done.returncode == 0, done.stderr
    names = {"gemm-nvidia-test", "attention-nvidia-test"}
    drawn = {path.name for path in (tmp_path / "one").iterdir()}
    assert drawn == {f"{name}.{kind}" for name in names for kind in ("png", "svg")}
    for name in drawn:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_no_results(tmp_path):
    wrong = tmp_path / "no.json"
    done = run(wrong)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


def test_a_table_ends_with_what_matters():
    from device_run.table import table, wrong

    timed = {"clocks": {"sm_mhz": 1500.0, "power_w": 650.0}, "level": 2, "error": 0.5}
    gemm = [
        {**row("gemm", "f16", (4096,) * 3, 400.0, "slow", cuBLAS=700.0), **timed},
        {**row("gemm", "f16", (4096,) * 3, 450.0, "quick", cuBLAS=710.0), **timed},
        {**row("gemm", "f16", (512,) * 3, 100.0, "small", right=False), **timed},
    ]
    forms = [
        {"form": "right", "elements": 10, "wrong": []},
        {"form": "left out", "skipped": "too new"},
        {"form": "bad", "elements": 10, "wrong": [{"message": "bad on bits: 1 of 2 blocks"}]},
    ]
    rows = {"forms": forms, "gemm": gemm, "probes": [{"says": "a verdict"}]}
    lines = table(rows).splitlines()
    assert wrong(rows)
    assert "1 of 2 forms as simulated, bit by bit, on 20 elements" in lines
    assert "bad on bits: 1 of 2 blocks" in lines
    assert "left out: 1, the first: too new" in lines
    assert "a verdict" in lines
    short = lines[lines.index("== in short") :]
    assert short[1:5] == [
        "forms: 1 of 3 rows WRONG",
        "gemm: 1 of 3 rows WRONG",
        "probes: nothing wrong",
        "  bad",
    ]
    assert short[5].split() == [
        "f16", "4096x4096x4096", "450", "cuBLAS", "710", "1500", "650", "quick", "l2",
    ]  # fmt: skip
    assert len(short) == 6
    assert not wrong({"probes": rows["probes"]})
