"""Fences, clusters, and what warps do for each other. PTX ISA 9.7.9, 9.7.13, 9.7.15, 9.7.19."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as cross

from .form_parts import ExecutionScope
from .instruction_class import Instruction
from .limits import REGISTER_COUNTS
from .targets import Since

_WARP, _WARPGROUP = ExecutionScope.WARP, ExecutionScope.WARPGROUP
_CLUSTERS = (Since.of("sm_90", "7.8"),)
_HOPPER = (Since.of("sm_90", "8.0"),)
_ASYNC = (Since.of("sm_90", "8.1"),)
_MAPS = (Since.of("sm_90", "8.3"),)
_ALONE = (Since.of("sm_90a", "8.0"),)
_LATER = (
    # sm_110 is sm_101 under the name it has from PTX 9.0 on
    *(Since.of(f"sm_{n}a", v) for n, v in ((100, "8.6"), (101, "8.6"), (110, "9.0"), (120, "8.7"))),
    *(Since.of(f"sm_{n}f", v) for n, v in ((100, "8.8"), (101, "8.8"), (110, "9.0"), (120, "8.8"))),
)
_REGISTERS = (*_ALONE, *_LATER)
_REPLACE = (Since.of("sm_90a", "8.3"), *_LATER)
_VISIBLE = ("cta", "cluster", "gpu", "sys")


def _fences() -> Iterator[Instruction]:
    """Order between proxies, and of everything within a cluster."""

    def fence(ptx: str, since: tuple[Since, ...], operands: str = "") -> Instruction:
        return Instruction(ptx, "fence", operands, since, "9.7.13.4")

    yield fence("fence.proxy.async", _HOPPER)
    for space in ("global", "shared::cta", "shared::cluster"):
        yield fence(f"fence.proxy.async.{space}", _HOPPER)
    for scope in _VISIBLE:
        yield fence(f"fence.proxy.tensormap::generic.release.{scope}", _MAPS)
        yield fence(f"fence.proxy.tensormap::generic.acquire.{scope}", _MAPS, "[map], 128")
    yield fence("fence.mbarrier_init.release.cluster", _HOPPER)
    for order in ("acq_rel", "sc"):
        yield fence(f"fence.{order}.cluster", _CLUSTERS)


def _wgmma() -> Iterator[Instruction]:
    """The order of `wgmma.mma_async` and registers, and the groups that are waited for."""
    for verb, operands, section in (
        ("fence", "", "9.7.15.7.1"),
        ("commit_group", "", "9.7.15.7.2"),
        ("wait_group", "n", "9.7.15.7.3"),
    ):
        ptx = f"wgmma.{verb}.sync.aligned"
        legal = range(1 << 32) if operands else range(1)
        yield Instruction(ptx, "wgmma order", operands, _ALONE, section, _WARPGROUP, legal=legal)


def _clusters() -> Iterator[Instruction]:
    """The barrier of a cluster; addresses in other CTAs' shared memory."""
    for aligned in ("", ".aligned"):
        scope = _WARP if aligned else ExecutionScope.THREAD
        for step in ("arrive.release", "arrive.relaxed", "wait.acquire"):
            ptx = f"barrier.cluster.{step}{aligned}"
            yield Instruction(ptx, "barrier.cluster", "", _HOPPER, "9.7.13.3", scope)
    for space in ("", ".shared::cluster"):
        for bits, name in (("u32", "at"), ("u64", "far")):
            result = "d" if bits == "u32" else "w"
            yield Instruction(
                f"mapa{space}.{bits}", "mapa", f"{result}, {name}, rank", _CLUSTERS, "9.7.9.23",
                results=(result,),
            )  # fmt: skip
            yield Instruction(
                f"getctarank{space}.{bits}", "mapa", f"d, {name}", _CLUSTERS, "9.7.9.24",
                results=("d",),
            )  # fmt: skip


_DATA = {"b8": "h", "b16": "h", "b32": "d", "b64": "w"}


def _peers() -> Iterator[Instruction]:
    """Loads, stores and updates of another CTA's shared memory."""
    for type_, name in _DATA.items():
        yield Instruction(
            f"ld.shared::cluster.{type_}", "distributed shared memory", f"{name}, [src]", _CLUSTERS,
            "9.7.9.8", addresses=(("src", "shared::cluster"),), results=(name,),
        )  # fmt: skip
        yield Instruction(
            f"st.shared::cluster.{type_}", "distributed shared memory", f"[dst], {name}", _CLUSTERS,
            "9.7.9.11", addresses=(("dst", "shared::cluster"),),
        )  # fmt: skip
    for type_, name in (("b32", "d"), ("b64", "w")):
        yield Instruction(
            f"ld.acquire.cluster.shared::cluster.{type_}", "distributed shared memory",
            f"{name}, [src]", _CLUSTERS, "9.7.9.8", addresses=(("src", "shared::cluster"),),
            results=(name,),
        )  # fmt: skip
        yield Instruction(
            f"st.release.cluster.shared::cluster.{type_}", "distributed shared memory",
            f"[dst], {name}", _CLUSTERS, "9.7.9.11", addresses=(("dst", "shared::cluster"),),
        )  # fmt: skip
    for op, type_ in (*cross(("add",), ("u32", "u64", "f32")), *cross(("min", "max"), ("s32",))):
        name = {"u64": "w", "f32": "f"}.get(type_, "r")
        yield Instruction(
            f"red.relaxed.cluster.shared::cluster.{op}.{type_}", "distributed shared memory",
            f"[dst], {name}", _CLUSTERS, "9.7.13.6", addresses=(("dst", "shared::cluster"),),
        )  # fmt: skip


