"""The device tests themselves: right on a simulated GPU, wrong on one of another generation.

They run in processes of their own, on a driver whose GPU is the simulator, on few elements.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
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
    # With CI set pytest explains comparisons at length: the tests must not leave them to it.
    status, said = device_tests("test_gemm_of_random_numbers", SIMULATED_ARITHMETIC="sm_80", CI="1")
    assert status == 1
    found = re.search(
        r"AssertionError: other bits than the simulator's: (\d+) of 16384 elements, first \d+: "
        r"0x(\w{8}), not 0x(\w{8})",
        said,
    )
    assert found, said
    assert int(found[1]) > 1000
    got, wanted = (
        np.array(int(bits, 16), np.uint32).view(np.float32) for bits in found.groups()[1:]
    )
    assert 0 < abs(got - wanted) < 1e-4  # the last bits of a sum


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
