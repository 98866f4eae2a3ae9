"""The values of a kernel: tiles, of which scalars are those of rank 0."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeAlias

from tilec.isa import Kind, TilecError, element_type

Shape: TypeAlias = tuple[int, ...]
Operand: TypeAlias = "Tile | int | float"
"""What stands beside a tile in an expression."""


NO_KERNEL = (
    "no kernel is being compiled: tilec.lang's operations can only be called in functions marked "
    "@tilec.kernel"
)
"""What is wrong with an operation outside of kernels."""
OPERATIONS: dict[str, Callable[..., Tile]] = {}
"""The functions behind operators and methods, which make tiles themselves; `operators` fills it."""
reading: ContextVar[Callable[[Tile], Any] | None] = ContextVar("reading", default=None)
"""What gives the numpy array that a tile is, where a kernel is stepped through."""
_ALONE = 6
"""Bits of floats of which each has a byte."""
_KINDS = {Kind.FLOAT: "float", Kind.SIGNED: "int", Kind.UNSIGNED: "uint"}


class _Named(type):
    """Shows an element type by its name."""

    def __repr__(cls) -> str:
        return cls.__name__.rstrip("_")


class DType(metaclass=_Named):
    """An element type: a class, as numpy's are, so that it also stands in annotations.

    Class attributes:
        mlir: MLIR's type.
        kind: `float`, `int`, `uint`, `bool`, or `index`, which sizes and places in arrays have.
        bits: its width; of floats of 6 bits that of the byte that has one.
        value_bits: those that count, by which one type is wider than another.
        stored: MLIR's type of the elements of an array of it in memory.
    """

    mlir: ClassVar[str]
    kind: ClassVar[str]
    bits: ClassVar[int]
    value_bits: ClassVar[int]
    stored: ClassVar[str]

    def __init_subclass__(cls, element: str = "") -> None:
        """An element type that PTX calls `element`; without one, the class says the rest."""
        if element:
            found = element_type(element)
            cls.mlir, cls.bits, cls.stored = found.mlir, found.value_bits, found.stored
            cls.value_bits = found.value_bits
            if found.bits == _ALONE:
                cls.mlir, cls.bits = f"!tile.byte<{found.mlir}>", 8
            cls.kind = _KINDS[found.kind]

    def __new__(cls, value: Any) -> Tile:  # type: ignore[misc] # as numpy's, a conversion
        """A number or scalar of the kernel as one of this type."""
        return _call("full", (), value, cls)


def _hint(name: str) -> str:
    """What to write for a method that a tile does not have."""
    from .hints import of_tile  # noqa: PLC0415 (for errors only)

    functions = sys.modules[__package__].__all__
    return "" if name.startswith("_") else of_tile(name, dir(Tile), functions)


class Tile:
    """Elements of one type that the threads of a CTA hold together, with numpy's operators.

    A tile never changes: operators and functions make new ones. Extents are
    powers of two, or few units of such, as 192 is three of 64.

    Attributes:
        dtype: element type.
        shape: extents; empty for a scalar.
        value: the MLIR value.
        natural: whether it is a size or a place known not to be negative.
    """

    __slots__ = ("dtype", "natural", "shape", "value")
    __hash__ = object.__hash__
    __array_ufunc__ = None  # numpy's scalars leave `number * tile` to the tile

    def __init__(
        self, value: Any, dtype: type[DType], shape: Shape = (), *, natural: bool = False
    ) -> None:
        self.value = value
        self.dtype = dtype
        self.shape = shape
        self.natural = natural

    def __repr__(self) -> str:
        kind = f"{self.dtype!r} {list(self.shape)}" if self.shape else repr(self.dtype)
        if (read := reading.get()) is None:
            return kind
        return f"{kind}:\n{read(self)}" if self.shape else f"{kind}: {read(self)}"

    def __str__(self) -> str:
        read = reading.get()
        return repr(self) if read is None else str(read(self))

    def __format__(self, form: str) -> str:
        read = reading.get()
        if read is None or self.shape or not form:
            return format(str(self), form)
        return format(read(self).item(), form)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The elements, of numpy's or ml_dtypes' types, where the kernel is stepped through."""
        read = reading.get()
        if read is None:
            raise TilecError(
                f"this {self!r} is known only when the kernel runs; kernel.interpret[grid](…) runs "
                "it with numpy arrays for its tiles"
            )
        found = read(self)
        return found.astype(dtype) if dtype is not None else found.copy() if copy else found

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def T(self) -> Tile:  # noqa: N802 (numpy's name)
        """The tile with its dimensions in reverse."""
        return _call("transpose", self)

    def astype(self, dtype: Any) -> Tile:
        """The elements converted to another type, rounded to nearest even."""
        return _call("astype", self, dtype)

    def view(self, dtype: Any) -> Tile:
        """The same bits as elements of another type of the same width."""
        return _call("view", self, dtype)

    def reshape(self, *shape: Any) -> Tile:
        """The same elements, in row-major order, in another shape; one extent may be -1."""
        return _call("reshape", self, shape[0] if isinstance(shape[0], tuple) else shape)

    def transpose(self, *axes: int) -> Tile:
        """The tile with its dimensions in another order, by default in reverse."""
        return _call("transpose", self, axes or None)

    def sum(self, axis: int | None = None, *, dtype: Any = None, keepdims: bool = False) -> Tile:
        """The sum along an axis, or of all elements, as `tilec.lang.sum` gives it."""
        return _call("reduce", "sum", self, axis, keepdims, dtype)

    def max(self, axis: int | None = None, *, keepdims: bool = False) -> Tile:
        """The largest along an axis, or of all elements; NaN where there is one."""
        return _call("reduce", "max", self, axis, keepdims)

    def min(self, axis: int | None = None, *, keepdims: bool = False) -> Tile:
        """The smallest along an axis, or of all elements; NaN where there is one."""
        return _call("reduce", "min", self, axis, keepdims)

    def mean(self, axis: int | None = None, *, keepdims: bool = False) -> Tile:
        """The mean along an axis, or of all elements, as `tilec.lang.mean` gives it."""
        return _call("mean", self, axis, keepdims=keepdims)

    def var(self, axis: int | None = None, *, ddof: int = 0, keepdims: bool = False) -> Tile:
        """The variance along an axis, or of all elements, as `tilec.lang.var` gives it."""
        return _call("var", self, axis, ddof=ddof, keepdims=keepdims)

    def std(self, axis: int | None = None, *, ddof: int = 0, keepdims: bool = False) -> Tile:
        """The standard deviation along an axis, as `tilec.lang.std` gives it."""
        return _call("std", self, axis, ddof=ddof, keepdims=keepdims)

    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Tile:
        """The index of the largest along an axis, as `tilec.lang.argmax` gives it."""
        return _call("argmax", self, axis, keepdims=keepdims)

    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Tile:
        """The index of the smallest along an axis, as `tilec.lang.argmin` gives it."""
        return _call("argmin", self, axis, keepdims=keepdims)

    def cumsum(self, axis: int = 0, *, dtype: Any = None) -> Tile:
        """The sums up to each element along an axis, as `tilec.lang.cumsum` gives them."""
        return _call("cumsum", self, axis, dtype=dtype)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            from tilec.isa.errors import MissingNameError  # noqa: PLC0415 (for errors only)

            raise MissingNameError(f"a tile has no '{name}'", lambda: _hint(name))

    def __getitem__(self, index: Any) -> Tile:
        return _call("index_tile", self, index)

    def __add__(self, other: Operand) -> Tile:
        return _binary("add", self, other)

    def __radd__(self, other: Operand) -> Tile:
        return _binary("add", other, self)

    def __sub__(self, other: Operand) -> Tile:
        return _binary("subtract", self, other)

    def __rsub__(self, other: Operand) -> Tile:
        return _binary("subtract", other, self)

    def __mul__(self, other: Operand) -> Tile:
        return _binary("multiply", self, other)

    def __rmul__(self, other: Operand) -> Tile:
        return _binary("multiply", other, self)

    def __truediv__(self, other: Operand) -> Tile:
        return _binary("divide", self, other)

    def __rtruediv__(self, other: Operand) -> Tile:
        return _binary("divide", other, self)

    def __floordiv__(self, other: Operand) -> Tile:
        return _binary("floor_divide", self, other)

    def __rfloordiv__(self, other: Operand) -> Tile:
        return _binary("floor_divide", other, self)

    def __mod__(self, other: Operand) -> Tile:
        return _binary("remainder", self, other)

    def __rmod__(self, other: Operand) -> Tile:
        return _binary("remainder", other, self)

    def __divmod__(self, other: Operand) -> tuple[Tile, Tile]:
        return _binary("floor_divide", self, other), _binary("remainder", self, other)

    def __rdivmod__(self, other: Operand) -> tuple[Tile, Tile]:
        return _binary("floor_divide", other, self), _binary("remainder", other, self)

    def __pow__(self, other: Operand) -> Tile:
        return _binary("power", self, other)

    def __rpow__(self, other: Operand) -> Tile:
        return _binary("power", other, self)

    def __and__(self, other: Operand) -> Tile:
        return _binary("bitwise_and", self, other)

    def __rand__(self, other: Operand) -> Tile:
        return _binary("bitwise_and", other, self)

    def __or__(self, other: Operand) -> Tile:
        return _binary("bitwise_or", self, other)

    def __ror__(self, other: Operand) -> Tile:
        return _binary("bitwise_or", other, self)

    def __xor__(self, other: Operand) -> Tile:
        return _binary("bitwise_xor", self, other)

    def __rxor__(self, other: Operand) -> Tile:
        return _binary("bitwise_xor", other, self)

    def __lshift__(self, other: Operand) -> Tile:
        return _binary("left_shift", self, other)

    def __rlshift__(self, other: Operand) -> Tile:
        return _binary("left_shift", other, self)

    def __rshift__(self, other: Operand) -> Tile:
        return _binary("right_shift", self, other)

    def __rrshift__(self, other: Operand) -> Tile:
        return _binary("right_shift", other, self)

    def __matmul__(self, other: Tile) -> Tile:
        return _call("dot", self, other)

    def __lt__(self, other: Operand) -> Tile:
        return _binary("less", self, other)

    def __le__(self, other: Operand) -> Tile:
        return _binary("less_equal", self, other)

    def __gt__(self, other: Operand) -> Tile:
        return _binary("greater", self, other)

    def __ge__(self, other: Operand) -> Tile:
        return _binary("greater_equal", self, other)

    def __eq__(self, other: object) -> Tile:  # type: ignore[override] # as numpy's
        return _binary("equal", self, other)

    def __ne__(self, other: object) -> Tile:  # type: ignore[override] # as numpy's
        return _binary("not_equal", self, other)

    def __neg__(self) -> Tile:
        return _call("negative", self)

    def __pos__(self) -> Tile:
        return self

    def __invert__(self) -> Tile:
        return _call("invert", self)

    def __abs__(self) -> Tile:
        return _call("absolute", self)

    def __bool__(self) -> bool:  # what conditions of a kernel are to a type checker
        if self.shape:
            raise TilecError(
                f"the truth value of a tile ({self!r}) is ambiguous; use tl.where, & and |, or "
                "reduce it first"
            )
        if (read := reading.get()) is not None:
            return bool(read(self))
        raise TilecError(
            f"this {self!r} is known only when the kernel runs; here Python needs its truth value "
            f"while the kernel is compiled; mark the function @tilec.function, so that its "
            "conditions become the kernel's, or use tl.where"
        )

    def __index__(self) -> int:
        if (read := reading.get()) is not None and not self.shape and self.dtype.kind != "float":
            return int(read(self))
        raise TilecError(
            f"this {self!r} is known only when the kernel runs; a number known when it is "
            "compiled is needed here: a literal, an argument annotated tl.Constant[int], or an "
            "extent fixed by the array's annotation"
        )

    __int__ = __index__

    def __float__(self) -> float:
        if (read := reading.get()) is not None and not self.shape:
            return float(read(self))
        raise TilecError(
            f"this {self!r} is known only when the kernel runs; convert by astype, and take tl.exp "
            "and the like instead of functions of math"
        )

    def __iter__(self) -> NoReturn:
        raise TilecError("a tile cannot be iterated over element by element; use its operators")

    def __len__(self) -> int:
        if not self.shape:
            raise TilecError("a scalar has no length")
        return self.shape[0]

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise TilecError("a tile never changes; make a new one with tl.where")


def _binary(name: str, left: object, right: object) -> Tile:
    return _call("binary", name, left, right)


def _call(name: str, *operands: Any, **options: Any) -> Tile:
    if name not in OPERATIONS:
        raise TilecError(NO_KERNEL)
    return OPERATIONS[name](*operands, **options)
