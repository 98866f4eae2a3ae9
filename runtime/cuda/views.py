"""Arrays that other libraries hold on a GPU, by the protocols that they share."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from tilec.isa import LaunchError

from .device import gpu
from .driver import bindings, call
from .errors import DriverError, UnavailableError
from .memory import Array

_HOST = 1  # kDLCPU
_LEGACY_DEFAULT_STREAM = 1  # as DLPack numbers it


@dataclass(frozen=True, slots=True)
class View:
    """An array on a GPU.

    Attributes:
        pointer: address of its first element.
        shape: its extents.
        strides: in elements.
        dtype: the numpy type of its elements; None where numpy has none.
        device: the number of the GPU.
        owner: what keeps its memory.
    """

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any] | None
    device: int
    owner: object


def is_shared(value: Any) -> bool:
    """Whether a value is an array by DLPack or the CUDA array interface, and not numpy's."""
    if isinstance(value, np.ndarray | np.generic):
        return False
    return hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack__")


def view(value: Any, name: str, stream: int = 0) -> View:
    """What is known of a shared array.

    Args:
        value: the array.
        name: what messages call it.
        stream: handle of the stream that will use it, which waits for what made it.

    Raises:
        LaunchError: if it is not on a GPU, or its library does not give it.
        UnavailableError: if it takes DLPack and cuda-core is not installed.
    """
    if isinstance(value, Array):
        if value.lost:
            raise LaunchError(f"{name} was lost when the context of {value.device} was reset")
        where = value.device.ordinal
        return View(value.pointer, value.shape, rows(value.shape), value.dtype, where, value)
    if hasattr(value, "__dlpack__"):
        try:
            shared: Any = import_module("cuda.core.utils").StridedMemoryView
        except ImportError:
            if not hasattr(value, "__cuda_array_interface__"):
                raise UnavailableError(
                    f"{name} is shared by DLPack, which takes cuda-core: pip install 'tilec[cuda]'"
                ) from None
        else:
            return _by_dlpack(shared, value, name, stream)
    return _by_interface(value, name, stream)


def _by_dlpack(shared: Any, value: Any, name: str, stream: int) -> View:
    kind, _ = value.__dlpack_device__()
    if int(kind) == _HOST:
        raise LaunchError(
            f"{name} is a {type(value).__name__} in the host's memory; move it to the GPU, or pass "
            "it as a numpy array"
        )
    try:
        seen = shared.from_dlpack(value, stream_ptr=stream or _LEGACY_DEFAULT_STREAM)
        dtype = seen.dtype
    except NotImplementedError:  # a type of elements that numpy and ml_dtypes lack
        dtype = None
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise LaunchError(f"{name}, a {type(value).__name__}, cannot be shared: {error}") from None
    shape = tuple(seen.shape)
    return View(seen.ptr, shape, tuple(seen.strides or rows(shape)), dtype, seen.device_id, seen)


def _by_interface(value: Any, name: str, stream: int) -> View:
    try:
        known = value.__cuda_array_interface__
    except (AttributeError, RuntimeError, TypeError) as error:  # as torch says it
        raise LaunchError(f"{name}, a {type(value).__name__}, cannot be shared: {error}") from None
    dtype = np.dtype(known["typestr"])
    if not dtype.itemsize:
        raise LaunchError(f"{name} has elements of {dtype!r}, of no bytes")
    pointer, _ = known["data"]
    shape = tuple(known["shape"])
    given = known.get("strides")
    strides = tuple(step // dtype.itemsize for step in given) if given else rows(shape)
    where, producer = _device_of(pointer, name), known.get("stream")
    if producer is not None and producer != stream and where >= 0:
        gpu(where).call("cuStreamSynchronize", producer)
    return View(pointer, shape, strides, dtype, where, value)


def rows(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in elements of an array that lies row after row."""
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.append(strides[-1] * extent)
    return tuple(reversed(strides[: len(shape)]))


def _device_of(pointer: int, name: str) -> int:
    if not pointer:  # an array without elements
        return -1
    attribute = bindings().CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    try:
        return int(call("cuPointerGetAttribute", attribute, pointer))
    except DriverError:
        raise LaunchError(
            f"{name} has the address {pointer:#x}, which is not in a GPU's memory"
        ) from None
