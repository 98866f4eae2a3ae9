"""C that launches the kernels of a module: a header and a source, for C and C++.

The source holds the PTX or cubin, loads it, checks what is given against what the kernels were
compiled for, makes tensor maps, and calls the CUDA driver's API. It needs `cuda.h` and libcuda,
and nothing of tilec's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple

from tilec.isa import TilecError
from tilec.isa.limits import CTAS_ALONG_X

from .abi import Abi, Extents, Given, GridExtent, KernelEntry, MemRef, bytes_of
from .c_arguments import (
    Argument,
    NamedArray,
    NamedScalar,
    checks_of,
    disjoint_checks,
    parameters_of,
)
from .c_fallback import HELPER, fallback
from .c_tensor_maps import map_code

_SCALARS = {
    "i1": "uint8_t",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "index": "int64_t",
    "f16": "uint16_t",
    "bf16": "uint16_t",
    "f32": "float",
    "f64": "double",
    "ptr": "CUdeviceptr",
}
"""What a scalar argument is in C; of 16-bit floats the bits."""
_WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while NULL

alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t char32_t class co_await
co_return co_yield compl concept const_cast consteval constexpr constinit decltype delete
dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq nullptr operator
or or_eq private protected public reinterpret_cast requires static_assert static_cast template this
thread_local throw true try typeid typename typeof using virtual wchar_t xor xor_eq

module stream grid_x grid_y grid_z block_x block_y block_z parameters status config attribute code
zero refusal refuse apart end_of extents strides steps box lower upper device sms ctas clusters
plain plain_code has_map
"""
_RESERVED = frozenset(_WORDS.split())
"""Names that kernels and arguments cannot have: words of C and C++, and the source's own."""


class Image(NamedTuple):
    """Kernels as a driver loads them.

    Attributes:
        abi: how they are launched.
        code: PTX, or a cubin.
    """

    abi: Abi
    code: str | bytes


class Launcher(NamedTuple):
    """C that launches kernels.

    Attributes:
        header: the text of `NAME.h`.
        source: the text of `NAME.c`.
    """

    header: str
    source: str


def c_launcher(
    abi: Abi, code: str | bytes, name: str, without_maps: Image | None = None
) -> Launcher:
    """The header and the source that launch the kernels of a module.

    Args:
        abi: how they are launched.
        code: PTX, or a cubin.
        name: what files, types and functions begin with.
        without_maps: the kernels without tensor maps, for arrays that none describes: empty ones,
            and those whose rows are one. Without it such launches are refused.

    Raises:
        TilecError: for a name that is none in C, and arguments that C cannot pass.
    """
    if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII) or name in _RESERVED:
        raise TilecError(
            f"'{name}' is not a name in C; legal: letters, digits and _, a letter first"
        )
    taken = set(_RESERVED)
    kernels = [_Kernel(kernel, name, _identifier(kernel.name, taken)) for kernel in abi.kernels]
    ranks = sorted({a.rank for kernel in kernels for a in kernel.arguments if a.rank})
    plain = None
    if without_maps is not None and any(kernel.maps for kernel in kernels):
        plain = without_maps.code
        entries = {entry.name: entry for entry in without_maps.abi.kernels}
        for kernel in kernels:
            if kernel.maps:
                called = _identifier(f"{kernel.name}_plain", taken)
                kernel.plain = _Kernel(entries[kernel.entry.name], name, called)
    return Launcher(_header(abi, kernels, ranks, name), _source(kernels, code, plain, name))


class _Kernel:
    """A kernel and its names in C."""

    def __init__(self, entry: KernelEntry, module: str, name: str) -> None:
        self.entry = entry
        self.plain: _Kernel | None = None
        """The same without tensor maps, of the other image."""
        self.name = name
        self.function = f"{module}_launch_{name}"
        self.maps = entry.maps
        taken = {*_RESERVED, *(f"map{number}" for number, _ in enumerate(self.maps))}
        self.arguments: list[Argument] = []
        for argument in entry.given:
            called = argument.name or f"argument{len(self.arguments)}"
            self.arguments.append(_named(argument, _identifier(called, taken)))

    @property
    def passed(self) -> list[str]:
        """What the launching function takes besides module, stream and arguments."""
        grid = [f"grid_{axis}" for axis in "xyz"] if self.entry.grid is None else []
        block = [f"block_{axis}" for axis in "xyz"] if self.entry.block is None else []
        return grid + block

    def declared(self, module: str) -> str:
        """The launching function's head."""
        given = [f"const {module}_module *module"]
        given += [f"unsigned {extent}" for extent in self.passed]
        given.append("CUstream stream")
        given += [argument.declared for argument in self.arguments]
        inside = ",\n    ".join(given)
        return f"CUresult {self.function}(\n    {inside})"


