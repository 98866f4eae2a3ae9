"""C that launches a kernel without tensor maps where none describes an array, as an empty one.

`tilec.runtime.tensor_maps` says what every map demands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tilec.isa.limits import MAP_EXTENTS, MAP_STRIDES

from .abi import TensorMap
from .c_arguments import Argument, NamedArray

HELPER = f"""
/* Whether a tensor map describes an array: it has elements, and no rows that are one. */
static inline int has_map(int rank, const int64_t *shape, const int64_t *strides, int64_t size) {{
  for (int i = 0; i < rank; i++) {{
    if (shape[i] < 1 || shape[i] > {MAP_EXTENTS[-1]}ll) return 0;
    if (i + 1 == rank || shape[i] == 1) continue;
    if (strides[i] < 1 || strides[i] > {MAP_STRIDES - 1}ll / size) return 0;
  }}
  return 1;
}}
"""


def fallback(
    maps: Iterable[TensorMap], arguments: list[Argument], function: str, passed: Iterable[str]
) -> Iterator[str]:
    """Statements that launch the kernel without maps instead, where an array has none.

    Args:
        maps: of the kernel.
        arguments: of the kernel.
        function: launches the kernel without maps.
        passed: what it takes, as C.
    """
    arrays = {map_.array: arguments[map_.array] for map_ in maps}
    described = [
        f"has_map({array.rank}, {array.name}->shape, {array.name}->strides, {array.size})"
        for array in arrays.values()
        if isinstance(array, NamedArray)
    ]
    yield f"if (!({' && '.join(described)}))"
    yield f"  return {function}({', '.join(passed)});"
