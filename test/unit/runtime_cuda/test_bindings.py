"""The driver of these tests is that of cuda-bindings: the same functions, with as many arguments,
and the same members of enumerations. Skipped where cuda-bindings is not installed."""

import inspect
import re

import numpy as np
import pytest
from tilec.runtime import cuda
from tilec.runtime.cuda.errors import FAULTS

real = pytest.importorskip("cuda.bindings.driver", reason="cuda-bindings is not installed")


def test_functions(fake):
    names = [name for name in dir(type(fake)) if name.startswith("cu")]
    assert len(names) > 30
    for name in names:
        signature = getattr(real, name).__doc__.partition("\n")[0]
        listed = re.sub(r"\[[^\]]*\]", "", signature[signature.index("(") + 1 : -1])
        count = len(listed.split(",")) if listed else 0
        assert len(inspect.signature(getattr(type(fake), name)).parameters) - 1 == count, signature


def test_members(fake, kernel):
    x = cuda.Array.of(np.zeros(16 * 32, np.float32))
    alien = type("Alien", (), {"__cuda_array_interface__": x.__cuda_array_interface__})()
    kernel.launch(16, 32, [alien, x, 1.0], dynamic_smem=100_000, cluster=16)
    assert kernel.local == kernel.static_shared == 0
    assert cuda.gpu().multiprocessors == 132
    assert len(fake.used) > 15
    for enum, member in fake.used:
        assert hasattr(getattr(real, enum), member), f"{enum}.{member}"


def test_errors():
    assert set(FAULTS) <= set(dir(real.CUresult))


def test_a_launch_is_what_the_driver_takes():
    """The fields that `settings.py` writes, on the real classes."""
    value = real.CUlaunchAttributeValue()
    value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = 2, 1, 1
    waiting = real.CUlaunchAttributeValue()
    waiting.programmaticStreamSerializationAllowed = 1
    assert waiting.programmaticStreamSerializationAllowed == 1
    assert real.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    attribute = real.CUlaunchAttribute()
    attribute.id = real.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    attribute.value = value
    config = real.CUlaunchConfig()
    config.gridDimX, config.hStream = 4, 77
    config.attrs, config.numAttrs = [attribute], 1
    assert config.attrs[0].value.clusterDim.x == 2
    assert (config.gridDimX, int(config.hStream), config.numAttrs) == (4, 77, 1)
