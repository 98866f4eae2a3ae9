"""Builders of what happens in tensor memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilec.ir.aliases import Attribute, Value
from tilec.ir.mlir import ir
from tilec.isa import Family, Form, TilecError

from ..dialect import FragType
from ..ops.tcgen05 import FLAGS, Tcgen05MmaOp, Tcgen05MmaScaledOp
from ..ops.tcgen05_cp import Tcgen05CpOp
from ..ops.tcgen05_ld_red import Tcgen05LdRedOp, reduced_layout
from ..ops.tcgen05_moves import (
    Tcgen05CommitOp,
    Tcgen05FenceOp,
    Tcgen05LdOp,
    Tcgen05StOp,
    Tcgen05WaitLdOp,
    Tcgen05WaitStOp,
    moved_layout,
)
from ..ops.tcgen05_shift import Tcgen05ShiftOp
from ..ops.tcgen05_sp import Tcgen05MmaSpOp, Tcgen05MmaSpScaledOp
from ..ops.tensor_dot import TensorDotOp, TensorLoadOp, TensorStoreOp
from ..ops.tensor_dot_scaled import TensorDotScaledOp
from ..ops.tensor_memory import (
    GROUP,
    AllocTensorOp,
    Tcgen05AllocOp,
    Tcgen05DeallocOp,
    Tcgen05RelinquishOp,
    TensorBufferOp,
)
from ..ops.tensor_options import EXPONENT, KEPT, ZEROS, ProductOptions
from ..tensor import tensor_buffer as buffer_of
from ..tensor_dots import accumulator_tile
from ..tiles import element_of, frag_type, tensor_type
from .caller import located
from .emit import Index, emit, emit_all, form_name, i64, indices_of
from .types import TypeLike, find_form
from .wgmma import condition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilec.isa.tensor_products import TensorProduct


@located
def alloc_tensor(type: TypeLike, group: int = 1) -> Value:  # noqa: A002 (MLIR's word)
    """`tile.alloc_tensor`: a buffer in tensor memory, for which a pass finds columns.

    Args:
        type: of the memref, in `#tile.tensor<"…">`.
        group: CTAs that allocate together.
    """
    return emit(AllocTensorOp, [], type, _group(group))


@located
def tcgen05_alloc(slot: Value, columns: int, group: int = 1, *, exclusive: bool = False) -> None:
    """`tile.tcgen05_alloc`: so many columns; their address goes to a word of shared memory."""
    attributes = {"columns": i64(columns), **_group(group), **_exclusive(exclusive)}
    emit(Tcgen05AllocOp, [slot], attributes=attributes)


@located
def tcgen05_dealloc(slot: Value, columns: int, group: int = 1, *, exclusive: bool = False) -> None:
    """`tile.tcgen05_dealloc`: columns given back, all of an allocation."""
    attributes = {"columns": i64(columns), **_group(group), **_exclusive(exclusive)}
    emit(Tcgen05DeallocOp, [slot], attributes=attributes)


@located
def tcgen05_relinquish(group: int = 1) -> None:
    """`tile.tcgen05_relinquish`: the CTA allocates no more."""
    emit(Tcgen05RelinquishOp, [], attributes=_group(group))


@located
def tensor_buffer(slot: Value, column: int, type: TypeLike) -> Value:  # noqa: A002
    """`tile.tensor_buffer`: of an allocation, from a column on."""
    return emit(TensorBufferOp, [slot], type, {"column": i64(column)})


@located
def tcgen05_mma(
    form: TensorProduct | str,
    types: str,
    a: Value,
    b: Value,
    d: Value,
    *indices: Index,
    accumulate: Value | bool = True,
    flags: Sequence[str] = (),
    options: ProductOptions | None = None,
) -> None:
    """`tile.tcgen05_mma`: `d = a · b + d` in tensor memory.

    Args:
        form: the instruction's key, which says where `a` lies.
        types: of D, A and B, such as `f32.f16.f16`.
        a: a memref in shared or tensor memory.
        b: a memref in shared memory.
        d: the accumulator.
        indices: where a, b and d begin.
        accumulate: whether `d` is added.
        flags: of `negate_a`, `negate_b`, `saturate`, `transpose_a`, `transpose_b`.
        options: lanes that stay, a power of two, columns that count as 0.
    """
    operands = [a, b, d, condition(accumulate, "accumulate"), *indices_of(indices)]
    attributes = {**_product(form, types, flags), **_options(options)}
    emit(Tcgen05MmaOp, operands, attributes=attributes)


@located
def tcgen05_mma_scaled(
    form: TensorProduct | str,
    types: str,
    a: Value,
    b: Value,
    d: Value,
    sfa: Value,
    sfb: Value,
    *indices: Index,
    accumulate: Value | bool = True,
    flags: Sequence[str] = (),
) -> None:
    """`tile.tcgen05_mma_scaled`: the same of operands with scale factors, `sfa` and `sfb`."""
    operands = [a, b, d, condition(accumulate, "accumulate"), sfa, sfb, *indices_of(indices)]
    emit(Tcgen05MmaScaledOp, operands, attributes=_product(form, types, flags))


@located
def tcgen05_mma_sp(
    form: TensorProduct | str,
    types: str,
    a: Value,
    b: Value,
    d: Value,
    e: Value,
    *indices: Index,
    accumulate: Value | bool = True,
    flags: Sequence[str] = (),
    options: ProductOptions | None = None,
) -> None:
    """`tile.tcgen05_mma_sp`: the same of a sparse A, with metadata `e` in tensor memory."""
    operands = [a, b, d, condition(accumulate, "accumulate"), e, *indices_of(indices)]
    attributes = {**_product(form, types, flags), **_options(options)}
    emit(Tcgen05MmaSpOp, operands, attributes=attributes)


@located
def tcgen05_mma_sp_scaled(
    form: TensorProduct | str,
    types: str,
    a: Value,
    b: Value,
    d: Value,
    e: Value,
    sfa: Value,
    sfb: Value,
    *indices: Index,
    accumulate: Value | bool = True,
    flags: Sequence[str] = (),
) -> None:
    """`tile.tcgen05_mma_sp_scaled`: the same with scale factors `sfa` and `sfb`."""
    given = [a, b, d, condition(accumulate, "accumulate"), e, sfa, sfb]
    attributes = _product(form, types, flags)
    emit(Tcgen05MmaSpScaledOp, [*given, *indices_of(indices)], attributes=attributes)


@located
def tcgen05_shift(buffer: Value, *indices: Index, group: int = 1) -> None:
    """`tile.tcgen05_shift`: 32 bytes of each lane moved down by one row."""
    emit(Tcgen05ShiftOp, [buffer, *indices_of(indices)], attributes=_group(group))


@located
def tensor_dot(
    form: TensorProduct | str,
    types: str,
    a: Value,
    b: Value,
    c: Value,
    *indices: Index,
    warps: tuple[int, int],
    flags: Sequence[str] = (),
) -> Value:
    """`tile.tensor_dot`: `a · b + c` on a CTA's tiles, the sums in tensor memory meanwhile.

    Args:
        form: the instruction's key.
        types: of D, A and B, such as `f32.f16.f16`.
        a: a memref in shared memory.
        b: a memref in shared memory.
        c: a tile.
        indices: where `a` begins, then where `b` does.
        warps: warps along M, a multiple of four, and along N, that load the sums.
        flags: of `transpose_a` and `transpose_b`.
    """
    attributes = _product(form, types, flags)
    attributes["warps"] = ir.DenseI64ArrayAttr.get(list(warps))
    return emit(TensorDotOp, [a, b, c, *indices_of(indices)], c.type, attributes)


@located
def tensor_dot_scaled(
    form: TensorProduct | str,
    types: str,
    a: Value,
    b: Value,
    c: Value,
    sfa: Value,
    sfb: Value,
    *indices: Index,
    warps: tuple[int, int],
) -> Value:
    """`tile.tensor_dot_scaled`: the same of operands with scale factors.

    Args:
        form: the instruction's key.
        types: of D, A and B, such as `f32.e4m3.e4m3`.
        a: a memref in shared memory.
        b: a memref in shared memory.
        c: a tile.
        sfa: the factors of A, in shared memory, in the order of `tcgen05.cp`.
        sfb: those of B.
        indices: where `a`, `b`, `sfa` and `sfb` begin.
        warps: warps along M, a multiple of four, and along N, that load the sums.
    """
    attributes = _product(form, types, ())
    attributes["warps"] = ir.DenseI64ArrayAttr.get(list(warps))
    return emit(TensorDotScaledOp, [a, b, c, sfa, sfb, *indices_of(indices)], c.type, attributes)


@located
def tensor_load(source: Value, warps: tuple[int, int]) -> Value:
    """`tile.tensor_load`: the tile that an accumulator holds.

    Args:
        source: a memref in tensor memory, of matrices along M and N.
        warps: warps along M, a multiple of four, and along N.
    """
    type_ = ir.MemRefType(source.type)
    if type_.rank != 4:
        raise TilecError(f"an accumulator is of matrices along M and N, not {type_}")
    m, n, rows, cols = type_.shape
    layout = accumulator_tile((rows, cols), m * rows, n * cols, warps)
    tile = tensor_type((m * rows, n * cols), type_.element_type, str(layout))
    return emit(TensorLoadOp, [source], tile, {"warps": ir.DenseI64ArrayAttr.get(list(warps))})


@located
def tensor_store(tile: Value, target: Value, warps: tuple[int, int]) -> None:
    """`tile.tensor_store`: a tile to an accumulator; arguments as of `tensor_load`."""
    attributes = {"warps": ir.DenseI64ArrayAttr.get(list(warps))}
    emit(TensorStoreOp, [tile, target], attributes=attributes)


@located
def tcgen05_ld(form: Form | str, source: Value, *indices: Index) -> Value:
    """`tile.tcgen05_ld`: a warp's fragment of a buffer, which a `tcgen05_wait_ld` makes usable."""
    type_ = fragment_moved(form, Family.TCGEN05_LD, source)
    return emit(Tcgen05LdOp, [source, *indices_of(indices)], type_, {"form": form_name(form)})


