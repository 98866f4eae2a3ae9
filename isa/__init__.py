"""The instruction table: targets, element types and every form of a matrix instruction."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import LaunchError, TilecError, UnknownNameError, nearest
from .form_parts import BlockScaling, ExecutionScope, Memory, Selector, Sparsity
from .forms import Family, Form, Product
from .operands import (
    LANES,
    WARPGROUP_THREADS,
    WARPGROUP_WARPS,
    Major,
    Operand,
    Register,
    Shape,
    Storage,
)
from .ptx import assembly
from .table import form, forms, forms_of, instruction, warp_forms
from .targets import ASYNC_COPY_BYTES, DEFAULT_TARGET, TARGETS, Scope, Since, Target, target
from .types import ELEMENT_TYPES, ElementType, Kind, element_type
from .versions import PtxVersion

if TYPE_CHECKING:
    from .matrix_memory import MatrixMemory, MovMatrix
    from .mma import Mma
    from .tensor_moves import TensorMove
    from .wmma import WmmaMemory, WmmaMma

__all__ = [
    "ASYNC_COPY_BYTES",
    "DEFAULT_TARGET",
    "ELEMENT_TYPES",
    "LANES",
    "TARGETS",
    "WARPGROUP_THREADS",
    "WARPGROUP_WARPS",
    "BlockScaling",
    "ElementType",
    "ExecutionScope",
    "Family",
    "Form",
    "Kind",
    "LaunchError",
    "Major",
    "MatrixMemory",
    "Memory",
    "Mma",
    "MovMatrix",
    "Operand",
    "Product",
    "PtxVersion",
    "Register",
    "Scope",
    "Selector",
    "Shape",
    "Since",
    "Sparsity",
    "Storage",
    "Target",
    "TensorMove",
    "TilecError",
    "UnknownNameError",
    "WmmaMemory",
    "WmmaMma",
    "assembly",
    "element_type",
    "form",
    "forms",
    "forms_of",
    "instruction",
    "nearest",
    "target",
    "warp_forms",
]

_CLASSES = {
    "MatrixMemory": ".matrix_memory",
    "MovMatrix": ".matrix_memory",
    "Mma": ".mma",
    "TensorMove": ".tensor_moves",
    "WmmaMemory": ".wmma",
    "WmmaMma": ".wmma",
}
"""Where the classes of the families' forms are: imported when first used, as the forms are made."""


def __getattr__(name: str) -> Any:
    """A class of forms."""
    if name not in _CLASSES:
        raise AttributeError(f"module 'tilec.isa' has no attribute '{name}'")
    found = globals()[name] = getattr(import_module(_CLASSES[name], __name__), name)
    return found
