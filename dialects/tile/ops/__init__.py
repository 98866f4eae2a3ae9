"""The ops, a family a file. Importing this package defines them all."""

from ..casts import CASTS
from .async_copy import AsyncCommitOp, AsyncCopyOp, AsyncWaitOp
from .atomic import ATOMICS, AtomicOp
from .atomic_rmw import AtomicCasOp, AtomicRmwOp
from .barrier import (
    BarrierArriveOp,
    BarrierExpectOp,
    BarrierInitOp,
    BarrierWaitOp,
    TurnOp,
    WarpgroupIdOp,
)
from .dots import DotOp, DotScaledOp, DotSpOp, DotSpScaledOp
from .elementwise import COMPARISONS, ELEMENTWISE, CastOp, ElementwiseOp, FillOp
from .gather import AtomicScatterOp, GatherOp, ScatterOp
from .inline_asm import InlineAsmOp, InlineAsmVolatileOp
from .iota import IotaOp
from .launch_control import QueryCancelOp, TryCancelOp
from .layouts import ConcatOp, ConvertLayoutOp, SliceOp
from .matrix_memory import LdmatrixOp, StmatrixOp
from .memory import AllocSharedOp, LoadOp, StoreOp
from .mma import MmaOp
from .mma_scaled import MmaScaledOp, MmaSpScaledOp
from .mma_sp import MmaSpOp
from .movmatrix import MovmatrixOp
from .reduce import REDUCTIONS, ReduceOp
from .select import SelectOp
from .take import TakeOp
from .tcgen05 import Tcgen05MmaOp, Tcgen05MmaScaledOp
from .tcgen05_cp import Tcgen05CpOp
from .tcgen05_ld_red import Tcgen05LdRedOp
from .tcgen05_moves import (
    Tcgen05CommitOp,
    Tcgen05FenceOp,
    Tcgen05LdOp,
    Tcgen05StOp,
    Tcgen05WaitLdOp,
    Tcgen05WaitStOp,
)
from .tcgen05_shift import Tcgen05ShiftOp
from .tcgen05_sp import Tcgen05MmaSpOp, Tcgen05MmaSpScaledOp
from .tensor_dot import TensorDotOp, TensorLoadOp, TensorStoreOp
from .tensor_dot_scaled import TensorDotScaledOp
from .tensor_memory import (
    AllocTensorOp,
    Tcgen05AllocOp,
    Tcgen05DeallocOp,
    Tcgen05RelinquishOp,
    TensorBufferOp,
)
from .tma import TmaLoadOp, TmaPrefetchOp, TmaReduceOp, TmaStoreOp
from .tma_rows import TmaGatherOp, TmaGatherPrefetchOp, TmaScatterOp
from .views import BroadcastOp, ExpandOp, ReshapeOp, TransposeOp
from .warpgroup_dot import (
    WarpgroupDotOp,
    WarpgroupDotSpOp,
    WarpgroupStartOp,
    WarpgroupWaitOp,
)
from .wgmma import (
    AccumulatorOp,
    JoinWarpsOp,
    WarpPartOp,
    WgmmaCommitOp,
    WgmmaFenceOp,
    WgmmaOp,
    WgmmaSpOp,
    WgmmaWaitOp,
)
from .wmma import WmmaElementwiseOp, WmmaFillOp, WmmaLoadOp, WmmaMmaOp, WmmaStoreOp

__all__ = [
    "ATOMICS",
    "CASTS",
    "COMPARISONS",
    "ELEMENTWISE",
    "REDUCTIONS",
    "AccumulatorOp",
    "AllocSharedOp",
    "AllocTensorOp",
    "AsyncCommitOp",
    "AsyncCopyOp",
    "AsyncWaitOp",
    "AtomicCasOp",
    "AtomicOp",
    "AtomicRmwOp",
    "AtomicScatterOp",
    "BarrierArriveOp",
    "BarrierExpectOp",
    "BarrierInitOp",
    "BarrierWaitOp",
    "BroadcastOp",
    "CastOp",
    "ConcatOp",
    "ConvertLayoutOp",
    "DotOp",
    "DotScaledOp",
    "DotSpOp",
    "DotSpScaledOp",
    "ElementwiseOp",
    "ExpandOp",
    "FillOp",
    "GatherOp",
    "InlineAsmOp",
    "InlineAsmVolatileOp",
    "IotaOp",
    "JoinWarpsOp",
    "LdmatrixOp",
    "LoadOp",
    "MmaOp",
    "MmaScaledOp",
    "MmaSpOp",
    "MmaSpScaledOp",
    "MovmatrixOp",
    "QueryCancelOp",
    "ReduceOp",
    "ReshapeOp",
    "ScatterOp",
    "SelectOp",
    "SliceOp",
    "StmatrixOp",
    "StoreOp",
    "TakeOp",
    "Tcgen05AllocOp",
    "Tcgen05CommitOp",
    "Tcgen05CpOp",
    "Tcgen05DeallocOp",
    "Tcgen05FenceOp",
    "Tcgen05LdOp",
    "Tcgen05LdRedOp",
    "Tcgen05MmaOp",
    "Tcgen05MmaScaledOp",
    "Tcgen05MmaSpOp",
    "Tcgen05MmaSpScaledOp",
    "Tcgen05RelinquishOp",
    "Tcgen05ShiftOp",
    "Tcgen05StOp",
    "Tcgen05WaitLdOp",
    "Tcgen05WaitStOp",
    "TensorBufferOp",
    "TensorDotOp",
    "TensorDotScaledOp",
    "TensorLoadOp",
    "TensorStoreOp",
    "TmaGatherOp",
    "TmaGatherPrefetchOp",
    "TmaLoadOp",
    "TmaPrefetchOp",
    "TmaReduceOp",
    "TmaScatterOp",
    "TmaStoreOp",
    "TransposeOp",
    "TryCancelOp",
    "TurnOp",
    "WarpPartOp",
    "WarpgroupDotOp",
    "WarpgroupDotSpOp",
    "WarpgroupIdOp",
    "WarpgroupStartOp",
    "WarpgroupWaitOp",
    "WgmmaCommitOp",
    "WgmmaFenceOp",
    "WgmmaOp",
    "WgmmaSpOp",
    "WgmmaWaitOp",
    "WmmaElementwiseOp",
    "WmmaFillOp",
    "WmmaLoadOp",
    "WmmaMmaOp",
    "WmmaStoreOp",
]
