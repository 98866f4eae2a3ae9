"""The section `forms`: every instruction form against the simulator's bits."""

from __future__ import annotations

import time
from collections.abc import Container, Iterator
from dataclasses import asdict
from typing import Any

from tilec.sim import read

from .driver import Cuda, DeviceError
from .gpu import GpuModule
from .pack import FormModule, Pack
from .pools import digests
from .simulate import Simulator
from .verdict import judge

Row = dict[str, Any]


def check_pools(pack: Pack) -> None:
    """Hold the pools of random numbers against the pack's.

    Raises:
        DeviceError: if they differ.
    """
    expected = pack.about["pools"]
    if digests(expected) != expected:
        raise DeviceError("the pools of random numbers differ from the pack's: another numpy?")


def run(cuda: Cuda, pack: Pack, until: float, names: Container[str]) -> Iterator[Row]:
    """A row for each form: what is wrong, or why it is left out.

    Args:
        cuda: the GPU.
        pack: the forms.
        until: when to begin no further module, as `time.monotonic` counts.
        names: of the modules.
    """
    for module in pack.form_modules():
        if module.name not in names:
            continue
        reason = ""
        if module.version > newest_ptx(cuda.driver):
            version = ".".join(map(str, module.version))
            reason = f"PTX {version} is newer than the driver's, CUDA {cuda.driver}"
        elif time.monotonic() > until:
            reason = "out of time"
        if reason:
            yield from ({"form": form, "skipped": reason} for form in _forms(module))
            continue
        try:
            yield from _module(cuda, pack.target, module)
        except DeviceError as error:
            yield {"failure": f"{module.name}: {error}"}


def newest_ptx(driver: str) -> tuple[int, int]:
    """The newest PTX version that a driver of CUDA 12 or later takes."""
    major, minor = map(int, driver.split("."))
    return major - 4, minor


def _forms(module: FormModule) -> list[str]:
    return list(dict.fromkeys(trial.form for trial in module.trials))


def _module(cuda: Cuda, target: str, module: FormModule) -> Iterator[Row]:
    on_gpu = GpuModule(cuda, module.ptx, module.cubin)
    simulator = Simulator(read(module.ptx), target)
    for form in _forms(module):
        elements, wrong = 0, []
        for trial in module.trials:
            if trial.form != form:
                continue
            for run in trial.runs:
                elements += trial.elements(run)
                found = judge(trial, run, on_gpu, simulator)
                if found:
                    wrong.append({**asdict(found), "message": str(found)})
        yield {"form": form, "elements": elements, "wrong": wrong}
    on_gpu.unload()
