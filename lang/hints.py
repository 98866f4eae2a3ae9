"""What to write for names of Triton's and numpy's that tilec does not have.

Read where something is wrong, never before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import MappingProxyType

from tilec.isa.errors import nearest

_NO_POINTERS = "arrays are arguments; loads and stores take an index and a shape"

_LANGUAGE = MappingProxyType(
    {
        "PropagateNan": "tl.maximum and tl.max propagate NaN, tl.fmax and tl.nanmax do not",
        "TRITON_MAX_TENSOR_NUMEL": "the registers of the CTA are the limit",
        "add": "x + y",
        "advance": _NO_POINTERS,
        "aggregate_replace": "dataclasses.replace",
        "atomic_load": "tl.load after tl.debug_barrier(), or tl.atomic_add(array, index, 0)",
        "atomic_poll": "while tl.atomic_cas(array, index, value, value) != value: pass",
        "atomic_store": "tl.atomic_xchg",
        "bitonic_merge": "tl.sort",
        "block_type": "tl.Tile annotates a tile",
        "broadcast": "operators broadcast; tl.broadcast_to(x, shape) does it alone",
        "cast": "x.astype(tl.float16)",
        "cat": "tl.concatenate((a, b))",
        "clamp": "tl.clip(x, low, high)",
        "condition": "while",
        "const": "annotate the array; a kernel changes only arrays that it stores to",
        "constexpr": "annotate the argument tl.Constant[int]; globals are constants as they are",
        "constexpr_type": "tl.Constant[int]",
        "core": "tl has the functions itself",
        "div_rn": "x / y, which rounds to nearest",
        "dtype": "tl.DType",
        "expect_zero": "nothing: the loop's bounds determine it",
        "extra": "tl has the functions of libdevice itself, such as tl.erf",
        "fdiv": "x / y",
        "float8e4b15": "tl.float8_e4m3fn",
        "float8e4b8": "tl.float8_e4m3fn",
        "float8e4nv": "tl.float8_e4m3fn",
        "float8e5": "tl.float8_e5m2",
        "float8e5b16": "tl.float8_e5m2",
        "gather": "tl.load with a tile as an index takes elements of an array",
        "int1": "tl.bool_",
        "load_tensor_descriptor": "tl.load(array, index, shape); TMA is used where it can be",
        "make_block_ptr": _NO_POINTERS,
        "make_tensor_descriptor": _NO_POINTERS,
        "map_elementwise": "operators and tl.where",
        "math": "tl has the functions itself, such as tl.exp",
        "max_constancy": "nothing: tilec determines it",
        "max_contiguous": "tl.assume(array, strides=(…, 1)), or nothing: tilec determines it",
        "mul": "x * y",
        "multiple_of": "tl.assume(array, aligned=16, sizes=(1, 8))",
        "pair_uniform_to_normal": "tl.randn",
        "permute": "tl.transpose(x, axes)",
        "philox_impl": "tl.philox",
        "pi32_t": "tl.Array[tl.int32, int] annotates an array",
        "pointer_type": "tl.Array[tl.float16, int, int] annotates an array",
        "random": "tl has the functions itself, such as tl.rand",
        "reduce_or": "tl.any(x, axis), or tl.reduce(x, axis, lambda a, b: a | b)",
        "slice": "x[:, 16:32]",
        "softmax": "e = tl.exp(x - x.max(axis=1, keepdims=True)), then e / e.sum(…)",
        "sqrt_rn": "tl.sqrt, which rounds to nearest",
        "standard": "tl has the functions itself",
        "static_assert": "assert, which is checked when the kernel is compiled",
        "static_print": "print, which prints when the kernel is compiled",
        "store_tensor_descriptor": "tl.store(array, index, tile); TMA is used where it can be",
        "str_to_ty": "tl.float16 and the like are types as they are",
        "sub": "x - y",
        "swizzle2d": "plain integer arithmetic on tl.program_id",
        "target_info": "an argument annotated tl.Constant[…]",
        "tensor": "tl.Tile annotates a tile",
        "tensor_descriptor": _NO_POINTERS,
        "tensor_descriptor_type": _NO_POINTERS,
        "to_tensor": "tl.float32(n), or tl.full",
        "trans": "x.T, or tl.transpose(x, axes)",
        "tuple": "tuple, as it is",
        "tuple_type": "tuple[…]",
        "uint_to_uniform_float": "tl.rand",
        "unsqueeze": "tl.expand_dims(x, axis), or x[:, None]",
        "view": "x.view(dtype) of the same bits, x.reshape(shape)",
        "void": "None",
        "xor_sum": "tl.reduce(x, axis, lambda a, b: a ^ b)",
        "zeros_like": "tl.zeros(x.shape, x.dtype)",
    }
)
_NUMPY = MappingProxyType(
    {
        "add": "x + y",
        "asarray": "tl.load of an array",
        "bincount": "tl.histogram(x, bins)",
        "bitwise_and": "x & y",
        "bitwise_or": "x | y",
        "bitwise_xor": "x ^ y",
        "cumulative_sum": "tl.cumsum(x, axis)",
        "divide": "x / y",
        "divmod": "x // y, x % y",
        "einsum": "tl.dot(a, b), batched too, and transposes",
        "empty": "tl.zeros",
        "empty_like": "tl.zeros(x.shape, x.dtype)",
        "equal": "x == y",
        "eye": "rows, cols = tl.indices(shape), then rows == cols",
        "full_like": "tl.full(x.shape, value, x.dtype)",
        "greater": "x > y",
        "less": "x < y",
        "logical_and": "x & y",
        "logical_not": "~x",
        "logical_or": "x | y",
        "matmul": "tl.dot(a, b), or a @ b",
        "mod": "x % y",
        "multiply": "x * y",
        "nan_to_num": "tl.where(tl.isnan(x), 0, x)",
        "negative": "-x",
        "ones_like": "tl.ones(x.shape, x.dtype)",
        "outer": "x[:, None] * y[None, :]",
        "power": "x ** y",
        "reciprocal": "1 / x",
        "remainder": "x % y",
        "sign": "tl.where(x > 0, 1, tl.where(x < 0, -1, 0))",
        "square": "x * x",
        "subtract": "x - y",
        "take": "tl.load with a tile as an index",
        "take_along_axis": "tl.load with a tile as an index",
        "tri": "rows, cols = tl.indices(shape), then rows >= cols",
        "tril": "tl.where(rows >= cols, x, 0) of rows, cols = tl.indices(shape)",
        "triu": "tl.where(rows <= cols, x, 0) of rows, cols = tl.indices(shape)",
        "true_divide": "x / y",
        "vstack": "tl.concatenate(tiles)",
        "hstack": "tl.concatenate(tiles, axis=1)",
    }
)
_MADE = "a function made of others, as in examples/kernels/math_functions.py"
_COMPOSED = (
    "acos acosh asin asinh atan atan2 atanh cbrt copysign cosh cospi cyl_bessel_i0 cyl_bessel_i1 "
    "erfcinv erfcx erfinv hypot ilogb j0 j1 jn ldexp lgamma llround logb nextafter norm3d norm4d "
    "normcdfinv rcbrt rhypot rnorm3d rnorm4d scalbn sinh sinpi tgamma y0 y1 yn"
)
_IN_PTX = "tl.inline_asm_elementwise, in PTX"
_ASM = "tl.inline_asm_elementwise('{0}.b32 $0, $1;', '=r,r', (x,), tl.int32)"
_LIBDEVICE = MappingProxyType(
    {
        **dict.fromkeys(_COMPOSED.split(), _MADE),
        **{name: _ASM.format(name) for name in ("brev", "clz", "popc")},
        **dict.fromkeys(("byte_perm", "hadd", "mul24", "rcp64h", "rhadd", "sad"), _IN_PTX),
        "double2hiint": "x.view(tl.int64) >> 32",
        "double2loint": "x.view(tl.int64).astype(tl.int32)",
        "erfc": "1 - tl.erf(x)",
        "exp10": "tl.pow(10.0, x)",
        "fast_dividef": "x / y",
        "fast_exp10f": "tl.pow(10.0, x)",
        "fast_tanf": "tl.sin(x) / tl.cos(x)",
        "fdim": "tl.maximum(x - y, 0)",
        "ffs": _IN_PTX,
        "finitef": "tl.isfinite(x)",
        "fmod": "x - y * tl.trunc(x / y)",
        "hiloint2double": "(high << 32 | low).view(tl.float64), of integers of 64 bits",
        "isfinited": "tl.isfinite(x)",
        "llrint": "tl.rint(x).astype(tl.int64)",
        "mulhi": "tl.umulhi(x, y)",
        "nearbyint": "tl.rint(x)",
        "normcdf": "0.5 * (1 + tl.erf(x * 0.70710678))",
        "rsqrt_rn": "tl.rsqrt(x)",
        "saturatef": "tl.clip(x, 0, 1)",
        "signbit": "x.view(tl.int32) < 0",
        "tan": "tl.sin(x) / tl.cos(x)",
    }
)
_LIBDEVICE_PATTERNS = (
    (r"fast_(\w+)f", r"tl.\1(x)"),
    (r"(add|div|fma|mul|sub)_rn", r"the operator, or tl.fma, which rounds to nearest"),
    (r"(rcp|sqrt)_rn", r"1 / x, or tl.sqrt(x), which rounds to nearest"),
    (r"(add|div|fma|mul|rcp|sqrt|sub)_r[duz]", _IN_PTX),
    (r"\w+_as_\w+", "x.view(dtype), of the same bits"),
    (r"(double|float)2(u?int|u?ll)_r([duzn])", "x.astype(dtype) of tl.floor, tl.ceil or tl.rint"),
    (r"\w+2\w+_r[duzn]", "x.astype(dtype)"),
)
"""The other names of CUDA's libdevice, by which Triton has them."""
_PACKAGE = MappingProxyType(
    {
        "cdiv": "tilec.lang.cdiv",
        "heuristics": "plain Python before the launch",
        "jit": "@tilec.kernel, or @tilec.function for a helper",
        "language": "import tilec.lang as tl",
        "next_power_of_2": "1 << (n - 1).bit_length()",
        "testing": "tilec.runtime.cuda.do_bench(work), which times work on a GPU",
    }
)
_TILE = MappingProxyType(
    {
        "advance": _NO_POINTERS,
        "cast": "x.astype(dtype)",
        "cdiv": "tl.cdiv(x, n)",
        "copy": "nothing: a tile never changes",
        "flatten": "tl.ravel(x)",
        "item": "x.reshape(()), a scalar",
        "logical_and": "x & y",
        "logical_or": "x | y",
        "permute": "x.transpose(axes)",
        "softmax": _LANGUAGE["softmax"],
        "sqrt_rn": "tl.sqrt(x)",
        "store": "tl.store(array, index, x)",
        "to": "x.astype(dtype)",
        "trans": "x.T",
        "type": "x.dtype",
        "xor_sum": _LANGUAGE["xor_sum"],
    }
)
_KEYWORDS = MappingProxyType(
    {
        "allow_tf32": "cast the factors to tl.tfloat32",
        "arg1": "start and stop without names",
        "arg2": "start and stop without names",
        "boundary_check": "nothing: every access is checked, except with bounds=False",
        "cache_modifier": "nothing: tilec chooses",
        "can_reorder": "tl.concatenate keeps the order",
        "cmp": "compare=",
        "combine_fn": "combine=",
        "cond": "condition=; tl.assume takes facts about an array",
        "descending": "-x for those at the other end",
        "dim": "axis=",
        "disable_licm": "nothing: tilec chooses",
        "disallow_acc_multi_buffer": "nothing: tilec chooses",
        "div": "the numbers without names",
        "enable_fp_fusion": "tl.fma, explicitly",
        "end": "stop=",
        "eviction_policy": "nothing: tilec chooses",
        "fast_math": "nothing: tilec chooses the instruction",
        "flatten": "nothing: tilec chooses",
        "input": "the tile without a name",
        "input_precision": "precision=, 'tf32' or 'tf32x3'",
        "is_volatile": "tl.atomic_add(array, index, 0)",
        "keep_dims": "keepdims=",
        "lhs": "a=, scale_a=, b=, scale_b=",
        "loop_unroll_factor": "tl.range(…, unroll=)",
        "max_num_imprecise_acc": "nothing: sums of 8-bit floats are promoted",
        "maxnreg": "warps=: the registers of an SM are shared out among them",
        "msg": "message=",
        "n_rounds": "rounds=",
        "num_bins": "bins=",
        "num_ctas": "the grid",
        "num_stages": "tl.range(…, stages=) on the loop",
        "num_warps": "kernel.using(warps=…), or @tilec.kernel(warps=…)",
        "offsets": "offset=",
        "other": "fill=",
        "out_dtype": "dtype=",
        "padding_option": "fill=",
        "pointer": "array= and index=",
        "propagate_nan": "tl.maximum, which propagates NaN, or tl.fmax, which does not",
        "return_indices": "tl.argmax, and tl.max for the value",
        "return_indices_tie_break_left": "nothing: of equal elements the first is found",
        "tie_break_left": "nothing: of equal elements the first is found",
        "val": "tile=",
        "value": "tile=",
        "volatile": "tl.atomic_add(array, index, 0)",
        "warp_specialize": "nothing: tilec chooses where the target has it",
    }
)


