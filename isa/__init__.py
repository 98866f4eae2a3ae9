"""The instruction table: targets, element types and every form of a matrix instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import LaunchError, TilecError, UnknownNameError, nearest
from .lazy_names import lazy_names
from .targets import ASYNC_COPY_BYTES, DEFAULT_TARGET, TARGETS, Scope, Since, Target, target
from .types import ELEMENT_TYPES, ElementType, Kind, element_type
from .versions import PtxVersion

if TYPE_CHECKING:
    from .form_classes import Family, Form, Product
    from .form_parts import BlockScaling, ExecutionScope, Memory, Selector, Sparsity
    from .matrix_memory import MatrixMemory, MovMatrix
    from .mma import Mma
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

_MODULES = {
    "form_classes": ("Family", "Form", "Product"),
    "form_parts": ("BlockScaling", "ExecutionScope", "Memory", "Selector", "Sparsity"),
    "matrix_memory": ("MatrixMemory", "MovMatrix"),
    "mma": ("Mma",),
    "operands": (
        *("LANES", "WARPGROUP_THREADS", "WARPGROUP_WARPS"),
        *("Major", "Operand", "Register", "Shape", "Storage"),
    ),
    "ptx": ("assembly",),
    "table": ("form", "forms", "forms_of", "instruction", "warp_forms"),
    "tensor_moves": ("TensorMove",),
    "wmma": ("WmmaMemory", "WmmaMma"),
}
"""What is imported when it is first used, by its module: most that import `tilec` need no forms."""

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, {n: f".{m}" for m, names in _MODULES.items() for n in names})


def __dir__() -> list[str]:
    """What editors and notebooks complete."""
    return sorted({*globals(), *__all__})
