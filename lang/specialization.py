"""What a kernel is compiled for: what of its arguments the program may rely on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import Any, NamedTuple

from tilec.isa import LaunchError
from tilec.isa.wording import counted

from .annotations import (
    ArrayParameter,
    ConstantParameter,
    OptionalParameter,
    Parameter,
    ScalarParameter,
    StructuredParameter,
)
from .array import Facts, joined
from .array_arguments import ArrayArgument, array_argument, broken_fact, disjoint
from .dtypes import DTYPES, DType, stored
from .scalar_arguments import scalar_argument
from .snapshot.exact import exact
from .structures import Flat, Form, Structure, flatten

_WIDEST = 16
"""Bytes of the widest access: more alignment changes no code."""


class ArrayType(NamedTuple):
    """An array as the program sees it.

    Attributes:
        dtype: element type.
        shape: extents, None for one known at the launch.
        strides: in elements, None for one known at the launch.
        facts: what is known of its address, extents and strides.
        alone: whether it is known to have no memory in common with another array.
    """

    dtype: type[DType]
    shape: tuple[int | None, ...]
    strides: tuple[int | None, ...]
    facts: Facts
    alone: bool = False

    @property
    def mlir(self) -> str:
        """MLIR's type."""
        extents = "x".join("?" if n is None else str(n) for n in self.shape)
        plain = self.strides == (1,)
        layout = "" if plain else f", strided<{_written(self.strides)}>"
        return f"memref<{extents}x{stored(self.dtype)}{layout}>"

    def __str__(self) -> str:
        return (
            f"{self.dtype!r} {_written(self.shape)}, strides {_written(self.strides)}; "
            f"{_written(self.facts)}{', no memory in common with other arrays' * self.alone}"
        )


class ScalarType(NamedTuple):
    """A scalar as the program sees it.

    Attributes:
        dtype: its type.
        natural: whether it is never negative.
    """

    dtype: type[DType]
    natural: bool = False

    @property
    def mlir(self) -> str:
        """MLIR's type."""
        return self.dtype.mlir

    def __str__(self) -> str:
        return repr(self.dtype)


@dataclass(frozen=True, slots=True)
class ConstantValue:
    """A constant; equal only to one of the same type and bits, nested ones' too.

    Attributes:
        value: its value.
        exact: tells it from other plain values; None for an object, which a `Snapshot` tells.
    """

    value: Any = field(compare=False)
    exact: str | None

    def __str__(self) -> str:
        return repr(self.value)


class Specialization(NamedTuple):
    """The arguments that a kernel is compiled for, those made of others taken apart.

    Attributes:
        arguments: by name.
        forms: how they make up the kernel's arguments, by name.
    """

    arguments: tuple[tuple[str, ArrayType | ScalarType | ConstantValue], ...]
    forms: tuple[tuple[str, Form], ...]

    def differences(self, other: Specialization) -> list[str]:
        """The arguments that differ, as people read it."""
        mine, its = dict(self.arguments), dict(other.arguments)
        return [
            *(
                f"{name}: {value}, there not present"
                for name, value in mine.items()
                if name not in its
            ),
            *(
                f"{name}: not present, there {value}"
                for name, value in its.items()
                if name not in mine
            ),
            *(
                f"{name}: {difference}"
                for name, value in mine.items()
                if name in its
                for difference in _differences(value, its[name])
            ),
        ]

    def lines(self) -> list[str]:
        """Each argument, as people read it."""
        return [f"{name}: {value}" for name, value in self.arguments]

    def key(self) -> list[str]:
        """Each argument, as a text that no other has."""
        structures = [
            f"{name}: {form.text()}" for name, form in self.forms if isinstance(form, Structure)
        ]
        return [*(f"{name}: {_key(value)}" for name, value in self.arguments), *structures]

    def objects(self) -> dict[str, Any]:
        """The constants that are not plain values, and the classes of arguments, by name."""
        classes = {
            f"class {number} of {name}": class_
            for name, form in self.forms
            if isinstance(form, Structure)
            for number, class_ in enumerate(form.classes())
        }
        return {
            name: value.value
            for name, value in self.arguments
            if type(value) is ConstantValue and value.exact is None
        } | classes


def _key(value: ArrayType | ScalarType | ConstantValue) -> str:
    return f"{value.exact}" if isinstance(value, ConstantValue) else repr(value)


