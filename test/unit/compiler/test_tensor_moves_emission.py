"""Every load, store, copy, commit and allocation of tensor memory is written from its op.

Mnemonics and registers are those of the ISA's syntax (9.7.16.7 to 9.7.16.12), written down here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
import tilec
from tilec.dialects.tile import builders as tile
from tilec.isa import TARGETS, TilecError

SHAPES = {
    "32x32b": (7, 1), "16x64b": (7, 1), "16x128b": (6, 2), "16x256b": (5, 4), "16x32bx2": (7, 1),
}  # fmt: skip
"""By shape the largest N, as a power of two, and registers of one repetition."""
COPIES = (
    "128x256b", "128x128b", "4x256b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23",
    "32x128b.warpx4",
)  # fmt: skip
SOURCES = ("", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64")
_TAILS = ("", ".abs", ".NaN", ".abs.NaN")
REDUCTIONS = [f"{op}{tail}.f32" for op, tail in product(("min", "max"), _TAILS)]
REDUCTIONS += [f"{op}.{type_}" for op in ("min", "max") for type_ in ("u32", "s32")]
WITH = [name for name, one in TARGETS.items() if one.has_tensor_memory]


def moves(shape: str, *, halves: bool) -> Iterator[tuple[str, int]]:
    """Every load and store of a shape, each as its op is made, with its registers."""
    element = "f16" if halves else "f32"
    d = tile.alloc_tensor(f'memref<128x512x{element}, #tile.tensor<"d">>')
    most, registers = SHAPES[shape]
    for n in range(most + 1):
        words = f"sync.aligned.{shape}.x{1 << n}"
        load = f"tcgen05.ld.{words}{'.pack::16b' * halves}.b32"
        store = f"tcgen05.st.{words}{'.unpack::16b' * halves}.b32"
        (loaded,) = tile.tcgen05_wait_ld(tile.tcgen05_ld(load, d, 0, 0))
        tile.tcgen05_st(store, loaded, d, 0, 0)
        yield load, registers << n
        yield store, registers << n


def reductions() -> Iterator[tuple[str, int]]:
    """Loads that reduce, of 32x32b and every N."""
    kinds = {"f32": "f32", "u32": "i32", "s32": "i32"}
    buffers = {
        one: tile.alloc_tensor(f'memref<128x128x{one}, #tile.tensor<"d">>')
        for one in ("f32", "i32")
    }
    for reduction, n in product(REDUCTIONS, range(1, 8)):
        form = f"tcgen05.ld.red.sync.aligned.32x32b.x{1 << n}.{reduction}"
        loaded = tile.tcgen05_ld_red(form, buffers[kinds[reduction.rpartition(".")[2]]], 0, 0)
        for one in loaded:
            tile.tcgen05_wait_ld(one)
        yield form, 1 << n


def others(group: int) -> Iterator[str]:
    """What one thread or a warp issues besides products, of a CTA or a pair."""
    words, pair = f"cta_group::{group}", " cta_group::2" * (group == 2)
    rows = tile.alloc_shared((128, 32), "i8", "32B")
    target = tile.alloc_tensor(f'memref<{128 * group}x32xi8, #tile.tensor<"a{pair}">>', group)
    bars = tile.alloc_shared((1,), "i64")
    for shape, source in product(COPIES, SOURCES):
        yield f"tcgen05.cp.{words}.{shape}{source}"
        tile.tcgen05_cp(f"tcgen05.cp.{words}.{shape}{source}", rows, target, *[0] * 4)
    yield f"tcgen05.commit.{words}.mbarrier::arrive::one.shared::cluster.b64"
    tile.tcgen05_commit(bars, 0, group=group)
    yield f"tcgen05.commit.{words}.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"
    tile.tcgen05_commit(bars, 0, 3, group=group)
    tile.tcgen05_fence("before")
    yield "tcgen05.fence::before_thread_sync"
    tile.tcgen05_fence("after")
    yield "tcgen05.fence::after_thread_sync"
    tile.tcgen05_wait_st()
    yield "tcgen05.wait::st.sync.aligned"
    slot = tile.alloc_shared((1, 1), "i32")
    tile.tcgen05_alloc(slot, 32, group)
    yield f"tcgen05.alloc.{words}.sync.aligned.shared::cta.b32"
    tile.tcgen05_relinquish(group)
    yield f"tcgen05.relinquish_alloc_permit.{words}.sync.aligned"
    tile.tcgen05_dealloc(slot, 32, group)
    yield f"tcgen05.dealloc.{words}.sync.aligned.b32"


def assembled(text: str, name: str, assemblers_for: Callable[..., list[Any]]) -> str:
    ptx = tilec.compile(text, target=name, cache=False).ptx
    ptxas = assemblers_for(TARGETS[name])[-1]
    assert ptxas.run(ptx, ptxas.architecture(TARGETS[name])) == (0, "")
    return ptx


def check_moves(shape: str, name: str, assemblers_for: Callable[..., list[Any]]) -> None:
    wanted = []
    with tile.module("m", target="sm_100a") as module:
        for halves in (False, True):
            with tile.kernel(f"k{halves:d}", {}, block=128):
                wanted += list(moves(shape, halves=halves))
    ptx = assembled(str(module), name, assemblers_for)
    found = re.findall(r"(tcgen05\.(?:ld|st)\.\S+) (?:\[%r\d+\](?:, \d+)?, )?\{([^}]*)\}", ptx)
    assert [(form, len(listed.split(","))) for form, listed in found] == wanted


@pytest.mark.parametrize("shape", SHAPES)
def test_loads_and_stores(shape: str, assemblers_for: Callable[..., list[Any]]) -> None:
    """Of every N, with a register in braces even where there is one: LLVM 22 has no such load."""
    check_moves(shape, "sm_100a", assemblers_for)


def check_others(name: str, assemblers_for: Callable[..., list[Any]]) -> None:
    for group in (1, 2):
        with tile.module("m", target="sm_100a") as module, tile.kernel("k", {}, block=128):
            wanted = list(others(group))
        text = str(module)
        if group == 2:
            cluster = "known_cluster_size = array<i32: 2, 1, 1>, known_block_size"
            text = text.replace("known_block_size", cluster)
        ptx = assembled(text, name, assemblers_for)
        found = re.findall(r"(?m)^\s*(tcgen05\.\S+?);?(?= |$|\n)", ptx)
        assert not set(wanted) - set(found)
        assert [one for one in found if ".cp." in one] == [one for one in wanted if ".cp." in one]


def test_copies_commits_and_columns(assemblers_for: Callable[..., list[Any]]) -> None:
    check_others("sm_100a", assemblers_for)


def check_reductions(name: str, assemblers_for: Callable[..., list[Any]]) -> None:
    with tile.module("m", target="sm_103a") as module, tile.kernel("k", {}, block=128):
        wanted = list(reductions())
    ptx = assembled(str(module), name, assemblers_for)
    found = re.findall(r"(tcgen05\.ld\.red\S+) \{([^}]*)\}, %", ptx)
    assert [(form, len(listed.split(","))) for form, listed in found] == wanted


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH)
def test_on_every_target(name: str, assemblers_for: Callable[..., list[Any]]) -> None:
    for shape in SHAPES:
        check_moves(shape, name, assemblers_for)
    check_others(name, assemblers_for)
    if not name.startswith("sm_100"):
        check_reductions(name, assemblers_for)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TARGETS if name not in WITH])
def test_refused_elsewhere(name: str) -> None:
    """At the line of the first that the target has not got."""
    with tile.module("m", target="sm_100a") as module, tile.kernel("k", {}, block=128):
        list(others(1))
    with pytest.raises(TilecError) as found:
        _ = tilec.compile(str(module), target=name, name="p.mlir", cache=False).ptx
    line = rf"(?m)^p\.mlir:\d+:\d+: error: .*tcgen05.* does not exist on {name};"
    said = re.findall(line, str(found.value))
    assert len(said) >= len(COPIES) * len(SOURCES)
