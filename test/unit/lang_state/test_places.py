"""Remarks of a compilation found in the cache name the kernel at hand, wherever it has moved."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tilec.cache.compilations import CachedCompilation
from tilec.report.diagnostics import Place, place

HELPER = """
import tilec.lang as tl

def product(a, b):
    return tl.dot(a, b)
"""
KERNEL = """
import tilec
import tilec.lang as tl
from {helper} import product

@tilec.kernel
def kernel(x: tl.Array[tl.float16, int, int], y: tl.Array[tl.float32, int, int]) -> None:
    a = tl.load(x, (0, 0), (64, 64))
    tl.store(y, (0, 0), product(a, a) + tl.dot(a, a))
"""

NUMBERS = itertools.count()
Load = Callable[..., tuple[Path, Path, ModuleType]]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """The kernel in files of its own, so many lines down."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def load(folder: str, lines: int, helper_lines: int) -> tuple[Path, Path, ModuleType]:
        helper = tmp_path / f"products{next(NUMBERS)}.py"
        helper.write_text("\n" * helper_lines + HELPER)
        file = tmp_path / folder / "kernels.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n" * lines + KERNEL.format(helper=helper.stem))
        spec = importlib.util.spec_from_file_location("kernels", file)
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return file, helper, module

    return load


def places(compiled: Any) -> list[Place]:
    remarks = [*compiled.remarks, *(note for remark in compiled.remarks for note in remark.notes)]
    return [found for found in (place(remark.location) for remark in remarks) if found]


@pytest.mark.parametrize("folder", ["second", 'ünusual "name"'])
def test_remarks_of_a_moved_kernel(load: Load, folder: str) -> None:
    file, helper, module = load("first", 0, 0)
    first = module.kernel.compile()
    moved_file, moved_helper, moved = load(folder, 40, 7)
    hit = moved.kernel.compile()
    assert isinstance(hit, CachedCompilation)
    lines = {str(file): 40, str(helper): 7}
    files = {str(file): str(moved_file), str(helper): str(moved_helper)}
    assert {at.file for at in places(first)} == set(files)
    assert places(hit) == [
        Place(files[at.file], at.line + lines[at.file], at.column) for at in places(first)
    ]
    anew = moved.kernel.using(cache=False).compile()
    assert not isinstance(anew, CachedCompilation)
    assert places(hit) == places(anew)


def test_with_line_information_the_place_counts(load: Load) -> None:
    compiled = []
    for folder, lines in (("first", 0), ("second", 0), ("third", 3)):
        _, _, module = load(folder, lines, 0)
        compiled.append(module.kernel.using(lineinfo=True).compile())
    assert not any(isinstance(one, CachedCompilation) for one in compiled)
    assert len({one.ptx for one in compiled}) == 3


def test_a_changed_line_is_another_kernel(load: Load) -> None:
    file, _, module = load("first", 0, 0)
    module.kernel.compile()
    text = file.read_text().replace("a = tl.load", "a  = tl.load")
    file.write_text(text)
    spec = importlib.util.spec_from_file_location("kernels", file)
    assert spec
    assert spec.loader
    changed = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(changed)
    assert not isinstance(changed.kernel.compile(), CachedCompilation)
