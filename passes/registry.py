"""The passes of tilec by name; a pass's module is imported when the pass is first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType

from .base import Pass

PASSES: Mapping[str, str] = MappingProxyType(
    {
        "tile-check-target": "tilec.passes.check_target:CheckTarget",
        "tile-infer-vectors": "tilec.passes.infer_vectors:InferVectors",
        "tile-select-mma": "tilec.passes.select_mma:SelectMma",
        "tile-assign-layouts": "tilec.passes.assign_layouts:AssignLayouts",
        "tile-remove-conversions": "tilec.passes.remove_conversions:RemoveConversions",
        "tile-stage-shared": "tilec.passes.stage_shared:StageShared",
        "tile-pipeline": "tilec.passes.pipeline_loops:PipelineLoops",
        "tile-check-divergence": "tilec.passes.check_divergence:CheckDivergence",
        "tile-remove-dead": "tilec.passes.remove_dead:RemoveDead",
        "tile-stage-reductions": "tilec.passes.stage_reductions:StageReductions",
        "tile-stage-conversions": "tilec.passes.stage_conversions:StageConversions",
        "tile-to-fragments": "tilec.passes.to_fragments:ToFragments",
        "tile-fragments-to-nvvm": "tilec.passes.fragments_to_nvvm:FragmentsToNvvm",
        "tile-lower-math": "tilec.passes.lower_math:LowerMath",
        "tile-kernel-abi": "tilec.passes.kernel_abi:KernelAbi",
    }
)
"""`module:Class` of every pass, in the order in which a whole compilation runs them."""


@cache
def pass_class(name: str) -> type[Pass]:
    """The class of the pass called `name`.

    Raises:
        KeyError: if tilec has no such pass; it may be one of upstream's.
    """
    module, _, attribute = PASSES[name].partition(":")
    found: type[Pass] = getattr(import_module(module), attribute)
    assert issubclass(found, Pass)
    assert found.name == name
    return found
