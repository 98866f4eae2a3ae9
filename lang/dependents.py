"""Programmatic dependent launch: a kernel that begins before the one in front of it has ended."""

from __future__ import annotations

from tilec.ir import ops

from .emit import emit


def gdc_wait() -> None:
    """Wait until the kernels launched before on the stream have ended, and see what they stored.

    A kernel with it is launched on a GPU so that it may begin earlier. What comes before must not
    touch what those kernels write. From sm_90 on.
    """
    emit(ops.nvvm.griddepcontrol, ops.nvvm.Dependence.WAIT)


def gdc_launch_dependents() -> None:
    """Let kernels behind on the stream begin, once all CTAs have come here or ended.

    They still wait, by `gdc_wait`, for the end of this one before they read what it stores. From
    sm_90 on.
    """
    emit(ops.nvvm.griddepcontrol, ops.nvvm.Dependence.LAUNCH_DEPENDENTS)
