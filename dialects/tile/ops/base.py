"""What the ops have in common: verification that names what would be legal."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tilec.dialects.semantics import UNKNOWN, Scope
from tilec.ir.aliases import Op, Value
from tilec.ir.assembly.signature import OPERAND_SIZES, RESULT_SIZES
from tilec.ir.mlir import ext, ir
from tilec.isa import Family, Form, Mma, Operand, TilecError, UnknownNameError, form, forms
from tilec.isa.targets import Available
from tilec.isa.wording import counted
from tilec.layout import LinearLayout
from tilec.layout.operands import units

from ..accessors import define_operands
from ..dialect import FragType, Tile, WmmaType
from ..tiles import PlainTile, TileValue, element_name, plain_tile, tile_value


class Declaration(NamedTuple):
    """What an op's fields say: operands, results, whether more may follow, and attributes."""

    operands: int = 0
    variadic: bool = False
    results: int = 0
    variadic_results: bool = False
    attributes: tuple[tuple[str, type], ...] = ()


def _declaration(op: type[ext.Operation]) -> Declaration:
    operands, attributes, results, _ = ext.partition_fields(op._fields)
    single = [o for o in operands if o.variadicity is ext.Variadicity.single]
    alone = [r for r in results if r.variadicity is ext.Variadicity.single]
    return Declaration(
        len(single),
        len(single) < len(operands),
        len(alone),
        len(alone) < len(results),
        tuple((a.name, a.constraint) for a in attributes),
    )


class Region(NamedTuple):
    """A part of a memref: the indices of its first element, and its extents."""

    indices: Sequence[Value]
    shape: tuple[int, ...]


class TileOp(Tile.Operation):
    """An op of the dialect. Subclasses verify themselves in `check`.

    Class attributes:
        UNITS: names of the unit attributes that it may have.
        OPTIONAL: names of other attributes that it may have, besides those that it declares
            (which MLIR's bindings cannot make optional).
        OPEN: whether it may have any others.
        SEMANTICS: what it means, for passes; what is not said is not known.
        assembly_format: how it is written, as `tilec.ir.assembly.declaration` describes.
        inferred_types: of operands and results, types that are not said there.
        DECLARED: what its fields say, read once.
    """

    # Without annotations, which would make them fields of the op.
    UNITS = frozenset[str]()
    OPTIONAL = frozenset[str]()
    OPEN = False
    SEMANTICS = UNKNOWN
    DECLARED = Declaration()

    @classmethod
    def __init_subclass__(cls, *, name: str | None = None) -> None:
        super().__init_subclass__(name=name)
        if name is not None:
            define_operands(cls)
            cls.DECLARED = _declaration(cls)

    def check(self) -> None:
        """Verify the op.

        Raises:
            TilecError: naming what is wrong and what would be legal.
        """

    @property
    def mnemonic(self) -> str | None:
        """Its instruction in `tilec.isa.instructions`; None of others, such as products."""
        return None

    @property
    def needs(self) -> tuple[Available, ...]:
        """What it needs of a target besides an instruction."""
        return ()

    def overwritten(self) -> Region | None:
        """What of the memory that it goes to the op sets, whatever was there; None if not known."""
        return None

    def reached(self) -> Region | None:
        """What of that memory the op may set, also where it does not set all; None if not known."""
        return self.overwritten()

    def verify_invariants(self) -> bool:
        """MLIR's hook."""
        if not _is_well_formed(self):
            return True  # MLIR, which compares an op with its declaration next, says what is wrong
        try:
            _check_attributes(self)
            with self.context:  # a caller may have entered none
                self.check()
        except TilecError as error:
            self.location.emit_error(f"'{self.OPERATION_NAME}' op {error}")
            return False
        except RuntimeError as error:  # what MLIR's bindings make of bytes that are no text
            if _UNREADABLE not in str(error):
                raise
            self.location.emit_error(f"'{self.OPERATION_NAME}' op has a string that is not UTF-8")
            return False
        return True


_UNREADABLE = "str_from_cstr_and_size(): conversion error"


