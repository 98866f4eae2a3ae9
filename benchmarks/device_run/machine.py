"""The machine: versions, and clocks and power while something runs."""

from __future__ import annotations

import importlib.metadata
import platform
import statistics
import subprocess
import threading
import time
from typing import Any

from .driver import Cuda

_QUERY = "clocks.sm,clocks.mem,power.draw,temperature.gpu"
_NAMES = ("sm_mhz", "memory_mhz", "power_w", "temperature_c")
PACKAGES = ("numpy", "ml_dtypes", "torch", "triton", "cuda-core", "cuda-bindings")


def versions(cuda: Cuda) -> dict[str, str]:
    """Versions of what has a part in the numbers."""
    found = {"python": platform.python_version(), "cuda_driver": cuda.driver}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


class Sampler:
    """Reads clocks and power every 100 ms, by `nvidia-smi`; gives nothing where there is none."""

    def __init__(self) -> None:
        self._samples: list[tuple[float, list[float]]] = []
        command = ["nvidia-smi", f"--query-gpu={_QUERY}", "--format=csv,noheader,nounits"]
        try:
            self._process: subprocess.Popen[str] | None = subprocess.Popen(
                [*command, "-i", "0", "-lms", "100"],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        except OSError:
            self._process = None
            return
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process
        assert self._process.stdout
        for line in self._process.stdout:
            try:
                values = [float(word) for word in line.split(",")]
            except ValueError:
                continue
            self._samples.append((time.monotonic(), values))

    def since(self, start: float) -> dict[str, Any]:
        """Medians of what was read after a time of `time.monotonic`."""
        values = [sample for when, sample in self._samples if when >= start]
        return {
            name: statistics.median(column)
            for name, column in zip(_NAMES, zip(*values, strict=True), strict=False)
        }

    def stop(self) -> None:
        """End the reading."""
        if self._process:
            self._process.terminate()
            self._process.wait()
