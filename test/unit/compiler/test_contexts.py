"""Compilations use MLIR contexts one after the other, never two at once, and none for ever.

MLIR counts its contexts. Garbage collection is off in the tests that count: nothing may wait for
it.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import tilec
from tilec import dialect_plugins
from tilec.frontend import contexts
from tilec.ir import state
from tilec.ir.mlir import ir
from tilec.isa import target
from tilec.mlir import parse
from tilec.pipelines import pipeline

EXAMPLES = Path(__file__).parents[3] / "examples"


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


@pytest.fixture
def uncollected() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def living() -> int:
    """The contexts that MLIR has; the types of a context and its modules keep it alive."""
    return int(ir.Context._get_live_count())


PROGRAMS = {
    path.stem: path.read_text()
    for path in (
        EXAMPLES / "gemm.mlir",
        EXAMPLES / "kernels" / "attention.mlir",
        EXAMPLES / "kernels" / "softmax.mlir",
        EXAMPLES / "kernels" / "conv.mlir",
    )
}


def as_text(text: str) -> None:
    tilec.compile(text).ptx  # noqa: B018


def as_module(text: str) -> None:
    tilec.compile(parse(text, contexts.new_context())).ptx  # noqa: B018


def transformed(text: str) -> None:
    str(tilec.transform(text, "tile-select-mma", "tile-assign-layouts", "canonicalize"))


def explored(text: str) -> None:
    tilec.compile(text, emit="tile").explore()


def released(text: str) -> None:
    with tilec.compile(text) as compiled:
        compiled.ptx  # noqa: B018


def with_passes(text: str) -> None:
    tilec.compile(text, pipeline=pipeline(target("sm_80"))).ptx  # noqa: B018


def refused(text: str) -> None:
    for wrong in (
        text.replace("gpu.block_id", "gpu.blok_id"),
        text.replace("= tile.", "= tile.no_"),
    ):
        with pytest.raises(tilec.TilecError):
            tilec.compile(wrong)


WAYS = [as_text, as_module, transformed, explored, released, with_passes, refused]


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize(
    ("name", "way"),
    [*((name, as_text) for name in PROGRAMS), *(("attention", way) for way in WAYS[1:])],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_nothing_keeps_a_context(
    name: str, way: Callable[[str], None], none_waiting: list[contexts.Lease]
) -> None:
    """Neither what is remembered of its types, nor a cycle of references, nor the dialect."""
    before = living()
    for _ in range(2):
        way(PROGRAMS[name])
    assert living() - before == len(none_waiting) <= 1
    none_waiting.clear()
    assert living() == before


@pytest.mark.usefixtures("uncollected")
def test_a_retired_context_goes(scale: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contexts, "_RETIREMENT", 2)
    before, known = living(), len(state._states)
    for _ in range(4):
        tilec.compile(scale)
    assert living() == before
    assert len(state._states) == known


def test_what_is_released_is_made_anew_when_asked_for(
    none_waiting: list[contexts.Lease],
) -> None:
    text = PROGRAMS["softmax"]
    kept = tilec.compile(text)
    with tilec.compile(text) as released:
        ptx = released.ptx
        assert not none_waiting
    assert len(none_waiting) == 1  # though nobody has let go of the compilation
    assert released.ptx is ptx
    assert (released.nvvm, released.tile) == (kept.nvvm, kept.tile)
    assert not none_waiting
    assert [one.message for one in released.remarks] == [one.message for one in kept.remarks]
    assert released.kernels == kept.kernels


def test_what_is_known_of_types_is_known_while_somebody_holds_it() -> None:
    context = contexts.new_context()
    asked: list[tuple[ir.Type, int]] = []

    @state.per_context()
    def twice(type_: ir.Type, number: int) -> str:
        asked.append((type_, number))
        if not number:
            raise ValueError(type_)
        return f"{type_} {type_}" * number

    def ask(number: int = 1) -> str:
        return twice(ir.Type.parse("f32", context), number)

    assert ask() == ask() == "f32 f32"
    assert len(asked) == 2
    with state.holding(context):
        with state.holding(context):
            assert ask() == ask()
        assert ask() == "f32 f32"
        assert len(asked) == 3
        assert ask(2) == ask(2) != ask()
        assert len(asked) == 4
        for _ in range(2):
            with pytest.raises(ValueError, match="f32"):
                ask(0)
        assert len(asked) == 6
    ask()
    assert len(asked) == 7
    assert context not in state._states
