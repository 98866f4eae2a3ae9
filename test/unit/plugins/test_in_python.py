"""Passes of one's own in a Python process: registered, put into pipelines, run alone.

Against the same compilation without them, and the same passes named in a pipeline's text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

import pytest
import tilec
from hypothesis import given
from hypothesis import strategies as st
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.isa import target
from tilec.passes import Pass, PassError, register, registry, remark, walk
from tilec.passes.base import ProgramError
from tilec.passes.pass_options import make_pass
from tilec.passes.pipeline import run_pipeline
from tilec.passes.pipeline_text import PipelineError
from tilec.passes.remove_dead import RemoveDead
from tilec.pipelines import pipeline
from tilec.report.diagnostics import Source
from tilec.report.printing import to_text

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
MMA = (EXAMPLES / "mma.mlir").read_text(encoding="utf-8")
SM_80 = pipeline(target("sm_80"))


class Mode(StrEnum):
    ONE = "one"
    TWO = "two"


@dataclass(frozen=True)
class Watch(Pass):
    """Remembers what it saw, and remarks on it."""

    name: ClassVar[str] = "my-watch"
    seen: ClassVar[list[Watch]] = []

    times: int = 1
    flag: bool = False
    text: str = "a"
    mode: Mode = Mode.ONE
    sizes: tuple[int, ...] = ()

    def apply(self, module: Any) -> None:
        Watch.seen.append(self)
        for op in walk(module.operation):
            if op.operation.name == "tile.mma":
                remark(op.location, "an mma")


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_added", {})
    Watch.seen.clear()
    yield
    registry.pass_class.cache_clear()


@given(
    st.builds(
        Watch,
        st.integers(-9, 9),
        st.booleans(),
        st.from_regex(r"[a-z0-9]{1,6}", fullmatch=True),
        st.sampled_from(Mode),
        st.lists(st.integers(0, 9), max_size=3).map(tuple),
    )
)
def test_a_pass_as_text(one: Watch) -> None:
    register(Watch)
    name, _, options = str(one).partition("{")
    assert make_pass(name, options.removesuffix("}")) == one
    assert ("{" in str(one)) == (one != Watch())


def test_registered_by_name() -> None:
    with pytest.raises(PipelineError, match="unknown pass 'my-watch'"):
        tilec.transform(MMA, "my-watch")
    assert register(Watch) is Watch
    tilec.transform(MMA, "canonicalize,my-watch{times=2},cse")
    assert Watch.seen == [Watch(2)]
    with pytest.raises(tilec.TilecError, match="one of tilec's passes"):
        register(RemoveDead)


def test_a_pass_put_into_the_pipeline_of_a_target() -> None:
    plain = tilec.compile(MMA)
    mine = SM_80.inserted(Watch(3), before="tile-to-fragments").inserted(
        "my-watch", "cse", before="tile-kernel-abi"
    )
    register(Watch)
    compiled = tilec.compile(MMA, pipeline=mine)
    assert Watch.seen == [Watch(3), Watch()]
    assert compiled.ptx == plain.ptx
    assert compiled.pipeline == mine
    assert len(compiled.pipeline.tile) == len(plain.pipeline.tile) + 1


def test_a_pass_replaced_and_removed() -> None:
    @dataclass(frozen=True)
    class Mine(RemoveDead):
        """The same, counted."""

        name: ClassVar[str] = "mine"

        def apply(self, module: Any) -> None:
            Watch.seen.append(Watch(7))
            super().apply(module)

    compiled = tilec.compile(MMA, pipeline=SM_80.replaced("tile-remove-dead", Mine()))
    assert Watch.seen == [Watch(7)]
    assert compiled.ptx == tilec.compile(MMA).ptx
    assert "tile-remove-dead" not in str(SM_80.replaced("tile-remove-dead"))
    assert str(SM_80.replaced("tile-remove-dead", Watch(2))).count("my-watch{times=2}") == 1
    with pytest.raises(
        tilec.TilecError, match=r"unknown pass of the pipeline 'tile-remove'; .*dead"
    ):
        SM_80.replaced("tile-remove")


@pytest.mark.parametrize("form", ["text", "list", "parts", "pipeline"])
def test_a_pipeline_in_any_form(form: str) -> None:
    passes = [*SM_80.tile, *SM_80.nvvm]
    given: Any = {
        "text": str(SM_80),
        "list": passes,
        "parts": [Watch(), ",".join(map(str, passes[:4])), *passes[4:]],
        "pipeline": SM_80,
    }[form]
    compiled, plain = tilec.compile(MMA, pipeline=given), tilec.compile(MMA)
    for stage in ("tile", "nvvm", "ptx"):
        assert getattr(compiled, stage) == getattr(plain, stage)


def test_a_pipeline_is_not_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILEC_CACHE")
    monkeypatch.setenv("TILEC_CACHE_DIR", str(tmp_path / "cache"))
    tilec.compile(MMA, pipeline=SM_80, cache=True)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("no-such-pass", "unknown pass 'no-such-pass'"),
        ([Watch], "neither text nor a pass"),
        ([3], "neither text nor a pass"),
        ("a(", "never closed"),
        (["cse"], "'gpu.func' stands outside a function"),
    ],
)
def test_what_is_no_pipeline(given: Any, message: str) -> None:
    with pytest.raises(tilec.TilecError, match=message):
        tilec.compile(MMA, pipeline=given)


def test_transform_leaves_its_source_alone(tmp_path: Path) -> None:
    passes = ("tile-check-target", Watch(), "tile-fragments-to-nvvm,cse")
    context = new_context()
    module = parse(Source("-", MMA), context)
    before = str(module)
    first = tilec.transform(module, *passes)
    assert str(module) == before
    seen = [one for one in first.remarks if "an mma" in one.message]
    assert len(seen) == before.count('"tile.mma"') > 0
    run_pipeline(module, "tile-check-target,tile-fragments-to-nvvm,cse")
    assert str(first) == to_text(module)
    file = tmp_path / "program.mlir"
    file.write_text(MMA)
    for source in (MMA, file, tilec.transform(MMA)):
        assert str(tilec.transform(source, *passes)) == str(first)
    shown = tilec.transform(file, Watch())._repr_html_()
    assert "&lt;tensor&lt;16x16xf16" in shown
    assert f"{file}:" in shown
    assert "remark: an mma" in shown


def test_transform_refuses() -> None:
    with pytest.raises(ProgramError, match="expected"):
        tilec.transform("gpu.module {", "cse")
    with pytest.raises(PassError):
        tilec.transform(MMA, "tile-check-target{target=sm_70}")
    with pytest.raises(PipelineError, match="is neither text nor a pass"):
        tilec.transform(MMA, Watch)