def _named(argument: Given, called: str) -> Argument:
    if isinstance(argument, MemRef):
        return NamedArray(argument, called, bytes_of(argument.type))
    if argument.type not in _SCALARS:
        raise TilecError(f"C passes no argument of type {argument.type}")
    return NamedScalar(called, _SCALARS[argument.type])


def _identifier(name: str, taken: set[str]) -> str:
    """A name in C that is none of those taken, and is then."""
    found = re.sub(r"\W", "_", name, flags=re.ASCII)
    found = f"_{found}" if found[:1].isdigit() else found
    while found in taken:
        found += "_"
    taken.add(found)
    return found


def _header(abi: Abi, kernels: Sequence[_Kernel], ranks: Sequence[int], name: str) -> str:
    guard = f"TILEC_{name.upper()}_H"
    fields = "".join(f"  CUfunction {kernel.name};\n" for kernel in kernels)
    if plain := [kernel.plain for kernel in kernels if kernel.plain]:
        fields += "  /* For arrays that no tensor map describes. */\n  CUmodule plain;\n"
        fields += "".join(f"  CUfunction {kernel.name};\n" for kernel in plain)
    return f"""/* How to launch kernels that tilec compiled for {abi.target.name}. */
#ifndef {guard}
#define {guard}

#include <cuda.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

{"".join(map(_array_type, ranks))}/* The kernels of a module, of the context that was current. */
typedef struct {{
  CUmodule module;
{fields}}} {name}_module;

CUresult {name}_load({name}_module *module);
CUresult {name}_unload({name}_module *module);

/* Why the last launch of this thread was refused, before the driver was asked; "" if it was not. */
const char *{name}_refused(void);

{"".join(_declaration(kernel, name) for kernel in kernels)}#ifdef __cplusplus
}}
#endif
#endif
"""


def _array_type(rank: int) -> str:
    return f"""#ifndef TILEC_ARRAY{rank}
#define TILEC_ARRAY{rank}
/* An array on the GPU: its first element, extents, and strides in elements. */
typedef struct {{
  CUdeviceptr data;
  int64_t shape[{rank}], strides[{rank}];
}} tilec_array{rank};
#endif

"""


def _declaration(kernel: _Kernel, name: str) -> str:
    said = "".join(f"\n   {argument.described}" for argument in kernel.arguments)
    entry = kernel.entry
    threads = f", {' x '.join(map(str, entry.block))} threads" if entry.block else ""
    return f"/* {entry.name}{threads}:{said} */\n{kernel.declared(name)};\n\n"


def _held(code: str | bytes, called: str) -> str:
    """An image as an array of C."""
    data = code.encode() + b"\0" if isinstance(code, str) else code
    rows = (data[at : at + 20] for at in range(0, len(data), 20))
    held = ",\n".join("  " + ",".join(map(str, row)) for row in rows)
    return f"static _Alignas(16) const unsigned char {called}[] = {{\n{held}\n}};\n"