@located
def tcgen05_ld_red(form: Form | str, source: Value, *indices: Index) -> tuple[Value, Value]:
    """`tile.tcgen05_ld_red`: a warp's fragment of a buffer, and each row of it reduced."""
    from tilec.isa.tensor_moves import TensorMove  # noqa: PLC0415 (for Blackwell only)

    type_ = fragment_moved(form, Family.TCGEN05_LD_RED, source)
    found = find_form(form, Family.TCGEN05_LD_RED)
    assert isinstance(found, TensorMove)
    layout = reduced_layout(moved_layout(found, buffer_of(source, "buffer")))
    rows = layout.out_sizes["row"]
    element = element_of(ir.MemRefType(source.type).element_type)
    types = [type_, frag_type((rows, 1), element, layout)]
    operands = [source, *indices_of(indices)]
    loaded, reduced = emit_all(Tcgen05LdRedOp, operands, types, {"form": form_name(form)})
    return loaded, reduced


@located
def tcgen05_st(form: Form | str, fragment: Value, target: Value, *indices: Index) -> None:
    """`tile.tcgen05_st`: a warp's fragment to a buffer."""
    operands = [fragment, target, *indices_of(indices)]
    emit(Tcgen05StOp, operands, attributes={"form": form_name(form)})


def fragment_moved(form: Form | str, family: Family, buffer: Value) -> FragType:
    """The type of the fragment that a load or store moves of a buffer.

    Args:
        form: the instruction.
        family: that it must be of.
        buffer: the memref.

    Raises:
        TilecError: if it moves none of such a buffer.
    """
    from tilec.isa.tensor_moves import TensorMove  # noqa: PLC0415 (for Blackwell only)

    found = find_form(form, family)
    assert isinstance(found, TensorMove)
    layout = moved_layout(found, buffer_of(buffer, "buffer"))
    rows, cols = layout.out_sizes.values()
    element = element_of(ir.MemRefType(buffer.type).element_type)
    return frag_type((rows, cols), element, layout)


