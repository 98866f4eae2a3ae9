"""`tile.wmma_*`: matrix products on fragments whose elements have no defined place."""

from collections.abc import Sequence
from typing import Any

from tilec.dialects.semantics.declaration import OF_A_WARP, PURE
from tilec.dialects.semantics.effects import reads, writes_to
from tilec.ir.aliases import Value
from tilec.ir.mlir import ext, ir
from tilec.ir.types import strides_and_offset
from tilec.isa import Family, Operand, TilecError, WmmaMemory, WmmaMma
from tilec.isa.wording import counted

from ..dialect import SharedAttr, WmmaType
from ..stored import stored_elements
from ..tiles import element_name
from ..wmma import check_wmma, wmma_operand
from .base import TileOp, check_indices, form_of, memory
from .elementwise import check_function


class WmmaMmaOp(TileOp, name="wmma_mma"):
    """`d = a · b + c` by one `wmma.mma` instruction."""

    assembly_format = (
        "$a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c) (`->` type($d)^)?"
    )
    inferred_types = {"d": "$c"}

    SEMANTICS = OF_A_WARP

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    c: ext.Operand[Any]
    form: ir.StringAttr
    d: ext.Result[Any]

    def check(self) -> None:
        """Verify form and fragments: shape, layout and element type are the form's."""
        form = form_of(self.form.value, Family.WMMA_MMA)
        assert isinstance(form, WmmaMma)
        for name, value in zip("abcd", (*self.operands, self.results[0]), strict=True):
            check_wmma(form, name, value)


class WmmaLoadOp(TileOp, name="wmma_load"):
    """A fragment from memory by one `wmma.load`.

    The matrix begins at the indices; a `.row` form wants its rows along the memref's last
    dimension, a `.col` form its columns. The stride is that of the dimension before.
    """

    assembly_format = "$source `[` $indices `]` attr-dict `:` type($source) `->` type($fragment)"
    inferred_types = {"indices": "index"}

    SEMANTICS = OF_A_WARP.but(effects=(reads(0),))

    source: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr
    fragment: ext.Result[Any]

    def check(self) -> None:
        """Verify form, fragment and memory."""
        form = form_of(self.form.value, Family.WMMA_LOAD)
        assert isinstance(form, WmmaMemory)
        source, *indices = self.operands
        check_wmma(form, form.results[0].name, self.results[0])
        check_matrix(form, memory(source, "source"), indices)


class WmmaStoreOp(TileOp, name="wmma_store"):
    """A fragment to memory by one `wmma.store`; the mirror of `tile.wmma_load`."""

    assembly_format = (
        "$fragment `,` $target `[` $indices `]` attr-dict `:` type($fragment) `,` type($target)"
    )
    inferred_types = {"indices": "index"}

    SEMANTICS = OF_A_WARP.but(effects=(writes_to(1),))

    fragment: ext.Operand[Any]
    target: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr

    def check(self) -> None:
        """Verify form, fragment and memory."""
        form = form_of(self.form.value, Family.WMMA_STORE)
        assert isinstance(form, WmmaMemory)
        fragment, target, *indices = self.operands
        check_wmma(form, form.operands[0].name, fragment)
        check_matrix(form, memory(target, "target"), indices)


class WmmaFillOp(TileOp, name="wmma_fill"):
    """A fragment whose elements all are one scalar."""

    assembly_format = "$value attr-dict `:` type($value) `->` type($fragment)"

    SEMANTICS = PURE

    value: ext.Operand[Any]
    fragment: ext.Result[Any]

    def check(self) -> None:
        """Verify the element type."""
        element = element_name(_operand(self.results[0]))
        if str(self.operands[0].type) != element:
            raise TilecError(f"the scalar must be of type {element}, not {self.operands[0].type}")


class WmmaElementwiseOp(TileOp, name="wmma_elementwise"):
    """An upstream scalar op applied alike to each element of fragments of one type.

    The ISA allows only that, since the order of the elements is unspecified; an
    accumulator cannot be converted between f16 and f32 either (PTX ISA 9.7.14.4.1). Further
    attributes are those of the upstream op.
    """

    assembly_format = "keyword($fn) $inputs attr-dict `:` one-type($inputs) (`->` type($result)^)?"
    inferred_types = {"result": "$inputs"}

    OPEN = True
    SEMANTICS = PURE

    inputs: Sequence[ext.Operand[Any]]
    fn: ir.StringAttr
    result: ext.Result[Any]

    def check(self) -> None:
        """Verify the op's name, its number of operands, and that all types are one."""
        check_function(self, lambda: ir.Type.parse(element_name(_operand(self.results[0]))))


def _operand(value: Value) -> Operand:
    type_ = value.type
    if not isinstance(type_, WmmaType):
        raise TilecError(f"must be a !tile.wmma, not {type_}")
    return wmma_operand(type_)


def check_matrix(form: WmmaMemory, type_: ir.MemRefType, indices: Sequence[Value]) -> None:
    """Check the memory of a load or store.

    Raises:
        TilecError: for an element type, rank, stride or alignment that the form does not take.
    """
    (inside,) = (*form.results, *form.operands)
    if type_.rank < 2:
        raise TilecError(f"a matrix needs a memref of rank 2 or more, not {type_}")
    check_indices(indices, type_.rank, "the access")
    legal = stored_elements(ir.Type.parse(element_name(inside)))
    if str(type_.element_type) not in legal:
        raise TilecError(f"{form.ptx} takes a memref of {legal[0]}, not {type_}")
    if isinstance(type_.memory_space, SharedAttr) and type_.memory_space.swizzle.value != "none":
        raise TilecError(f'{form.ptx} cannot read swizzled memory; take #tile.shared<"none">')
    strides, offset = strides_and_offset(type_)
    if strides[-1] != 1:
        raise TilecError(f"the last dimension of {type_} is not contiguous")
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    bits = max(8, inside.type.bits)
    if strides[-2] != dynamic:
        stride = strides[-2] * bits // inside.type.bits
        if strides[-2] * bits // 8 % form.alignment:
            raise TilecError(
                f"rows of {type_} are {counted(strides[-2] * bits // 8, 'byte')} apart; {form.ptx} "
                "needs a "
                f"multiple of {form.alignment}"
            )
        if stride < form.default_stride:
            raise TilecError(
                f"rows of {type_} are {counted(stride, 'element')} apart; {form.ptx} needs at "
                "least "
                f"{form.default_stride}"
            )
    first = _constant(indices[-1])
    if first is not None and offset != dynamic and (first + offset) * bits // 8 % form.alignment:
        raise TilecError(
            f"the matrix begins {counted((first + offset) * bits // 8, 'byte')} into a row of "
            f"{type_}; "
            f"{form.ptx} needs a multiple of {form.alignment}"
        )


def _constant(index: Value) -> int | None:
    """What an index is, if that is known."""
    owner = index.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant":
        return None
    return int(ir.IntegerAttr(owner.attributes["value"]).value)