def check_op(op: ir.Operation) -> None:
    """Verify an op of the dialect as far as its class does; one that has just been made.

    Raises:
        TilecError: naming the op; it is then gone again.
    """
    view = op.opview
    assert isinstance(view, TileOp), op.name
    try:
        view.check()
    except TilecError as error:
        name = op.name
        op.erase()
        raise TilecError(f"'{name}' op {error}") from None


def _is_well_formed(op: TileOp) -> bool:
    """Whether `op` has the operands, results and attributes that its class declares."""
    operands, variadic, results, variadic_results, attributes = op.DECLARED
    for there, wanted, more in (
        (len(op.operands), operands, variadic),
        (len(op.results), results, variadic_results),
    ):
        if there < wanted or (there > wanted and not more):
            return False
    present = op.attributes
    return all(
        name in present and (kind is Any or isinstance(present[name], kind))
        for name, kind in attributes
    )


def _check_attributes(op: TileOp) -> None:
    """Refuse attributes that mean nothing, such as misspelt ones; names with a dot are others'."""
    declared = {name for name, _ in op.DECLARED.attributes}
    legal = declared | op.UNITS | op.OPTIONAL
    for name in op.attributes:
        if name in (OPERAND_SIZES, RESULT_SIZES):  # which MLIR checks
            continue
        if name in op.UNITS and not isinstance(op.attributes[name], ir.UnitAttr):
            raise TilecError(
                f"{name} is a unit attribute: it takes no value; omit it to mean false"
            )
        if not (name in legal or op.OPEN or "." in name):
            raise UnknownNameError("attribute", name, sorted(legal))


def scope_of_fragment(fragment: Scope, tile: Scope) -> Callable[[TileOp], Scope]:
    """The scope of an op by what it works on: its operand 0, or the result if it has none.

    Args:
        fragment: of an op on a `!tile.frag`, which one warp has.
        tile: of an op on a tile of the CTA.
    """

    def scope(op: TileOp) -> Scope:
        values = [v for v in (*op.results, *op.operands) if isinstance(v.type, _TILES)]
        return fragment if values and isinstance(values[0].type, FragType) else tile

    return scope


_TILES = (FragType, ir.RankedTensorType)


