"""`tile-lsp-server` under messages and documents that are broken, closed streams and signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the server needs pygls: pip install 'tilec[lsp]'")

SERVER = [sys.executable, "-m", "tilec.tools.tile_lsp_server"]
URI = "file:///a.mlir"


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def message(method: str, params: Any, **more: Any) -> bytes:
    return framed(
        json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
    )


def opened(text: str, uri: str = URI) -> bytes:
    document = {"uri": uri, "version": 1, "languageId": "mlir", "text": text}
    return message("textDocument/didOpen", {"textDocument": document})


def hover(line: int, number: int) -> bytes:
    place = {"textDocument": {"uri": URI}, "position": {"line": line, "character": 3}}
    return message("textDocument/hover", place, id=number)


BEGIN = message("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, id=1)
END = message("shutdown", None, id=99) + message("exit", None)
BROKEN = {
    "no JSON": framed(b"{nonsense"),
    "not UTF-8": framed(b'{"jsonrpc":"2.0","id":2,"method":"\xff"}'),
    "a list": framed(b"[1, 2]"),
    "a number": framed(b"5"),
    "deep brackets": framed(b"[" * 100_000),
    "a method that there is not": message("foo/bar", {}, id=3),
    "parameters of a wrong type": message("textDocument/hover", 5, id=4),
    "no text": message("textDocument/didOpen", {}),
    "a negative place": hover(-1, 5),
}
DOCUMENTS = (
    *("module {" * 100_000, "\0x\0" * 1000, '"\ud800"', 'gpu.module @"\\FF" {}'),
    *('%0:99999999999999999999 = "a.b"() : () -> ()', "", "module {}"),
)


def answers(output: bytes) -> Iterator[dict[str, Any]]:
    while output:
        head, _, rest = output.partition(b"\r\n\r\n")
        (size,) = (int(n[15:]) for n in head.split(b"\r\n") if n.startswith(b"Content-Length:"))
        yield json.loads(rest[:size])
        output = rest[size:]


def test_what_is_broken_is_said_in_a_line_each_and_the_server_goes_on() -> None:
    texts = b"".join(opened(text) + hover(10**9, 20 + at) for at, text in enumerate(DOCUMENTS))
    sent = BEGIN + b"".join(BROKEN.values()) + texts + opened("module {") + END
    done = subprocess.run(SERVER, input=sent, capture_output=True, timeout=120, check=False)
    said = done.stderr.decode().splitlines()
    assert done.returncode == 0, said
    assert all(line.startswith(("error: ", "warning: ")) for line in said), said
    assert len(BROKEN) - 1 <= len(said) <= 2 * len(BROKEN), said
    got = list(answers(done.stdout))
    answered = {one["id"] for one in got if "result" in one}
    assert {1, 99, *range(20, 20 + len(DOCUMENTS))} <= answered
    assert 3 in {one["id"] for one in got if "error" in one}
    published = [one for one in got if one.get("method") == "textDocument/publishDiagnostics"]
    assert len(published) == len(DOCUMENTS) + 1
    assert published[-2]["params"]["diagnostics"] == []
    assert published[-1]["params"]["diagnostics"] != []


STREAMS = {
    "standard input is closed": ('"$@" <&-', 1, "error: <stdin>: Bad file descriptor\n"),
    "standard output is closed": ('"$@" >&-', 1, "error: <stdout>: Bad file descriptor\n"),
    "standard output is full": (
        '"$@" >/dev/full',
        1,
        "error: <stdout>: No space left on device\n",
    ),
    "nobody reads standard output": ('{ "$@"; echo "code $?" >&2; } | true', 0, "code 1\n"),
    "standard error is closed": ('"$@" 2>&-', 0, ""),
}


@pytest.mark.skipif(sys.platform != "linux", reason="Linux has /dev/full")
@pytest.mark.parametrize(
    "what",
    [
        pytest.param(what, marks=[pytest.mark.slow] * (what != "standard output is full"))
        for what in STREAMS
    ],
)
def test_streams(what: str) -> None:
    script, code, says = STREAMS[what]
    done = subprocess.run(
        ["sh", "-c", script, "sh", *SERVER],
        input=BEGIN + opened("module {}") + END,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr.decode()) == (code, says)


@pytest.mark.parametrize(
    ("number", "texts"),
    [
        (signal.SIGINT, 0),
        *(
            pytest.param(number, texts, marks=pytest.mark.slow)
            for number, texts in [(signal.SIGTERM, 0), (signal.SIGINT, 40), (signal.SIGTERM, 40)]
        ),
    ],
)
def test_it_ends_when_it_is_told_to(number: int, texts: int) -> None:
    """Idle, and at work."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # may be ignored
    with subprocess.Popen(
        SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        signal.signal(signal.SIGINT, before)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(BEGIN + opened("module {}\n" * 1000) * texts)
        process.stdin.flush()
        os.read(process.stdout.fileno(), 1)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (-number, b"")
