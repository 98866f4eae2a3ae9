"""The most that clusters, tensor maps, the boxes that copies of them move, mbarriers and such have.

PTX ISA 5.5, "Tensors", 9.7.13.15.2; CUDA driver API, `cuTensorMapEncodeTiled`.
"""

from __future__ import annotations

CLUSTERS_SINCE = 90
"""The first architecture with clusters."""
PORTABLE_CLUSTER = 8
"""CTAs of a cluster that every GPU with clusters takes. CUDA Programming Guide, "Clusters"."""
LARGEST_CLUSTER = 16
"""The most CTAs of a cluster; more than `PORTABLE_CLUSTER` have to be asked for."""
CTAS_ALONG_X = 2**31 - 1
"""The most CTAs along x, where a grid has most (CUDA Programming Guide, "Compute Capabilities")."""
TENSOR_LANES = 128
"""Rows of tensor memory, of 32 bits a column (PTX ISA 9.7.16.1)."""
TENSOR_COLUMNS = 512
MAP_BYTES = 128
"""Of a map."""
MAP_PLACES = 64
"""What a map's address is a multiple of, in bytes."""
MAP_RANKS = range(1, 6)
"""Dimensions that a map has."""
MAP_ALIGNMENT = 16
"""Of an array's first element, of its strides, and of rows of a box; in bytes."""
MAP_EXTENTS = range(1, (1 << 32) + 1)
"""Elements of an array along a dimension."""
MAP_STRIDES = 1 << 40
"""What strides are below, in bytes."""
BOX_EXTENTS = range(1, 257)
"""Elements of a box along a dimension."""
ROWS_OF_COPY = 4
"""Rows of a matrix that a copy gathers or scatters, each at a number of its own."""
ELEMENT_STRIDES = range(1, 9)
"""Every how-manieth element along a dimension a copy takes."""
IM2COL_RANKS = range(3, 6)
"""Dimensions of an array that is walked by its pixels."""
IM2COL_PIXELS = range(1, 1025)
"""Pixels of a copy."""
IM2COL_CORNERS = {
    1: range(-(1 << 15), 1 << 15),
    2: range(-(1 << 7), 1 << 7),
    3: range(-(1 << 4), 1 << 4),
}
"""What corners of the pixels may be, by the dimensions that these have: all share 32 bits."""
BOX_ALIGNMENT = 128
"""Of a box in shared memory, in bytes."""
TENSOR_REDUCTIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
"""What a copy of a box may do with what is there."""
COUNT_BITS = 20
MOST_COUNTED = (1 << COUNT_BITS) - 1
"""Arrivals, and bytes to come, that an mbarrier counts."""
REGISTER_COUNTS = range(24, 257, 8)
"""Registers of a thread that `setmaxnreg` may leave. PTX ISA, "setmaxnreg"."""
