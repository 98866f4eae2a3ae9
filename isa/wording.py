"""How messages write numbers of things."""

from __future__ import annotations


def counted(number: object, noun: str, plural: str = "") -> str:
    """A number and its noun, in the singular for 1.

    Args:
        number: how many, or a text for it, such as `4x2`.
        noun: the noun for one.
        plural: the noun for several; `noun` with an s by default.

    >>> counted(1, "CTA"), counted(2, "CTA"), counted(1, "matrix", "matrices")
    ('1 CTA', '2 CTAs', '1 matrix')
    """
    return f"{number} {noun if str(number) == '1' else plural or f'{noun}s'}"
