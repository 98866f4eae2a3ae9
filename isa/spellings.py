"""Other spellings that PTX allows for a form: qualifiers left out, qualifiers in another order.

The key of a form is one of its spellings; these are the rest. The ISA documents the defaults; the
orders are those that NVIDIA's own headers and examples print, and ptxas takes them all.
"""

from __future__ import annotations

from .form_classes import Form

_SPACES = ("global", "shared", "shared::cta")


def spellings(form: Form) -> tuple[str, ...]:
    """Every other spelling of `form`, the state space left out."""
    found = dict.fromkeys((form.mnemonic(), *form.other_spellings()))
    return tuple(spelling for spelling in found if spelling != form.ptx)


def every_spelling(form: Form) -> tuple[str, ...]:
    """All that names `form` besides its key, the state space left out."""
    found = dict.fromkeys((*spellings(form), *form.rare_spellings()))
    return tuple(spelling for spelling in found if spelling != form.ptx)


def split_space(mnemonic: str) -> tuple[str, str]:
    """A mnemonic without its state space, and the space, empty where none is named."""
    words = mnemonic.split(".")
    space = next((word for word in words if word in _SPACES), "")
    return ".".join(word for word in words if word not in _SPACES), space
