"""How LLVM IR says a form: the intrinsic or inline assembly, its arguments and results.

LLVM 22, NVPTX. An intrinsic is called with `convergent` on the call site, which matrix intrinsics
do not carry by themselves; inline assembly wants `sideeffect` and `convergent`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from .forms import Form, MatrixMemory, Mma, WmmaMemory
from .operands import Operand
from .ptx import assembly
from .targets import Target

_ADDRESS_SPACES = {"": 0, "global": 1, "shared": 3}
_CONSTRAINTS = {"i16": "h", "i32": "r", "<2 x half>": "r", "float": "f", "double": "d", "ptr": "l"}


@dataclass(frozen=True, slots=True)
class Value:
    """One scalar argument or result.

    Attributes:
        name: the operand, selector, `address` or `stride` it belongs to.
        type: its LLVM type.
        constant: whether it must be a constant.
    """

    name: str
    type: str
    constant: bool = False


@dataclass(frozen=True, slots=True)
class Call:
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


def _registers(operand: Operand) -> Iterator[Value]:
    for _ in range(operand.registers):
        yield Value(operand.name, operand.register.llvm)


def _arguments(form: Form, space: str, *, stride: bool) -> tuple[Value, ...]:
    """In the order of PTX's operands, which is LLVM's too."""
    found: list[Value] = []
    if isinstance(form, (MatrixMemory, WmmaMemory)):
        found.append(Value("address", _pointer(space)))
    selectors = {s.name: Value(s.name, f"i{s.bits}", s.constant) for s in form.selectors}
    for operand in form.operands:
        found += _registers(operand)
        match operand.name:
            case "e":
                found.append(selectors["selector"])
            case "sfa" | "sfb":
                side = operand.name[-1]
                found += [selectors[f"byte_id_{side}"], selectors[f"thread_id_{side}"]]
    if stride:
        found.append(Value("stride", "i32"))
    return tuple(found)


def _callee(form: Form, space: str, *, stride: bool) -> str | None:
    name = form.intrinsic
    if name is None or not isinstance(form, (MatrixMemory, WmmaMemory)):
        return name
    if stride:
        head, _, type_ = name.rpartition(".")
        name = f"{head}.stride.{type_}"
    return f"{name}.p{_ADDRESS_SPACES[space]}"


def _selects(form: Form, target: Target) -> bool:
    """Whether LLVM 22 selects the form's intrinsic on `target`."""
    # It asks sm_80 of the m8n8k128 product under xor, which sm_75 has.
    early = isinstance(form, Mma) and form.bit_op == "xor" and form.shape.m == 8
    return not (early and target.number < 80)


@cache
def call(
    form: Form, *, space: str = "shared", stride: bool = False, target: Target | None = None
) -> Call:
    """The call that executes `form`.

    Args:
        form: the form.
        space: `shared`, `global` or empty for generic; forms without an address ignore it.
        stride: whether a wmma load or store is given one.
        target: where it must compile; without one, the road that most targets take.
    """
    arguments = _arguments(form, space, stride=stride)
    results = tuple(value for operand in form.results for value in _registers(operand))
    values = (*results, *arguments)
    places: dict[str, list[str]] = {}
    for number, value in enumerate(values):
        places.setdefault(value.name, []).append(f"${number}")
    constraints = [f"={_CONSTRAINTS[value.type]}" for value in results]
    constraints += [
        "n" if value.constant else _CONSTRAINTS[value.type.partition(" addrspace")[0]]
        for value in arguments
    ]
    reached = target is None or _selects(form, target)
    return Call(
        intrinsic=_callee(form, space, stride=stride) if reached else None,
        assembly=assembly(form, places, space),
        constraints=",".join(constraints),
        arguments=arguments,
        results=results,
    )
