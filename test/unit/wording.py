"""Faults of English that a rule can see in a message."""

from __future__ import annotations

import re

_NOUNS = (
    "arguments bits boxes bytes calls candidates codes columns conflicts copies CTAs dimensions "
    "elements fragments groups indices inputs instructions iterations kernels lanes lines "
    "matrices numbers operands outputs panels parts passes pixels places registers rounds rows "
    "sectors SMs stages steps threads tiles units values warpgroups warps wavefronts words"
).replace(" ", "|")
_RULES = {
    "a plural after 1": rf"(?<![\w.,:/×*+^=-])(?<!and )1 (?:{_NOUNS})\b(?!')",
    "'is no' for 'is not a'": r"(?<!there )\b(?:is|are) no (?!longer\b|more\b|\w+er\b)\w",
    "a for an": r"\ba (?:array|axis|eleme|exten|index|input|int|instr|offse|opera|outpu|mbarr)",
    "an for a": r"\ban (?:b|c|d|f|g|j|k|p|q|t|v|w|z)[a-z]{3}",
    "a word twice": r"\b([a-z]{2,}) \1\b",
    "a space before a comma": r"[a-z] [,;]",
    "a capital letter first": r"\A[A-Z][a-z]+ [a-z]",
}


def faults(message: str) -> list[str]:
    """What is wrong with a message's first line, without what it quotes, which is a user's."""
    own = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`|<[^>]*>", "…", message.partition("\n")[0])
    return [
        f"{rule}: {found[0]!r} in {message!r}"
        for rule, pattern in _RULES.items()
        for found in re.finditer(pattern, own)
    ]
