"""Forms that come into the table when they are asked for: their module is loaded then."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, cast

from tilec.isa.lazy import cached_property

from .form_classes import Form, Product

if TYPE_CHECKING:
    from typing import Protocol

    class FormModule(Protocol):
        """What a module of such forms has."""

        CLASS: type[Form]
        """The class of all of them."""

        def forms(self) -> Mapping[str, Form]:
            """The forms by key."""

        def keys(self, spelling: str) -> tuple[str, ...]:
            """The keys that a spelling may mean, be there such forms."""


_NEAREST = 8
"""How many mnemonics an error names."""


class Chapter(Mapping[str, Form]):
    """The forms of one opcode, by key; to ask for a form of another loads nothing.

    Attributes:
        opcode: first word of their mnemonics, and of no others.

    Args:
        module: name of their module in `tilec.isa`, a `FormModule`.
        m: M of every shape of a product; 0 if none is one.
    """

    def __init__(self, opcode: str, module: str, m: int = 0) -> None:
        self.opcode = opcode
        self._m = m
        self._name = f"{__package__}.{module}"

    @cached_property
    def _module(self) -> FormModule:
        return cast("FormModule", import_module(self._name))

    @cached_property
    def forms(self) -> Mapping[str, Form]:
        """The forms by key."""
        return self._module.forms()

    def __getitem__(self, key: str) -> Form:
        if not self.has(key):
            raise KeyError(key)
        return self.forms[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.forms)

    def __len__(self) -> int:
        return len(self.forms)

    def has(self, name: str) -> bool:
        """Whether a form of this name would stand here."""
        return name.startswith(f"{self.opcode}.")

    def named(self, spelling: str) -> tuple[Form, ...]:
        """The forms that a spelling names."""
        return tuple(self.forms[key] for key in self._module.keys(spelling) if key in self.forms)

    def of_shape(self, shape: str) -> Mapping[str, Form]:
        """The forms of a shape such as `m64n8k16`."""
        if not shape.startswith(f"m{self._m}n"):
            return {}
        return {key: self.forms[key] for key in self.forms if f".{shape}." in key}

    def may_have(self, kind: type[Form]) -> bool:
        """Whether forms of this class may be here: not of one made before the module is loaded."""
        if kind is Form or (kind is Product and self._m):
            return True
        return self._name in sys.modules and issubclass(self._module.CLASS, kind)

    def near(self, name: str) -> list[str]:
        """The mnemonics with most words in common with a name, those of the nearest N first."""
        words, n = set(name.split(".")), _columns(name)

        def distance(mnemonic: str) -> tuple[int, int]:
            return -len(words.intersection(mnemonic.split("."))), abs(_columns(mnemonic) - n)

        mnemonics = dict.fromkeys(form.mnemonic() for form in self.forms.values())
        return sorted(mnemonics, key=distance)[:_NEAREST]


def _columns(name: str) -> int:
    """N of the shape that a name holds; 0 if it holds none."""
    found = re.search(r"\.m\d+n(\d{1,4})k", name)
    return int(found[1]) if found else 0


WARPGROUP = Chapter("wgmma", "wgmma", 64)
"""`wgmma.mma_async`."""

TENSOR = Chapter("tcgen05", "tensor_moves")
"""`tcgen05.ld` and `.st`."""
