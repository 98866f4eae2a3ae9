"""Compiling with Triton, in a process of its own, and running on the simulator."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tilec.sim import Report, launch

TYPES = {
    "float16": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float64": "fp64",
    "float8_e4m3fn": "fp8e4nv",
    "float8_e5m2": "fp8e5",
    "int8": "i8",
    "uint8": "u8",
    "int32": "i32",
}
HIDDEN = 2  # pointers to scratch memory, which Triton's launcher passes


class Triton:
    """Triton's compiler as a process, and what it compiled."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._known: dict[str, dict[str, Any]] = {}

    def compile(self, **request: Any) -> dict[str, Any]:
        """What `server.py` answers."""
        line = json.dumps(request)
        if line not in self._known:
            assert self._process.stdin
            assert self._process.stdout
            print(line, file=self._process.stdin, flush=True)
            self._known[line] = json.loads(self._process.stdout.readline())
        return self._known[line]

    def run(
        self,
        kernel: str,
        grid: Sequence[int],
        args: Sequence[Any],
        *,
        capability: int = 80,
        numerics: str = "exact",
        num_warps: int = 4,
        num_stages: int = 3,
        debug: bool = False,
        **constexprs: Any,
    ) -> Report:
        """Run a kernel on arrays, ints and floats."""
        made = self.compile(
            kernel=kernel,
            signature=[signature(a) for a in args],
            aligned=[i for i, a in enumerate(args) if not isinstance(a, float) and divisible(a)],
            constexprs=constexprs,
            capability=capability,
            options={"num_warps": num_warps, "num_stages": num_stages, "debug": debug},
        )
        assert "error" not in made, made["error"]
        return launch(
            made["ptx"],
            made["name"],
            grid,
            made["threads"],
            [*args, *[None] * HIDDEN],
            arch=f"sm_{capability}",
            dynamic_smem=made["shared"],
            numerics=numerics,
        )


def signature(argument: Any) -> str:
    if isinstance(argument, np.ndarray):
        return "*" + TYPES[argument.dtype.name]
    return "fp32" if isinstance(argument, float) else "i32"


def divisible(argument: Any) -> bool:
    return isinstance(argument, np.ndarray) or argument % 16 == 0


@pytest.fixture(scope="session")
def triton(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Triton]:
    if importlib.util.find_spec("triton") is None:
        pytest.skip("Triton is not installed")
    folder = Path(__file__).parent
    process = subprocess.Popen(
        [sys.executable, str(folder / "server.py")],
        env={
            **os.environ,
            "TRITON_CACHE_DIR": str(tmp_path_factory.mktemp("triton")),
            "TRITON_DEFAULT_FP_FUSION": "1",
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    yield Triton(process)
    process.communicate()


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in each run."""
    return np.random.default_rng(20261121)
