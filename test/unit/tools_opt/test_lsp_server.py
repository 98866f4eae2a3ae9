"""`tile-lsp-server`, driven by a client of the protocol on its standard streams."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the server needs pygls: pip install 'tilec[lsp]'")

ROOT = Path(__file__).parents[3]
GEMM = (ROOT / "examples/gemm.mlir").read_text()
URI = "file:///gemm.mlir"


class Client:
    """An editor: requests are numbered, what comes besides the answers is kept."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tilec.tools.tile_lsp_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.number = 0
        self.version = 0

    def send(self, method: str, params: Any, **more: Any) -> None:
        """A message."""
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        assert self.process.stdin
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next message."""
        assert self.process.stdout
        size = 0
        while (line := self.process.stdout.readline().strip()) or not size:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        found: dict[str, Any] = json.loads(self.process.stdout.read(size))
        return found

    def ask(self, method: str, params: Any) -> Any:
        """A request, and its answer."""
        self.number += 1
        self.send(method, params, id=self.number)
        while True:
            found = self.receive()
            if found.get("id") == self.number and "method" not in found:
                assert "error" not in found, found
                return found["result"]

    def diagnostics(self) -> list[dict[str, Any]]:
        """Those that are published next."""
        while True:
            found = self.receive()
            if found.get("method") == "textDocument/publishDiagnostics":
                return list(found["params"]["diagnostics"])

    def edit(self, text: str) -> tuple[list[dict[str, Any]], float]:
        """Another text: its diagnostics, and how long they took."""
        self.version += 1
        document = {"uri": URI, "version": self.version}
        start = time.perf_counter()
        if self.version == 1:
            given = {**document, "languageId": "mlir", "text": text}
            self.send("textDocument/didOpen", {"textDocument": given})
        else:
            changes = [{"text": text}]
            self.send(
                "textDocument/didChange", {"textDocument": document, "contentChanges": changes}
            )
        return self.diagnostics(), time.perf_counter() - start

    def at(self, method: str, line: int, column: int) -> Any:
        """What is asked of a place."""
        position = {"line": line, "character": column}
        return self.ask(
            f"textDocument/{method}", {"textDocument": {"uri": URI}, "position": position}
        )


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    made = Client()
    told = made.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    assert told["serverInfo"]["name"] == "tile-lsp-server"
    made.send("initialized", {})
    yield made
    made.ask("shutdown", None)
    made.send("exit", None)
    assert made.process.wait(20) == 0


def place(text: str, what: str, inside: str | None = None) -> tuple[int, int]:
    """Line and column of the first `inside` on the first line with `what`, comments aside."""
    for number, line in enumerate(text.split("\n")):
        code = line.partition("//")[0]
        if what in code:
            return number, code.index(inside or what)
    raise LookupError(what)


def test_diagnostics_after_an_edit(client: Client) -> None:
    found, _ = client.edit(GEMM)
    assert found == []
    wrong = GEMM.replace("{form =", "{frm =", 1)
    times = []
    for _ in range(3):
        found, seconds = client.edit(wrong)
        times.append(seconds)
        assert len(found) == 1
        assert "unknown attribute 'frm'" in found[0]["message"]
        assert found[0]["severity"] == 1
        assert "tile.dot" in wrong.split("\n")[found[0]["range"]["start"]["line"]]
        found, seconds = client.edit(GEMM)
        times.append(seconds)
        assert found == []
    # Half a second of a machine that has nothing else to do; a bound that a busy one keeps.
    assert min(times) < 0.5
    found, _ = client.edit(GEMM.replace("scf.yield", "scf.yeld"))
    assert found
    assert found[0]["severity"] == 1


def test_a_check_of_the_target(client: Client) -> None:
    found, _ = client.edit(GEMM.replace('chip = "sm_80"', 'chip = "sm_70"'))
    assert any("sm_70" in one["message"] for one in found)


def test_hover(client: Client) -> None:
    client.edit(GEMM)
    line, column = place(GEMM, "= tile.load", "%")
    text = client.at("hover", line, column + 1)["contents"]["value"]
    assert "tensor<" in text
    assert "lane:register of the first warp" in text
    assert "0:0" in text
    assert "Effects: reads operand 0." in text
    line, column = place(GEMM, "tile.async_copy")
    text = client.at("hover", line, column + 3)["contents"]["value"]
    assert text.startswith("**tile.async_copy**")
    assert "asynchronously" in text
    assert client.at("hover", 0, 0) is None or GEMM[0] != "/"


def test_definition(client: Client) -> None:
    client.edit(GEMM)
    line, column = place(GEMM, "tile.async_copy", "%")
    found = client.at("definition", line, column + 1)
    name = GEMM.split("\n")[line][column:].split("[")[0].strip().split()[-1]
    there = found["range"]["start"]
    assert GEMM.split("\n")[there["line"]][there["character"] :].startswith(name)
    assert there["line"] < line
    line, column = place(GEMM, "= scf.for", "%")
    assert client.at("definition", line, column + 1)["range"]["start"]["line"] == line


def test_code_actions(client: Client) -> None:
    wrong = GEMM.replace("{form =", "{frm =", 1)
    found, _ = client.edit(wrong)
    params = {
        "textDocument": {"uri": URI},
        "range": found[0]["range"],
        "context": {"diagnostics": found},
    }
    (action,) = client.ask("textDocument/codeAction", params)
    assert action["title"] == "Write form instead of frm"
    (edit,) = action["edit"]["changes"][URI]
    lines = wrong.split("\n")
    start, end = edit["range"]["start"], edit["range"]["end"]
    line = lines[start["line"]]
    lines[start["line"]] = line[: start["character"]] + edit["newText"] + line[end["character"] :]
    assert "\n".join(lines) == GEMM


def test_without_pygls(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from tilec.tools import tile_lsp_server

    monkeypatch.setitem(sys.modules, "lsprotocol", None)
    assert tile_lsp_server.main([]) == 1
    assert "pip install 'tilec[lsp]'" in capsys.readouterr().err
