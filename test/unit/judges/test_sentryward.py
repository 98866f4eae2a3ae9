"""SentryWard, a static verifier of PTX, proves our kernels synchronised and free of races.

A proof is for one CTA of one launch and every schedule of it. It has nothing of ours: it reads the
PTX, and the JSON beside it says what the launch passes. Taking one barrier out must not be proved.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import tilec

from .kernel_input import kernel_input

EXAMPLES = Path(__file__).parents[3] / "examples"
SIZE = 256
"""Every extent of every array that the launch passes."""
SECONDS = 600
REASON = "needs sentryward: pip install '.[judge]', on Linux on x86-64"
BARRIER = re.compile(r"^\s*bar(rier)?\.(cta\.)?sync\b.*\n", re.MULTILINE)

PROVED = (
    *("families", "gemm", "mma", "warp_gemm", "kernels/batched_gemm", "kernels/gemm"),
    *("kernels/gemm_fp8", "kernels/gemm_int8", "kernels/layer_norm", "kernels/scaled_gemm"),
    *("kernels/softmax", "kernels/sparse_gemm"),
)
SLOWLY_PROVED = (
    *("gemm_bounds", "kernels/attention_128", "kernels/gemm_int4", "kernels/gemm_types"),
    *("kernels/linalg_gemm", "kernels/vector_gemm"),
)
"""In half a minute each, or like one of the others."""
WITH_BARRIERS = ("kernels/softmax", "kernels/layer_norm", "kernels/gemm_int8")
TARGETS = {"kernels/gemm_fp8": "sm_89", "kernels/scaled_gemm": "sm_120a"}
"""Where the example's own does not say."""


def verdicts(folder: Path, ptx: str, kernels: list[dict[str, Any]]) -> dict[str, str]:
    """What SentryWard says of each kernel of a PTX text."""
    sentryward = pytest.importorskip(
        "sentryward", reason="needs sentryward: pip install '.[judge]'"
    )
    program, launch = folder / "kernel.ptx", folder / "input.json"
    program.write_text(ptx, encoding="utf-8")
    found = {}
    for kernel in kernels:
        launch.write_text(json.dumps(kernel_input(kernel, SIZE)), encoding="utf-8")
        result = sentryward.verify(program, input=launch, timeout_seconds=SECONDS)
        checks = {result["checks"]["memory"], result["checks"]["synchronization"]}
        assert (result["result"] == "race_free") == (checks == {"passed"}), result
        found[kernel["name"]] = result["result"]
    return found


def compiled(name: str) -> tuple[str, list[dict[str, Any]]]:
    """PTX of an example, and its kernels by the JSON beside it."""
    text = (EXAMPLES / f"{name}.mlir").read_text(encoding="utf-8")
    made = tilec.compile(text, name=name, target=TARGETS.get(name))
    kernels: list[dict[str, Any]] = json.loads(str(made.abi))["kernels"]
    return made.ptx, kernels


def check_proved(name: str, folder: Path) -> None:
    ptx, kernels = compiled(name)
    found = verdicts(folder, ptx, kernels)
    assert found == {kernel["name"]: "race_free" for kernel in kernels}


@pytest.mark.parametrize("name", PROVED)
def test_free_of_races(name: str, tmp_path: Path) -> None:
    check_proved(name, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOWLY_PROVED)
def test_large_kernels_are_free_of_races(name: str, tmp_path: Path) -> None:
    check_proved(name, tmp_path)


@pytest.mark.parametrize("name", WITH_BARRIERS)
def test_each_barrier_is_needed(name: str, tmp_path: Path) -> None:
    ptx, kernels = compiled(name)
    barriers = list(BARRIER.finditer(ptx))
    assert barriers
    for barrier in barriers:
        less = ptx[: barrier.start()] + ptx[barrier.end() :]
        found = verdicts(tmp_path, less, kernels)
        assert set(found.values()) == {"potential_race"}, f"without {barrier}"
