"""What the annotations of a kernel's arguments say.

    def scale(
        x: Annotated[tl.Array[tl.float32, int, Literal[64]], tl.Facts(aligned=16)],
        factor: float,
        places: tl.Scalar[tl.int32],
        BLOCK: tl.Constant[int] = 64,
    ): ...

`tl.AnyArray` is an array of any elements and rank, `tl.Array[tl.float16, *tuple[int, ...]]` one of
any rank: what the kernel is called with decides. `int` is a size or a place, `float` a float32.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    Union,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

from tilec.isa import TilecError
from tilec.report.diagnostics import Place

from .array import Array, Facts
from .dtypes import (
    DType,
    bfloat16,
    bool_,
    dtype_of,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    intp,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .errors import KernelError
from .source import FunctionSource
from .tile import Tile

_SCALARS = (
    *(bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, intp),
    *(bfloat16, float16, float32, float64),
)
"""The types of scalar arguments."""
D = TypeVar("D", bound=DType)
T = TypeVar("T")


class Scalar(Tile, Generic[D]):
    """Annotates a scalar argument of an element type: `Scalar[int32]`."""

    __slots__ = ()

    def __init__(self, *_: object, **__: object) -> None:
        from .emit import place  # noqa: PLC0415 (imports MLIR)

        raise KernelError(place(), "tl.Scalar is an annotation; tl.int32(x) makes a scalar of x")


class _Constant:
    """Marks an annotation as that of a constant."""


class _Natural:
    """Marks an integer that is never negative."""


Size: TypeAlias = Annotated[int, _Natural()]
"""Annotates an `int` that is never negative, so that it divides by shifting."""

Constant: TypeAlias = Annotated[T, _Constant()]
"""Annotates an argument that is known when the kernel is compiled: `Constant[int]`."""


class ArrayParameter(NamedTuple):
    """An argument that is an array.

    Attributes:
        name: its name.
        dtype: element type; None for any.
        shape: of each extent the values that it may have, none for any; None for any rank.
        facts: what its annotation promises.
    """

    name: str
    dtype: type[DType] | None
    shape: tuple[tuple[int, ...], ...] | None
    facts: Facts


class ScalarParameter(NamedTuple):
    """An argument that is a scalar.

    Attributes:
        name: its name.
        dtype: its type.
        natural: whether it is never negative.
    """

    name: str
    dtype: type[DType]
    natural: bool = False


class ConstantParameter(NamedTuple):
    """An argument that is known when the kernel is compiled.

    Attributes:
        name: its name.
    """

    name: str


LeafParameter: TypeAlias = ArrayParameter | ScalarParameter | ConstantParameter


class OptionalParameter(NamedTuple):
    """An argument that may be None, which is then known when the kernel is compiled.

    Attributes:
        name: its name.
        parameter: what else it may be.
    """

    name: str
    parameter: LeafParameter | StructuredParameter


class StructuredParameter(NamedTuple):
    """An argument that is made of others.

    Attributes:
        name: its name.
        kind: `tuple`, `list`, or the class of a named tuple or a dataclass.
        parts: what it is made of, under the names of fields or their numbers.
        repeated: whether it is any number of the one part.
    """

    name: str
    kind: type
    parts: tuple[Parameter, ...]
    repeated: bool = False

    def of(self, count: int) -> list[Parameter]:
        """The parts, where there are `count`, under their whole names."""
        if self.repeated:
            return [self.parts[0]._replace(name=f"{self.name}.{at}") for at in range(count)]
        return [part._replace(name=f"{self.name}.{part.name}") for part in self.parts]


Parameter: TypeAlias = LeafParameter | OptionalParameter | StructuredParameter


def parameters(source: FunctionSource) -> tuple[Parameter, ...]:
    """The arguments of a kernel, in order.

    Raises:
        KernelError: for one without an annotation, or with one that means nothing.
    """
    function = source.function
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception as error:
        raise KernelError(
            source.place, f"the annotations of '{function.__name__}' cannot be read: {error}"
        ) from None
    return tuple(
        _parameter(name, hints.get(name, inspect.Parameter.empty), source.place_of(name))
        for name in inspect.signature(function).parameters
    )


def _parameter(name: str, hint: Any, place: Place) -> Parameter:
    if hint is inspect.Parameter.empty:
        raise KernelError(
            place,
            f"argument '{name}' has no annotation; legal: tl.Array[…], int, float, bool, "
            "tl.Scalar[…], tl.Constant[…], and tuples, lists, dataclasses and '| None' of them",
        )
    extras: Sequence[Any] = ()
    if get_origin(hint) is Annotated:
        hint, *extras = get_args(hint)
    if any(isinstance(extra, _Constant) for extra in extras):
        return ConstantParameter(name)
    structured = _structured(name, hint, extras, place)
    if structured is not None:
        return structured
    facts = next((extra for extra in extras if isinstance(extra, Facts)), Facts())
    try:
        if hint is Array or get_origin(hint) is Array:
            return _array(name, get_args(hint), facts)
        if get_origin(hint) is Scalar:
            return _scalar(name, dtype_of(get_args(hint)[0]))
    except TilecError as error:
        raise KernelError(place, f"argument '{name}': {error}") from None
    natural = any(isinstance(extra, _Natural) for extra in extras)
    for python, dtype in ((bool, bool_), (int, intp), (float, float32)):
        if hint is python:
            return ScalarParameter(name, dtype, natural)
    raise KernelError(
        place,
        f"argument '{name}' is annotated {hint!r}; legal: tl.Array[…], int, float, bool, "
        "tl.Scalar[…], tl.Constant[…], and tuples, lists, dataclasses and '| None' of them",
    )


def _structured(name: str, hint: Any, extras: Sequence[Any], place: Place) -> Parameter | None:
    """An argument that may be None, or is made of others; None if it is neither."""
    origin, given = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        others = [one for one in given if one is not NoneType]
        if len(others) == 1 != len(given):
            inner = Annotated[others[0], *extras] if extras else others[0]
            found = _parameter(name, inner, place)
            return found if isinstance(found, OptionalParameter) else OptionalParameter(name, found)
    if origin in (tuple, list) and given:
        if origin is list or given[-1] is Ellipsis:
            return StructuredParameter(name, origin, (_parameter("0", given[0], place),), True)
        parts = (_parameter(str(at), one, place) for at, one in enumerate(given))
        return StructuredParameter(name, tuple, tuple(parts))
    names = _fields(hint)
    if names is None:
        return None
    hints = get_type_hints(hint, include_extras=True)
    return StructuredParameter(name, hint, tuple(_parameter(n, hints[n], place) for n in names))


def _fields(hint: Any) -> tuple[str, ...] | None:
    """The fields of a dataclass or a named tuple."""
    if not isinstance(hint, type):
        return None
    if is_dataclass(hint):
        return tuple(field.name for field in fields(hint))
    return getattr(hint, "_fields", None) if issubclass(hint, tuple) else None


def _scalar(name: str, dtype: type[DType]) -> ScalarParameter:
    if dtype not in _SCALARS:
        raise TilecError(
            f"a scalar cannot be passed as {dtype!r}: cast it in the kernel; legal: "
            f"{', '.join(map(repr, _SCALARS))}"
        )
    return ScalarParameter(name, dtype)


def _array(name: str, arguments: tuple[Any, ...], facts: Facts) -> ArrayParameter:
    if not arguments:
        return ArrayParameter(name, None, None, facts)
    dtype, *extents = arguments
    element = None if dtype is Any else dtype_of(dtype)
    if not extents or any(get_origin(extent) is Unpack for extent in extents):
        return ArrayParameter(name, element, None, facts)
    return ArrayParameter(name, element, tuple(map(_extent, extents)), facts)


def _extent(extent: Any) -> tuple[int, ...]:
    if extent is int:
        return ()
    values = get_args(extent)
    if get_origin(extent) is Literal and all(isinstance(value, int) for value in values):
        return values
    raise TilecError(f"an extent is int, for one known at the launch, or Literal[n], not {extent}")
