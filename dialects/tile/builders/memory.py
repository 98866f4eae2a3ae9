"""Builders of what moves tiles: loads, stores, matrix moves, asynchronous copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilec.ir.aliases import Attribute, Value
from tilec.ir.mlir import ir
from tilec.isa import Form

from ..ops import (
    AllocSharedOp,
    AsyncCommitOp,
    AsyncCopyOp,
    AsyncWaitOp,
    AtomicCasOp,
    AtomicOp,
    AtomicRmwOp,
    AtomicScatterOp,
    GatherOp,
    LdmatrixOp,
    LoadOp,
    ScatterOp,
    StmatrixOp,
    StoreOp,
)
from ..ops.base import memory
from .caller import located
from .emit import Index, access, emit, form_name, i64, indices_of
from .types import TypeLike, shared_type


@located
def alloc_shared(shape: Sequence[int], element: TypeLike, swizzle: str | None = "none") -> Value:
    """`tile.alloc_shared`: a buffer of `shared_type(shape, element, swizzle)`, or an array."""
    return emit(AllocSharedOp, [], shared_type(shape, element, swizzle))


@located
def load(
    source: Value,
    *indices: Index,
    type: TypeLike,  # noqa: A002 (MLIR's word)
    transposed: bool = False,
    masked: bool = False,
    vector: int = 1,
) -> Value:
    """`tile.load`: a tile or fragment of `type` from memory at `indices`.

    Args:
        source: a memref.
        indices: of the tile's first element, one per dimension of the memref.
        type: a tensor with a layout, or a fragment.
        transposed: memory holds the transpose.
        masked: elements outside the memref's extents are zero.
        vector: elements that lie together, aligned as one access.
    """
    attributes = access(transposed, masked, vector)
    return emit(LoadOp, [source, *indices_of(indices)], type, attributes)


@located
def store(
    value: Value,
    target: Value,
    *indices: Index,
    transposed: bool = False,
    masked: bool = False,
    vector: int = 1,
) -> None:
    """`tile.store`: a tile or fragment to memory; the mirror of `load`."""
    attributes = access(transposed, masked, vector)
    emit(StoreOp, [value, target, *indices_of(indices)], attributes=attributes)


@located
def atomic(
    fn: str,
    value: Value,
    target: Value,
    *indices: Index,
    transposed: bool = False,
    masked: bool = False,
    vector: int = 1,
) -> None:
    """`tile.atomic`: a tile or fragment into memory by `fn`, such as `arith.addf`; see `load`."""
    attributes = access(transposed, masked, vector) | {"fn": ir.StringAttr.get(fn)}
    emit(AtomicOp, [value, target, *indices_of(indices)], attributes=attributes)


@located
def gather(
    source: Value,
    *indices: Index,
    type: TypeLike,  # noqa: A002 (MLIR's word)
    offsets: Mapping[int, Value] | None = None,
    condition: Value | None = None,
    masked: bool = False,
    vector: int = 1,
) -> Value:
    """`tile.gather`: a tile or fragment of `type`, each element from a place of its own.

    Args:
        source: a memref.
        indices: of the tile's first element, one per dimension of the memref.
        type: a tensor with or without a layout, or a fragment.
        offsets: by dimension of the memref, how far from the index each element lies.
        condition: which elements are read; the others are zero.
        masked: elements outside the memref's extents are zero.
        vector: elements that lie together, and are read or not as one.
    """
    operands, attributes = _places([source], indices, offsets, condition)
    return emit(GatherOp, operands, type, attributes | access(False, masked, vector))


@located
def scatter(
    value: Value,
    target: Value,
    *indices: Index,
    offsets: Mapping[int, Value] | None = None,
    condition: Value | None = None,
    masked: bool = False,
    vector: int = 1,
) -> None:
    """`tile.scatter`: a tile or fragment, each element to a place of its own; see `gather`."""
    operands, attributes = _places([value, target], indices, offsets, condition)
    emit(ScatterOp, operands, attributes=attributes | access(False, masked, vector))


@located
def atomic_scatter(
    fn: str,
    value: Value,
    target: Value,
    *indices: Index,
    offsets: Mapping[int, Value] | None = None,
    condition: Value | None = None,
    masked: bool = False,
    vector: int = 1,
) -> None:
    """`tile.atomic_scatter`: a tile or fragment into memory by `fn`; see `atomic` and `gather`."""
    operands, attributes = _places([value, target], indices, offsets, condition)
    attributes |= access(False, masked, vector) | {"fn": ir.StringAttr.get(fn)}
    emit(AtomicScatterOp, operands, attributes=attributes)


@located
def atomic_rmw(
    fn: str,
    value: Value,
    target: Value,
    *indices: Index,
    offsets: Mapping[int, Value] | None = None,
    condition: Value | None = None,
    masked: bool = False,
    order: str | None = None,
    scope: str | None = None,
) -> Value:
    """`tile.atomic_rmw`: a tile or fragment into memory by `fn`; what that held.

    Args:
        fn: as of `atomic`, or `exchange`.
        value: the tile.
        target: a memref.
        indices: as of `gather`.
        offsets: as of `gather`.
        condition: as of `gather`.
        masked: elements outside the memref's extents are left out.
        order: relaxed, acquire, release or acq_rel.
        scope: cta, gpu or sys.
    """
    operands, attributes = _places([value, target], indices, offsets, condition)
    attributes |= access(False, masked) | {"fn": ir.StringAttr.get(fn)} | _how(order, scope)
    return emit(AtomicRmwOp, operands, value.type, attributes)


@located
def atomic_cas(
    compare: Value,
    value: Value,
    target: Value,
    *indices: Index,
    offsets: Mapping[int, Value] | None = None,
    condition: Value | None = None,
    masked: bool = False,
    order: str | None = None,
    scope: str | None = None,
) -> Value:
    """`tile.atomic_cas`: a tile into memory where that holds `compare`; see `atomic_rmw`."""
    operands, attributes = _places([compare, target, value], indices, offsets, condition)
    attributes |= access(False, masked) | _how(order, scope)
    return emit(AtomicCasOp, operands, value.type, attributes)


def _how(order: str | None, scope: str | None) -> dict[str, Attribute]:
    given = {"order": order, "scope": scope}
    return {name: ir.StringAttr.get(word) for name, word in given.items() if word is not None}


def _places(
    fixed: list[Value],
    indices: Sequence[Index],
    offsets: Mapping[int, Value] | None,
    condition: Value | None,
) -> tuple[list[Value], dict[str, Attribute]]:
    """The operands of an op on elements at places of their own, and what says which they are."""
    by_dim = sorted((offsets or {}).items())
    groups = [
        *([value] for value in fixed),
        indices_of(indices),
        [tile for _, tile in by_dim],
        [] if condition is None else [condition],
    ]
    attributes: dict[str, Attribute] = {
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(group) for group in groups])
    }
    if by_dim:
        attributes["along"] = ir.DenseI64ArrayAttr.get([dim for dim, _ in by_dim])
    return [value for group in groups for value in group], attributes


@located
def ldmatrix(
    form: Form | str,
    source: Value,
    *indices: Index,
    type: TypeLike,  # noqa: A002 (MLIR's word)
    transposed: bool = False,
) -> Value:
    """`tile.ldmatrix`: a fragment of `type` from shared memory by one instruction.

    `type` says how the instruction's matrices lie side by side.
    """
    attributes: dict[str, Attribute] = {"form": form_name(form), **access(transposed)}
    return emit(LdmatrixOp, [source, *indices_of(indices)], type, attributes)


@located
def stmatrix(
    form: Form | str, value: Value, target: Value, *indices: Index, transposed: bool = False
) -> None:
    """`tile.stmatrix`: a fragment to shared memory by one instruction."""
    attributes: dict[str, Attribute] = {"form": form_name(form), **access(transposed)}
    emit(StmatrixOp, [value, target, *indices_of(indices)], attributes=attributes)


@located
def async_copy(
    source: Value,
    at: Sequence[Index],
    target: Value,
    to: Sequence[Index],
    *,
    shape: Sequence[int] | None = None,
    masked: bool = False,
    vector: int = 1,
    warps: tuple[int, int] | None = None,
) -> None:
    """`tile.async_copy`: a tile from global to shared memory, by all threads of the CTA or a part.

    Args:
        source: a memref in global memory.
        at: the tile's first indices there.
        target: a shared buffer.
        to: the tile's first indices there.
        shape: rows and columns; by default a whole matrix of the target.
        masked: elements outside the source's extents arrive as zero.
        vector: elements that go at once.
        warps: the number of the first warp that copies, and how many do; by default all.
    """
    extents = list(shape) if shape is not None else list(memory(target, "target").shape)[-2:]
    operands = [source, target, *indices_of(at), *indices_of(to)]
    attributes = access(False, masked, vector)
    attributes["shape"] = ir.DenseI64ArrayAttr.get(extents)
    if warps is not None:
        attributes["warps"] = ir.DenseI64ArrayAttr.get(list(warps))
    emit(AsyncCopyOp, operands, attributes=attributes)


@located
def async_commit() -> None:
    """`tile.async_commit`: close the group of this thread's copies so far."""
    emit(AsyncCommitOp, [])


@located
def async_wait(pending: int = 0) -> None:
    """`tile.async_wait`: wait until at most `pending` of the latest groups are in flight."""
    emit(AsyncWaitOp, [], attributes={"pending": i64(pending)})
