"""Bulk copies, of tensors and of bytes: TMA. PTX ISA 9.7.9.25.4, 9.7.9.27."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as cross

from .instruction_class import Instruction
from .limits import ROWS_OF_COPY, TENSOR_REDUCTIONS
from .targets import Since, Target, min_ptx
from .tensor_clauses import everywhere

HOPPER = (Since.of("sm_90", "8.0"),)
_ROWS_TO_OWN_CTA = (Since.of("sm_100", "8.6"),)
_OWN_CTA = (Since.of("sm_90", "8.6"),)
_HINT = ".L2::cache_hint"
_TX = "mbarrier::complete_tx::bytes"

_TENSOR = "9.7.9.27.1"
_BULK = "9.7.9.25.4"

_REDUCTIONS_OF_PEER = (
    *cross(("add",), ("u32", "s32", "u64")),
    *cross(("min", "max"), ("u32", "s32")),
    *cross(("inc", "dec"), ("u32",)),
    *cross(("and", "or", "xor"), ("b32",)),
)
"""Operations and types of a reduction into a CTA's shared memory."""
_REDUCTIONS_OF_GLOBAL = (
    *cross(("add",), ("u32", "s32", "u64", "f32", "f64")),
    *cross(("add.noftz",), ("f16", "bf16")),
    *cross(("min", "max"), ("u32", "s32", "u64", "s64", "f16", "bf16")),
    *cross(("inc", "dec"), ("u32",)),
    *cross(("and", "or", "xor"), ("b32", "b64")),
)


_GROUPS = ("", ".cta_group::1", ".cta_group::2")
"""Whose mbarriers a load may tell: of the receiving CTA, the same, of either CTA of its pair."""


def _numbered(letter: str, count: int) -> str:
    return "{" + ", ".join(f"{letter}{n}" for n in range(count)) + "}"


def _make(
    family: str,
    ptx: str,
    operands: str,
    *,
    since: tuple[Since, ...] = HOPPER,
    section: str = _TENSOR,
    **addresses: str,
) -> Instruction:
    return Instruction(ptx, family, operands, since, section, addresses=tuple(addresses.items()))


def _modes(rank: int, other: str) -> list[str]:
    """How a tensor is walked."""
    return ["tile", other] if rank >= 3 else ["tile"]


def _loads(rank: int) -> Iterator[Instruction]:
    """Global memory to shared memory, of the own CTA (shared::cta) or of any of the cluster."""
    own, cluster = ("shared::cta", _OWN_CTA), ("shared::cluster", HOPPER)
    ways = [(own, ""), (cluster, ""), (cluster, ".multicast::cluster")]
    for mode, ((space, since), cast), group, hint in cross(
        _modes(rank, "im2col"), ways, _GROUPS, ("", _HINT)
    ):
        operands = f"[dst], [map, {_numbered('c', rank)}], [bar]"
        operands += f", {_numbered('o', rank - 2)}" * (mode == "im2col")
        operands += ", mask" * bool(cast) + ", policy" * bool(hint)
        ptx = f"cp.async.bulk.tensor.{rank}d.{space}.global.{mode}.{_TX}{cast}{group}{hint}"
        yield _make(
            "cp.async.bulk.tensor", ptx, operands, since=everywhere() if group else since,
            dst=space, bar=_whose(group),
        )  # fmt: skip


def _whose(group: str) -> str:
    """Where the mbarrier of a load lies."""
    return "shared::cluster" if group.endswith("2") else "shared::cta"


def _stores(rank: int) -> Iterator[Instruction]:
    """Shared memory to global memory, as it is or by an operation with what lies there."""
    for mode, hint in cross(_modes(rank, "im2col_no_offs"), ("", _HINT)):
        operands = f"[map, {_numbered('c', rank)}], [src]" + ", policy" * bool(hint)
        ways = f"{mode}.bulk_group{hint}"
        ptx = f"cp.async.bulk.tensor.{rank}d.global.shared::cta.{ways}"
        yield _make("cp.async.bulk.tensor", ptx, operands, src="shared::cta")
        for op in TENSOR_REDUCTIONS:
            ptx = f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{op}.{ways}"
            yield _make("cp.reduce.async.bulk.tensor", ptx, operands, src="shared::cta")


def _prefetches(rank: int) -> Iterator[Instruction]:
    """Global memory to the L2 cache."""
    for mode, hint in cross(_modes(rank, "im2col"), ("", _HINT)):
        operands = f"[map, {_numbered('c', rank)}]"
        operands += f", {_numbered('o', rank - 2)}" * (mode == "im2col")
        operands += ", policy" * bool(hint)
        ptx = f"cp.async.bulk.prefetch.tensor.{rank}d.L2.global.{mode}{hint}"
        yield _make("cp.async.bulk.prefetch.tensor", ptx, operands)


