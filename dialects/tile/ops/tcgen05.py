"""`tile.tcgen05_mma` and its kin: products in tensor memory, issued by one thread.

PTX ISA 9.7.16.10. Which instruction is meant `form` says, the key of the instruction table; what
that leaves to its descriptors follows from types and shapes of the memrefs.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tilec.dialects.semantics import Access, Scope, Semantics, Touch
from tilec.dialects.semantics.upstream import constant_of
from tilec.ir.aliases import Value
from tilec.ir.mlir import ext, ir
from tilec.isa import TilecError, UnknownNameError
from tilec.isa.targets import Available

from ..tensor import TensorBuffer, check_matrix, tensor_buffer
from ..tiles import element_name
from .base import check_indices, memory
from .tensor_memory import GroupedOp
from .tensor_options import OPTIONS, ProductOptions, options_of
from .tensor_sides import check_metadata, check_scales, first_scales, selector

if TYPE_CHECKING:
    from tilec.isa.described_product import DescribedProduct
    from tilec.isa.instruction_descriptor import InstructionDescriptor
    from tilec.isa.tensor_products import TensorProduct

    from ..matrix_operands import MatrixOperand

FLAGS = ("negate_a", "negate_b", "saturate", "transpose_a", "transpose_b")
"""What an instruction descriptor says besides types and extents."""
_A, _B, _D, _ACCUMULATE = range(4)
_BYTE = 8


class TensorProductOp(GroupedOp):
    """What dense and block-scaled products have in common."""

    UNITS = frozenset(FLAGS)
    OPTIONAL = frozenset[str]()
    MATRICES = tuple[str, ...](("a", "b", "d"))
    """Names of the memrefs, in the order of their indices. Whether d is added stands after d."""

    @property
    def key(self) -> "TensorProduct":
        """The instruction.

        Raises:
            TilecError: if `form` names none of the op's.
        """
        name = ir.StringAttr(self.attributes["form"]).value
        return tensor_product(name, scaled="sfa" in self.MATRICES, sparse="e" in self.MATRICES)

    @property
    def group(self) -> int:
        """How many CTAs take part, as the instruction says."""
        return self.key.group

    @property
    def mnemonic(self) -> str:
        """The key of the instruction."""
        return self.key.ptx

    def matrix_named(self, name: str) -> Value:
        """One of the memrefs."""
        at = self.MATRICES.index(name)
        return self.operands[at + (at >= _ACCUMULATE)]

    @property
    def _fixed(self) -> int:
        """Operands before the indices."""
        return len(self.MATRICES) + 1

    def indices_of(self, name: str) -> list[Value]:
        """Where one of them begins."""
        at = self._fixed
        for one in self.MATRICES:
            rank = ir.MemRefType(self.matrix_named(one).type).rank
            if one == name:
                return list(self.operands)[at : at + rank]
            at += rank
        raise KeyError(name)

    @property
    def descriptor(self) -> "InstructionDescriptor":
        """What the instruction is described by.

        Raises:
            TilecError: if it takes no such types and extents, naming what would be legal.
        """
        form = self.key
        d = tensor_buffer(self.matrix_named("d"), "d")
        types = ir.StringAttr(self.attributes["types"]).value.split(".")
        if len(types) != 3:
            raise TilecError("types are those of D, A and B, such as f32.f16.f16")
        flags = {name: 1 for name in FLAGS if name in self.attributes}
        return form.describe(types, m=d.rows, n=d.cols, **flags, **self.fields())

    def fields(self) -> dict[str, int]:
        """What else the descriptor says: where scale factors or metadata begin.

        Raises:
            TilecError: if those are not constants.
        """
        scales = first_scales(self) if "sfa" in self.MATRICES else {}
        return {**scales, **(selector(self) if "e" in self.MATRICES else {})}

    @property
    def options(self) -> ProductOptions:
        """What stands behind the instruction's usual operands.

        Raises:
            TilecError: if it takes no such thing.
        """
        return options_of(self, self.key)

    @property
    def needs(self) -> tuple[Available, ...]:
        """What of its options some targets have, and others have not."""
        return self.options.needs

    @property
    def product(self) -> "DescribedProduct":
        """The product: the instruction with its descriptor.

        Raises:
            TilecError: as `descriptor`.
        """
        from tilec.isa.described_product import described_product  # noqa: PLC0415

        form = self.key
        return described_product(
            self.descriptor, form.group, stationary=form.stationary, a=form.a, chunks=form.chunks
        )

    def shared_operand(self, name: str) -> "MatrixOperand":
        """Operand `a` or `b` in shared memory.

        Raises:
            TilecError: if no descriptor tells it.
        """
        from ..matrix_operands import tensor_operand  # noqa: PLC0415 (for Blackwell only)

        transposed = f"transpose_{name}" in self.attributes
        return tensor_operand(self.product, name, self.matrix_named(name), transposed=transposed)

    def check(self) -> None:
        """Verify form, types, extents, and where each operand lies."""
        form = self.key
        ranks = [memory(self.matrix_named(name), name).rank for name in self.MATRICES]
        check_indices(list(self.operands)[self._fixed :], sum(ranks), "the product")
        if str(self.operands[_ACCUMULATE].type) != "i1":
            raise TilecError(
                f"the condition for adding d must be an i1, not {self.operands[_ACCUMULATE].type}"
            )
        product = self.product
        _ = self.options
        self._check_accumulator(product)
        for name in "ab":
            if name == "a" and form.a == "tensor":
                self._check_left(product)
            else:
                self.shared_operand(name).check(self.indices_of(name))
        if "e" in self.MATRICES:
            check_metadata(self)
        if "sfa" in self.MATRICES:
            check_scales(self)

    def tensor_operand(self, name: str, held: str) -> TensorBuffer:
        """An operand in tensor memory, of the instruction's CTAs.

        Raises:
            TilecError: if it is for others, or none of the buffer's matrices.
        """
        form, value = self.key, self.matrix_named(name)
        buffer = tensor_buffer(value, name)
        same = (held, form.group, form.stationary)
        # Scale factors of both CTAs, and of one, lie alike in each.
        own = (buffer.held, buffer.group if held != "scale" else form.group, buffer.stationary)
        if own != same:
            words = f"{held}{' cta_group::2' * (form.group == 2)}{' ws' * form.stationary}"
            raise TilecError(
                f'operand {name} of {form.ptx} lies in #tile.tensor<"{words}">, not {value.type}'
            )
        check_matrix(value, self.indices_of(name))
        return buffer

    def _check_accumulator(self, product: "DescribedProduct") -> None:
        self.tensor_operand("d", "d")
        self.check_element("d", [element_name(product.operand("d"))])
        *_, row, col = self.indices_of("d")
        if constant_of(row) != 0 or constant_of(col) != 0:
            raise TilecError("d is a whole matrix of its buffer: its row and column are 0")

    def _check_left(self, product: "DescribedProduct") -> None:
        operand = product.operand("a")
        buffer = self.tensor_operand("a", "a")
        legal = [element_name(operand)]
        legal += ["f32"] if legal == ["tf32"] else []
        if operand.container == _BYTE:  # elements of 6 and 4 bits are of no memref
            legal = ["i8"] if operand.type.bits < _BYTE else list(dict.fromkeys([*legal, "i8"]))
        self.check_element("a", legal)
        *_, row, col = (constant_of(index) for index in self.indices_of("a"))
        fits = col is None or (col % operand.cols == 0 and 0 <= col <= buffer.cols - operand.cols)
        if buffer.rows != operand.rows or row != 0 or not fits or buffer.cols % operand.cols:
            raise TilecError(
                f"operand a of {product.ptx} is {operand.rows}x{operand.cols}, from row 0 and a "
                f"multiple of {operand.cols} columns on, of {buffer.rows}x{buffer.cols}"
            )

    def check_element(self, name: str, legal: Sequence[str]) -> None:
        """Check the elements of an operand in tensor memory.

        Raises:
            TilecError: if their type is none of those.
        """
        element = str(ir.MemRefType(self.matrix_named(name).type).element_type)
        if element not in legal:
            raise TilecError(
                f"operand {name} of {self.product.ptx} has elements of type "
                f"{' or '.join(legal)}, not {element}"
            )


def tensor_product(name: str, *, scaled: bool, sparse: bool = False) -> "TensorProduct":
    """The `tcgen05.mma` of a key.

    Args:
        name: the key.
        scaled: whether it takes scale factors.
        sparse: whether A is sparse.

    Raises:
        TilecError: if there is none, naming the nearest, or it takes other operands.
    """
    from tilec.isa.instructions import instructions  # noqa: PLC0415 (for Blackwell only)
    from tilec.isa.tensor_products import TensorProduct  # noqa: PLC0415

    table = instructions()
    if not name.startswith("tcgen05.mma.") or name not in table:
        legal = [key for key, one in table.items() if isinstance(one, TensorProduct)]
        raise UnknownNameError("tcgen05.mma form", name, legal)
    found = table[name]
    assert isinstance(found, TensorProduct)
    if (found.sparse, found.scaled) != (sparse, scaled):
        words = "_sp" * found.sparse + "_scaled" * found.scaled
        raise TilecError(f"{name} is the form of a tile.tcgen05_mma{words}")
    return found


PRODUCT_EFFECTS = (
    Touch(Access.READ, None, _A, asynchronous=True),
    Touch(Access.READ, None, _B, asynchronous=True),
    Touch(Access.READ, None, _D, asynchronous=True),
    Touch(Access.WRITE, None, _D, asynchronous=True),
)
"""What every product reads and writes."""


class Tcgen05MmaOp(TensorProductOp, name="tcgen05_mma"):
    """`d = a · b + d`, or `a · b` where the condition is false, by one `tcgen05.mma`.

    One thread issues it, and a `tile.tcgen05_commit` of that thread tells an mbarrier when it is
    done. `form` says where A lies; `types` are those of D, A and B; M and N are the extents of a
    matrix of `d`. Operands: a, b, d, the condition, the indices of a, b and d.

    Of a memref in shared memory the last two dimensions are rows of A or columns of B with K along
    them; where `transpose_a` or `transpose_b` says so, the other way round. Of a pair of CTAs each
    has its half of them. An operand wider than that continues in the next matrix. Floats of 6 and 4
    bits that take a byte each are `i8`. `negate_a`, `negate_b` and `saturate` are bits of the
    instruction descriptor.

    `keep_lanes` are words of 32 lanes each, of both CTAs of a pair one after the other: where a bit
    is 1, that lane of D stays as it is. By 2 to the power of `exponent`, 0 to 15, D is divided
    before it is added: of f16 and tf32, on sm_100. `zero_columns` is the mask of `.ws` that says
    which columns of B count as 0 (`tilec.isa.zero_columns`).
    """

    assembly_format = (
        "$a `[` ranked($indices, $a) `]` `,` $b `[` ranked($indices, $b) `]` `,` "
        "$d `[` ranked($indices, $d) `]` `if` $accumulate attr-dict "
        "`:` type($a) `,` type($b) `,` type($d)"
    )
    inferred_types = {"indices": "index", "accumulate": "i1"}

    OPTIONAL = OPTIONS
    SEMANTICS = Semantics(scope=Scope.ONE_THREAD, effects=PRODUCT_EFFECTS)

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    d: ext.Operand[Any]
    accumulate: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr
    types: ir.StringAttr


class Tcgen05MmaScaledOp(TensorProductOp, name="tcgen05_mma_scaled"):
    """`tile.tcgen05_mma` of operands with scale factors, by one `tcgen05.mma.….block_scale`.

    `sfa` and `sfb` are in `#tile.tensor<"scale">`: of each row of A and column of B four in a
    column. Their last index is the first that the instruction takes, a constant; the rows begin at
    0. Of a pair of CTAs each has those of its rows of A, and those of all columns of B.
    """

    assembly_format = (
        "$a `[` ranked($indices, $a) `]` `,` $b `[` ranked($indices, $b) `]` `,` "
        "$d `[` ranked($indices, $d) `]` `scale` $sfa `[` ranked($indices, $sfa) `]` `,` "
        "$sfb `[` ranked($indices, $sfb) `]` `if` $accumulate attr-dict "
        "`:` type($a) `,` type($b) `,` type($d) `scale` type($sfa) `,` type($sfb)"
    )
    inferred_types = {"indices": "index", "accumulate": "i1"}

    MATRICES = tuple[str, ...](("a", "b", "d", "sfa", "sfb"))
    SEMANTICS = Semantics(
        scope=Scope.ONE_THREAD,
        effects=(
            *PRODUCT_EFFECTS,
            Touch(Access.READ, None, 4, asynchronous=True),
            Touch(Access.READ, None, 5, asynchronous=True),
        ),
    )

    a: ext.Operand[Any]
    b: ext.Operand[Any]
    d: ext.Operand[Any]
    accumulate: ext.Operand[Any]
    sfa: ext.Operand[Any]
    sfb: ext.Operand[Any]
    indices: Sequence[ext.Operand[Any]]
    form: ir.StringAttr
    types: ir.StringAttr
