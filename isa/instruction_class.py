"""Instructions besides matrix instructions: what moves, orders and synchronises for Hopper's.

An instruction's key is its mnemonic with every qualifier and state space written. Its operands
stand in the text that PTX has for them, by names: a name tells what sort of operand it is, as
`OPERAND_TYPES` lists. What the mnemonic says is read from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from .form_parts import ExecutionScope
from .targets import Available, Since

_SPACES = ("shared::cluster", "shared::cta", "shared", "global", "param", "const")
_ORDERS = ("acquire", "release", "relaxed", "acq_rel", "sc", "weak")
_VISIBLE = ("cta", "cluster", "gpu", "sys")

OPERAND_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "dst": "address",
        "src": "address",
        "bar": "address",
        "map": "tensor map",
        "param": "parameter",
        "at": "u32",
        "far": "u64",
        "c": "s32",
        "o": "u16",
        "mask": "u16",
        "lanes": "u32",
        "policy": "b64",
        "size": "u32",
        "bytes": "u32",
        "count": "u32",
        "rank": "u32",
        "hint": "u32",
        "parity": "u32",
        "state": "b64",
        "p": "pred",
        "d": "b32",
        "w": "b64",
        "h": "u16",
        "r": "b32",
        "f": "f32",
        "g": "f64",
        "n": "number",
        "acc": "tensor address",
        "a": "tensor address",
        "meta": "tensor address",
        "sfa": "tensor address",
        "sfb": "tensor address",
        "adesc": "b64",
        "bdesc": "b64",
        "idesc": "b32",
        "zeros": "b64",
        "answer": "b128",
    }
)
"""Sort of an operand by its name, digits after it left out: a register of a type, an address in
a state space that the mnemonic names, a tensor map's address, or the parameter that it is; a number
that is a constant."""


@dataclass(frozen=True, slots=True)
class Instruction(Available):
    """One instruction that is not a matrix instruction.

    Attributes:
        ptx: the mnemonic.
        family: what it belongs to.
        operands: its operands as PTX writes them, by name; a number stands for itself.
        since: targets and PTX versions, one clause each.
        section: of the PTX ISA.
        scope: which threads execute it together.
        addresses: the state space of `dst`, `src` and `bar`, of those that it has.
        optional: an operand that may follow them.
        legal: the values that the constant `n` may have.
        results: the operands that it writes.
    """

    ptx: str
    family: str
    operands: str
    since: tuple[Since, ...]
    section: str
    scope: ExecutionScope = ExecutionScope.THREAD
    addresses: tuple[tuple[str, str], ...] = ()
    optional: str = ""
    legal: Sequence[int] = range(1)
    results: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.ptx

    @property
    def mnemonic(self) -> str:
        """The instruction as printed: the key, but for what only the operands say."""
        return self.ptx

    @property
    def spaces(self) -> tuple[str, ...]:
        """The state spaces that the mnemonic names, as it has them."""
        return tuple(word for word in self.ptx.split(".") if word in _SPACES)

    @property
    def order(self) -> str | None:
        """What it orders: `acquire`, `release`, `relaxed`, …; None if it says nothing of it."""
        return next((word for word in self.ptx.split(".") if word in _ORDERS), None)

    @property
    def visible(self) -> str | None:
        """To whom: `cta`, `cluster`, `gpu` or `sys`; None if it does not say."""
        return next((word for word in self.ptx.split(".") if word in _VISIBLE), None)

    @property
    def completion(self) -> str | None:
        """By what it is known to be done, `mbarrier` or `bulk_group`; None if by nothing."""
        if "mbarrier::complete_tx::bytes" in self.ptx:
            return "mbarrier"
        return "bulk_group" if ".bulk_group" in self.ptx else None

    @property
    def asynchronous(self) -> bool:
        """Whether it is still at work when the next instruction begins."""
        return self.completion is not None

    @property
    def facts(self) -> dict[str, str | int]:
        """What is particular to the family, by name: for people and JSON."""
        return {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names in its operands, in order."""
        return tuple(dict.fromkeys(re.findall(r"[a-z]\w*", self.operands)))

    def text(self, registers: Mapping[str, str]) -> str:
        """The instruction as PTX text, semicolon included, names replaced by `registers`."""
        operands = re.sub(r"[a-z]\w*", lambda name: registers[name[0]], self.operands)
        return f"{self.mnemonic} {operands}".rstrip() + ";"


def operand_type(name: str) -> str:
    """The sort of an operand, one of the values of `OPERAND_TYPES`."""
    return OPERAND_TYPES[name.rstrip("0123456789")]
