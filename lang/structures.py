"""Arguments that are made of others: tuples, lists, named tuples, dataclasses, and None."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple, TypeAlias

from tilec.isa import LaunchError
from tilec.isa.wording import counted

from .annotations import (
    ConstantParameter,
    LeafParameter,
    OptionalParameter,
    Parameter,
    StructuredParameter,
)
from .host_arrays import on_host


class Structure(NamedTuple):
    """How an argument is made of others.

    Attributes:
        kind: `tuple`, `list`, or the class of a named tuple or a dataclass.
        parts: what it is made of: structures, or names of arguments.
    """

    kind: type
    parts: tuple[Structure | str, ...]

    def text(self) -> str:
        """The structure, as a text that no other has."""
        parts = ", ".join(p if isinstance(p, str) else p.text() for p in self.parts)
        return f"{self.kind.__module__}.{self.kind.__qualname__}({parts})"

    def classes(self) -> Iterator[type]:
        """The classes of named tuples and dataclasses in it."""
        if self.kind not in (tuple, list):
            yield self.kind
        for part in self.parts:
            if isinstance(part, Structure):
                yield from part.classes()


Form: TypeAlias = Structure | str
_Leaf: TypeAlias = tuple[LeafParameter, Any]


class Flat(NamedTuple):
    """The arguments of a launch, those that are made of others taken apart.

    Attributes:
        parameters: of the parts.
        values: the parts by name.
        forms: how they make up the arguments, by name.
        alike: the names of parts that are to be of one type: elements of a list.
    """

    parameters: tuple[LeafParameter, ...]
    values: dict[str, Any]
    forms: tuple[tuple[str, Form], ...]
    alike: tuple[tuple[str, ...], ...]


def flatten(parameters: Sequence[Parameter], values: Mapping[str, Any]) -> Flat:
    """Take arguments apart.

    Raises:
        LaunchError: for one that is not made as its annotation says.
    """
    leaves: list[_Leaf] = []
    alike: list[tuple[str, ...]] = []
    forms = tuple((p.name, _flat(p, values[p.name], leaves, alike)) for p in parameters)
    found = {leaf.name: value for leaf, value in leaves}
    return Flat(tuple(leaf for leaf, _ in leaves), found, forms, tuple(alike))


def _flat(
    parameter: Parameter, value: Any, leaves: list[_Leaf], alike: list[tuple[str, ...]]
) -> Form:
    """Append the parts of an argument to `leaves`, and to `alike` the names of a list's elements.

    A function of its own: one that calls itself by a closure would keep the arrays until garbage is
    collected.
    """
    if isinstance(parameter, OptionalParameter):
        if value is not None:
            named = parameter.parameter._replace(name=parameter.name)
            return _flat(named, value, leaves, alike)
        leaves.append((ConstantParameter(parameter.name), None))
        return parameter.name
    if not isinstance(parameter, StructuredParameter):
        leaves.append((parameter, on_host(value, parameter.name)))
        return parameter.name
    parts = _parts(parameter, value)
    first = len(leaves)
    form = tuple(
        _flat(*pair, leaves, alike) for pair in zip(parameter.of(len(parts)), parts, strict=True)
    )
    if parameter.repeated:
        alike.append(tuple(leaf.name for leaf, _ in leaves[first:]))
    return Structure(parameter.kind, form)


def _parts(parameter: StructuredParameter, value: Any) -> Sequence[Any]:
    """What a value is made of."""
    name, kind = parameter.name, parameter.kind
    wanted = (tuple, list) if kind in (tuple, list) else (kind,)
    if not isinstance(value, wanted):
        given = "None" if value is None else f"of type {type(value).__name__}"
        raise LaunchError(f"argument '{name}' is {given}; the kernel takes a {kind.__name__}")
    held: Any = value  # an object of a class that is known by now
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else None
    parts = list(held) if names is None else [getattr(held, one) for one in names]
    if not parameter.repeated and len(parts) != len(parameter.parts):
        raise LaunchError(
            f"argument '{name}' has {counted(len(parts), 'element')}; the kernel takes "
            f"{len(parameter.parts)}"
        )
    if not parts:
        raise LaunchError(f"argument '{name}' is empty; the kernel takes one element or more")
    return parts


def assembled(form: Form, values: Mapping[str, Any]) -> Any:
    """The argument that parts make up, in the kernel."""
    if isinstance(form, str):
        return values[form]
    from .array_list import ArrayList  # noqa: PLC0415 (for kernels that are built only)

    parts = [assembled(part, values) for part in form.parts]
    if form.kind in (tuple, list):
        return ArrayList(parts)
    if not is_dataclass(form.kind):
        return form.kind(*parts)
    made = object.__new__(form.kind)
    for field, part in zip(fields(form.kind), parts, strict=True):
        object.__setattr__(made, field.name, part)
    return made