def _source(
    kernels: Sequence[_Kernel], code: str | bytes, plain: str | bytes | None, name: str
) -> str:
    others = [kernel.plain for kernel in kernels if kernel.plain]
    definitions = [_definition(kernel, name, "static ") for kernel in others]
    definitions += [_definition(kernel, name) for kernel in kernels]
    loaded, unloaded = "", "  return cuModuleUnload(module->module);\n"
    if plain is not None:
        loaded = (
            "  if (status == CUDA_SUCCESS)\n"
            "    status = cuModuleLoadData(&module->plain, plain_code);\n"
            + "".join(_lookup(kernel, "plain") for kernel in others)
        )
        unloaded = (
            "  CUresult status = cuModuleUnload(module->plain);\n"
            "  CUresult first = cuModuleUnload(module->module);\n"
            "  return first == CUDA_SUCCESS ? status : first;\n"
        )
    return f"""/* Launches kernels that tilec compiled; see {name}.h. */
#include "{name}.h"

#include <stddef.h>

{_held(code, "code")}{"" if plain is None else _held(plain, "plain_code")}
static _Thread_local const char *refusal = "";

const char *{name}_refused(void) {{ return refusal; }}

static CUresult refuse(const char *why) {{
  refusal = why;
  return CUDA_ERROR_INVALID_VALUE;
}}
{_HELPERS}{"" if plain is None else HELPER}
CUresult {name}_load({name}_module *module) {{
  CUresult status = cuModuleLoadData(&module->module, code);
{"".join(_lookup(kernel) for kernel in kernels)}{loaded}  return status;
}}

CUresult {name}_unload({name}_module *module) {{
{unloaded}}}
{"".join(definitions)}"""


_HELPERS = """
/* Whether the memory between two arrays' first and last bytes is apart. */
static inline int apart(CUdeviceptr a, CUdeviceptr a_end, CUdeviceptr b, CUdeviceptr b_end) {
  return a_end <= b || b_end <= a;
}

static inline CUdeviceptr end_of(CUdeviceptr data, int rank, const int64_t *shape,
                                 const int64_t *strides, int64_t size) {
  int64_t last = 0;
  for (int i = 0; i < rank; i++) {
    if (shape[i] == 0) return data;
    last += (shape[i] - 1) * strides[i];
  }
  return data + (CUdeviceptr)((last + 1) * size);
}
"""


def _lookup(kernel: _Kernel, image: str = "module") -> str:
    entry, where = kernel.entry, f"module->{kernel.name}"
    shared = (
        f"  if (status == CUDA_SUCCESS)\n    status = cuFuncSetAttribute({where}, "
        f"CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, {entry.dynamic_shared});\n"
        if entry.dynamic_shared
        else ""
    )
    return (
        "  if (status == CUDA_SUCCESS)\n    status = cuModuleGetFunction("
        f'&{where}, module->{image}, "{entry.name}");\n{shared}'
    )


def _definition(kernel: _Kernel, name: str, linkage: str = "") -> str:
    body = "".join(f"  {line}\n" if line else "\n" for line in _body(kernel))
    return f"\n{linkage}{kernel.declared(name)} {{\n{body}}}\n"


def _body(kernel: _Kernel) -> Iterator[str]:
    """The statements of a launching function."""
    entry = kernel.entry
    yield 'refusal = "";'
    for number, argument in enumerate(kernel.arguments):
        for condition, why in checks_of(argument):
            yield f'if (!({condition})) return refuse("{why}");'
        yield from disjoint_checks(kernel.arguments, number)
    if entry.grid is not None:
        for axis, extents in zip("xyz", entry.grid, strict=False):
            counts = [
                f"{_ctas(kernel.arguments[e.argument].name, e.dimension, e.elements)}"
                for e in extents
            ]
            yield f"unsigned grid_{axis} = (unsigned)({' * '.join(counts) or '1'});"
        for axis in "xyz"[len(entry.grid) :]:
            yield f"unsigned grid_{axis} = 1;"
    if entry.block is not None:
        for axis, count in zip("xyz", entry.block, strict=True):
            yield f"unsigned block_{axis} = {count};"
    yield "if (grid_x == 0 || grid_y == 0 || grid_z == 0) return CUDA_SUCCESS;"
    if kernel.plain is not None:
        given = ["module", *kernel.passed, "stream", *(one.name for one in kernel.arguments)]
        yield from fallback(kernel.maps, kernel.arguments, kernel.plain.function, given)
    if entry.ctas_per_sm is not None:
        yield from _resident_ctas(entry.ctas_per_sm, prod(entry.cluster or ()))
    if entry.cluster_tiles is not None:
        yield from _clusters_of_tiles(entry.cluster_tiles, prod(entry.cluster or ()))
    for number, map_ in enumerate(kernel.maps):
        yield from map_code(map_, kernel.arguments[map_.array], f"map{number}")
    pointers = [p for argument in kernel.arguments for p in parameters_of(argument)]
    if any(pointer == "&zero" for pointer in pointers):
        yield "int64_t zero = 0;"
    passed = (one for one in entry.arguments if isinstance(one, GridExtent))
    pointers += [f"&grid_{'xyz'[one.axis]}" for one in passed]
    pointers += [f"&map{number}" for number, _ in enumerate(kernel.maps)]
    yield "void *parameters[] = {" + ", ".join(f"(void *){p}" for p in [*pointers, "NULL"]) + "};"
    yield from _launch(kernel)