class RelatedOp(TileOp):
    """An op whose layout rule is `RELATED`: operand 0 and the result decide each other's."""

    KEEPS_ELEMENTS = True
    """Whether the result's elements are the source's, each in the lane that had it."""
    DECIDES_RESULT = True
    """Whether the source's layout says all of the result's, not only a part of it."""

    def forward(self, source: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
        """The layout of the result, of `shape`, that comes of its own from that of the source."""
        raise NotImplementedError

    def backward(self, result: LinearLayout, shape: tuple[int, ...]) -> LinearLayout | None:
        """The layout of the source, of `shape`, from which that of the result comes of its own.

        None where the result leaves it open.
        """
        raise NotImplementedError

    def agree(self, source: LinearLayout, result: LinearLayout) -> bool:
        """Whether a source of one layout becomes a result of the other without moving elements."""
        raise NotImplementedError


def tile_of(value: Value, what: str) -> TileValue:
    """The tile that `value` is.

    Raises:
        TilecError: if it is none.
    """
    _refuse_wmma(value, what)
    found = tile_value(value.type)
    if found is None:
        raise TilecError(
            f"{what} must be a tensor with a #tile.layout encoding or a !tile.frag, "
            f"not {value.type}"
        )
    return found


def any_tile_of(value: Value, what: str) -> PlainTile | TileValue:
    """The tile that `value` is, with or without a layout.

    Raises:
        TilecError: if it is none.
    """
    return plain_tile(value.type) or tile_of(value, what)


def without_layouts(op: Op) -> bool:
    """Whether no tile that `op` takes or gives has a layout: it is one of level 1.

    Raises:
        TilecError: if some have and some have not.
    """
    types = [v.type for v in (*op.operands, *op.results)]
    plain = [plain_tile(type_) is not None for type_ in types]
    for type_ in types if any(plain) else ():
        if tile_value(type_) is not None:
            raise TilecError(
                "takes tiles that either all have a layout or all have none: "
                f"{types[plain.index(True)]} "
                f"and {type_}"
            )
    return any(plain)


def _refuse_wmma(value: Value, what: str) -> None:
    if isinstance(value.type, WmmaType):
        raise TilecError(
            f"{what} is a wmma fragment: the positions of its elements are not defined, so "
            "only the tile.wmma ops take it"
        )


def fragment_value(value: Value, what: str) -> TileValue:
    """The fragment that `value` is; raises TilecError if it is none."""
    found = tile_value(value.type)
    _refuse_wmma(value, what)
    if found is None or not found.is_fragment:
        raise TilecError(f"{what} must be a !tile.frag, not {value.type}")
    return found


def tensor_of(value: Value, what: str) -> TileValue:
    """The tensor with a layout that `value` is; raises TilecError if it is none."""
    found = tile_value(value.type)
    if found is None or found.is_fragment:
        raise TilecError(f"{what} must be a tensor with a #tile.layout encoding, not {value.type}")
    return found


def check_operand(found: Mma, operand: Operand, value: Value) -> None:
    """Check that `value` is the fragment that `found` takes as `operand`.

    Metadata and scale factors may be fewer than a register has room for.

    Raises:
        TilecError: naming the type that would be legal.
    """
    tile = fragment_value(value, f"operand {operand.name}")
    legal = units(found, operand.name)
    element = element_name(operand)
    if tile.shape not in [tuple(u.out_sizes.values()) for u in legal] or (
        str(tile.element) != element
    ):
        extents = "x".join(str(n) for n in legal[0].out_sizes.values())
        raise TilecError(
            f"operand {operand.name} of {found.ptx} is a fragment of "
            f"tensor<{extents}x{element}>, not {value.type}"
        )
    if tile.layout not in legal:
        raise TilecError(
            f"operand {operand.name} of {found.ptx} has the layout '{legal[0]}', "
            f"not '{tile.layout}'"
        )


def form_of(name: str, family: Family) -> Form:
    """The form of `family` called `name`.

    Raises:
        TilecError: if there is none, naming the nearest, or if it is of another family.
    """
    try:
        found = form(name)
    except UnknownNameError:
        legal = [f.ptx for f in forms().values() if f.family is family]
        raise UnknownNameError(f"{family} form", name, legal) from None
    if found.family is not family:
        raise TilecError(f"takes a form of {family}; {name} is one of {found.family}")
    return found


def integer(op: TileOp, name: str) -> int:
    """The integer attribute `name`; raises TilecError if it is none."""
    attribute = op.attributes[name]
    if not isinstance(attribute, ir.IntegerAttr):
        raise TilecError(f"{name} must be an integer, not {attribute}")
    return int(attribute.value)


def check_selectors(found: Form, op: TileOp) -> None:
    """Check the selectors of `found`, attributes of the op under the same names."""
    for selector in found.selectors:
        value = integer(op, selector.name)
        if value not in selector.legal:
            legal = ", ".join(str(n) for n in selector.legal)
            raise TilecError(f"{selector.name} of {found.ptx} is {legal}, not {value}")


def memory(value: Value, what: str = "memory") -> ir.MemRefType:
    """The memref type of `value`; raises TilecError if it is not a ranked memref with strides."""
    type_ = value.type
    if not isinstance(type_, ir.MemRefType):
        raise TilecError(f"{what} must be a ranked memref, not {type_}")
    try:
        type_.get_strides_and_offset()
    except RuntimeError:
        raise TilecError(f"{what} must have a layout of strides, unlike {type_}") from None
    return type_


def check_indices(indices: Sequence[Value], rank: int, what: str) -> None:
    """Check that there are `rank` indices of type index."""
    if len(indices) != rank:
        raise TilecError(
            f"{what} takes {counted(rank, 'index', 'indices')}, one per dimension, not "
            f"{len(indices)}"
        )
    for index in indices:
        if not isinstance(index.type, ir.IndexType):
            raise TilecError(f"{what} takes indices of type index, not {index.type}")
