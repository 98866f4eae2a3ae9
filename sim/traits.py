"""What an instruction is, as far as more than its own file asks.

The file that binds an instruction declares its traits (`instructions.registry`), when they are
first asked for (`opcodes`). What is bound without a declaration is `UNKNOWN`, and taken for
whatever costs most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from .opcodes import load
from .ptx.module import Instruction


class Flow(Enum):
    """Where threads go from an instruction."""

    NEXT = auto()
    """To the next."""
    CALL = auto()
    """To the next, by way of a function."""
    BRANCH = auto()
    """To one of its labels."""
    END = auto()
    """Out of the function."""


class Sync(Enum):
    """Which threads an instruction brings together."""

    NONE = auto()
    WARP = auto()
    CTA = auto()
    WARPGROUP = auto()
    CLUSTER = auto()
    UNKNOWN = auto()


class First(Enum):
    """What becomes of an instruction's first operand, if that is a register, or some."""

    RESULT = auto()
    """It is written."""
    SOURCE = auto()
    """It is read."""
    BOTH = auto()
    """It is written, and may be read before."""


class Unit(Enum):
    """The part of an SM that an instruction goes to."""

    TENSOR = auto()
    """Products of matrices."""
    SHARED = auto()
    """Shared memory, that of a cluster, and tensor memory."""
    GLOBAL = auto()
    """Global memory, and addresses that may be of it."""
    NEAR = auto()
    """Parameters, constants and local memory."""
    COPY = auto()
    """Copies that others carry out while the thread goes on."""
    EXCHANGE = auto()
    """Registers of other lanes, by way of the crossbar of shared memory."""
    SYNC = auto()
    """Barriers, fences, and waits for what is asynchronous."""
    CONTROL = auto()
    """Branches, and votes on where to go."""
    SPECIAL = auto()
    """Approximate functions."""
    ARITHMETIC = auto()
    """Anything else on registers."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What an instruction is.

    Attributes:
        flow: where threads go from it.
        labels: where it may branch to.
        sync: which threads it brings together.
        polls: whether threads may execute it again and again until another CTA has changed
            what it reads.
        matrix: whether it is in `tilec.isa`'s table of matrix instructions.
        product: whether it is a product D = A·B + C with operands in this order, whose result
            need not be in registers while only the next product reads it (see `chains`).
        waits: whether it asks an mbarrier for a phase.
        asynchronous: whether it has shared memory read or written by the asynchronous proxy.
        takes_over: whether it asks for the work of CTAs that have not started.
        response: whether it reads what became of such a request.
        reads: whether each of its threads reads the memory at its address, as it executes it.
        writes: whether each writes there.
        first: what becomes of its first operand; that of memory, an address, is always read.
    """

    flow: Flow = Flow.NEXT
    labels: tuple[str, ...] = ()
    sync: Sync = Sync.NONE
    polls: bool = False
    matrix: bool = False
    product: bool = False
    waits: bool = False
    asynchronous: bool = False
    takes_over: bool = False
    response: bool = False
    reads: bool = False
    writes: bool = False
    first: First = First.RESULT


PLAIN = Traits()
"""Nothing that others must know: it computes, or touches memory when its turn comes."""
UNKNOWN = Traits(sync=Sync.UNKNOWN, polls=True)
"""Anything that an instruction which goes on to the next may be."""

Declaration = Traits | Callable[[Instruction], Traits]
"""Traits of an opcode, or what finds them from the qualifiers and operands."""

UnitDeclaration = Unit | Callable[[Instruction], Unit]
"""The unit of an opcode, or what finds it from the qualifiers."""

_declared: dict[str, Declaration] = {}
_units: dict[str, UnitDeclaration] = {}
_asked: set[str] = set()
"""Opcodes of which something was said to one who asked, or that there is nothing to say."""
_changes = [0]


def generation() -> int:
    """A number that changes whenever an answer of `traits` does."""
    return _changes[0]


def declare(opcode: str, traits: Declaration) -> None:
    """Say what the instructions of an opcode are."""
    _declared[opcode] = traits
    if opcode in _asked:
        _changes[0] += 1


def declare_unit(opcode: str, unit: UnitDeclaration) -> None:
    """Say which unit the instructions of an opcode go to."""
    _units[opcode] = unit


def forget(opcode: str) -> None:
    """Take back what was said of an opcode."""
    _declared.pop(opcode, None)
    _units.pop(opcode, None)
    _changes[0] += 1


def traits(instruction: Instruction) -> Traits:
    """What an instruction is; `PLAIN` of one that is not bound: it raises, and does nothing."""
    opcode = instruction.opcode
    if opcode not in _asked:
        if opcode not in _declared:
            load(opcode)
        _asked.add(opcode)
    found = _declared.get(opcode, PLAIN)
    return found if isinstance(found, Traits) else found(instruction)


def unit(instruction: Instruction) -> Unit:
    """The unit that an instruction goes to; of an opcode that says nothing, `ARITHMETIC`."""
    opcode = instruction.opcode
    if opcode not in _units and opcode not in _asked:
        load(opcode)
    found = _units.get(opcode, Unit.ARITHMETIC)
    return found if isinstance(found, Unit) else found(instruction)


def unit_of_space(instruction: Instruction) -> Unit:
    """That of the memory whose state space the qualifiers name; without one it may be global."""
    spaces = {word.partition("::")[0] for word in instruction.modifiers}
    if "shared" in spaces:
        return Unit.SHARED
    return Unit.NEAR if spaces & {"param", "const", "local"} else Unit.GLOBAL