def _differences(value: Any, before: Any) -> Iterator[str]:
    """What differs of one argument."""
    if not isinstance(value, ArrayType) or not isinstance(before, ArrayType):
        if value != before:
            yield f"{value}, there {before}"
        return
    for what in ("dtype", "shape", "strides", "facts"):
        new, old = getattr(value, what), getattr(before, what)
        if new != old:
            yield f"{what} {_written(new)}, there {_written(old)}"
    if value.alone != before.alone:
        new, old = ("no", "maybe some") if value.alone else ("maybe some", "none")
        yield f"{new} memory in common with other arrays, there {old}"


def _written(value: Any) -> str:
    if isinstance(value, Facts):
        return (
            f"address a multiple of {counted(value.aligned, 'byte')}, extents of "
            f"{list(value.sizes)}, "
            f"strides of {list(value.strides)}"
        )
    if isinstance(value, tuple):
        return f"[{', '.join('?' if n is None else str(n) for n in value)}]"
    return repr(value)


def of_annotations(parameters: Sequence[Parameter], constants: Mapping[str, Any]) -> Specialization:
    """What the annotations alone say, arrays lying row after row.

    Raises:
        LaunchError: for an array whose element type or rank they leave open, and arguments that
            are made of others.
    """
    flat = flatten(parameters, {p.name: _given(p, constants) for p in parameters})
    found: list[tuple[str, ArrayType | ScalarType | ConstantValue]] = []
    for parameter in flat.parameters:
        if isinstance(parameter, ArrayParameter):
            if parameter.dtype is None or parameter.shape is None:
                raise LaunchError(
                    f"argument '{parameter.name}' may be any array: annotate element type and "
                    "extents, as tl.Array[tl.float16, int, int], or give an array to compile for"
                )
            rank = len(parameter.shape)
            facts = joined(Facts(), parameter.facts, rank, parameter.name)
            shape = tuple(_only(extents, parameter.name) for extents in parameter.shape)
            type_ = ArrayType(parameter.dtype, shape, _row_major(shape), facts)
            found.append((parameter.name, type_))
        elif isinstance(parameter, ScalarParameter):
            found.append((parameter.name, ScalarType(parameter.dtype, parameter.natural)))
        else:
            found.append((parameter.name, _constant(parameter.name, flat.values[parameter.name])))
    return Specialization(tuple(found), flat.forms)


def _given(parameter: Parameter, constants: Mapping[str, Any]) -> Any:
    """What is known of an argument without its value."""
    if isinstance(parameter, ConstantParameter | OptionalParameter):
        return constants[parameter.name]
    if isinstance(parameter, StructuredParameter):
        raise LaunchError(
            f"argument '{parameter.name}' consists of several arguments: pass arrays to compile for"
        )
    return None


def _only(extents: tuple[int, ...], name: str) -> int | None:
    """The extent that an annotation fixes, or None."""
    if len(extents) > 1:
        raise LaunchError(
            f"argument '{name}' may have the extents {', '.join(map(str, extents))}: give an "
            "array to compile for"
        )
    return extents[0] if extents else None


