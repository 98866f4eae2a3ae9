"""What the tests of tensor-core arithmetic share."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

VECTORS = Path(__file__).parents[4] / "shared" / "hw-vectors"


def load(name: str) -> ModuleType:
    """A module beside this file: the tests' folder is not a package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def plain() -> ModuleType:
    """The plain model."""
    return load("plain_model")


@pytest.fixture(scope="session")
def vectors() -> Path:
    """The folder of vectors measured on hardware."""
    if not VECTORS.is_dir():
        pytest.skip("the hardware vectors are not here")
    return VECTORS


@pytest.fixture(scope="session")
def tools() -> ModuleType:
    """Random operands and their register images."""
    return load("operands")
