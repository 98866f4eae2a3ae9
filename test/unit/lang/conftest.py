"""Kernels of the tests are compiled anew: what another run left on disk proves nothing."""

import importlib.util
import linecache
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import pytest
import tilec
import tilec.lang as tl


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEC_CACHE", "0")


def _module(name: str) -> ModuleType:
    """A module beside this file, whose folder is not a package."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def define(tmp_path: Path) -> Callable[[str], Any]:
    """Gives the kernel, called so, that a source defines."""
    file = str(tmp_path / "kernel.py")

    def define(text: str) -> Any:
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        names: dict[str, Any] = {"tl": tl, "tilec": tilec, "math": math, "Literal": Literal}
        names["__name__"] = "programs"
        exec(compile(text, file, "exec"), names)
        return names["kernel"]

    return define


@pytest.fixture(scope="session")
def random_values() -> ModuleType:
    """Random expressions."""
    return _module("random_values")


@pytest.fixture(scope="session")
def random_accesses() -> ModuleType:
    """Random loads and stores."""
    return _module("random_accesses")


@pytest.fixture(scope="session")
def random_updates() -> ModuleType:
    """Random atomic updates."""
    return _module("random_updates")


@pytest.fixture(scope="session")
def random_shapes() -> ModuleType:
    """Random chains of what moves and orders elements."""
    return _module("random_shapes")
