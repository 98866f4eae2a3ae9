"""The plan of a run: what comes first, what is left out, and what is said of it."""

from __future__ import annotations

import json

import numpy as np
import pytest


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    """A pack of the fields alone: nothing is compiled."""
    from device_pack import suite
    from device_pack.attention_kernel import Attention
    from device_pack.kernels import CONFIGURATIONS, GEMMS
    from device_run.pack import Pack

    folder = tmp_path_factory.mktemp("plan")
    kernels = [
        {
            "name": f"{kind.name}-{number}",
            "work": "gemm",
            "dtype": kind.name,
            "elements": {"a": kind.element, "b": kind.element, "d": kind.out},
            "sparse": kind.sparse,
            "tile": list(how.tile),
            "group": how.group,
        }
        for kind in GEMMS
        for number, how in enumerate(CONFIGURATIONS[1])
    ]
    kernels += [
        {"name": k.name, "work": "attention", "dtype": k.name, "dimension": 128, "causal": k.causal}
        for k in (Attention(128, causal=False), Attention(128, causal=True))
    ]
    cases = [
        {
            "name": case.name,
            "workload": case.workload,
            "about": dict(case.about),
            "problems": list(case.problems),
            "worth": case.worth,
            "kernels": [{}] * len(case.steps),
        }
        for case in suite.cases()
    ]
    files = {"pack": {"target": "sm_90a"}, "kernels": kernels, "suite": cases}
    for name, content in {**files, "forms": [], "programs": [{}] * 100}.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return Pack(folder)


def plan_of(pack):
    from device_run.plan import in_order
    from device_run.sections import SECTIONS, entries

    return in_order(entries(pack, [section.name for section in SECTIONS]))


def test_what_is_asked_for_first_comes_first(pack):
    plan = plan_of(pack)
    first = {(entry.section, entry.name) for entry in plan if entry.worth == 0}
    for size in (4096, 8192):
        assert {("gemm", f"{dtype} {size}x{size}x{size}") for dtype in ("f16", "e4m3")} <= first
    assert ("attention", "f16-d128 32x8192") in first
    assert ("kernels", "e4m3 1x128 128x128, 1") in first
    worths = [entry.worth for entry in plan]
    assert worths == sorted(worths)
    assert plan == plan_of(pack)  # as each process counts them


def test_all_of_worth_fits_into_nine_minutes(pack):
    """Every kernel once, every probe and every program; what has no room are further sizes."""
    from device_run.plan import fitting

    plan = plan_of(pack)
    chosen = fitting(plan, 8.5 * 60)
    kernels = [entry for entry in plan if entry.section == "kernels"]
    assert {entry.name for entry in kernels} <= {entry.name for entry in chosen}
    assert all(entry in chosen for entry in plan if entry.worth <= 3)


def test_estimates_follow_the_rates_of_the_gpu():
    """By NVIDIA's figures for an H200: 989 TFLOP/s of f16, 1,979 of 8-bit floats, 4.8 TB/s."""
    from device_run.plan import REACHED, Estimates
    from tilec.isa import target

    estimates = Estimates(target("sm_90a"))
    flops = 2 * 8192**3
    for bits, teraflops in ((16, 989), (8, 1979), (32, 495)):
        wanted = flops / teraflops / 1e9 / REACHED
        # Of the boost clock, which NVIDIA's figures are below.
        assert estimates.milliseconds(flops, bits, 1) == pytest.approx(wanted, rel=0.1)
    assert estimates.milliseconds(1, 16, 4.8e9) == pytest.approx(1 / REACHED)
    first, second = (estimates.compared(1.0, 2, 2, "f16") for _ in range(2))
    assert first - second == pytest.approx(5.0)  # Triton compiles once
    assert estimates.compared(100.0, 1, 0) > 1.5


def test_what_does_not_fit_is_said_and_shorter_ones_go_on():
    from device_run.plan import START, TABLE, Entry, fitting, planned

    plan = [Entry("gemm", "long", 0, 50.0), Entry("gemm", "longer", 1, 90.0)]
    plan += [Entry("forms", "short", 2, 1.0)]
    seconds = START + TABLE + 60
    assert [entry.name for entry in fitting(plan, seconds)] == ["long", "short"]
    first, *lines = planned(plan, seconds, each=True)
    assert first.startswith(f"plan: 2 of 3 entries, {START + TABLE + 51:.0f} s of {seconds:.0f}")
    assert ["no room" in line for line in lines] == [False, True, False]
    assert lines[2].split()[-1] == "short"


@pytest.mark.slow
def test_inputs_and_checksums_take_as_long_as_planned():
    """Those of the forms, on this machine: what the plan supposes is no less."""
    import time

    from device_run.sections import _FORM_BYTES, _FORM_SECONDS
    from device_run.trial import Place, Run, Trial

    places = tuple(
        Place(name, 512, 4, {"bits": "bits"} if name != "d" else {}) for name in ("d", "a", "b")
    )
    run = Run("bits", 0, 1 << 13)
    trial = Trial("form", {}, "", "k0", places, (run,))
    trial.memory(run)  # makes the pools
    start = time.process_time()
    for _ in range(8):
        trial.digests(trial.memory(run)["d"])
    took = (time.process_time() - start) / 8
    assert took < _FORM_SECONDS + run.ctas * 3 * 512 / _FORM_BYTES
    assert np.isfinite(took)


def test_a_folder_without_a_pack(tmp_path, capsys):
    from device_run.main import main

    with pytest.raises(SystemExit) as ended:
        main(tmp_path, ["--plan"])
    assert ended.value.code == 2
    assert f"error: {tmp_path} is not a pack: it has no pack.json" in capsys.readouterr().err