@located
def tcgen05_wait_ld(*fragments: Value) -> list[Value]:
    """`tile.tcgen05_wait_ld`: the fragments, when they have come."""
    return emit_all(Tcgen05WaitLdOp, fragments, [value.type for value in fragments], {})


@located
def tcgen05_wait_st() -> None:
    """`tile.tcgen05_wait_st`: until the warp's stores are done."""
    emit(Tcgen05WaitStOp, [])


@located
def tcgen05_cp(form: str, source: Value, target: Value, *indices: Index) -> None:
    """`tile.tcgen05_cp`: rows of bytes to tensor memory; indices of the source, then the target."""
    operands = [source, target, *indices_of(indices)]
    emit(Tcgen05CpOp, operands, attributes={"form": ir.StringAttr.get(form)})


@located
def tcgen05_commit(
    barriers: Value, index: Index, multicast: Index | None = None, group: int = 1
) -> None:
    """`tile.tcgen05_commit`: an arrival when all that the thread has issued is done.

    Args:
        barriers: mbarriers.
        index: which of them.
        multicast: the ranks of the cluster in which it arrives, as bits, if not in the own CTA.
        group: CTAs that take part in what was issued.
    """
    given = [index] if multicast is None else [index, multicast]
    emit(Tcgen05CommitOp, [barriers, *indices_of(given)], attributes=_group(group))


@located
def tcgen05_fence(side: str) -> None:
    """`tile.tcgen05_fence`: `before` or `after` what synchronises threads."""
    emit(Tcgen05FenceOp, [], attributes={"side": ir.StringAttr.get(side)})


def _group(group: int) -> dict[str, Attribute]:
    return {GROUP: i64(group)} if group != 1 else {}


def _exclusive(exclusive: bool) -> dict[str, Attribute]:
    return {"exclusive": ir.UnitAttr.get()} if exclusive else {}


def _options(options: ProductOptions | None) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {}
    if options is None:
        return found
    if options.kept:
        words = [word - (word >> 31 << 32) for word in options.kept]
        found[KEPT] = ir.DenseI32ArrayAttr.get(words)
    if options.exponent is not None:
        found[EXPONENT] = i64(options.exponent)
    if options.zeros is not None:
        word = options.zeros.encode()
        found[ZEROS] = i64(word - (word >> 63 << 64))
    return found


def _product(form: TensorProduct | str, types: str, flags: Sequence[str]) -> dict[str, Attribute]:
    name = form if isinstance(form, str) else form.ptx
    found: dict[str, Attribute] = {
        "form": ir.StringAttr.get(name),
        "types": ir.StringAttr.get(types),
    }
    for flag in flags:
        if flag not in FLAGS:
            raise TilecError(f"flags are {', '.join(FLAGS)}, not {flag}")
        found[flag] = ir.UnitAttr.get()
    return found
