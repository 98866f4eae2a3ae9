"""Kernels in Python: functions over tiles, under numpy's names.

    import tilec
    import tilec.lang as tl

    @tilec.kernel
    def add(
        x: tl.Array[tl.float32, int],
        y: tl.Array[tl.float32, int],
        out: tl.Array[tl.float32, int],
        BLOCK: tl.Constant[int] = 1024,
    ):
        at = tl.program_id(0) * BLOCK
        tl.store(out, at, tl.load(x, at, BLOCK) + tl.load(y, at, BLOCK))

    add[tl.cdiv(x.size, 1024)](x, y, out)

A kernel describes what one CTA does. What is known when it is compiled (constants, shapes, the
types of tiles) is plain Python; `for … in range(…)`, `while` and `if` on values that are known only
when it runs become the kernel's own control flow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .annotations import Constant, Scalar, Size
from .array import AnyArray, Array, Facts, assume
from .dtypes import (
    DType,
    bfloat16,
    bool_,
    float4_e2m1fn,
    float6_e2m3fn,
    float6_e3m2fn,
    float8_e4m3fn,
    float8_e5m2,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    int4,
    int8,
    int16,
    int32,
    int64,
    intp,
    tfloat32,
    uint4,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .errors import KernelError
from .functions import function
from .kernels import Kernel, kernel

if TYPE_CHECKING:
    from .arithmetic import absolute, clip, fmax, fmin, maximum, minimum
    from .arrangement import concatenate, flip, interleave, join, ravel, split, stack
    from .atomics import (
        atomic_add,
        atomic_and,
        atomic_cas,
        atomic_max,
        atomic_min,
        atomic_or,
        atomic_xchg,
        atomic_xor,
        debug_barrier,
    )
    from .debugging import device_assert, device_print
    from .dependents import gdc_launch_dependents, gdc_wait
    from .elementwise import where
    from .histograms import histogram
    from .inline_asm import inline_asm_elementwise
    from .mathematics import (
        abs,
        ceil,
        cos,
        erf,
        exp,
        exp2,
        expm1,
        floor,
        fma,
        isfinite,
        isinf,
        isnan,
        log,
        log1p,
        log2,
        log10,
        pow,
        rint,
        round,
        rsqrt,
        sigmoid,
        sin,
        sqrt,
        tanh,
        trunc,
    )
    from .memory import load, store
    from .pins import with_layout
    from .products import dot, dot_scaled, dot_sp
    from .program import cdiv, num_programs, program_id, range, static_range
    from .randoms import (
        philox,
        rand,
        rand4x,
        randint,
        randint4x,
        randn,
        randn4x,
        umulhi,
    )
    from .reductions import all, any, max, min, nanmax, nanmin, prod, sum
    from .scans import associative_scan, cumprod, cumsum, reduce
    from .shapes import (
        arange,
        broadcast_to,
        expand_dims,
        full,
        indices,
        ones,
        reshape,
        squeeze,
        transpose,
        zeros,
    )
    from .shared_arrays import shared_array
    from .sorts import argmax, argmin, argsort, sort, sort_by, topk
    from .statistics import mean, std, var
    from .tile import Tile

__all__ = [
    "AnyArray",
    "Array",
    "Constant",
    "DType",
    "Facts",
    "Kernel",
    "KernelError",
    "Scalar",
    "Size",
    "Tile",
    "abs",
    "absolute",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "associative_scan",
    "assume",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_xchg",
    "atomic_xor",
    "bfloat16",
    "bool_",
    "broadcast_to",
    "cdiv",
    "ceil",
    "clip",
    "concatenate",
    "cos",
    "cumprod",
    "cumsum",
    "debug_barrier",
    "device_assert",
    "device_print",
    "dot",
    "dot_scaled",
    "dot_sp",
    "erf",
    "exp",
    "exp2",
    "expand_dims",
    "expm1",
    "flip",
    "float4_e2m1fn",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e8m0fnu",
    "float16",
    "float32",
    "float64",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "full",
    "function",
    "gdc_launch_dependents",
    "gdc_wait",
    "histogram",
    "indices",
    "inline_asm_elementwise",
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "interleave",
    "intp",
    "isfinite",
    "isinf",
    "isnan",
    "join",
    "kernel",
    "load",
    "log",
    "log1p",
    "log2",
    "log10",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "nanmax",
    "nanmin",
    "num_programs",
    "ones",
    "philox",
    "pow",
    "prod",
    "program_id",
    "rand",
    "rand4x",
    "randint",
    "randint4x",
    "randn",
    "randn4x",
    "range",
    "ravel",
    "reduce",
    "reshape",
    "rint",
    "round",
    "rsqrt",
    "shared_array",
    "sigmoid",
    "sin",
    "sort",
    "sort_by",
    "split",
    "sqrt",
    "squeeze",
    "stack",
    "static_range",
    "std",
    "store",
    "sum",
    "tanh",
    "tfloat32",
    "topk",
    "transpose",
    "trunc",
    "uint4",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "umulhi",
    "var",
    "where",
    "with_layout",
    "zeros",
]

_FILES = (
    "arithmetic",
    "arrangement",
    "atomics",
    "debugging",
    "dependents",
    "elementwise",
    "histograms",
    "inline_asm",
    "mathematics",
    "memory",
    "pins",
    "products",
    "program",
    "randoms",
    "reductions",
    "scans",
    "shapes",
    "shared_arrays",
    "sorts",
    "statistics",
    "tile",
)
"""Where the operations are: imported when first used, which a launch may do without."""


def _hint(name: str) -> str:
    """What to write for a name that is not there."""
    from .hints import of_language  # noqa: PLC0415 (for errors only)

    return "" if name.startswith("_") else of_language(name, __all__)


if not TYPE_CHECKING:  # or any name would be one to a type checker

    def __getattr__(name: str) -> Any:
        if name in __all__:
            for file in _FILES:
                module = import_module(f".{file}", __name__)
                found = vars(module).get(name)
                if getattr(found, "__module__", None) == module.__name__:
                    globals()[name] = found
                    return found
        from tilec.isa.errors import MissingNameError  # noqa: PLC0415 (for errors only)

        raise MissingNameError(
            f"module 'tilec.lang' has no attribute '{name}'", lambda: _hint(name)
        )


def __dir__() -> list[str]:
    """What editors and notebooks complete."""
    return sorted(__all__)
