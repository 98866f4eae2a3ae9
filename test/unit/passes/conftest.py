"""What the tests of the passes share."""

import pytest
from tilec.isa import form


@pytest.fixture
def mma_form():
    return form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
