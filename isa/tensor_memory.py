"""What stands around `tcgen05.mma`: tensor memory given out, filled, waited for; clusters stolen.

PTX ISA 9.7.16.7 to 9.7.16.12; `clusterlaunchcontrol` 9.7.13.17, 9.7.13.18.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as cross
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from .form_parts import ExecutionScope
from .instruction_class import Instruction
from .limits import TENSOR_COLUMNS, TENSOR_LANES
from .targets import Since
from .tensor_clauses import EXCLUSIVE, RUBIN, architectures, everywhere

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WARP, _THREAD, _PAIR = ExecutionScope.WARP, ExecutionScope.THREAD, ExecutionScope.CTA_PAIR
GROUPS = (1, 2)
LANES, COLUMNS = TENSOR_LANES, TENSOR_COLUMNS
ALLOCATIONS = (32, 64, 128, 256, 512)
"""Columns that an allocation may have."""
LANE_BIT = 16
"""First bit of the lane in an address of tensor memory; those below are the column's."""
_Address = TypeVar("_Address", "int", "NDArray[np.int64]")


def lane_and_column(address: _Address) -> tuple[_Address, _Address]:
    """The lane and the column of addresses of tensor memory."""
    return address >> LANE_BIT, address & (1 << LANE_BIT) - 1


class CopyShape(NamedTuple):
    """What `tcgen05.cp` moves at once.

    Attributes:
        rows: of the source.
        bits: of a row.
        cast: quarters of the lanes that get the same; empty where the rows fill them once.
    """

    rows: int
    bits: int
    cast: str = ""

    @property
    def name(self) -> str:
        """As the mnemonic has it."""
        return f"{self.rows}x{self.bits}b{self.cast and '.'}{self.cast}"


COPIES = (
    CopyShape(128, 256),
    CopyShape(4, 256),
    CopyShape(128, 128),
    CopyShape(64, 128, "warpx2::02_13"),
    CopyShape(64, 128, "warpx2::01_23"),
    CopyShape(32, 128, "warpx4"),
)
"""Shapes of `tcgen05.cp`."""
SOURCES = MappingProxyType({"": 0, "b6x16_p32": 6, "b4x16_p64": 4})
"""What `tcgen05.cp` makes bytes of: nothing, or packed elements of so many bits."""


class Copy(NamedTuple):
    """One `tcgen05.cp`.

    Attributes:
        name: its mnemonic.
        group: CTAs that take part.
        shape: what it moves.
        element_bits: bits of the packed elements that it makes bytes of; 0 if it does not.
    """

    name: str
    group: int
    shape: CopyShape
    element_bits: int


def _allocations() -> Iterator[Instruction]:
    """Columns of tensor memory, from one warp to the same or another of its CTA."""
    family, section = "tcgen05.alloc", "9.7.16.7"
    for group, (word, since) in cross(GROUPS, (("", everywhere()), (".exclusive", EXCLUSIVE))):
        for space in ("shared::cta", ""):
            ptx = f"tcgen05.alloc{word}.cta_group::{group}.sync.aligned"
            yield Instruction(
                f"{ptx}{space and '.'}{space}.b32", family, "[dst], n", since, section, _WARP,
                addresses=(("dst", space or "generic"),), legal=ALLOCATIONS,
            )  # fmt: skip
        yield Instruction(
            f"tcgen05.dealloc{word}.cta_group::{group}.sync.aligned.b32", family, "acc, n",
            since, section, _WARP, legal=ALLOCATIONS,
        )  # fmt: skip
    for group in GROUPS:
        ptx = f"tcgen05.relinquish_alloc_permit.cta_group::{group}.sync.aligned"
        yield Instruction(ptx, family, "", everywhere(), section, _WARP)


def copies() -> Iterator[Copy]:
    """Every `tcgen05.cp`."""
    for group, shape, (source, bits) in cross(GROUPS, COPIES, SOURCES.items()):
        unpacked = f".b8x16.{source}" if source else ""
        name = f"tcgen05.cp.cta_group::{group}.{shape.name}{unpacked}"
        yield Copy(name, group, shape, bits)


