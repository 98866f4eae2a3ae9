"""What bounds a launch, against white papers' rates and counts made by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec
from tilec import sim
from tilec.isa import target
from tilec.launch.arguments import passed
from tilec.launch.simulated import for_simulator
from tilec.sim.ptx import read
from tilec.tools import tile_run
from tilec.tuning.bound import Bound, bound
from tilec.tuning.errors import TuningError

ROOT = Path(__file__).parents[3]
KERNEL = """\
.version 7.0
.target sm_80
.address_size 64
%s
.visible .entry k(.param .u64 p, .param .u64 q) {
  .reg .pred %%p<4>; .reg .b32 %%r<9>; .reg .b64 %%rd<9>;
  ld.param.u64 %%rd1, [p]; ld.param.u64 %%rd2, [q];
  mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%tid.x;
  mad.lo.u32 %%r3, %%r1, 256, %%r2;
  mul.wide.u32 %%rd3, %%r3, 4;
  add.u64 %%rd1, %%rd1, %%rd3; add.u64 %%rd2, %%rd2, %%rd3;
  %s
  ret;
}
"""
COPY = KERNEL % ("", "ld.global.u32 %r4, [%rd1]; st.global.u32 [%rd2], %r4;")
COUNTDOWN = KERNEL % (
    "",
    "ld.global.u32 %r4, [%rd1];\nL: sub.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra L;",
)
CALLS = KERNEL % (".func f() { ret; }", "call f;")
SHARED = KERNEL % (".shared .align 16 .b8 s[150000];", "mov.u32 %r5, s; st.shared.u32 [%r5], %r2;")


def of(text: str, ctas: int, arrays: list[Any], name: str = "sm_80", **more: Any) -> Bound:
    return bound(read(text), "k", target(name), (ctas, 1, 1), (256, 1, 1), arrays, **more)


def test_a_copy_is_bound_by_memory() -> None:
    """256 MB to and fro, on an A100 of 2,039 GB/s, and what 405 waves take to begin."""
    count = 1 << 26
    arrays = [np.empty(count, np.uint32) for _ in range(2)]
    found = of(COPY, count // 256, arrays)
    assert found.gpu.name == "A100"
    assert found.estimate.limit == "dram"
    assert found.estimate.seconds == pytest.approx(8 * count / 2.039e12, rel=0.3)
    assert next(iter(found.shares)) == "dram"
    assert 0.7 < found.shares["dram"] <= 1


def test_a_product_is_bound_by_tensor_cores() -> None:
    """4096 by 4096 by 4096, of which an A100 does 312 TFLOP/s in f16."""
    compiled = tilec.compile(ROOT / "examples" / "gemm.mlir", target="sm_80")
    (kernel,) = compiled.kernels
    a, b, c = (np.empty((4096, 4096), kind) for kind in (np.float16, np.float16, np.float32))
    args = for_simulator(passed(kernel, [a, b, c], grid=(32, 32, 1)))
    found = bound(
        read(compiled.ptx), kernel.name, target("sm_80"), (32, 32, 1), kernel.block or (0, 0, 0),
        args, dynamic_shared=kernel.dynamic_shared,
    )  # fmt: skip
    tensor = found.estimate.cycles["tensor"] / found.gpu.hertz
    assert tensor == pytest.approx(2 * 4096**3 / 312e12, rel=0.01)
    assert max(found.shares.values()) <= 1


def test_what_depends_on_data_is_taken_from_the_run() -> None:
    """A loop of as many rounds as the array says."""
    module = read(COUNTDOWN)
    rounds = 1000
    data, other = np.full(256, rounds, np.uint32), np.zeros(256, np.uint32)
    report = sim.launch(module, "k", 1, 256, [data, other])
    found = of(COUNTDOWN, 1, [data, other], report=report)
    issued = 8 * 3 * rounds / 4  # warps, instructions of the loop, schedulers
    assert found.estimate.cycles["issue"] * found.gpu.sms == pytest.approx(issued, rel=0.02)
    assert found.estimate.limit == "issue"


def test_calls_are_known_of_a_run_alone() -> None:
    arrays = [np.zeros(256, np.uint32), np.zeros(256, np.uint32)]
    with pytest.raises(TuningError, match="kernel 'k' calls functions"):
        of(CALLS, 1, arrays)
    report = sim.launch(read(CALLS), "k", 1, 256, list(arrays))
    assert of(CALLS, 1, arrays, report=report).estimate.cycles["issue"] > 0


def test_a_kernel_that_fits_no_sm() -> None:
    arrays = [np.zeros(256, np.uint32), np.zeros(256, np.uint32)]
    with pytest.raises(TuningError, match="does not fit an SM of sm_86: shared memory"):
        of(SHARED, 1, arrays, "sm_86")


def test_more_ctas_than_sms_take_longer() -> None:
    """A second wave of one CTA takes as long as a whole one; SMs that idle do not count as busy."""
    arrays = [np.zeros(1 << 20, np.uint32), np.zeros(1 << 20, np.uint32)]
    one, two = (of(SHARED, ctas, arrays) for ctas in (108, 109))
    assert (one.estimate.waves, two.estimate.waves) == (1, 2)
    assert two.estimate.seconds > 1.5 * one.estimate.seconds
    assert (one.busiest, two.busiest) == (1, 2)


RUN = ["--grid", "2", "--arg", "zeros:512:i32", "--arg", "zeros:512:i32", "--device", "sim"]


def test_tile_run_says_that_it_estimates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(COPY)
    given = [str(path), *RUN, "--block", "256", "--estimate"]
    assert tile_run.main(given) == 0
    said = capsys.readouterr().out
    assert "estimate for one A100 (first order, not measured): " in said
    assert "wave of 2 CTAs, " in said
    assert tile_run.main([*given, "--report", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["estimate"]
    assert (found["kind"], found["gpu"], found["ctas"]) == ("estimate", "A100", 2)
    assert tile_run.main([*given, "--report", "html"]) == 0
    assert "first order, not measured" in capsys.readouterr().out


def test_tile_run_on_a_gpu_estimates_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(COPY)
    assert tile_run.main([str(path), *RUN[:-1], "cuda", "--block", "256", "--estimate"]) == 1
    assert "--device cuda: --estimate is only for the simulator" in capsys.readouterr().err
