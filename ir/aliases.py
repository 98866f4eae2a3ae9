"""Short names of what passes handle: the types that annotations speak of."""

from __future__ import annotations

from typing import TypeAlias

from .mlir import ir

Value: TypeAlias = ir.Value
Type: TypeAlias = ir.Type
Attribute: TypeAlias = ir.Attribute
Block: TypeAlias = ir.Block
Location: TypeAlias = ir.Location

Op: TypeAlias = ir.OpView | ir.Operation
"""An operation: as MLIR's own class for its name shows it, or bare."""

Number: TypeAlias = ir.IntegerType | ir.FloatType
"""The types of numbers that have a width, which `index` has not."""