def _ctas(array: str, dimension: int, elements: int) -> str:
    extent = f"{array}->shape[{dimension}]"
    return f"({extent} ? ({extent} + {elements - 1}) / {elements} : 1)"


def _resident_ctas(of_sm: int, of_cluster: int) -> Iterator[str]:
    """Statements that find how many CTAs take the tiles of a grid one after the other.

    Args:
        of_sm: CTAs of an SM.
        of_cluster: CTAs of a cluster, of which there are at most as many as tiles.
    """
    yield f"if (grid_x > {CTAS_ALONG_X}u / grid_y / grid_z)"
    yield f'  return refuse("the grid has more than {CTAS_ALONG_X} tiles");'
    yield "CUdevice device;"
    yield "int sms = 0;"
    yield "CUresult status = cuCtxGetDevice(&device);"
    yield "if (status == CUDA_SUCCESS)"
    yield "  status = cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);"
    yield "if (status != CUDA_SUCCESS) return status;"
    yield "unsigned ctas = grid_x * grid_y * grid_z;"
    if of_cluster == 1:
        yield f"if (ctas > (unsigned)sms * {of_sm}) ctas = (unsigned)sms * {of_sm};"
        return
    yield f"unsigned clusters = (unsigned)sms * {of_sm} / {of_cluster};"
    yield "if (clusters == 0) clusters = 1;"
    yield "if (clusters > ctas) clusters = ctas;"
    yield f"ctas = clusters * {of_cluster};"


def _clusters_of_tiles(tiles: Extents, of_cluster: int) -> Iterator[str]:
    """Statements that find how many CTAs there are where clusters take the tiles of a grid.

    Args:
        tiles: along x, y and z that a cluster takes.
        of_cluster: CTAs of a cluster.
    """
    yield f"if (grid_x > {CTAS_ALONG_X}u / grid_y / grid_z)"
    yield f'  return refuse("the grid has more than {CTAS_ALONG_X} tiles");'
    counts = (
        f"((grid_{axis} + {count - 1}u) / {count}u)"
        for axis, count in zip("xyz", tiles, strict=True)
    )
    yield f"unsigned ctas = {of_cluster}u * {' * '.join(counts)};"


def _launch(kernel: _Kernel) -> Iterator[str]:
    entry = kernel.entry
    of_grid = entry.ctas_per_sm is None and entry.cluster_tiles is None
    grid = ["grid_x", "grid_y", "grid_z"] if of_grid else ["ctas", "1", "1"]
    where = f"module->{kernel.name}"
    if entry.cluster is None:
        yield f"return cuLaunchKernel({where}, {', '.join(grid)}, block_x, block_y, block_z,"
        yield f"                      {entry.dynamic_shared}, stream, parameters, NULL);"
        return
    yield "CUlaunchAttribute attribute = {0};"
    yield "attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;"
    for axis, count in zip("xyz", entry.cluster, strict=True):
        yield f"attribute.value.clusterDim.{axis} = {count};"
    yield "CUlaunchConfig config = {0};"
    for axis, ctas in zip("xyz", grid, strict=True):
        yield f"config.gridDim{axis.upper()} = {ctas};"
        yield f"config.blockDim{axis.upper()} = block_{axis};"
    yield f"config.sharedMemBytes = {entry.dynamic_shared};"
    yield "config.hStream = stream;"
    yield "config.attrs = &attribute;"
    yield "config.numAttrs = 1;"
    yield f"return cuLaunchKernelEx(&config, {where}, parameters, NULL);"
