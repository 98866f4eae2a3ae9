"""Pipelines: their text, their options, and what runs, in which order, on which IR."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.ir.mlir import ir, passmanager
from tilec.passes import registry
from tilec.passes.base import Diagnostic, Pass, PassError
from tilec.passes.instrumentation import Instrumentation, Selection
from tilec.passes.pass_options import make_pass
from tilec.passes.pipeline import run_pipeline
from tilec.passes.pipeline_text import (
    Element,
    PipelineError,
    join,
    parse_options,
    parse_pipeline,
)
from tilec.report.diagnostics import Source, place

PROGRAM = """
func.func @f(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %b = arith.addi %a, %zero : i32
  %c = arith.addi %b, %b : i32
  %d = arith.addi %b, %b : i32
  %e = arith.muli %c, %d : i32
  return %e : i32
}
"""


class Mode(StrEnum):
    ONE = "one"
    TWO = "two"


@dataclass(frozen=True)
class Recorder(Pass):
    """Writes its options down, and may fail or break the IR."""

    name: ClassVar[str] = "tile-recorder"
    seen: ClassVar[list[Recorder]] = []

    text: str = ""
    count: int = 3
    flag: bool = False
    some_mode: Mode = Mode.ONE
    sizes: tuple[int, ...] = ()
    maybe: int | None = None
    scale: float = 1.0
    raw: list[str] | None = None
    fail: bool = False
    spoil: bool = False

    def apply(self, module: Any) -> None:
        Recorder.seen.append(self)
        function = module.body.operations[0]
        if self.fail:
            raise PassError([Diagnostic(function.location, "as asked")])
        if self.spoil:
            function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], []))


@dataclass(frozen=True)
class Needy(Pass):
    """Has an option without a default, and takes even numbers alone."""

    name: ClassVar[str] = "needy"

    most_ops: int

    def __post_init__(self) -> None:
        if self.most_ops % 2:
            raise ValueError("an odd number")

    def apply(self, module: Any) -> None:
        """Nothing."""


@pytest.fixture(autouse=True)
def recorder(monkeypatch: pytest.MonkeyPatch) -> type[Recorder]:
    """The recorder, registered."""
    monkeypatch.setattr(registry, "_added", {})
    registry.register(Recorder)
    Recorder.seen.clear()
    return Recorder


@pytest.fixture
def module() -> Any:
    """A small function."""
    return parse(Source("program", PROGRAM), new_context())


names = st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True).filter(lambda name: name != "any")
options = st.lists(
    st.tuples(names, st.from_regex(r"[a-z0-9_]{1,5}|\{[a-z0-9 ,=]{0,6}\}", fullmatch=True)),
    max_size=3,
    unique_by=lambda option: option[0],
).map(lambda found: " ".join(f"{name}={value}" for name, value in found))
elements = st.recursive(
    st.builds(Element, names, options),
    lambda inside: st.builds(
        Element,
        st.sampled_from(["gpu.module", "func.func", "any"]),
        st.just(""),
        st.lists(inside, min_size=1, max_size=3).map(tuple),
    ),
    max_leaves=6,
)


@given(st.lists(elements, min_size=1, max_size=4).map(tuple), st.booleans())
def test_text_and_elements(pipeline: tuple[Element, ...], wrapped: bool) -> None:
    text = join(pipeline)
    spaced = text.replace(",", " , ") if "{" not in text else text
    on_any = not wrapped and len(pipeline) == 1 and pipeline[0].name == "any"
    expected = pipeline[0].inside if on_any else pipeline
    assert parse_pipeline(f"builtin.module({spaced})" if wrapped else spaced) == expected


@given(elements)
def test_single_elements_hold_one_pass_each(element: Element) -> None:
    def passes(e: Element) -> list[str]:
        return [e.name] if e.inside is None else [n for i in e.inside for n in passes(i)]

    found = list(element.single())
    assert [one.innermost.name for one in found] == passes(element)
    assert all(len(passes(one)) == 1 for one in found)


@pytest.mark.parametrize("text", ["a(", "a{x=1", "a,,b", "a)", ",a", "a b", "a{x}y", "a(b", "(a)"])
def test_text_that_is_no_pipeline(text: str) -> None:
    with pytest.raises(PipelineError):
        parse_pipeline(text)


def test_options_text() -> None:
    assert parse_options("a=1 b={x y=2} c  d=p,q") == {
        "a": "1",
        "b": "x y=2",
        "c": "true",
        "d": "p,q",
    }
    with pytest.raises(PipelineError, match="twice"):
        parse_options("a=1 a=2")


def test_options_by_type(recorder: type[Recorder]) -> None:
    text = "text=hello count=0x10 flag some-mode=two sizes=1,2,3 maybe=7"
    assert make_pass("tile-recorder", text) == recorder("hello", 16, True, Mode.TWO, (1, 2, 3), 7)
    assert make_pass("tile-recorder", "flag=false") == recorder()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("count=many", r"tile-recorder\{count\}: 'many' is not an integer"),
        ("flag=perhaps", r"tile-recorder\{flag\}: 'perhaps' is not true or false"),
        ("some-mode=three", r"'three' is none of one, two"),
        ("sizes=1,x", "'x' is not an integer"),
        ("scale=x", "'x' is not a number"),
        (
            "raw=x",
            r"tile-recorder\{raw\}: no text gives 'list\[str\]'; legal: bool, int, float, str",
        ),
        ("counts=1", "has no option 'counts'; legal: .*count"),
        ("some_mode=two", "has no option 'some_mode'; legal: .*some-mode"),
    ],
)
def test_wrong_options(options: str, message: str) -> None:
    with pytest.raises(PipelineError, match=message):
        make_pass("tile-recorder", options)


def test_an_option_that_is_a_float() -> None:
    found = make_pass("tile-recorder", "scale=2.5e-1")
    assert isinstance(found, Recorder)
    assert found.scale == 0.25


def test_options_that_a_pass_refuses() -> None:
    registry.register(Needy)
    assert make_pass("needy", "most-ops=4") == Needy(4)
    with pytest.raises(PipelineError, match=r"'needy' needs its option: write needy\{most-ops="):
        make_pass("needy")
    with pytest.raises(PipelineError) as raised:
        make_pass("needy", "most-ops=3")
    said = f"pass 'needy' of {__name__} does not take its options: ValueError: an odd number ("
    assert str(raised.value).startswith(f"{said}{__file__}:")


def test_upstream_alone_gives_what_upstream_gives(module: Any) -> None:
    run_pipeline(module, "func.func(canonicalize,cse),symbol-dce")
    with new_context():
        other = ir.Module.parse(PROGRAM)
        passmanager.PassManager.parse("builtin.module(func.func(canonicalize,cse),symbol-dce)").run(
            other.operation
        )
        assert str(module) == str(other)


@pytest.mark.parametrize("watched", [False, True])
def test_mixed_order(module: Any, recorder: type[Recorder], watched: bool) -> None:
    pipeline = [
        "tile-recorder{count=1}",
        "canonicalize",
        "tile-recorder{count=2}",
        "func.func(cse)",
    ]
    instrumentation = Instrumentation() if watched else None
    run_pipeline(module, pipeline, instrumentation=instrumentation)
    assert [p.count for p in recorder.seen] == [1, 2]
    assert str(module).count("arith.addi") == 1
    if instrumentation:
        assert [name for name, _ in instrumentation.times] == [
            "tile-recorder",
            "canonicalize",
            "tile-recorder",
            "cse",
        ]


@pytest.mark.parametrize("bad", ["no-such-pass", "canonicalize{x=1}", "tile-recorder{x=1}"])
def test_nothing_runs_before_all_is_checked(
    module: Any, recorder: type[Recorder], bad: str
) -> None:
    with pytest.raises(PipelineError):
        run_pipeline(module, f"tile-recorder,canonicalize,{bad}")
    assert recorder.seen == []
    assert str(module).count("arith.addi") == 3


def test_failing_pass(module: Any, recorder: type[Recorder]) -> None:
    with pytest.raises(PassError) as caught:
        run_pipeline(module, "tile-recorder{fail},tile-recorder")
    assert [d.message for d in caught.value.diagnostics] == ["as asked"]
    assert len(recorder.seen) == 1


def test_failing_upstream_pass_is_located(kernel: Callable[..., str]) -> None:
    text = kernel("%e = llvm.intr.exp(%x) : (f32) -> f32\nllvm.store %e, %p : f32, !llvm.ptr<1>")
    module = parse(Source("program", text), new_context())
    with pytest.raises(PassError) as caught:
        run_pipeline(module, "gpu.module(convert-gpu-to-nvvm)")
    assert "failed to legalize operation 'llvm.intr.exp'" in caught.value.diagnostics[0].message
    at = place(caught.value.diagnostics[0].location)
    assert at
    assert at.line == text[: text.index("%e")].count("\n") + 1


@pytest.mark.parametrize("each", [False, True])
def test_invalid_ir_is_found(module: Any, recorder: type[Recorder], each: bool) -> None:
    with pytest.raises(PassError) as caught:
        run_pipeline(module, "tile-recorder{spoil},tile-recorder", verify_each=each)
    assert len(recorder.seen) == 1  # no pass of tilec's own: verified at once, asked for or not
    notes = {note.message: note.location for d in caught.value.diagnostics for note in d.notes}
    said = f"pass 'tile-recorder' of {__name__} left invalid IR"
    assert said in notes
    at = place(notes[said])
    assert at
    assert at.line == Recorder.apply.__code__.co_firstlineno
    assert at.file == __file__


def test_printing_selects_and_says_what_changed(module: Any) -> None:
    out = io.StringIO()
    chosen = Instrumentation(
        before=Selection(names=frozenset({"cse"})), after=Selection(every=True), out=out
    )
    run_pipeline(module, "func.func(canonicalize),cse", instrumentation=chosen)
    with module.context:
        alone = str(passmanager.PassManager.parse("builtin.module(canonicalize)"))
    options = alone.removeprefix("builtin.module(").removesuffix(")")
    banners = [line for line in out.getvalue().splitlines() if line.startswith("// -----//")]
    assert banners == [
        f"// -----// IR Dump After CanonicalizerPass: {options} //----- //",
        "// -----// IR Dump Before CSEPass: cse //----- //",
        "// -----// IR Dump After CSEPass: cse //----- //",
    ]
    out.truncate(0)
    changed = Instrumentation(after=Selection(every=True), after_change=True, out=out)
    run_pipeline(module, "func.func(canonicalize),cse", instrumentation=changed)
    assert "IR Dump" not in out.getvalue()
