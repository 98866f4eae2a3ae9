"""Colours MLIR: a lexer for Pygments, which has none."""

from __future__ import annotations

from typing import Any, ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
)

_TYPES = r"\b(index|none|[su]?i\d+|b?f\d+(E\w+)?|tf32|memref|tensor|vector|complex|tuple)\b"


class MlirLexer(RegexLexer):
    """MLIR's textual form, generic or not."""

    name = "MLIR"
    aliases: ClassVar = ["mlir"]
    filenames: ClassVar = ["*.mlir"]
    tokens: ClassVar = {
        "root": [
            (r"\s+", Text),
            (r"//.*$", Comment.Single),
            (r'"[a-z_]\w*(\.\w+)+"(?=\()', Name.Function),
            (r'"(\\.|[^"\\])*"', String),
            (r"[%^][\w$.-]+(#\d+)?", Name.Variable),
            (r"@[\w$.-]+", Name.Label),
            (r"[!#][A-Za-z_][\w$.]*", Keyword.Type),
            (r"(?<=[\dx?])x(?=[\d?]|[a-z!])", Punctuation),
            (r"\d+(?=x)", Number),
            (_TYPES, Keyword.Type),
            (r"-?(0x[0-9a-fA-F]+|\d+(\.\d*)?([eE][-+]?\d+)?)", Number),
            (
                words(("loc", "attributes", "kernel", "true", "false", "unit"), suffix=r"\b"),
                Keyword,
            ),
            (r"[a-z_]\w*(\.\w+)+", Name.Function),
            (r"[A-Za-z_][\w$]*", Name),
            (r"->|[=:*+-]", Operator),
            (r".", Punctuation),
        ]
    }


def setup(app: Any) -> dict[str, bool]:
    """Sphinx's hook."""
    app.add_lexer("mlir", MlirLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
