"""Tensor maps in C: what the driver encodes of an array and a box."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tilec.isa.limits import MAP_ALIGNMENT
from tilec.runtime.cuda.tensor_map import SWIZZLES, map_type

from .abi import TensorMap
from .c_arguments import Argument, NamedArray


def map_code(map_: TensorMap, argument: Argument, called: str) -> Iterator[str]:
    """Statements that make the tensor map `called` of an argument.

    CUDA driver API, `cuTensorMapEncodeTiled`: dimension 0 is the array's last.
    """
    assert isinstance(argument, NamedArray)
    name, rank, size = argument.name, argument.rank, argument.size
    dims = range(rank - 1, -1, -1)
    extents = _list(f"(cuuint64_t){name}->shape[{dim}]" for dim in dims)
    strides = _list(
        f"(cuuint64_t)({name}->shape[{dim}] > 1 ? {name}->strides[{dim}] * {size} : "
        f"{MAP_ALIGNMENT})"
        for dim in dims[1:]
    )
    steps = map_.element_strides[::-1] or (1,) * rank
    yield f"CUtensorMap {called};"
    yield "{"
    yield f"  cuuint64_t extents[] = {extents};"
    yield f"  cuuint64_t strides[] = {strides if rank > 1 else '{0}'};"
    yield f"  cuuint32_t steps[] = {_list(map(str, steps))};"
    walked = map_.im2col
    if walked is None:
        yield f"  cuuint32_t box[] = {_list(map(str, map_.box[::-1]))};"
        function, box = "cuTensorMapEncodeTiled", "box"
    else:
        yield f"  int lower[] = {_list(map(str, walked.lower))};"
        yield f"  int upper[] = {_list(map(str, walked.upper))};"
        box = f"lower, upper, {walked.channels}, {walked.pixels}"
        function = "cuTensorMapEncodeIm2col"
    type_ = map_type(map_.type, size)
    yield f"  CUresult status = {function}("
    yield f"      &{called}, CU_TENSOR_MAP_DATA_TYPE_{type_}, {rank}, (void *){name}->data,"
    yield f"      extents, strides, {box}, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,"
    yield f"      CU_TENSOR_MAP_SWIZZLE_{SWIZZLES[map_.swizzle]},"
    yield "      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);"
    yield "  if (status != CUDA_SUCCESS) {"
    yield f'    refusal = "{name}: no tensor map describes it";'
    yield "    return status;"
    yield "  }"
    yield "}"


def _list(values: Iterable[str]) -> str:
    return "{" + ", ".join(values) + "}"
