"""The device tests themselves: right on a simulated GPU, wrong on one of another generation.

They run in processes of their own, on a driver whose GPU is the simulator, on few elements.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
DEVICE = HERE.parents[1] / "device"


def device_tests(words, **environment):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "simulated_gpu", "-m", "device"]
    command += [str(DEVICE / "test_forms.py"), str(DEVICE / "test_examples.py"), "-k", words]
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH", "")]))
    settings = {"TILEC_DEVICE_ELEMENTS": "256", "PYTHONPATH": path, **environment}
    done = subprocess.run(
        command, env={**os.environ, **settings}, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


def test_on_a_simulated_gpu():
    status, said = device_tests("movmatrix or stmatrix or test_mma")
    assert status == 0, said
    assert "3 passed" in said


def test_another_arithmetic_is_found():
    """sm_80's sums have other bits than sm_90's, which the kernel of one instruction shows."""
    status, said = device_tests("test_gemm_of_random_numbers", SIMULATED_ARITHMETIC="sm_80")
    assert status == 1
    assert "other bits than the simulator's" in said


def test_without_a_gpu():
    try:
        from tilec.runtime import cuda

        cuda.gpu()
    except cuda.UnavailableError as missing:
        reason = str(missing)
    else:
        pytest.skip("there is a GPU")
    command = [sys.executable, "-m", "pytest", "-q", "-m", "device", str(DEVICE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    (line,) = (one for one in done.stdout.splitlines() if "device tests skipped" in one)
    assert line == f"device tests skipped: {reason}"
    assert " passed" not in done.stdout
