"""Runs a pipeline in which tilec's passes and upstream's stand side by side.

A Python pass has no name in an upstream pipeline, so the text is read here: runs of upstream
passes go to one `PassManager`, each of tilec's is applied by itself.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from enum import Enum
from itertools import groupby
from typing import NamedTuple, Union, get_args, get_origin, get_type_hints

from tilec.ir.mlir import ir, passmanager
from tilec.ir.state import holding
from tilec.isa import nearest

from . import registry
from .base import Diagnostic, Pass, PassError, running
from .instrumentation import Instrumentation
from .pipeline_text import Element, PipelineError, elements_of, join, parse_options

_UPSTREAM = (
    "canonicalize",
    "convert-gpu-to-nvvm",
    "convert-nvvm-to-llvm",
    "convert-scf-to-cf",
    "convert-to-llvm",
    "cse",
    "inline",
    "loop-invariant-code-motion",
    "reconcile-unrealized-casts",
    "sccp",
    "symbol-dce",
)
"""Upstream passes offered as the nearest to an unknown name; upstream has no list to ask."""


class UnknownPassError(PipelineError):
    """A pipeline names a pass that no package has."""


class _Step(NamedTuple):
    """A pass, or a run of upstream passes, ready to be applied."""

    name: str
    title: str
    apply: Callable[[ir.Module], None]


def run_pipeline(
    module: ir.Module,
    pipeline: str | Pass | Sequence[str | Pass],
    *,
    verify_each: bool = False,
    verify_last: bool = True,
    instrumentation: Instrumentation | None = None,
) -> None:
    """Transform `module` in place, and verify what comes out.

    Every name and option is checked before the first pass runs.

    Args:
        module: the module.
        pipeline: a pipeline, a pass, or a sequence of both.
        verify_each: verify after each pass.
        verify_last: verify at the end.
        instrumentation: what to print and time.

    Raises:
        PipelineError: for a pipeline that cannot be read or names what does not exist.
        PassError: if a pass finds errors, or the module does not verify.
    """
    alone = verify_each or instrumentation is not None
    with module.context, holding(module.context):
        for step in _steps(elements_of(pipeline), alone=alone):
            around = (
                instrumentation.around(step.title, step.name, module)
                if instrumentation
                else nullcontext()
            )
            with around, running(step.name):
                step.apply(module)
                if verify_each:
                    verify(module, after=step.name)
        if verify_last and not verify_each:
            verify(module)


def verify(module: ir.Module, *, after: str = "") -> None:
    """Verify `module`; `after` names the pass that has just run.

    Raises:
        PassError: if it does not verify.
    """
    try:
        module.operation.verify()
    except ir.MLIRError as error:
        first, *rest = _from_mlir(error)
        if after:
            note = Diagnostic(first.location, f"pass '{after}' left invalid IR", "note")
            first = replace(first, notes=(*first.notes, note))
        raise PassError([first, *rest]) from None


def _steps(elements: Sequence[Element | Pass], *, alone: bool) -> list[_Step]:
    """What to apply, where other packages' passes are looked for only if a name is unknown."""
    try:
        return _steps_of(elements, frozenset(registry.names()), alone=alone)
    except UnknownPassError:
        known = frozenset(registry.names(installed=True))
        return _steps_of(elements, known, alone=alone)


def _steps_of(
    elements: Sequence[Element | Pass], known: frozenset[str], *, alone: bool
) -> list[_Step]:
    steps: list[_Step] = []
    for own, run in groupby(elements, key=lambda e: isinstance(e, Pass) or e.name in known):
        if own:
            steps += map(_own_step, run)
            continue
        upstream = [element for element in run if isinstance(element, Element)]
        runs = [[one] for e in upstream for one in e.single()] if alone else [upstream]
        steps += [_upstream_step(one, known) for one in runs]
    return steps


def _own_step(element: Element | Pass) -> _Step:
    if isinstance(element, Pass):
        instance = element
    elif element.inside is not None:
        raise PipelineError(f"pipeline: '{element.name}' is a pass and holds no others")
    else:
        instance = make_pass(element.name, element.options)

    def apply(module: ir.Module) -> None:
        try:
            instance.apply(module)
        except ir.MLIRError as error:
            raise PassError(_from_mlir(error)) from None

    return _Step(instance.name, type(instance).__name__, apply)


