"""Kernels of the tests are compiled anew: what another run left on disk proves nothing."""

import pytest


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEC_CACHE", "0")
