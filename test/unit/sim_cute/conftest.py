"""Compiling with the CuTe DSL, in a process of its own."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest


class Cute:
    """The CuTe DSL's compiler as a process, and what it compiled."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._known: dict[str, dict[str, Any]] = {}

    def compile(self, **request: Any) -> dict[str, Any]:
        """What `server.py` answers, which must be no error."""
        line = json.dumps(request)
        if line not in self._known:
            assert self._process.stdin
            assert self._process.stdout
            print(line, file=self._process.stdin, flush=True)
            self._known[line] = json.loads(self._process.stdout.readline())
        assert "error" not in self._known[line], self._known[line]["error"]
        return self._known[line]


@pytest.fixture(scope="session")
def cute(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cute]:
    """The compiler, which needs neither a driver nor a GPU where it is told the architecture."""
    if importlib.util.find_spec("nvidia_cutlass_dsl") is None:
        pytest.skip("the CuTe DSL (nvidia-cutlass-dsl) is not installed")
    folder = Path(__file__).parent
    process = subprocess.Popen(
        [sys.executable, str(folder / "server.py")],
        env={
            **os.environ,
            "CUTE_DSL_ARCH": "sm_90a",
            "CUTE_DSL_CACHE_DIR": str(tmp_path_factory.mktemp("cache")),
            "CUTE_DSL_DUMP_DIR": str(tmp_path_factory.mktemp("cute")),
            "CUTE_DSL_KEEP": "ptx",
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    yield Cute(process)
    process.communicate()


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in each run."""
    return np.random.default_rng(20261123)
