"""The instruction table: targets, element types and every warp-level matrix instruction form."""

from .errors import LaunchError, TilecError, UnknownNameError, nearest
from .forms import (
    BlockScaling,
    Family,
    Form,
    MatrixMemory,
    Mma,
    MovMatrix,
    Selector,
    Sparsity,
    WmmaMemory,
    WmmaMma,
)
from .operands import LANES, Major, Operand, Register, Shape
from .ptx import assembly
from .table import form, forms, instruction
from .targets import ASYNC_COPY_BYTES, TARGETS, Scope, Since, Target, target
from .types import ELEMENT_TYPES, ElementType, Kind, element_type
from .versions import PtxVersion

__all__ = [
    "ASYNC_COPY_BYTES",
    "ELEMENT_TYPES",
    "LANES",
    "TARGETS",
    "BlockScaling",
    "ElementType",
    "Family",
    "Form",
    "Kind",
    "LaunchError",
    "Major",
    "MatrixMemory",
    "Mma",
    "MovMatrix",
    "Operand",
    "PtxVersion",
    "Register",
    "Scope",
    "Selector",
    "Shape",
    "Since",
    "Sparsity",
    "Target",
    "TilecError",
    "UnknownNameError",
    "WmmaMemory",
    "WmmaMma",
    "assembly",
    "element_type",
    "form",
    "forms",
    "instruction",
    "nearest",
    "target",
]
