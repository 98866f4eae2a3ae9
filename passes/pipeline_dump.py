"""A pipeline as text: as a reproducer has it, and as `--dump-pass-pipeline` shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tilec.ir.mlir import ir

from . import registry
from .base import Pass, with_options
from .pass_options import make_pass
from .pipeline_text import MODULE, Element, PipelinePart, elements_of, parse_pipeline
from .upstream_passes import expanded, nested


def written(pipeline: PipelinePart | Sequence[PipelinePart]) -> str:
    """A pipeline in which every pass stands in the op that it works on."""
    known = registry.names(installed=True)
    with ir.Context():
        found = [
            one if isinstance(one, Pass) or one.name in known else nested(MODULE, one)
            for one in elements_of(pipeline)
        ]
    return ",".join(map(str, found))


def dump(pipeline: PipelinePart | Sequence[PipelinePart]) -> str:
    """A pipeline with all options of its passes, laid out as upstream does."""
    known = frozenset(registry.names(installed=True))
    with ir.Context():
        top = [part for one in elements_of(pipeline) for part in _parts(MODULE, one, known)]
        lines = "\n".join(_lines(Element(MODULE, inside=tuple(top)), 0))
    return f"Pass Manager with {len(top)} passes:\n{lines}\n"


def _parts(anchor: str, one: Element | Pass, known: frozenset[str]) -> Iterator[Element]:
    """An element with everything that it stands for written out."""
    if isinstance(one, Pass):
        yield _element(one)
    elif one.name in known:
        yield _element(make_pass(one.name, one.options))
    elif one.inside is not None:
        inside = [part for inner in one.inside for part in _parts(one.name, inner, known)]
        yield Element(one.name, one.options, tuple(inside))
    else:
        yield from expanded(anchor, nested(anchor, one))


def _element(one: Pass) -> Element:
    """A pass with all its options."""
    (element,) = parse_pipeline(with_options(one))
    return element


def _lines(element: Element, depth: int) -> Iterator[str]:
    indent = "  " * depth
    options = f"{{{element.options}}}" if element.options else ""
    if element.inside is None:
        yield f"{indent}{element.name}{options}"
        return
    yield f"{indent}{element.name}{options}("
    for i, inner in enumerate(element.inside):
        comma = "," if i + 1 < len(element.inside) else ""
        *lines, last = _lines(inner, depth + 1)
        yield from lines
        yield last + comma
    yield f"{indent})"