def _upstream_step(elements: Sequence[Element], known: frozenset[str]) -> _Step:
    for element in elements:
        _refuse_nested_own(element, known)
    try:
        manager = passmanager.PassManager.parse(f"builtin.module({join(elements)})")
    except ValueError as error:
        raise _explained(elements, str(error)) from None
    manager.enable_verifier(False)

    def apply(module: ir.Module) -> None:
        try:
            manager.run(module.operation)
        except ir.MLIRError as error:
            raise PassError(_from_mlir(error)) from None

    name = elements[0].innermost.name if len(elements) == 1 else join(elements)
    title = "".join(word.capitalize() for word in name.replace(".", "-").split("-"))
    return _Step(name, title, apply)


def _explained(elements: Sequence[Element], reason: str) -> PipelineError:
    """Upstream's refusal of `elements`, in one line."""
    for element in elements:
        for one in element.single():
            name = one.innermost.name
            if f"'{name}' does not refer to a registered pass" in reason:
                return _unknown_pass(name)
    first = next((line for line in reason.splitlines() if line.strip()), reason)
    return PipelineError(f"pipeline '{join(elements)}': {first.strip()}")


def _unknown_pass(name: str) -> UnknownPassError:
    near = nearest(name, (*registry.names(installed=True), *_UPSTREAM), count=3)
    return UnknownPassError(f"unknown pass '{name}'; nearest: {', '.join(near)}")


def _refuse_nested_own(element: Element, known: frozenset[str]) -> None:
    for inner in element.inside or ():
        if inner.name in known:
            raise PipelineError(
                f"'{inner.name}' runs on builtin.module; write it outside '{element.name}(…)'"
            )
        _refuse_nested_own(inner, known)


def make_pass(name: str, options: str = "") -> Pass:
    """The pass called `name` of tilec, with options as a pipeline writes them.

    Raises:
        PipelineError: for an unknown pass or option, or a value of the wrong type.
        PluginError: if another package's pass cannot be used.
    """
    try:
        found = registry.pass_class(name)
    except KeyError:
        raise _unknown_pass(name) from None
    given = parse_options(options)
    hints = get_type_hints(found) if given else {}
    by_option = {field.name.replace("_", "-"): field.name for field in fields(found)}
    values: dict[str, object] = {}
    for option, text in given.items():
        if option not in by_option:
            legal = ", ".join(nearest(option, by_option)) or "none"
            raise PipelineError(f"pass '{name}' has no option '{option}'; legal: {legal}")
        values[by_option[option]] = _value(f"{name}{{{option}}}", hints[by_option[option]], text)
    return found(**values)


def _value(what: str, kind: object, text: str) -> object:
    """`text` as a value of type `kind`.

    Raises:
        PipelineError: if it is none.
    """
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(k for k in get_args(kind) if k is not type(None))
    if get_origin(kind) is tuple:
        return tuple(_value(what, get_args(kind)[0], part) for part in text.split(","))
    if kind is bool:
        if text not in ("true", "false", "1", "0"):
            raise PipelineError(f"{what}: '{text}' is not true or false")
        return text in ("true", "1")
    if kind is int:
        try:
            return int(text, 0)
        except ValueError:
            raise PipelineError(f"{what}: '{text}' is not an integer") from None
    if isinstance(kind, type) and issubclass(kind, Enum):
        legal = [str(member.value) for member in kind]
        if text not in legal:
            raise PipelineError(f"{what}: '{text}' is none of {', '.join(legal)}")
        return kind(text)
    return text


def _from_mlir(error: ir.MLIRError) -> list[Diagnostic]:
    """What upstream reported with `error`."""
    found = [from_mlir_diagnostic(d) for d in error.error_diagnostics]
    return found or [Diagnostic(ir.Location.unknown(), error.message)]


def from_mlir_diagnostic(diagnostic: ir.Diagnostic | ir.DiagnosticInfo) -> Diagnostic:
    """An upstream diagnostic, its notes with it, without the dump of the operation.

    `Diagnostic`s and `DiagnosticInfo`s of the bindings have the same fields.
    """
    location = diagnostic.location
    return Diagnostic(
        ir.Location.from_attr(location.attr, location.context),  # as its own class
        diagnostic.message.strip(),
        diagnostic.severity.name.lower(),
        tuple(
            from_mlir_diagnostic(note)
            for note in diagnostic.notes
            if not note.message.startswith("see current operation")
        ),
    )
