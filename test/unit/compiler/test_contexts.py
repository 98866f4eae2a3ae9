"""Compilations use MLIR contexts one after the other, never two at once, and none for ever."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import tilec
from tilec import dialect_plugins
from tilec.frontend import contexts
from tilec.isa import target
from tilec.pipelines import pipeline


@pytest.fixture(autouse=True)
def none_waiting(monkeypatch: pytest.MonkeyPatch) -> list[contexts.Lease]:
    """The contexts that wait: at first none."""
    waiting: list[contexts.Lease] = []
    monkeypatch.setattr(contexts, "_free", waiting)
    return waiting


def context_of(compiled: tilec.Compiled) -> Any:
    return compiled.module.context


def test_one_after_the_other(scale: str) -> None:
    first = tilec.compile(scale)
    used, ptx = context_of(first), first.ptx
    del first
    for source in (scale, scale.replace("f32", "f64"), scale):
        compiled = tilec.compile(source)
        assert context_of(compiled) is used
        del compiled
    assert tilec.compile(scale).ptx == ptx


def test_never_two_at_once(scale: str) -> None:
    kept = [tilec.compile(scale, emit="tile") for _ in range(6)]
    assert len({id(context_of(one)) for one in kept}) == 6
    with ThreadPoolExecutor(3) as pool:
        kept += pool.map(lambda _: tilec.compile(scale, emit="tile"), range(6))
    assert len({id(context_of(one)) for one in kept}) == 12
    assert len({one.ptx for one in kept}) == 1


def test_few_wait(scale: str, none_waiting: list[contexts.Lease]) -> None:
    kept = [tilec.compile(scale, emit="tile") for _ in range(6)]
    del kept
    assert len(none_waiting) == contexts._WAITING


def test_none_for_ever(scale: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contexts, "_RETIREMENT", 3)
    used = [context_of(tilec.compile(scale, emit="tile")) for _ in range(6)]
    assert [one is used[0] for one in used] == [True] * 3 + [False] * 3
    assert used[3] is used[4] is used[5]


def test_a_program_that_is_refused(scale: str) -> None:
    """Its context goes with it, and so does what it was."""
    with pytest.raises(tilec.TilecError, match=r"unknown operation 'tile\.lod'"):
        tilec.compile('"tile.lod"() : () -> ()')
    with pytest.raises(tilec.TilecError, match="mulq"):
        tilec.compile(scale.replace("mulf", "mulq"))
    assert "mul" in tilec.compile(scale).ptx


def test_what_others_may_change_is_not_used_again(
    scale: str, none_waiting: list[contexts.Lease], monkeypatch: pytest.MonkeyPatch
) -> None:
    tilec.compile(scale, pipeline=pipeline(target("sm_80")))
    assert not none_waiting
    plugin = dialect_plugins.DialectPlugin(lambda context: None)
    with monkeypatch.context() as patched:
        patched.setattr(dialect_plugins, "_used", {"tile": plugin})  # as if another package's
        tilec.compile(scale)
    assert not none_waiting
    tilec.compile(scale)
    assert len(none_waiting) == 1
