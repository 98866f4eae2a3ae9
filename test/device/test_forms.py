"""Every instruction form that the GPU has, on a million elements and more, three ways.

Kernels and memory are those that `benchmarks/pack_device.py` packs: normal numbers, uniformly
random bits (NaN, infinity, subnormals, both zeros), and numbers at the edge of the accumulators.
The simulator is held against numpy where numbers are normal, and the GPU against the simulator.
"""

import os

import pytest
from tilec.isa import Family
from tilec.sim import read

ELEMENTS = int(os.environ.get("TILEC_DEVICE_ELEMENTS", str(1 << 20)))
"""Of each form; fewer try the tests themselves."""

pytestmark = pytest.mark.device


@pytest.mark.parametrize("family", Family)
def test_forms(gpu, family):
    from device_pack.expect import finished
    from device_pack.forms import forms_of, groups
    from device_run.forms import newest_ptx
    from device_run.simulate import Simulator
    from device_run.verdict import judge
    from tilec.runtime import cuda

    target = gpu.target
    newest = newest_ptx(gpu.driver_version)
    chosen = [form for form in forms_of(target) if form.family is family]
    if not chosen:
        pytest.skip(f"{gpu} has no {family}")
    wrong = []
    for group in groups(chosen, target):
        if group.version > newest:
            continue
        module = finished(group, target.name, ELEMENTS)
        simulator = Simulator(read(module.ptx), target.name)

        def executor(kernel, ctas, arguments, ptx=module.ptx):
            cuda.launch(ptx, kernel, ctas, 32, arguments)

        wrong += [
            str(found)
            for trial in module.trials
            for run in trial.runs
            if (found := judge(trial, run, executor, simulator))
        ]
    assert not wrong, f"{len(wrong)} wrong:\n" + "\n".join(wrong[:20])
