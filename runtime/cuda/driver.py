"""The CUDA driver through cuda-bindings, imported when first needed.

Not through cuda-core: it keeps the primary context that it first retained, so it could not go on
after a kernel's fault; it gives errors as text; and it does not give the log of PTX that fails.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from .errors import DriverError, UnavailableError


@cache
def bindings() -> Any:
    """The module `cuda.bindings.driver`, with the driver initialised.

    Raises:
        UnavailableError: if it is not installed, or there is no driver or no GPU.
    """
    try:
        driver = import_module("cuda.bindings.driver")
    except ImportError as error:
        raise UnavailableError(
            f"CUDA needs cuda-bindings: pip install 'tilec[cuda]' ({error})"
        ) from None
    try:
        (status,) = driver.cuInit(0)
    except RuntimeError:  # what cuda-bindings raises where the driver's library is missing
        raise UnavailableError(
            "no NVIDIA driver is installed; kernels run on the simulator"
        ) from None
    if status.name in ("CUDA_ERROR_NO_DEVICE", "CUDA_ERROR_STUB_LIBRARY"):
        raise UnavailableError(
            f"the driver finds no GPU ({status.name}); kernels run on the simulator"
        )
    if int(status):
        raise UnavailableError(f"the driver does not start: cuInit returned {status.name}")
    return driver


def call(function: str, *args: Any) -> Any:
    """Call a function of the driver; gives its result, or a tuple of several.

    Raises:
        UnavailableError: if there is no GPU to use.
        DriverError: if the driver says anything but success.
    """
    try:
        status, *values = getattr(bindings(), function)(*args)
    except RuntimeError as error:  # what cuda-bindings raises for what the driver does not have
        raise UnavailableError(f"the driver is too old for {function}: {error}") from None
    if int(status):
        raise DriverError(status.name, function)
    return values[0] if len(values) == 1 else tuple(values)
