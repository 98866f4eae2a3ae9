"""The section `runtime`: `tilec.runtime.cuda` on hardware, its errors included."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from tilec.isa import LaunchError
from tilec.runtime import cuda

from .pack import FormModule, Pack
from .trial import execute

Row = dict[str, Any]

_HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
_FAULTY = f"""{_HEAD}
.visible .entry faulty(.param .u64 a)
{{
    .reg .b64 %a;
    ld.param.u64 %a, [a];
    st.global.u32 [%a], 1;
    ret;
}}
"""
"""A kernel that stores to the address it is given."""


def run(pack: Pack) -> Iterator[Row]:
    """A row for each thing that the runtime must do, in an order in which faults come last."""
    try:
        cuda.gpu()
    except cuda.UnavailableError as error:
        yield {"work": "runtime", "skipped": str(error)}
        return
    modules = list(pack.form_modules())
    checks: dict[str, Callable[[], None]] = {
        "arrays of numpy, copied there and back": lambda: _arrays(modules[0]),
        "arrays on the GPU, none copied": _resident,
        "text that is not PTX is refused with the driver's log": lambda: _refused(
            cuda.LoadError, lambda: cuda.load(f"{_HEAD}.visible .entry k() {{ nonsense; }}")
        ),
        "a CTA of 2048 threads is refused": lambda: _refused(
            LaunchError, lambda: cuda.launch(_FAULTY, "faulty", 1, 2048, [None])
        ),
        "an array of a pebibyte is refused": lambda: _refused(
            cuda.OutOfMemoryError, lambda: cuda.Array((1 << 48,))
        ),
        "a kernel that faults is named": lambda: _refused(
            cuda.FaultError, lambda: cuda.launch(_FAULTY, "faulty", 1, 32, [None])
        ),
        "the next launch runs all the same": lambda: _arrays(modules[0]),
    }
    for what, check in checks.items():
        try:
            check()
        except Exception as error:
            said = f"FAILED: {what}: {type(error).__name__}: {error}"
            yield {"work": "runtime", "what": what, "right": False, "says": said}
        else:
            yield {"work": "runtime", "what": what, "right": True, "says": f"as it must: {what}"}


def _arrays(module: FormModule) -> None:
    trial = module.trials[0]

    def executor(kernel: str, ctas: int, arguments: list[np.ndarray]) -> None:
        cuda.launch(module.ptx, kernel, ctas, 32, arguments)

    chosen = trial.runs[0]
    if trial.digests(execute(trial, chosen, executor)) != chosen.digests:
        raise AssertionError(f"{trial.name} gives other bits than the simulator")


def _resident() -> None:
    array = cuda.Array.of(np.zeros(4, np.uint32))
    cuda.launch(_FAULTY, "faulty", 1, 32, [array])
    if array.numpy().tolist() != [1, 0, 0, 0]:
        raise AssertionError(f"the array holds {array.numpy().tolist()}")


def _refused(error: type[Exception], call: Callable[[], Any]) -> None:
    try:
        call()
    except error:
        return
    raise AssertionError(f"no {error.__name__}")
