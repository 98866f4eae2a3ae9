"""Builders of what warpgroups do: products in flight, their order, their registers."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.dialects.tile.dialect import FragType
from tilec.ir.aliases import Attribute, Type, Value
from tilec.ir.mlir import ir
from tilec.isa import Family, Form, TilecError
from tilec.layout import LinearLayout, any_fragment_of
from tilec.layout.operands import operand_layout

from ..ops.base import check_op
from ..ops.warpgroup_dot import (
    WarpgroupDotOp,
    WarpgroupDotSpOp,
    WarpgroupStartOp,
    WarpgroupWaitOp,
)
from ..ops.wgmma import (
    AccumulatorOp,
    JoinWarpsOp,
    PassingOp,
    WarpPartOp,
    WgmmaCommitOp,
    WgmmaFenceOp,
    WgmmaOp,
    WgmmaSpOp,
    WgmmaWaitOp,
)
from ..tiles import element_name, frag_type, layout_attr
from ..warpgroup import warp_part as part_layout
from ..warpgroup import warpgroup_fragment
from .caller import located
from .emit import Index, constant, emit, form_name, i64, indices_of
from .types import TypeLike, find_form


def warpgroup_type(form: Form | str, name: str) -> FragType:
    """The type of the fragment that a warpgroup holds of an operand.

    Args:
        form: a form of `wgmma`.
        name: `a` in registers, `c`, `d`, or `e`.
    """
    family = Family.WGMMA_SP if ".sp." in str(getattr(form, "ptx", form)) else Family.WGMMA
    found = find_form(form, family)
    operand = found.operand(name)
    layout = operand_layout(found, name) if name == "e" else any_fragment_of(found, name)
    element = ir.Type.parse(element_name(operand))
    text: LinearLayout | str
    if isinstance(layout, LinearLayout):
        text = layout
    else:
        sparse = " sparse" if found.sparsity else ""
        text = f"{found.facts['shape']} {name} {operand.type}{sparse}"
    shape = list(layout.out_sizes.values())
    return FragType.get(ir.RankedTensorType.get(shape, element), layout_attr(text))


@located
def wgmma(
    form: Form | str,
    a: Value,
    b: Value,
    c: Value,
    *indices: Index,
    scale_d: Value | bool = True,
    imm_scale_a: int = 1,
    imm_scale_b: int = 1,
    imm_trans_a: int = 0,
    imm_trans_b: int = 0,
) -> Value:
    """`tile.wgmma`: `a · b + c` by one instruction of a warpgroup, in flight.

    Args:
        form: the instruction's key, which says where `a` lies.
        a: a fragment of the warpgroup, or a memref in shared memory.
        b: a memref in shared memory.
        c: the accumulator.
        indices: where `a` begins if it is a memref, then where `b` does.
        scale_d: whether `c` is added.
        imm_scale_a: 1 or -1; likewise `imm_scale_b`.
        imm_scale_b: the same of `b`.
        imm_trans_a: 1 if M is contiguous in memory.
        imm_trans_b: 1 if N is.
    """
    operands = [a, b, c, condition(scale_d, "scale_d")]
    given = {
        "imm_scale_a": imm_scale_a - 1,
        "imm_scale_b": imm_scale_b - 1,
        "imm_trans_a": imm_trans_a,
        "imm_trans_b": imm_trans_b,
    }
    attributes = {
        name: i64(value + name.startswith("imm_scale")) for name, value in given.items() if value
    }
    return emit(
        WgmmaOp,
        [*operands, *indices_of(indices)],
        c.type,
        {"form": form_name(form), **attributes},
    )


@located
def wgmma_sp(
    form: Form | str,
    a: Value,
    b: Value,
    c: Value,
    e: Value,
    *indices: Index,
    selector: int = 0,
    scale_d: Value | bool = True,
) -> Value:
    """`tile.wgmma_sp`: `wgmma` with a sparse A as stored, and its metadata `e`."""
    operands = [a, b, c, condition(scale_d, "scale_d"), e, *indices_of(indices)]
    attributes = {"form": form_name(form), "selector": i64(selector)}
    return emit(WgmmaSpOp, operands, c.type, attributes)


@located
def wgmma_fence(*registers: Value) -> list[Value]:
    """`tile.wgmma_fence`: accumulators and fragments of A, ordered before the next product."""
    return _passed(WgmmaFenceOp, registers)


@located
def wgmma_commit() -> None:
    """`tile.wgmma_commit`: close the group of products so far."""
    emit(WgmmaCommitOp, [])


@located
def wgmma_wait(*accumulators: Value, pending: int = 0) -> list[Value]:
    """`tile.wgmma_wait`: the accumulators, when at most `pending` groups are in flight."""
    return _passed(WgmmaWaitOp, accumulators, pending=i64(pending))


@located
def accumulator(type: TypeLike) -> Value:  # noqa: A002 (MLIR's word)
    """`tile.accumulator`: zeros."""
    return emit(AccumulatorOp, [], type)


@located
def warp_part(source: Value, column: int = 0, columns: int | None = None) -> Value:
    """`tile.warp_part`: each warp's rows, and so many columns from one on; all by default."""
    tile = warpgroup_fragment(source, "source")
    count = tile.shape[1] if columns is None else columns
    layout = part_layout(tile, column, count)
    type_ = frag_type((tile.shape[0] // 4, count), tile.element, layout)
    return emit(WarpPartOp, [source], type_, {"column": i64(column)})


@located
def join_warps(source: Value, type: TypeLike, *more: Value) -> Value:  # noqa: A002 (MLIR's word)
    """`tile.join_warps`: the fragments of four warps as a warpgroup's, of `type`.

    Args:
        source: a warp's rows of it.
        type: of the whole.
        more: parts with the columns that follow, where `source` has not all.
    """
    return emit(JoinWarpsOp, [source, *more], type)


@located
def warpgroup_dot(
    form: Form | str,
    a: Value,
    b: Value,
    c: Value,
    *indices: Index,
    warps: tuple[int, int],
    imm_trans_a: int = 0,
    imm_trans_b: int = 0,
) -> Value:
    """`tile.warpgroup_dot`: `a · b + c` on a CTA's tiles, by as many instructions as it takes.

    Args:
        form: the instruction's key, which says where `a` lies.
        a: a tile, or a memref in shared memory.
        b: a memref in shared memory.
        c: a tile.
        indices: where `a` begins if it is a memref, then where `b` does.
        warps: warps along M, a multiple of four, and along N.
        imm_trans_a: 1 if M is contiguous in memory.
        imm_trans_b: 1 if N is.
    """
    attributes = _product(form, warps, imm_trans_a, imm_trans_b)
    return emit(WarpgroupDotOp, [a, b, c, *indices_of(indices)], c.type, attributes)


@located
def warpgroup_dot_sp(
    form: Form | str,
    a: Value,
    b: Value,
    c: Value,
    e: Value,
    *indices: Index,
    warps: tuple[int, int],
    imm_trans_a: int = 0,
    imm_trans_b: int = 0,
) -> Value:
    """`tile.warpgroup_dot_sp`: the same with a sparse A as stored, and its metadata `e`, a tile.

    Other arguments are those of `warpgroup_dot`.
    """
    attributes = _product(form, warps, imm_trans_a, imm_trans_b)
    return emit(WarpgroupDotSpOp, [a, b, c, e, *indices_of(indices)], c.type, attributes)


@located
def warpgroup_start(
    form: Form | str,
    a: Value,
    b: Value,
    c: Value,
    *indices: Index,
    warps: tuple[int, int],
    imm_trans_a: int = 0,
    imm_trans_b: int = 0,
) -> Value:
    """`tile.warpgroup_start`: the same, in flight, until a `tile.warpgroup_wait` gives it back.

    Arguments are those of `warpgroup_dot`.
    """
    attributes = _product(form, warps, imm_trans_a, imm_trans_b)
    return emit(WarpgroupStartOp, [a, b, c, *indices_of(indices)], c.type, attributes)


@located
def warpgroup_wait(started: Value, pending: int = 0) -> Value:
    """`tile.warpgroup_wait`: what a `tile.warpgroup_start` gives, done.

    Args:
        started: its result.
        pending: how many of the products after it may stay in flight.
    """
    return emit(WarpgroupWaitOp, [started], started.type, {"pending": i64(pending)})


def _product(
    form: Form | str, warps: tuple[int, int], imm_trans_a: int, imm_trans_b: int
) -> dict[str, Attribute]:
    """The attributes of a product of warpgroups."""
    given = {"imm_trans_a": imm_trans_a, "imm_trans_b": imm_trans_b}
    attributes: dict[str, Attribute] = {name: i64(one) for name, one in given.items() if one}
    attributes |= {"form": form_name(form), "warps": ir.DenseI64ArrayAttr.get(list(warps))}
    return attributes


def condition(value: Value | bool, name: str) -> Value:
    """An i1, of a value or a bool."""
    if isinstance(value, ir.Value):
        return value
    if not isinstance(value, bool):
        raise TilecError(f"{name} is a value of type i1 or a bool, not {value!r}")
    type_: Type = ir.IntegerType.get_signless(1)
    return constant(int(value), type_)


def _passed(
    op: type[PassingOp], fragments: Sequence[Value], **attributes: Attribute
) -> list[Value]:
    """An op that gives fragments back as it takes them."""
    made = ir.Operation.create(
        op.OPERATION_NAME,
        results=[value.type for value in fragments],
        operands=list(fragments),
        attributes=attributes,
        loc=ir.Location.current,
    )
    check_op(made)
    return list(made.results)
