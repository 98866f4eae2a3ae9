"""What workers of a cluster do: what `worker` and `measure` do of this machine."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from tilec.isa import TilecError

from .assess import Task, assembler_of
from .errors import TuningError
from .measure import device_of, measure
from .pool import Pool
from .programs import load
from .store import Outcome
from .store.keys import versions
from .worker import task_of

Texts = Mapping[str, str]
"""The files of a declaration, by name."""


@dataclass
class _Mine(threading.local):
    """The process that a thread of a worker has assess, and what it has loaded."""

    key: tuple[str, str, float] | None = None
    pool: Pool | None = None


_mine = _Mine()


def versions_for(assembled_for: str) -> dict[str, str]:
    """The versions that outcomes are known by, of this process.

    Args:
        assembled_for: the target for which ptxas is asked; empty where it is not.
    """
    assembler = {"ptxas": assembler_of(assembled_for)} if assembled_for else {}
    return {**versions(), **assembler}


def check_versions(wanted: Mapping[str, str], assembled_for: str = "") -> None:
    """See that this worker's code is the client's.

    Raises:
        TuningError: saying what differs.
    """
    compare_versions(versions_for(assembled_for), wanted)


def compare_versions(its: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    """See that versions of this worker are the client's.

    Raises:
        TuningError: saying what differs.
    """
    if its != dict(wanted):
        other = ", ".join(
            f"{name} {its.get(name, 'none')} where the client has {wanted.get(name, 'none')}"
            for name in sorted({*its, *wanted})
            if its.get(name) != wanted.get(name)
        )
        raise TuningError(f"it has {other}")


def assess_elsewhere(
    texts: Texts, file: str, name: str, said: str, wanted: Mapping[str, str], patience: float
) -> Outcome:
    """What becomes of a candidate.

    Args:
        texts: the files of the declaration.
        file: the client's path of it, which messages name.
        name: of the kernel.
        said: what `worker.asked` gives.
        wanted: versions that the client has.
        patience: seconds that it may take.

    Raises:
        TuningError: for other versions, and a file that cannot be loaded here.
    """
    given = json.loads(said)
    check_versions(wanted, assembled_for=given["target"] if given["assembled"] else "")
    path = str(_written(tuple(sorted(texts.items()))) / Path(file).name)
    key = path, name, patience
    if _mine.pool is None or _mine.key != key:
        if _mine.pool is not None:
            _mine.pool.close()
        _loads(path, name, file)
        _mine.pool, _mine.key = Pool(path, name, 1, patience), key
    _mine.pool.ask(said, given["candidate"])
    (found,) = _mine.pool.wait()
    return replace(found, detail=found.detail.replace(path, file))


def gpu_of_worker(target: str) -> str:
    """The name of this worker's GPU; empty if it has none that runs a target."""
    try:
        return device_of(target)
    except TilecError:
        return ""


def measure_elsewhere(
    texts: Texts,
    file: str,
    name: str,
    said: Sequence[str],
    outcomes: Sequence[Outcome],
    wanted: Mapping[str, str],
) -> list[Outcome]:
    """Outcomes with their times on this worker's GPU, the fastest first.

    Args:
        texts: the files of the declaration.
        file: the client's path of it.
        name: of the kernel.
        said: what `worker.asked` gives of each.
        outcomes: ranked candidates.
        wanted: versions that the client has.

    Raises:
        TilecError: for other versions, and a GPU that is gone.
    """
    check_versions(wanted)
    path = str(_written(tuple(sorted(texts.items()))) / Path(file).name)
    task: Task = task_of(json.loads(said[0]), load(path, name))
    return measure(task, outcomes)


def _loads(path: str, name: str, file: str) -> None:
    try:
        load(path, name)
    except TilecError as error:
        raise TuningError(str(error).replace(path, file)) from None


@lru_cache(maxsize=16)
def _folder(texts: tuple[tuple[str, str], ...]) -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix="tilec-tune-")
    for name, text in texts:
        Path(folder.name, Path(name).name).write_text(text, "utf-8")
    return folder


def _written(texts: tuple[tuple[str, str], ...]) -> Path:
    """The folder of some files, which lies where this process may write until it ends."""
    return Path(_folder(texts).name)
