"""A cache on disk for every test; the programs' modules, whose folder is not a package."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tilec.cache import fingerprint
from tilec.lang.snapshot import bytecode


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TILEC_CACHE", "1")
    monkeypatch.setattr(fingerprint, "_python_files", tuple)  # whoever edits tilec meanwhile


@pytest.fixture(scope="session")
def programs() -> Iterator[ModuleType]:
    """The module `state_process`."""
    folder, before = str(Path(__file__).parent), sys.dont_write_bytecode
    sys.path.insert(0, folder)
    try:
        import state_process

        yield state_process
    finally:
        sys.path.remove(folder)
        sys.dont_write_bytecode = before


@pytest.fixture
def scanned_anew() -> Iterator[None]:
    """Forget what was found in code, which a test may have looked at otherwise."""
    bytecode.reads.cache_clear()
    yield
    bytecode.reads.cache_clear()
