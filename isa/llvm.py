"""How LLVM IR says a form: the intrinsic or inline assembly, its arguments and results.

LLVM 22, NVPTX. An intrinsic is called with `convergent` on the call site, which matrix intrinsics
do not carry by themselves; inline assembly wants `sideeffect` and `convergent`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from .form_classes import Form
from .operands import Operand
from .ptx import assembly
from .targets import Target

_ADDRESS_SPACES = {"": 0, "global": 1, "shared": 3}
_CONSTRAINTS = {
    "i1": "b",
    "i16": "h",
    "i32": "r",
    "i64": "l",
    "<2 x half>": "r",
    "float": "f",
    "double": "d",
    "ptr": "l",
}


class Value(NamedTuple):
    """One scalar argument or result.

    Attributes:
        name: the operand, selector, `address` or `stride` it belongs to.
        type: its LLVM type.
        constant: whether it must be a constant.
        tied: of an argument that comes in a result's register, that result's number.
    """

    name: str
    type: str
    constant: bool = False
    tied: int | None = None


class Call(NamedTuple):
    """One call, of an intrinsic or of inline assembly.

    Attributes:
        intrinsic: the callee, overload suffix included; None for inline assembly.
        assembly: the template of inline assembly, results numbered before arguments.
        constraints: of inline assembly.
        arguments: one a register, in order.
        results: one a register, in order.
    """

    intrinsic: str | None
    assembly: str
    constraints: str
    arguments: tuple[Value, ...]
    results: tuple[Value, ...]

    @property
    def result_type(self) -> str:
        """`void`, the type of the only result, or a literal struct of them."""
        types = [value.type for value in self.results]
        if len(types) < 2:
            return types[0] if types else "void"
        return f"{{ {', '.join(types)} }}"

    @property
    def declaration(self) -> str:
        """The intrinsic's `declare`."""
        types = ", ".join(value.type for value in self.arguments)
        return f"declare {self.result_type} @{self.intrinsic}({types})"


def _pointer(space: str) -> str:
    number = _ADDRESS_SPACES[space]
    return f"ptr addrspace({number})" if number else "ptr"


def _registers(operand: Operand, first: int | None = None) -> Iterator[Value]:
    """The registers of an operand, tied to the results from number `first` on, if to any."""
    for number in range(operand.registers):
        tied = None if first is None else first + number
        yield Value(operand.name, operand.register.llvm, tied=tied)


def _results(form: Form) -> Iterator[Value]:
    """What comes back in registers."""
    for result in form.results:
        if result.threads:
            yield from _registers(result)


def _arguments(form: Form, space: str, *, stride: bool) -> Iterator[Value]:
    """In the order of PTX's operands, which is LLVM's too; first where results in memory lie."""
    results = [value.name for value in _results(form)]
    for result in form.results:
        if not result.threads:
            yield from _registers(result)
            yield from _selectors(form, result.name)
    if form.memory is not None:
        yield Value("address", _pointer(space))
    for operand in form.operands:
        if operand.tied in results:
            yield from _registers(operand, results.index(operand.tied))
        elif operand.tied is None:
            yield from _registers(operand)
        yield from _selectors(form, operand.name)
    yield from _selectors(form, "")
    if stride:
        yield Value("stride", "i32")


def _selectors(form: Form, operand: str) -> Iterator[Value]:
    for selector in form.selectors_of(operand):
        yield Value(selector.name, f"i{selector.bits}", selector.constant)


def _callee(form: Form, space: str, *, stride: bool) -> str | None:
    name = form.intrinsic
    if name is None or form.memory is None:
        return name
    if stride:
        head, _, type_ = name.rpartition(".")
        name = f"{head}.stride.{type_}"
    return f"{name}.p{_ADDRESS_SPACES[space]}"


def _constraint(value: Value) -> str:
    """How inline assembly says where an argument is."""
    if value.constant:
        return "n"
    if value.tied is not None:
        return str(value.tied)
    return _CONSTRAINTS[value.type.partition(" addrspace")[0]]


@cache
def call(
    form: Form, *, space: str = "shared", stride: bool = False, target: Target | None = None
) -> Call:
    """The call that executes `form`.

    Args:
        form: the form.
        space: `shared`, `global` or empty for generic; forms without an address ignore it.
        stride: whether it is given a stride; forms that take none ignore it.
        target: where it must compile; without one, the road that most targets take.
    """
    stride = stride and form.takes_stride
    arguments = tuple(_arguments(form, space, stride=stride))
    results = tuple(_results(form))
    values = (*results, *arguments)
    places: dict[str, list[str]] = {}
    for number, value in enumerate(values):
        places.setdefault(value.name, []).append(f"${number}")
    constraints = [f"={_CONSTRAINTS[value.type]}" for value in results]
    constraints += [_constraint(value) for value in arguments]
    reached = target is None or target.number >= form.intrinsic_since
    return Call(
        intrinsic=_callee(form, space, stride=stride) if reached else None,
        assembly=assembly(form, places, space),
        constraints=",".join(constraints),
        arguments=arguments,
        results=results,
    )
