"""What is timed beside dense products and attention: each a problem with numpy's result and peers.

The pack says which kernels work on which, and of what sizes: `device_pack.suite`.
"""

from __future__ import annotations

from collections.abc import Mapping

from .block_scales import BlockScales
from .gradients import Gradients
from .groups import Groups
from .products import Products
from .sequences import Sequences
from .stream_k import StreamK
from .weights import Weights
from .workload import Workload

WORKLOADS: Mapping[str, type[Workload]] = {
    "block scales": BlockScales,
    "gradients": Gradients,
    "groups": Groups,
    "products": Products,
    "sequences": Sequences,
    "stream-K": StreamK,
    "weights": Weights,
}
"""By the name that the pack calls them by."""

__all__ = ["WORKLOADS", "Workload"]
