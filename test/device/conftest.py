"""A CUDA GPU, driven by cuda-bindings; without one every test here is skipped, saying why."""

import ctypes
from collections.abc import Callable, Sequence

import numpy as np
import pytest

Launch = Callable[
    [str, str, tuple[int, int, int], tuple[int, int, int], Sequence[object], int], None
]


def _driver():
    try:
        from cuda.bindings import driver
    except ImportError:
        pytest.skip("cuda-bindings is not installed: pip install 'tilec[cuda]'")
    try:
        (error,) = driver.cuInit(0)
    except RuntimeError as missing:  # without NVIDIA's driver library
        pytest.skip(f"no CUDA driver: {missing}")
    if error != driver.CUresult.CUDA_SUCCESS:
        pytest.skip(f"no CUDA GPU: cuInit says {error.name}")
    return driver


def _done(driver, answer):
    """What a call of the driver returns besides its status, which must be success."""
    error, *values = answer
    assert error == driver.CUresult.CUDA_SUCCESS, error.name
    return values[0] if len(values) == 1 else values


@pytest.fixture(scope="session")
def driver():
    found = _driver()
    device = _done(found, found.cuDeviceGet(0))
    context = _done(found, found.cuDevicePrimaryCtxRetain(device))
    _done(found, found.cuCtxSetCurrent(context))
    yield found
    _done(found, found.cuDevicePrimaryCtxRelease(device))


@pytest.fixture(scope="session")
def gpu(driver) -> str:
    """The target of the GPU, as `sm_90`."""
    device = _done(driver, driver.cuDeviceGet(0))
    kind = driver.CUdevice_attribute
    major = _done(
        driver,
        driver.cuDeviceGetAttribute(kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
    )
    minor = _done(
        driver,
        driver.cuDeviceGetAttribute(kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
    )
    return f"sm_{major}{minor}"


@pytest.fixture
def launch_on_gpu(driver) -> Launch:
    """`tilec.sim.launch` for the GPU: arrays are copied there and back, integers passed as i64."""

    def launch(ptx, kernel, grid, block, args, dynamic_smem=0):
        module = _done(driver, driver.cuModuleLoadData(ptx.encode() + b"\0"))
        function = _done(driver, driver.cuModuleGetFunction(module, kernel.encode()))
        if dynamic_smem:
            most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            _done(driver, driver.cuFuncSetAttribute(function, most, dynamic_smem))
        copies, values = [], []
        for arg in args:
            if isinstance(arg, np.ndarray):
                pointer = _done(driver, driver.cuMemAlloc(arg.nbytes))
                _done(driver, driver.cuMemcpyHtoD(pointer, arg.ctypes.data, arg.nbytes))
                copies.append((arg, pointer))
                values.append(ctypes.c_uint64(int(pointer)))
            else:
                values.append(ctypes.c_int64(arg))
        places = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
        where = ctypes.addressof(places)
        _done(driver, driver.cuLaunchKernel(function, *grid, *block, dynamic_smem, 0, where, 0))
        _done(driver, driver.cuCtxSynchronize())
        for arg, pointer in copies:
            _done(driver, driver.cuMemcpyDtoH(arg.ctypes.data, pointer, arg.nbytes))
            _done(driver, driver.cuMemFree(pointer))
        _done(driver, driver.cuModuleUnload(module))

    return launch