def _rows() -> Iterator[Instruction]:
    """Four rows of a matrix, each at an index of its own: gathered, scattered, prefetched."""
    at, family = f"[map, {_numbered('c', 1 + ROWS_OF_COPY)}]", "cp.async.bulk.tensor"
    own = ("shared::cta", _ROWS_TO_OWN_CTA)
    cluster, there = ("shared::cluster", everywhere()), everywhere()
    ways = [(own, ""), (cluster, ""), (cluster, ".multicast::cluster")]
    for ((space, since), cast), group, hint in cross(ways, _GROUPS, ("", _HINT)):
        operands = f"[dst], {at}, [bar]" + ", mask" * bool(cast) + ", policy" * bool(hint)
        ptx = f"{family}.2d.{space}.global.tile::gather4.{_TX}{cast}{group}{hint}"
        clauses = there if group else since
        yield _make(family, ptx, operands, since=clauses, dst=space, bar=_whose(group))
    for hint in ("", _HINT):
        more = ", policy" * bool(hint)
        ptx = f"{family}.2d.global.shared::cta.tile::scatter4.bulk_group{hint}"
        yield _make(family, ptx, f"{at}, [src]{more}", since=there, src="shared::cta")
        ptx = f"cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4{hint}"
        yield _make("cp.async.bulk.prefetch.tensor", ptx, f"{at}{more}", since=there)


def copies_rows(target: Target, *, back: bool = False) -> bool:
    """Whether a target has copies of four rows to the own CTA's shared memory, or back from it."""
    return min_ptx(everywhere() if back else _ROWS_TO_OWN_CTA, target) is not None


def _bytes() -> Iterator[Instruction]:
    """Runs of bytes, addresses and size multiples of 16."""
    own, cluster = ("shared::cta", _OWN_CTA), ("shared::cluster", HOPPER)
    ways = [(own, ""), (cluster, ""), (cluster, ".multicast::cluster")]
    family = "cp.async.bulk"
    for ((space, since), cast), hint in cross(ways, ("", _HINT)):
        ptx = f"{family}.{space}.global.{_TX}{cast}{hint}"
        operands = "[dst], [src], size, [bar]" + ", mask" * bool(cast) + ", policy" * bool(hint)
        yield _make(
            family, ptx, operands, since=since, section=_BULK,
            dst=space, src="global", bar="shared::cta",
        )  # fmt: skip
    yield _make(
        family, f"{family}.shared::cluster.shared::cta.{_TX}", "[dst], [src], size, [bar]",
        section=_BULK, dst="shared::cluster", src="shared::cta", bar="shared::cluster",
    )  # fmt: skip
    for hint in ("", _HINT):
        more = ", policy" * bool(hint)
        yield _make(
            family, f"{family}.global.shared::cta.bulk_group{hint}", f"[dst], [src], size{more}",
            section=_BULK, dst="global", src="shared::cta",
        )  # fmt: skip
        yield _make(
            "cp.async.bulk.prefetch", f"{family}.prefetch.L2.global{hint}", f"[src], size{more}",
            section=_BULK, src="global",
        )  # fmt: skip


def _reductions() -> Iterator[Instruction]:
    """An operation with what lies at the destination, element by element."""
    family = "cp.reduce.async.bulk"
    for op, type_ in _REDUCTIONS_OF_PEER:
        yield _make(
            family, f"{family}.shared::cluster.shared::cta.{_TX}.{op}.{type_}",
            "[dst], [src], size, [bar]", section=_BULK,
            dst="shared::cluster", src="shared::cta", bar="shared::cluster",
        )  # fmt: skip
    for (op, type_), hint in cross(_REDUCTIONS_OF_GLOBAL, ("", _HINT)):
        yield _make(
            family, f"{family}.global.shared::cta.bulk_group{hint}.{op}.{type_}",
            "[dst], [src], size" + ", policy" * bool(hint), section=_BULK,
            dst="global", src="shared::cta",
        )  # fmt: skip


def _groups() -> Iterator[Instruction]:
    """The copies of one thread that are waited for together."""
    family, section = "cp.async.bulk group", "9.7.9.27.2"
    yield _make(family, "cp.async.bulk.commit_group", "", section=section)
    for read in ("", ".read"):
        ptx = f"cp.async.bulk.wait_group{read}"
        yield Instruction(ptx, family, "n", HOPPER, section, legal=range(1 << 31))


def instructions() -> Iterator[Instruction]:
    """Every one."""
    for rank in range(1, 6):
        yield from _loads(rank)
        yield from _stores(rank)
        yield from _prefetches(rank)
    yield from _rows()
    yield from _bytes()
    yield from _reductions()
    yield from _groups()
