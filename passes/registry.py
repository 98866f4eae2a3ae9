"""The passes by name; a pass's module is imported when the pass is first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib import import_module
from inspect import get_annotations
from types import MappingProxyType
from typing import TypeVar

from tilec.isa.errors import TilecError
from tilec.isa.plugins import Plugin, plugins

from .base import Pass

GROUP = "tilec.passes"
"""The entry points by which other packages register passes."""

PASSES: Mapping[str, str] = MappingProxyType(
    {
        "tile-from-linalg": "tilec.passes.from_linalg:FromLinalg",
        "tile-from-vector": "tilec.passes.from_vector:FromVector",
        "tile-check-program": "tilec.passes.check_program:CheckProgram",
        "tile-rasterize": "tilec.passes.rasterize:Rasterize",
        "tile-check-target": "tilec.passes.check_target:CheckTarget",
        "tile-infer-vectors": "tilec.passes.infer_vectors:InferVectors",
        "tile-promote-sums": "tilec.passes.promote_sums:PromoteSums",
        "tile-select-wgmma": "tilec.passes.select_wgmma:SelectWgmma",
        "tile-select-tcgen05": "tilec.passes.select_tcgen05:SelectTcgen05",
        "tile-select-mma": "tilec.passes.select_mma:SelectMma",
        "tile-stage-wgmma": "tilec.passes.stage_wgmma:StageWgmma",
        "tile-stage-tcgen05": "tilec.passes.stage_tcgen05:StageTcgen05",
        "tile-assign-layouts": "tilec.passes.assign_layouts:AssignLayouts",
        "tile-remove-conversions": "tilec.passes.remove_conversions:RemoveConversions",
        "tile-split-tiles": "tilec.passes.split_tiles:SplitTiles",
        "tile-stage-shared": "tilec.passes.stage_shared:StageShared",
        "tile-choose-pingpong": "tilec.passes.choose_pingpong:ChoosePingpong",
        "tile-form-clusters": "tilec.passes.form_clusters:FormClusters",
        "tile-form-pairs": "tilec.passes.form_pairs:FormPairs",
        "tile-make-persistent": "tilec.passes.make_persistent:MakePersistent",
        "tile-specialize-warps": "tilec.passes.specialize_warps:SpecializeWarps",
        "tile-overlap-products": "tilec.passes.overlap_products:OverlapProducts",
        "tile-pipeline": "tilec.passes.pipeline_loops:PipelineLoops",
        "tile-fetch-metadata": "tilec.passes.fetch_metadata:FetchMetadata",
        "tile-unroll": "tilec.passes.unroll_loops:UnrollLoops",
        "tile-store-boxes": "tilec.passes.store_boxes:StoreBoxes",
        "tile-copy-rows": "tilec.passes.copy_rows:CopyRows",
        "tile-coalesce-stores": "tilec.passes.coalesce_stores:CoalesceStores",
        "tile-place-accumulators": "tilec.passes.place_accumulators:PlaceAccumulators",
        "tile-allocate-tensor-memory": "tilec.passes.allocate_tensor_memory:AllocateTensorMemory",
        "tile-request-tiles": "tilec.passes.request_tiles:RequestTiles",
        "tile-check-divergence": "tilec.passes.check_divergence:CheckDivergence",
        "tile-remove-dead": "tilec.passes.remove_dead:RemoveDead",
        "tile-stage-reductions": "tilec.passes.stage_reductions:StageReductions",
        "tile-stage-conversions": "tilec.passes.stage_conversions:StageConversions",
        "tile-reuse-shared": "tilec.passes.reuse_shared:ReuseShared",
        "tile-order-memory": "tilec.passes.order_memory:OrderMemory",
        "tile-order-proxies": "tilec.passes.order_proxies:OrderProxies",
        "tile-to-fragments": "tilec.passes.to_fragments:ToFragments",
        "tile-defer-waits": "tilec.passes.defer_waits:DeferWaits",
        "tile-check-wgmma": "tilec.passes.check_wgmma:CheckWgmma",
        "tile-fragments-to-nvvm": "tilec.passes.fragments_to_nvvm:FragmentsToNvvm",
        "tile-take-over-tiles": "tilec.passes.take_over_tiles:TakeOverTiles",
        "tile-split-roles": "tilec.passes.split_roles:SplitRoles",
        "tile-lower-math": "tilec.passes.lower_math:LowerMath",
        "tile-kernel-abi": "tilec.passes.kernel_abi:KernelAbi",
        "tile-cut-blocks": "tilec.passes.cut_blocks:CutBlocks",
    }
)
"""`module:Class` of tilec's passes, in the order in which a whole compilation runs them."""


_added: dict[str, type[Pass]] = {}

_PassType = TypeVar("_PassType", bound=type[Pass])


def register(added: _PassType) -> _PassType:
    """Make a pass known to the pipelines of this process; a decorator of its class.

    Args:
        added: its class. One of the same name that was registered before is forgotten.

    Raises:
        TilecError: if the name is that of one of tilec's passes, or the class has fields and is no
            dataclass.
    """
    if lost := _lost_fields(added):
        raise TilecError(f"'{added.name}' is registered as a class {_no_dataclass(added, lost)}")
    if added.name in PASSES:
        raise TilecError(f"'{added.name}' is one of tilec's passes; choose another name")
    _added[added.name] = added
    pass_class.cache_clear()
    return added


def names(*, installed: bool = False) -> tuple[str, ...]:
    """Names of the passes: tilec's, those registered, and if `installed` those of other packages.

    Raises:
        PluginError: if two packages register the same name.
    """
    return (*PASSES, *_added, *(plugins(GROUP) if installed else ()))


@cache
def pass_class(name: str) -> type[Pass]:
    """The class of the pass called `name`.

    Raises:
        KeyError: if there is no such pass, in any package; it may be one of upstream's.
        PluginError: if another package's cannot be used.
    """
    if name in PASSES:
        module, _, attribute = PASSES[name].partition(":")
        found: type[Pass] = getattr(import_module(module), attribute)
        assert issubclass(found, Pass)
        assert found.name == name
        return found
    return _added[name] if name in _added else _loaded(plugins(GROUP)[name])


def _lost_fields(kind: type[Pass]) -> list[str]:
    """Fields that are not options, as the class that has them is not a dataclass itself."""
    known = {field.name for field in fields(kind)}
    return [
        name
        for base in kind.__mro__
        if issubclass(base, Pass)
        for name, annotation in get_annotations(base).items()
        if name not in known and "ClassVar" not in str(annotation)
    ]


def _no_dataclass(kind: type[Pass], lost: list[str]) -> str:
    return (
        f"which is not a dataclass: write @dataclass(frozen=True) above class {kind.__name__}, "
        f"so that '{lost[0]}' is an option"
    )


def package_of(kind: type[Pass]) -> str:
    """Which package registers a pass, with its version; empty for tilec's own.

    Of a pass that no package registers the module that it is written in.
    """
    if PASSES.get(kind.name, "").endswith(f":{kind.__name__}"):
        return ""
    found = None if kind.name in _added else plugins(GROUP).get(kind.name)
    return found.package if found else kind.__module__


def _loaded(plugin: Plugin) -> type[Pass]:
    found = plugin.load()
    if not (isinstance(found, type) and issubclass(found, Pass)):
        raise plugin.wrong("which is not a subclass of tilec.passes.Pass")
    if lost := _lost_fields(found):
        raise plugin.wrong(_no_dataclass(found, lost))
    if found.name != plugin.name:
        raise plugin.wrong(f"whose name is '{found.name}'")
    return found
