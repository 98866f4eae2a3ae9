"""Arguments of kernels in C: their types, what is checked of them, what is passed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from tilec.isa.wording import counted

from .abi import MemRef


class NamedArray(NamedTuple):
    """An array, given as a pointer to a `tilec_arrayN`.

    Attributes:
        memref: what the kernel takes.
        name: its name in C.
        size: bytes of an element.
    """

    memref: MemRef
    name: str
    size: int

    @property
    def rank(self) -> int:
        """Its dimensions."""
        return len(self.memref.shape)

    @property
    def declared(self) -> str:
        """The parameter."""
        return f"const tilec_array{self.rank} *{self.name}"

    @property
    def described(self) -> str:
        """What it is, for people."""
        extents = " x ".join("n" if n is None else str(n) for n in self.memref.shape)
        return f"{self.name}: {extents} of {self.memref.type}"


class NamedScalar(NamedTuple):
    """A scalar, given by value.

    Attributes:
        name: its name in C.
        type: C's.
    """

    name: str
    type: str

    @property
    def rank(self) -> int:
        """None."""
        return 0

    @property
    def declared(self) -> str:
        """The parameter."""
        return f"{self.type} {self.name}"

    @property
    def described(self) -> str:
        """What it is, for people."""
        return f"{self.name}: {self.type}"


Argument: TypeAlias = NamedArray | NamedScalar


def checks_of(argument: Argument) -> Iterator[tuple[str, str]]:
    """What must hold of an argument, as C, and what is wrong if it does not."""
    if not isinstance(argument, NamedArray):
        return
    name, memref = argument.name, argument.memref
    for dim, extent in enumerate(memref.shape):
        given = f"{name}->shape[{dim}]"
        if extent is None:
            yield f"{given} >= 0", f"{name}: a negative extent"
        else:
            yield (
                f"{given} == {extent}",
                f"{name}: dimension {dim} has {counted(extent, 'element')}",
            )
    for dim, stride in enumerate(memref.strides):
        if stride is not None:
            given = f"{name}->strides[{dim}] == {stride} || {name}->shape[{dim}] <= 1"
            yield given, f"{name}: dimension {dim} has a stride of {counted(stride, 'element')}"
    promised = memref.promised
    if promised.aligned > 1:
        why = f"{name}: the address is a multiple of {promised.aligned}"
        yield f"{name}->data % {promised.aligned} == 0", why
    for dim, multiple in enumerate(promised.sizes):
        if multiple > 1:
            why = f"{name}: the extent of dimension {dim} is a multiple of {multiple}"
            yield f"{name}->shape[{dim}] % {multiple} == 0", why
    for dim, multiple in enumerate(promised.strides):
        if multiple > 1:
            given = f"{name}->strides[{dim}] % {multiple} == 0 || {name}->shape[{dim}] <= 1"
            yield given, f"{name}: the stride of dimension {dim} is a multiple of {multiple}"


def disjoint_checks(arguments: Sequence[Argument], number: int) -> Iterator[str]:
    """Statements that refuse arrays which overlap one that is alone in its memory."""
    one = arguments[number]
    if not isinstance(one, NamedArray):
        return
    for at in one.memref.promised.disjoint:
        other = arguments[at]
        if isinstance(other, NamedArray):
            test = f"apart({_span(one)}, {_span(other)})"
            yield f'if (!{test}) return refuse("{one.name} and {other.name} overlap");'


def _span(array: NamedArray) -> str:
    name = array.name
    end = f"end_of({name}->data, {array.rank}, {name}->shape, {name}->strides, {array.size})"
    return f"{name}->data, {end}"


def parameters_of(argument: Argument) -> Iterator[str]:
    """Pointers to what the launch passes for an argument, as `tilec.launch.abi` says."""
    name = argument.name
    if not isinstance(argument, NamedArray):
        yield f"&{name}"
        return
    memref = argument.memref
    yield f"&{name}->data"
    for field, known in (("shape", memref.shape), ("strides", memref.strides)):
        for dim, value in enumerate(known):
            if value is None:
                yield f"&{name}->{field}[{dim}]"
    if memref.offset is None:
        yield "&zero"