_TX = "shared::cluster.mbarrier::complete_tx::bytes"
_PEER = (("dst", "shared::cluster"), ("bar", "shared::cluster"))


def _signalling() -> Iterator[Instruction]:
    """Stores and updates of another CTA's shared memory that signal its mbarrier."""
    names = {"b32": "r", "u32": "r", "s32": "r", "f32": "f"}
    wide = {"b64": "w", "u64": "w", "s64": "w", "f64": "g"}
    for (type_, name), count in (
        *cross(names.items(), (1, 2, 4)),
        *cross(wide.items(), (1, 2)),
    ):
        values = "{" + ", ".join(f"{name}{n}" for n in range(count)) + "}" if count > 1 else name
        vector = f".v{count}" if count > 1 else ""
        yield Instruction(
            f"st.async.weak.{_TX}{vector}.{type_}", "st.async", f"[dst], {values}, [bar]", _ASYNC,
            "9.7.9.12", addresses=_PEER,
        )  # fmt: skip
    for op, type_ in (
        *cross(("add",), ("u32", "s32", "u64")),
        *cross(("min", "max"), ("u32", "s32")),
        *cross(("inc", "dec"), ("u32",)),
        *cross(("and", "or", "xor"), ("b32",)),
    ):
        name = "w" if type_ == "u64" else "r"
        yield Instruction(
            f"red.async.relaxed.cluster.{_TX}.{op}.{type_}", "red.async", f"[dst], {name}, [bar]",
            _ASYNC, "9.7.13.7", addresses=_PEER,
        )  # fmt: skip


def _warps() -> Iterator[Instruction]:
    """Registers that change hands, a warp's leader, grids that follow each other."""
    for way in ("inc", "dec"):
        yield Instruction(
            f"setmaxnreg.{way}.sync.aligned.u32", "setmaxnreg", "n", _REGISTERS, "9.7.19.5",
            _WARPGROUP, legal=REGISTER_COUNTS,
        )  # fmt: skip
    yield Instruction(
        "elect.sync", "elect", "d|p, lanes", _HOPPER, "9.7.13.14", _WARP, results=("d", "p")
    )
    for verb in ("launch_dependents", "wait"):
        yield Instruction(f"griddepcontrol.{verb}", "griddepcontrol", "", _CLUSTERS, "9.7.13.13")
    for level in ("evict_first", "evict_last", "evict_normal", "evict_unchanged"):
        yield Instruction(
            f"createpolicy.fractional.L2::{level}.b64", "createpolicy", "policy, 1.0",
            (Since.of("sm_80", "7.4"),), "9.7.9.18", results=("policy",),
        )  # fmt: skip


_FIELDS = (
    ("global_address", "b64", "w"),
    ("rank", "b32", "r"),
    ("box_dim", "b32", "0, r"),
    ("global_dim", "b32", "0, r"),
    ("global_stride", "b64", "0, w"),
    ("element_stride", "b32", "0, r"),
    ("elemtype", "b32", "0"),
    ("interleave_layout", "b32", "0"),
    ("swizzle_mode", "b32", "0"),
    ("fill_mode", "b32", "0"),
)
"""Fields of a tensor map, their type, and what stands for an index and a value."""


def _maps() -> Iterator[Instruction]:
    """Tensor maps: fetched ahead, changed in memory, brought from shared to global memory."""
    yield Instruction("prefetch.tensormap", "tensormap", "[map]", _HOPPER, "9.7.9.15")
    yield Instruction("prefetch.param.tensormap", "tensormap", "[param]", _HOPPER, "9.7.9.15")
    for (field, type_, operands), space in cross(_FIELDS, ("global", "shared::cta")):
        yield Instruction(
            f"tensormap.replace.tile.{field}.{space}.b1024.{type_}", "tensormap",
            f"[dst], {operands}", _REPLACE, "9.7.9.28", addresses=(("dst", space),),
        )  # fmt: skip
    for scope in _VISIBLE:
        yield Instruction(
            f"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.{scope}"
            ".sync.aligned", "tensormap", "[dst], [src], 128", _MAPS, "9.7.13.16", _WARP,
            addresses=(("dst", "global"), ("src", "shared::cta")),
        )  # fmt: skip


def instructions() -> Iterator[Instruction]:
    """Every one."""
    yield from _fences()
    yield from _wgmma()
    yield from _clusters()
    yield from _peers()
    yield from _signalling()
    yield from _warps()
    yield from _maps()
