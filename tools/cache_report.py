"""What `tilec --cache list`, `clear` and `stats` print."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilec.cache.database import Store

ACTIONS = ("list", "clear", "stats")


def cache_report(action: str) -> str:
    """Do one of `ACTIONS`, and say what there is or was.

    Raises:
        CacheError: if the cache cannot be used.
    """
    from tilec.cache import store  # noqa: PLC0415 (most runs do without)

    lines = {"list": _list, "clear": _clear, "stats": _stats}[action](store())
    return "".join(f"{line}\n" for line in lines)


def _list(store: Store) -> Iterator[str]:
    rows = store.rows()
    if rows:
        yield f"{'last used':16}  {'target':8}  {'kind':6}  {'bytes':>8}  kernels"
    for row in rows:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.used))
        yield f"{used}  {row.target:8}  {row.kind:6}  {row.size:8}  {row.name}"


def _clear(store: Store) -> Iterator[str]:
    store.clear()
    yield f"cleared {store.folder}"


def _stats(store: Store) -> Iterator[str]:
    kinds = Counter(row.kind for row in store.rows())
    size = store.file.stat().st_size if kinds else 0
    parts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    yield f"folder   {store.folder}"
    yield f"entries  {kinds.total()}{f' ({parts})' if parts else ''}"
    yield f"bytes    {size} of at most {store.limit}"
