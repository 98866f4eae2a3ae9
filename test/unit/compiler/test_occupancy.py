"""Occupancy: NVIDIA's own calculator finds the same for many kernels on every architecture."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from tilec.isa import TARGETS, target
from tilec.launch.occupancy import Limit, Occupancy, occupancy

RUBIN = 107

PROGRAM = """
#include <cstddef>
#include <cstdio>
#include <cuda_occupancy.h>
int main() {
  int major, minor, warps, threads, registers, per_cta, per_sm, shared;
  while (std::scanf("%d %d %d %d %d %d %d %d", &major, &minor, &warps, &per_cta, &per_sm, &threads,
                    &registers, &shared) == 8) {
    cudaOccDeviceProp device;
    device.computeMajor = major;
    device.computeMinor = minor;
    device.maxThreadsPerBlock = 1024;
    device.maxThreadsPerMultiprocessor = warps * 32;
    device.regsPerBlock = device.regsPerMultiprocessor = 65536;
    device.warpSize = 32;
    device.sharedMemPerBlock = 49152;
    device.sharedMemPerMultiprocessor = per_sm;
    device.sharedMemPerBlockOptin = per_cta;
    device.reservedSharedMemPerBlock = major >= 8 ? 1024 : 0;
    device.numSms = 1;
    cudaOccFuncAttributes kernel;
    kernel.maxThreadsPerBlock = 1024;
    kernel.numRegs = registers;
    kernel.sharedSizeBytes = 0;
    kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    kernel.maxDynamicSharedSizeBytes = shared;
    kernel.numBlockBarriers = 1;
    cudaOccDeviceState state;
    cudaOccResult result;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads, shared))
      return 1;
    std::printf("%d\\n", result.activeBlocksPerMultiprocessor);
  }
}
"""
CASES = [
    # architecture, threads, registers, shared memory: CTAs (NVIDIA's calculator)
    ("sm_80", 256, 123, 98304, 1),
    ("sm_80", 128, 128, 49152, 3),
    ("sm_75", 128, 64, 0, 8),
    ("sm_90a", 64, 32, 0, 32),
    ("sm_89", 1024, 65, 0, 0),
    ("sm_120", 256, 40, 101376, 1),
]


@pytest.mark.parametrize(("name", "threads", "registers", "shared", "ctas"), CASES)
def test_ctas(name: str, threads: int, registers: int, shared: int, ctas: int) -> None:
    found = occupancy(threads, registers, shared, target(name))
    assert found.ctas == ctas
    assert found.warps == ctas * threads // 32


def test_says_what_limits() -> None:
    assert occupancy(256, 123, 98304, target("sm_80")) == Occupancy(1, 8, (Limit.SHARED,))
    assert occupancy(128, 255, 0, target("sm_80")).limits == (Limit.REGISTERS,)


def test_agrees_with_the_calculator(tmp_path: Path) -> None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("needs nvcc, whose toolkit has the calculator")
    (tmp_path / "calculator.cpp").write_text(PROGRAM)
    binary = tmp_path / "calculator"
    command = [nvcc, "-w", "-o", binary, tmp_path / "calculator.cpp"]
    subprocess.run(command, check=True, capture_output=True)
    rng = random.Random(0)
    asked = []
    for chosen in TARGETS.values():
        if chosen.number == RUBIN:
            continue  # whose limits the calculator does not have
        for _ in range(200):
            threads, registers = 32 * rng.randint(1, 32), rng.randint(16, 255)
            shared = rng.choice([0, rng.randint(0, chosen.shared_per_cta)])
            asked.append((chosen, threads, registers, shared))
    lines = "".join(
        f"{t.number // 10} {t.number % 10} {t.warps_per_sm} {t.shared_per_cta} {t.shared_per_sm} "
        f"{threads} {registers} {shared}\n"
        for t, threads, registers, shared in asked
    )
    answered = subprocess.run(
        [binary], input=lines, capture_output=True, text=True, check=True
    ).stdout.split()
    found = [occupancy(n, r, s, t).ctas for t, n, r, s in asked]
    wrong = [
        (t.name, n, r, s, ours, theirs)
        for (t, n, r, s), ours, theirs in zip(asked, found, map(int, answered), strict=True)
        if ours != theirs
    ]
    assert not wrong, wrong[:10]
