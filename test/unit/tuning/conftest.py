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
