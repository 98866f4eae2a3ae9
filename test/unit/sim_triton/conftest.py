"""Compiling with Triton, in a process of its own, and running on the simulator."""

import importlib.util
from collections.abc import Callable, Sequence
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
    """Triton's compiler, and runs of what it compiled.

    Attributes:
        compile: asks `server.py`.
    """

    def __init__(self, ask: Callable[..., dict[str, Any]]) -> None:
        self.compile = ask

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
def triton(tmp_path_factory: pytest.TempPathFactory, compilers: Any) -> Triton:
    if importlib.util.find_spec("triton") is None:
        pytest.skip("Triton is not installed")
    return Triton(
        compilers(
            Path(__file__).with_name("server.py"),
            TRITON_CACHE_DIR=str(tmp_path_factory.mktemp("triton")),
            TRITON_DEFAULT_FP_FUSION="1",
        )
    )


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in each run."""
    return np.random.default_rng(20261121)