def _row_major(shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """The strides of an array that lies row after row, where its extents fix them."""
    strides: list[int | None] = [1]
    for extent in reversed(shape[1:]):
        inner = strides[0]
        strides.insert(0, None if extent is None or inner is None else inner * extent)
    return tuple(strides)


def of_values(flat: Flat) -> Specialization:
    """What a program may rely on that is launched with these values, and others like them.

    Raises:
        LaunchError: for a value that is not what the annotation of its argument says.
    """
    parameters, values = flat.parameters, flat.values
    arrays = {
        p.name: array_argument(p.name, values[p.name], str(p.dtype))
        for p in parameters
        if isinstance(p, ArrayParameter)
    }
    types = {p.name: _array(p, arrays[p.name]) for p in parameters if isinstance(p, ArrayParameter)}
    for names in flat.alike:
        types |= _alike({name: types[name] for name in names if name in types})
    alone = disjoint(arrays) if len(arrays) > 1 else frozenset()
    found: list[tuple[str, ArrayType | ScalarType | ConstantValue]] = []
    for parameter in parameters:
        value = values[parameter.name]
        if isinstance(parameter, ArrayParameter):
            type_ = types[parameter.name]
            found.append((parameter.name, type_._replace(alone=parameter.name in alone)))
        elif isinstance(parameter, ConstantParameter):
            found.append((parameter.name, _constant(parameter.name, value)))
        else:
            scalar_argument(parameter.name, value, parameter.dtype, natural=parameter.natural)
            found.append((parameter.name, ScalarType(parameter.dtype, parameter.natural)))
    return Specialization(tuple(found), flat.forms)


def _alike(types: Mapping[str, ArrayType]) -> dict[str, ArrayType]:
    """The types of arrays in a list, made one where they differ in known extents and strides."""
    by_rank: dict[object, list[ArrayType]] = {}
    for type_ in types.values():
        by_rank.setdefault((type_.dtype, len(type_.shape)), []).append(type_)
    found: dict[str, ArrayType] = {}
    for name, type_ in types.items():
        others = by_rank[type_.dtype, len(type_.shape)]
        found[name] = type_._replace(
            shape=_common([one.shape for one in others]),
            strides=_common([one.strides for one in others]),
        )
    return found


def _common(rows: Sequence[tuple[int | None, ...]]) -> tuple[int | None, ...]:
    """What is the same in all rows, None elsewhere."""
    return tuple(column[0] if len(set(column)) == 1 else None for column in zip(*rows, strict=True))


def _constant(name: str, value: Any) -> ConstantValue:
    try:
        hash(value)
    except TypeError:
        raise LaunchError(
            f"constant '{name}' is {value!r}, which may change; legal: what can be hashed, such "
            "as numbers, tuples and element types"
        ) from None
    return ConstantValue(value, exact(value))


def _array(parameter: ArrayParameter, held: ArrayArgument) -> ArrayType:
    name = parameter.name
    if held.dtype not in DTYPES:
        legal = [n for n, d in DTYPES.items() if d.bits >= 8 and n not in ("tfloat32", "intp")]
        raise LaunchError(
            f"argument '{name}' has elements of {held.dtype}; legal: {', '.join((*legal, 'bool'))}"
        )
    dtype = DTYPES[held.dtype]
    if dtype.bits < 8 and dtype.kind != "bool":
        raise LaunchError(
            f"argument '{name}' has a byte for each {dtype!r}; kernels take two in a byte, as "
            "tilec.runtime.pack makes them, in an array of uint8 annotated "
            f"tl.Array[tl.{dtype!r}, …]"
        )
    if parameter.dtype is not None:
        if stored(dtype) != stored(parameter.dtype):
            raise LaunchError(
                f"argument '{name}' has elements of {dtype!r}; the kernel takes {parameter.dtype!r}"
            )
        dtype = parameter.dtype
    if not held.shape:
        raise LaunchError(
            f"argument '{name}' has no dimensions; a scalar is annotated int or float"
        )
    if any(stride < 0 for stride in held.strides):
        raise LaunchError(
            f"argument '{name}' runs backwards, with strides {list(held.strides)}; "
            "numpy.ascontiguousarray copies it"
        )
    allowed = parameter.shape if parameter.shape is not None else ((),) * len(held.shape)
    if len(allowed) != len(held.shape) or any(
        extents and extent not in extents
        for extents, extent in zip(allowed, held.shape, strict=True)
    ):
        written = (" or ".join(map(str, extents)) or "int" for extents in allowed)
        raise LaunchError(
            f"argument '{name}' has the shape {held.shape}; the kernel takes [{', '.join(written)}]"
        )
    shape = tuple(
        extent if extents else None for extents, extent in zip(allowed, held.shape, strict=True)
    )
    facts = _facts(held)
    if parameter.facts != Facts():
        facts = joined(facts, parameter.facts, len(shape), name)
        broken = broken_fact(held, parameter.facts, "the kernel relies on")
        if broken is not None:
            raise LaunchError(f"argument '{name}' {broken}")
    return ArrayType(dtype, shape, _strides(held, shape), facts)


def _strides(held: ArrayArgument, shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """Strides known when the kernel is compiled: where elements, or fixed extents, lie in a row."""
    rows = _row_major(shape)
    found = [row if row == stride else None for row, stride in zip(rows, held.strides, strict=True)]
    if 1 not in found:
        units = (at for at, stride in enumerate(held.strides) if stride == 1 != held.shape[at])
        unit = next(units, None)
        found = [1 if at == unit else None for at, _ in enumerate(found)]
    return tuple(found)


def _facts(held: ArrayArgument) -> Facts:
    most = max(1, 8 * _WIDEST // DTYPES[held.dtype].bits)
    return Facts(
        gcd(held.address, _WIDEST) or _WIDEST,
        tuple(gcd(extent, most) for extent in held.shape),
        tuple(gcd(stride, most) for stride in held.strides),
    )