def of_language(name: str, legal: Iterable[str]) -> str:
    """What to write for a name that `tilec.lang` does not have; the names most like it else."""
    hint = _LANGUAGE.get(name) or _NUMPY.get(name) or _of_libdevice(name)
    return f"; write {hint}" if hint else _like(name, legal)


def _of_libdevice(name: str) -> str:
    """The same for a name of libdevice; empty for another."""
    if name in _LIBDEVICE:
        return _LIBDEVICE[name]
    found = ((re.fullmatch(pattern, name), hint) for pattern, hint in _LIBDEVICE_PATTERNS)
    return next((match.expand(hint) for match, hint in found if match), "")


def of_package(name: str, legal: Iterable[str]) -> str:
    """The same for `tilec`."""
    return f"; write {_PACKAGE[name]}" if name in _PACKAGE else _like(name, legal)


def of_tile(name: str, legal: Iterable[str], functions: Iterable[str]) -> str:
    """The same for a method of a tile, of which some are functions."""
    hint = _TILE.get(name) or _LANGUAGE.get(name)
    if hint:
        return f"; write {hint}"
    return f"; write tl.{name}(x)" if name in functions else _like(name, legal)


def of_keyword(message: str) -> str:
    """What to write for an argument that the message of a TypeError does not know."""
    found = re.search(r"unexpected keyword argument '(\w+)'", message)
    hint = _KEYWORDS.get(re.sub("^[lr]hs.*", "lhs", found[1])) if found else None
    if "does not support ufuncs" in message or "__array_ufunc__" in message:
        hint = "the function of tl that has this name: numpy's work on arrays of the host"
    return f"; write {hint}" if hint else ""


def _like(name: str, legal: Iterable[str]) -> str:
    found = nearest(name, [one for one in legal if not one.startswith("_")], 3)
    return f"; nearest: {', '.join(found)}" if found else ""
