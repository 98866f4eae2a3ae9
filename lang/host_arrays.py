"""Arrays of other libraries in the host's memory, as numpy's."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from tilec.isa import LaunchError

_HOST = 1  # kDLCPU of DLPack


def on_host(value: Any, name: str) -> Any:
    """The value, as a numpy array of the same memory if it is another library's on the host.

    Raises:
        LaunchError: calling it `name`, if its library does not share it.
    """
    if isinstance(value, np.ndarray | np.generic) or not hasattr(value, "__dlpack_device__"):
        return value
    if int(value.__dlpack_device__()[0]) != _HOST:
        return value
    try:
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.Tensor):
            return _of_torch(torch, value)
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise LaunchError(
            f"argument '{name}', a {type(value).__name__}, cannot be shared: {error}"
        ) from None


def _of_torch(torch: Any, tensor: Any) -> np.ndarray[Any, Any]:
    """A tensor; of the types that numpy has by ml_dtypes alone, its bits under that type."""
    import ml_dtypes  # noqa: PLC0415 (a launch of numpy's types does without)

    tensor = tensor.detach()
    dtype = getattr(ml_dtypes, str(tensor.dtype).removeprefix("torch."), None)
    if dtype is None:
        array: np.ndarray[Any, Any] = tensor.numpy()
        return array
    bits = torch.int16 if tensor.element_size() == 2 else torch.int8
    array = tensor.view(bits).numpy()
    return array.view(dtype)
