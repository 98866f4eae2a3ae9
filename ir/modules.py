"""Modules as a whole."""

from __future__ import annotations

from typing import cast

from .mlir import ir


def clone_module(module: ir.Module) -> ir.Module:
    """A copy, in the same context.

    The bindings give it as an operation of its own class, which has all that is asked of an
    `ir.Module` here: `operation`, `body` and `context`.
    """
    return cast("ir.Module", module.operation.clone())
