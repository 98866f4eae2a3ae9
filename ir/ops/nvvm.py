"""`nvvm`: shuffles, reductions over a warp, asynchronous copies."""

from __future__ import annotations

from enum import StrEnum

from ..aliases import Attribute, Value
from ..attributes import i32_attribute
from ..creation import create, emit
from ..mlir import ir
from ..types import i32
from .arith import integer
from .llvm import constant_i32

_ALL_LANES = -1


class Shuffle(StrEnum):
    """Which lane's value `nvvm.shfl.sync` gives."""

    BFLY = "bfly"
    UP = "up"
    DOWN = "down"
    IDX = "idx"


class Redux(StrEnum):
    """What `nvvm.redux.sync` does. PTX ISA, "redux.sync"."""

    ADD = "add"
    AND = "and"
    MAX = "max"
    UMAX = "umax"
    MIN = "min"
    UMIN = "umin"
    OR = "or"
    XOR = "xor"


class CacheModifier(StrEnum):
    """Where `nvvm.cp.async.shared.global` keeps what it reads."""

    CA = "ca"
    CG = "cg"


def shfl_sync(kind: Shuffle, word: Value, other: Value) -> ir.OpResult:
    """Another lane's i32, by the whole warp.

    Args:
        kind: how the lane is found.
        word: what this lane sends.
        other: an i32, the mask, distance or lane.
    """
    operands = [constant_i32(_ALL_LANES), word, other, constant_i32(31)]
    return create(
        "nvvm.shfl.sync", operands, word.type, kind=ir.Attribute.parse(f"#nvvm<shfl_kind {kind}>")
    )


def redux_sync(kind: Redux, value: Value) -> ir.OpResult:
    """An i32 combined over the warp."""
    how = ir.Attribute.parse(f"#nvvm<reduction_kind {kind}>")
    return create("nvvm.redux.sync", [value, constant_i32(_ALL_LANES)], value.type, kind=how)


def cp_async_attributes(size: int, modifier: CacheModifier) -> dict[str, Attribute]:
    """The attributes of asynchronous copies of so many bytes."""
    how = ir.Attribute.parse(f"#nvvm<load_cache_modifier {modifier}>")
    return {"size": i32_attribute(size), "modifier": how}


def cp_async_shared_global(
    target: Value, source: Value, count: Value | None, attributes: dict[str, Attribute]
) -> None:
    """Begin a copy to shared memory.

    Args:
        target: a pointer into shared memory.
        source: a pointer into global memory.
        count: an i32, the bytes that are read, zeros standing for the rest; None for all.
        attributes: what `cp_async_attributes` gives.
    """
    operands = [target, source] if count is None else [target, source, count]
    emit("nvvm.cp.async.shared.global", operands, **attributes)


def cp_async_commit_group() -> None:
    """End a group of copies."""
    emit("nvvm.cp.async.commit.group")


def cp_async_wait_group(pending: int) -> None:
    """Wait until no more than so many groups are in flight."""
    emit("nvvm.cp.async.wait.group", n=i32_attribute(pending))


def fence_mbarrier_init() -> None:
    """Let what the async proxy does to mbarriers come after their beginning."""
    emit("nvvm.fence.mbarrier.init")


def cluster_barrier() -> None:
    """A barrier of all threads of a cluster, to which whole warps come."""
    emit("nvvm.cluster.arrive", aligned=ir.UnitAttr.get())
    emit("nvvm.cluster.wait", aligned=ir.UnitAttr.get())


def cluster_rank() -> ir.OpResult:
    """The CTA's number in its cluster, an i32."""
    return create("nvvm.read.ptx.sreg.cluster.ctarank", (), ir.IntegerType.get_signless(32))


def elect_sync() -> ir.OpResult:
    """Whether this lane is the one that the warp elects, an i1."""
    return create("nvvm.elect.sync", (), ir.IntegerType.get_signless(1))


DEPENDENCE = "nvvm.griddepcontrol"
"""What waits for kernels before this one on the stream, or lets those behind begin."""


class Dependence(StrEnum):
    """What `nvvm.griddepcontrol` does. PTX ISA, "griddepcontrol"."""

    WAIT = "wait"
    LAUNCH_DEPENDENTS = "launch_dependents"


def griddepcontrol(kind: Dependence) -> None:
    """Wait for the grids before, or let those behind begin."""
    emit(DEPENDENCE, kind=ir.Attribute.parse(f"#nvvm<grid_dep_action {kind}>"))


def dependence_of(op: ir.Operation) -> Dependence | None:
    """What a `nvvm.griddepcontrol` does; None if `op` is another op.

    Any thread may do it for itself, and again: a later wait ends at once.
    """
    if op.name != DEPENDENCE:
        return None
    return next(one for one in Dependence if f" {one}>" in str(op.attributes["kind"]))


def setmaxregister(count: int, *, more: bool = False) -> None:
    """Let each thread of the warpgroup have so many registers, fewer or more than it has."""
    action = ir.Attribute.parse(f"#nvvm<action {'increase' if more else 'decrease'}>")
    emit("nvvm.setmaxregister", regCount=i32_attribute(count), action=action)


def named_barrier(number: int | Value, threads: int) -> None:
    """A barrier of its own of so many threads of the CTA, by its number, an i32 if computed."""
    counts = ir.DenseI32ArrayAttr.get([1, 1])
    which = constant_i32(number) if isinstance(number, int) else number
    operands = [which, constant_i32(threads)]
    emit(
        "nvvm.barrier",
        operands,
        aligned=ir.BoolAttr.get(True),
        operandSegmentSizes=counts,
    )


def warp_barrier() -> None:
    """A barrier of all lanes of a warp, which see what each has done before it."""
    emit("nvvm.bar.warp.sync", [integer(i32(), _ALL_LANES)])


def cp_async_bulk_commit_group() -> None:
    """End a group of the thread's copies of boxes to global memory."""
    emit("nvvm.cp.async.bulk.commit.group")


def cp_async_bulk_wait_group(pending: int) -> None:
    """Wait until no more than so many of those groups are in flight."""
    emit("nvvm.cp.async.bulk.wait_group", group=i32_attribute(pending))


def fence_proxy_async_shared() -> None:
    """Order a thread's accesses to shared memory before those of the asynchronous proxy."""
    emit(
        "nvvm.fence.proxy",
        kind=ir.Attribute.parse("#nvvm.proxy_kind<async.shared>"),
        space=ir.Attribute.parse("#nvvm.shared_space<cta>"),
    )
