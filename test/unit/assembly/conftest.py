"""The generators of random programs, whose folder is no package."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

TILES = Path(__file__).parents[1] / "tiles"


@pytest.fixture(scope="session")
def generator() -> Callable[[str], ModuleType]:
    """Loads one by its name."""

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, TILES / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        found = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
        return found

    return load
