"""What a pipeline does, step by step: runs of upstream's passes, and each of tilec's by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

from tilec.ir.mlir import ir, passmanager

from . import registry
from .base import Pass, PassError, with_options
from .mlir_diagnostics import from_mlir_error
from .pass_options import UnknownPassError, make_pass
from .pipeline_text import ANY, MODULE, Element, PipelineError, join
from .upstream_passes import class_name, expanded, manager, nested, report_statistics

Root: TypeAlias = ir.Module | ir.Operation
"""What a step works on: the module, or an op inside."""


class Title(NamedTuple):
    """What a pass that runs is called.

    Attributes:
        name: as pipelines write it.
        kind: gives the name of its class.
        text: gives it with all its options, as upstream writes it in a pipeline.
    """

    name: str
    kind: Callable[[], str]
    text: Callable[[], str]


class Step(NamedTuple):
    """A pass, or a run of upstream passes, ready to be applied.

    Attributes:
        title: what it is called.
        apply: works on the op, which is the module where it is not nested.
        package: which package's it is; empty for tilec's and upstream's.
        own: the pass itself, of tilec's and other packages'.
    """

    title: Title
    apply: Callable[[Root], None]
    package: str = ""
    own: Pass | None = None


class Nest(NamedTuple):
    """Steps on each op of a name inside another.

    Attributes:
        anchor: the name; `any` for all that a pass may run on.
        steps: in order.
    """

    anchor: str
    steps: tuple[Step | Nest, ...]

    def ops(self, root: Root) -> Iterator[ir.Operation]:
        """The ops directly inside `root` that the steps are for."""
        for region in root.operation.regions:
            for block in region:
                yield from (op.operation for op in list(block) if self._is_for(op.operation))

    def _is_for(self, op: ir.Operation) -> bool:
        if self.anchor == ANY:
            return op.has_trait(ir.IsIsolatedFromAboveTrait)
        return op.name == self.anchor


def make_steps(
    elements: Sequence[Element | Pass],
    *,
    anchor: str = MODULE,
    alone: bool = False,
    by_op: bool = False,
    statistics: bool = False,
) -> tuple[Step | Nest, ...]:
    """The steps of a pipeline, all names and options checked.

    Other packages' passes are looked for only if a name is unknown.

    Args:
        elements: of the pipeline.
        anchor: the name of the op that it runs on.
        alone: make a step of every pass, not of every run.
        by_op: take ops one by one where passes are nested, to look at each.
        statistics: report what upstream's passes count.

    Raises:
        PipelineError: if it names what does not exist.
    """
    try:
        known = frozenset(registry.names())
        return tuple(_Making(known, alone, by_op, statistics).steps(anchor, elements))
    except UnknownPassError:
        known = frozenset(registry.names(installed=True))
        return tuple(_Making(known, alone, by_op, statistics).steps(anchor, elements))


class _Making(NamedTuple):
    """How to make steps.

    Attributes:
        known: names of passes that are not upstream's.
        alone: make a step of every pass.
        by_op: take ops one by one where passes are nested.
        statistics: report what upstream's passes count.
    """

    known: frozenset[str]
    alone: bool
    by_op: bool
    statistics: bool

    def steps(self, anchor: str, elements: Sequence[Element | Pass]) -> Iterator[Step | Nest]:
        """The steps of elements that work on ops called `anchor`."""
        for kind, run in groupby(elements, key=self._kind):
            if kind == "upstream":
                upstream = [element for element in run if isinstance(element, Element)]
                yield from self._upstream(anchor, upstream)
                continue
            for element in run:
                if isinstance(element, Pass) or kind == "own":
                    yield _own_step(anchor, element)
                else:
                    yield self._nest(element)

    def _kind(self, element: Element | Pass) -> str:
        if isinstance(element, Pass) or element.name in self.known:
            return "own"
        return "mixed" if self._is_mixed(element) else "upstream"

    def _is_mixed(self, element: Element) -> bool:
        """Whether passes that are not upstream's are nested in it."""
        return any(
            inner.name in self.known or self._is_mixed(inner) for inner in element.inside or ()
        )

    def _nest(self, element: Element) -> Nest:
        return Nest(element.name, tuple(self.steps(element.name, element.inside or ())))

    def _upstream(self, anchor: str, elements: Sequence[Element]) -> Iterator[Step | Nest]:
        """Steps of upstream's passes."""
        if not (self.alone or self.by_op):
            yield self._run(anchor, elements)
            return
        for element in elements:
            for part in _parts(anchor, nested(anchor, element)):
                if self.by_op and part.inside is not None:
                    yield self._nest(part)
                else:
                    yield from (self._run(anchor, [one]) for one in part.single())

    def _run(self, anchor: str, elements: Sequence[Element]) -> Step:
        """A step of passes that run as one."""
        name = elements[0].innermost.name if len(elements) == 1 else join(elements)
        made = manager(anchor, elements)
        if self.statistics:
            report_statistics(made)
        title = Title(
            name,
            lambda: class_name(name),
            lambda: ",".join(str(one.innermost) for one in expanded(anchor, elements[0])),
        )
        return Step(title, partial(_apply_upstream, made))


def _parts(anchor: str, element: Element) -> tuple[Element, ...]:
    """The passes of an element, which may be the name of a pipeline; itself if it is a pass."""
    if element.inside is not None:
        return (element,)
    found = expanded(anchor, element)
    names = [one.innermost.name for part in found for one in part.single()]
    return (element,) if names == [element.name] else found


def _own_step(anchor: str, element: Element | Pass) -> Step:
    """A step of a pass of tilec or another package."""
    if isinstance(element, Pass):
        instance = element
    elif element.inside is not None:
        raise PipelineError(f"pipeline: '{element.name}' is a pass and cannot contain other passes")
    else:
        instance = make_pass(element.name, element.options)
    if anchor != MODULE and anchor not in instance.anchors():
        legal = ", ".join(f"'{name}(…)'" for name in instance.anchors())
        inside = f" or inside {legal}" if legal else ""
        raise PipelineError(
            f"'{instance.name}' runs on builtin.module{inside}; write it outside '{anchor}(…)'"
        )
    package = registry.package_of(type(instance))
    if package:
        from .foreign import run_foreign  # noqa: PLC0415 (most runs have none)
    apply = partial(_apply_own, instance.apply if anchor == MODULE else instance.apply_inside)
    kind = type(instance).__name__
    title = Title(instance.name, lambda: kind, lambda: with_options(instance))
    return Step(
        title,
        partial(run_foreign, instance, package, apply) if package else apply,
        package,
        instance,
    )


def _apply_own(apply: Callable[[Any], None], root: Root) -> None:
    try:
        apply(root)
    except ir.MLIRError as error:
        raise PassError(from_mlir_error(error)) from None


def _python_passes(root: Root) -> AbstractContextManager[None]:
    """Has transform scripts find passes in Python, if there may be any scripts."""
    if not root.operation.context.is_dialect_loaded("transform"):
        return nullcontext()
    from .transform_passes import python_passes  # noqa: PLC0415 (most programs have none)

    return python_passes(root)


def _apply_upstream(made: passmanager.PassManager, root: Root) -> None:
    with _python_passes(root):
        try:
            made.run(root.operation)
        except ir.MLIRError as error:
            raise PassError(from_mlir_error(error)) from None
