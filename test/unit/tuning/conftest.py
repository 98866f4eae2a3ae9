"""Clusters of processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from .dask_processes import Started


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., Started]]:
    made: list[Started] = []

    def start(tls: Sequence[str] = ()) -> Started:
        made.append(Started(tmp_path, tls))
        return made[-1]

    yield start
    for one in made:
        one.end()


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """A cluster of one worker, for all tests of a module that leave it as it is."""
    made = Started(tmp_path_factory.mktemp("cluster"))
    made.worker()
    made.wait_for_workers(1)
    yield made
    made.end()
