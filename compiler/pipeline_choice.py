"""Which passes a compilation runs: those for its target, or what the user names or gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tilec.isa import Target
from tilec.isa.plugins import Plugin, plugins
from tilec.passes.base import Pass
from tilec.passes.pipeline_text import PipelineError, elements_of

from .pipelines import Pipeline, pipeline

GROUP = "tilec.pipelines"
"""The entry points by which other packages register pipelines."""


class Edit(NamedTuple):
    """A change of a pipeline.

    Attributes:
        name: of a pass that it has.
        passes: what is put before that pass, or in its place.
        keep: whether that pass stays.
    """

    name: str
    passes: tuple[str | Pass, ...]
    keep: bool


class EditedPipeline(NamedTuple):
    """A pipeline with changes, for whatever target it turns out to be.

    Attributes:
        base: what is changed; the target's own if None.
        edits: the changes, in order.
    """

    base: Pipeline | str | Sequence[str | Pass] | None
    edits: tuple[Edit, ...]


PipelineLike = Pipeline | EditedPipeline | str | Sequence[str | Pass]
"""A pipeline; the name that another package gave one; or its passes, as text or one by one."""

_LEAVES_FRAGMENTS = "tile-fragments-to-nvvm"


def choose(given: PipelineLike | None, target: Target) -> Pipeline:
    """The passes for a target.

    Args:
        given: what the user asks for; None for tilec's own. Of passes one by one, the stage `tile`
            is what stands before `tile-fragments-to-nvvm`.
        target: the target.

    Raises:
        PipelineError: for a text that is none.
        UnknownNameError: if a change names a pass that the pipeline does not have.
        PluginError: if another package's pipeline cannot be used.
    """
    if given is None:
        return pipeline(target)
    if isinstance(given, EditedPipeline):
        return _edited(choose(given.base, target), given.edits)
    if isinstance(given, Pipeline):
        return given
    plugin = plugins(GROUP).get(given) if isinstance(given, str) else None
    return _loaded(plugin, target) if plugin else _divided(given)


def _edited(found: Pipeline, edits: Sequence[Edit]) -> Pipeline:
    for edit in edits:
        if edit.keep:
            found = found.inserted(*edit.passes, before=edit.name)
        else:
            found = found.replaced(edit.name, *edit.passes)
    return found


def _divided(passes: str | Sequence[str | Pass]) -> Pipeline:
    """Passes as the two parts of a pipeline."""
    found = elements_of(passes)
    names = [one.name for one in found]
    end = names.index(_LEAVES_FRAGMENTS) if _LEAVES_FRAGMENTS in names else 0
    written = [one if isinstance(one, Pass) else str(one) for one in found]
    return Pipeline(tuple(written[:end]), tuple(written[end:]))


def _loaded(plugin: Plugin, target: Target) -> Pipeline:
    """The pipeline, or what the function says is the pipeline for `target`."""
    found = plugin.load()
    if callable(found):
        try:
            found = found(target)
        except Exception as error:
            why = f"which fails for {target}: {type(error).__name__}: {error}"
            raise plugin.wrong(why) from error
    if isinstance(found, Pipeline):
        return found
    if not isinstance(found, Sequence):
        raise plugin.wrong(f"which is of type {type(found).__name__}, not a pipeline")
    try:
        return _divided(found)
    except PipelineError as error:
        raise plugin.wrong(f"which is not a pipeline: {error}") from error
