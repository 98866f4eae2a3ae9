"""Compiling with the CuTe DSL, in a process of its own."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest


class Cute:
    """The CuTe DSL's compiler."""

    def __init__(self, ask: Callable[..., dict[str, Any]]) -> None:
        self._ask = ask

    def compile(self, **request: Any) -> dict[str, Any]:
        """What `server.py` answers, which must be no error."""
        made = self._ask(**request)
        assert "error" not in made, made["error"]
        return made


@pytest.fixture(scope="session")
def cute(tmp_path_factory: pytest.TempPathFactory, compilers: Any) -> Cute:
    """The compiler, which needs neither a driver nor a GPU where it is told the architecture."""
    if importlib.util.find_spec("nvidia_cutlass_dsl") is None:
        pytest.skip("the CuTe DSL (nvidia-cutlass-dsl) is not installed")
    return Cute(
        compilers(
            Path(__file__).with_name("server.py"),
            CUTE_DSL_ARCH="sm_90a",
            CUTE_DSL_CACHE_DIR=str(tmp_path_factory.mktemp("cache")),
            CUTE_DSL_DUMP_DIR=str(tmp_path_factory.mktemp("cute")),
            CUTE_DSL_KEEP="ptx",
        )
    )


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in each run."""
    return np.random.default_rng(20261123)
