"""What others, or older versions, may have put into the compile cache."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Any

MARK = b"tilec-fuzz-poison"
"""Is in no output but that of an entry that `another program` is put into."""


def put(file: Path, kind: str) -> None:
    """Change all entries of a cache's file, so that they look whole."""
    with closing(sqlite3.connect(file)) as database, database:
        rows = database.execute("SELECT key, value FROM entry").fetchall()
        for key, value in rows:
            changed = KINDS[kind](json.loads(zlib.decompress(value)))
            digest = blake2b(key.encode() + b"\0" + changed, digest_size=16).digest()
            database.execute(
                "UPDATE entry SET value = ?, digest = ?, size = ? WHERE key = ?",
                (changed, digest, len(changed), key),
            )


def _packed(data: Any) -> bytes:
    return zlib.compress(json.dumps(data).encode())


def _marked(data: dict[str, Any]) -> bytes:
    """The entry with a program in it that nobody has compiled."""
    if "cubin" in data:
        return _packed({**data, "cubin": (bytes.fromhex(data["cubin"]) + MARK).hex()})
    return _packed({**data, "ptx": f"{data['ptx']}\n// {MARK.decode()}\n"})


KINDS: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "another program": _marked,
    "no values": lambda data: _packed(dict.fromkeys(data)),
    "numbers": lambda data: _packed(dict.fromkeys(data, 7)),
    "no names": lambda data: _packed({}),
    "a list": lambda data: _packed([data]),
    "text for all": lambda data: _packed(dict.fromkeys(data, "x")),
    "deep": lambda data: zlib.compress(b"[" * 200_000),
    "huge": lambda data: zlib.compress(b" " * (300 << 20), 1),
    "cut off": lambda data: _packed(data)[:-9],
    "not packed": lambda data: json.dumps(data).encode(),
}
"""What becomes of an entry."""
