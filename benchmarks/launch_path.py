"""How long Python takes to launch a kernel with arguments that it has seen: no GPU is needed.

    python benchmarks/launch_path.py --json launch_path.json

The driver is one that does nothing at once, so what is left is Python: telling arguments and the
state that the kernel reads from others, and the call itself. `first` has other addresses each time,
which is all that is checked and packed; `same` is the launch of a loop. Beside them stands the time
of the driver's own two calls, of which no launch can have less. Microseconds of
the process, medians.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

ROUNDS, LAUNCHES = 15, 2000


class Status(int):
    """A `CUresult`."""

    name = "CUDA_SUCCESS"


class Driver(ModuleType):
    """`cuda.bindings.driver` of a GPU that does nothing."""

    CUlaunchAttribute = SimpleNamespace

    def __init__(self) -> None:
        super().__init__("cuda.bindings.driver")
        self._next = 1 << 40
        done = (Status(0),)
        for name in (
            *("cuInit", "cuCtxSetCurrent", "cuLaunchKernelEx", "cuStreamSynchronize"),
            *("cuMemFree", "cuMemcpyHtoD", "cuFuncSetAttribute", "cuModuleUnload"),
        ):
            setattr(self, name, lambda *_: done)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("CU"):
            return _Names()
        values = {
            "cuDeviceGetCount": 1,
            "cuDeviceGetName": b"nothing\0",
            "cuFuncGetAttribute": 1024,
        }
        return lambda *_: (Status(0), values.get(name, 1))

    def CUlaunchConfig(self) -> Any:  # noqa: N802
        return SimpleNamespace(attrs=[], numAttrs=0, hStream=0)

    def cuDeviceGetAttribute(self, attribute: str, _: Any) -> Any:  # noqa: N802
        known = {"MAJOR": 9, "MINOR": 0, "OPTIN": 227 * 1024}
        return Status(0), known.get(attribute.rpartition("_")[2], 1 << 30)

    def cuMemAlloc(self, size: int) -> Any:  # noqa: N802
        self._next += -(-size // 512) * 512
        return Status(0), self._next


class _Names:
    def __getattr__(self, name: str) -> str:
        return name


def median(run: Callable[[], object]) -> float:
    """Microseconds of a call."""
    found = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(LAUNCHES):
            run()
        found.append((time.process_time() - start) / LAUNCHES * 1e6)
    return statistics.median(found)


def main() -> None:
    """Measure, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    given = parser.parse_args()
    driver = Driver()
    sys.modules["cuda.bindings.driver"] = driver
    from launch_kernel import add
    from tilec.runtime import cuda

    def arrays() -> list[Any]:
        return [cuda.Array((4096,), np.float32) for _ in range(3)]

    x, y, out = arrays()
    run = add.using(target="sm_90a")
    run[4](x, y, out, 2.0, 4096, 1024)
    device = cuda.gpu()
    calls = median(
        lambda: (device.activate(), device.call("cuLaunchKernelEx", 0, 0, 0, 0, kernel="add"))
    )
    fresh = [arrays() for _ in range(200)]
    start = time.process_time()
    for held in fresh:
        run[4](*held, 2.0, 4096, 1024)
    first = (time.process_time() - start) / len(fresh) * 1e6
    figures = {
        "same": median(lambda: run[4](x, y, out, 2.0, 4096, 1024)),
        "same, the grid a function": median(
            lambda: run[lambda given: given["n"] // 1024](x, y, out, 2.0, 4096, 1024)
        ),
        "same, by name": median(lambda: run[4](x, y, out, by=2.0, n=4096, size=1024)),
        "first": first,
        "the driver's calls alone": calls,
    }
    for name, value in figures.items():
        print(f"{value:8.2f} µs  {name}")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=2)


if __name__ == "__main__":
    main()