def _copies() -> Iterator[Instruction]:
    """Shared memory to tensor memory, and rows of tensor memory moved by one."""
    for one in copies():
        scope = _PAIR if one.group == 2 else _THREAD
        yield Instruction(one.name, "tcgen05.cp", "[acc], adesc", everywhere(), "9.7.16.9", scope)
    for group in GROUPS:
        scope = _PAIR if group == 2 else _THREAD
        yield Instruction(
            f"tcgen05.shift.cta_group::{group}.down", "tcgen05.shift", "[acc]", architectures(),
            "9.7.16.9", scope,
        )  # fmt: skip


def _commits() -> Iterator[Instruction]:
    """An arrival at an mbarrier when all that the thread began is done."""
    multicasts = (
        ("", "", everywhere()),
        (".multicast::cluster", ", mask", everywhere()),
        (".multicast::cluster::32b", ", r", RUBIN),
    )
    for group, space, (cast, mask, since) in cross(GROUPS, (".shared::cluster", ""), multicasts):
        scope = _PAIR if group == 2 else _THREAD
        for restrict in ("", ".sync_restrict::shared::read::mma::a"):
            ptx = f"tcgen05.commit.cta_group::{group}{restrict}.mbarrier::arrive::one{space}{cast}"
            yield Instruction(
                f"{ptx}.b64", "tcgen05.commit", f"[bar]{mask}", RUBIN if restrict else since,
                "9.7.16.12", scope, addresses=(("bar", space.lstrip(".") or "generic"),),
            )  # fmt: skip


def _orders() -> Iterator[Instruction]:
    """Before and after what synchronises threads; the warp's loads and stores."""
    for side in ("before", "after"):
        yield Instruction(
            f"tcgen05.fence::{side}_thread_sync", "tcgen05.fence", "", everywhere(), "9.7.16.11"
        )
    for what in ("ld", "st"):
        yield Instruction(
            f"tcgen05.wait::{what}.sync.aligned", "tcgen05.wait", "", everywhere(), "9.7.16.8",
            _WARP,
        )  # fmt: skip


_CLUSTERS = (Since.of("sm_100", "8.6"),)
_EVERYBODY = (
    *everywhere(),
    *(Since.of(name, since) for name, since in (("sm_120a", "8.7"), ("sm_120f", "8.8"))),
)


def _launches() -> Iterator[Instruction]:
    """The work of a cluster of the grid that has not started, taken over."""
    family, section = "clusterlaunchcontrol", "9.7.13.18"
    for space, cast in cross((".shared::cta", ""), ("", ".multicast::cluster::all")):
        since = _EVERYBODY if cast else _CLUSTERS
        place = space.lstrip(".") or "generic"
        yield Instruction(
            f"{family}.try_cancel.async{space}.mbarrier::complete_tx::bytes{cast}.b128", family,
            "[dst], [bar]", since, "9.7.13.17", addresses=(("dst", place), ("bar", place)),
        )  # fmt: skip
    query = f"{family}.query_cancel"
    yield Instruction(
        f"{query}.is_canceled.pred.b128", family, "p, answer", _CLUSTERS, section, results=("p",)
    )
    for axis in "xyz":
        yield Instruction(
            f"{query}.get_first_ctaid::{axis}.b32.b128", family, "d, answer", _CLUSTERS, section,
            results=("d",),
        )  # fmt: skip
    yield Instruction(
        f"{query}.get_first_ctaid.v4.b32.b128", family, "{d0, d1, d2, d3}, answer", _CLUSTERS,
        section, results=("d0", "d1", "d2", "d3"),
    )  # fmt: skip


def instructions() -> Iterator[Instruction]:
    """Every one."""
    yield from _allocations()
    yield from _copies()
    yield from _commits()
    yield from _orders()
    yield from _launches()
