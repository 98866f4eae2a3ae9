"""Arrays in memory, which kernels load from and store to."""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    NamedTuple,
    NoReturn,
    TypeAlias,
    TypeVar,
    TypeVarTuple,
    cast,
)

from tilec.ir import mlir, ops
from tilec.isa import TilecError
from tilec.isa.wording import counted
from tilec.report.diagnostics import Place

from .dtypes import DType, intp, per_byte
from .emit import constant, emit, place
from .tile import Tile

D = TypeVar("D", bound=DType)
Extents = TypeVarTuple("Extents")


_MOST_KNOWN = 1 << 31


class Facts(NamedTuple):
    """What is known of an array when the kernel is compiled.

    Attributes:
        aligned: of which number of bytes its address is a multiple.
        sizes: of which number each extent is a multiple; 1 where nothing is known.
        strides: of which number of elements each stride is a multiple.

    Where two elements lie in a byte, sizes and strides count bytes.
    """

    aligned: int = 1
    sizes: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()


class Assumption(NamedTuple):
    """What a kernel says of an array by `assume`.

    Attributes:
        name: of the argument.
        facts: what it assumes.
        place: where it does.
    """

    name: str
    facts: Facts
    place: Place


class Array(Generic[D, *Extents]):
    """An array in memory. `Array[float16, int, Literal[64]]` annotates one of rank 2.

    The first parameter is the element type, the others the extents: `int` for one that is known
    only at the launch, `Literal[n]` for one that is n.

    Attributes:
        name: of the argument.
        dtype: element type.
        facts: what is known of it.
        written: whether the kernel changes it.
        updated: whether it does by atomic operations.
        assumptions: what the kernel has assumed of it.
    """

    def __init__(
        self,
        name: str,
        value: Any,
        dtype: type[DType],
        known: tuple[int | None, ...],
        facts: Facts,
    ) -> None:
        self.name = name
        self.dtype = dtype
        self.facts = facts
        self.value = value
        self.written = False
        self.updated = False
        self.assumptions: list[Assumption] = []
        self._choices: tuple[AnyArray, ...] = ()
        self._sizes: list[Any] = list(known)
        if isinstance(known[-1], int):
            self._sizes[-1] *= per_byte(dtype)

    def __repr__(self) -> str:
        sizes = ", ".join(str(n) if isinstance(n, int) else "?" for n in self._sizes)
        return f"array {self.name}: {self.dtype!r} [{sizes}]"

    def mark_written(self, *, updated: bool = False) -> None:
        """Note that the kernel changes it, or any that it may be.

        Args:
            updated: whether by an atomic operation.
        """
        self.written = True
        self.updated |= updated
        for one in self._choices:
            one.mark_written(updated=updated)

    def assume(self, facts: Facts, at: Place) -> None:
        """Note what the kernel promises of it, and of any that it may be."""
        self.facts = joined(self.facts, facts, self.ndim, self.name)
        self.assumptions.append(Assumption(self.name, facts, at))
        for one in self._choices:
            one.assume(facts, at)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._sizes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents in elements: integers where known when the kernel is compiled, else scalars."""
        for axis, size in enumerate(self._sizes):
            if size is None:
                self._sizes[axis] = self._size(axis)
        return cast("tuple[int, ...]", tuple(self._sizes))

    def _size(self, axis: int) -> Tile:
        """An extent, read where the array is first known, so that it is there wherever that is."""
        owner = self.value.owner
        is_argument = isinstance(owner, mlir.ir.Block)
        point = mlir.ir.InsertionPoint
        with point.at_block_begin(owner) if is_argument else point.after(owner):
            size = emit(ops.memref.dim, self.value, constant(axis, intp))
            found = Tile(size, intp, natural=True)
            return found * per_byte(self.dtype) if axis == self.ndim - 1 else found

    def __getitem__(self, index: Any) -> Any:
        raise TilecError(
            f"{self.name} is in memory: tl.load({self.name}, (…), shape=(…)) gives a tile of it"
        )

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TilecError(f"{self.name} is in memory: tl.store({self.name}, (…), tile) changes it")

    if not TYPE_CHECKING:

        def __add__(self, other: Any) -> NoReturn:
            raise TilecError(
                f"{self.name} is an array in memory, not a pointer: tl.load({self.name}, "
                "(…), shape=(…)) "
                "takes an index, which may be a tile of indices"
            )

        __radd__ = __sub__ = __mul__ = __rmul__ = __truediv__ = __add__


AnyArray: TypeAlias = Array[Any, *tuple[Any, ...]]
"""An array of any elements and rank."""


def array_of(given: object, what: str) -> AnyArray:
    """The array that `given` is.

    Raises:
        TilecError: if it is none.
    """
    if not isinstance(given, Array):
        raise TilecError(f"{what} takes an array, an argument of the kernel, not {given!r}")
    return given


def assume(
    array: AnyArray,
    *,
    aligned: int = 1,
    sizes: tuple[int, ...] = (),
    strides: tuple[int, ...] = (),
) -> None:
    """Promise what every launch keeps, and checks, so that wider accesses can be used.

    A promise holds for the whole kernel, wherever it stands.

    Args:
        array: an argument of the kernel.
        aligned: its address is a multiple of this many bytes.
        sizes: each extent is a multiple of the number here; 1 promises nothing.
        strides: each stride is a multiple of this many elements.

    Raises:
        TilecError: for numbers that are not powers of two, or another count than the rank.
    """
    array = array_of(array, "assume")
    facts = joined(Facts(), Facts(aligned, sizes, strides), array.ndim, array.name)
    array.assume(facts, place())


def chosen(value: Any, one: AnyArray, other: AnyArray) -> AnyArray:
    """The array that one of two is, by a value of the kernel that is one or the other."""
    pairs = zip(one._sizes, other._sizes, strict=True)
    known = tuple(a if isinstance(a, int) and a == b else None for a, b in pairs)
    facts = Facts(
        min(one.facts.aligned, other.facts.aligned),
        tuple(map(min, one.facts.sizes, other.facts.sizes)),
        tuple(map(min, one.facts.strides, other.facts.strides)),
    )
    name = f"{one.name.rpartition('.')[0] or one.name}[…]"
    found: AnyArray = Array(name.replace("[…][…]", "[…]"), value, one.dtype, known, facts)
    found._sizes = list(known)
    found._choices = one, other
    return found


def joined(one: Facts, other: Facts, rank: int, name: str) -> Facts:
    """What both say of an array of that rank.

    Raises:
        TilecError: as `assume` says.
    """
    for values in (one.sizes, other.sizes, one.strides, other.strides):
        if not isinstance(values, tuple | list):
            raise TilecError(f"{name}: facts of sizes and strides are tuples, not {values!r}")
    for values in (
        (one.aligned, other.aligned),
        one.sizes,
        other.sizes,
        one.strides,
        other.strides,
    ):
        for number in values:
            known = isinstance(number, int) and 1 <= number <= _MOST_KNOWN
            if not known or number & (number - 1):
                raise TilecError(f"{name}: facts are powers of two up to 2^31, not {number!r}")
    for values in (one.sizes, other.sizes, one.strides, other.strides):
        if values and len(values) != rank:
            raise TilecError(
                f"{name} has {counted(rank, 'dimension')}; the facts {values} are of {len(values)}"
            )

    def most(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
        both = zip(left or (1,) * rank, right or (1,) * rank, strict=True)
        return tuple(max(pair) for pair in both)

    return Facts(
        max(one.aligned, other.aligned),
        most(one.sizes, other.sizes),
        most(one.strides, other.strides),
    )
