"""The extension for Visual Studio Code: its files fit, its grammar colours, its client starts."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tilec.dialects.tile import ops

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "editors" / "vscode"


def read(path: str) -> Any:
    return json.loads((FOLDER / path).read_text(encoding="utf-8"))


PACKAGE = read("package.json")
GRAMMAR = read("syntaxes/mlir.tmLanguage.json")
RULES = [(rule["name"], re.compile(rule["match"])) for rule in GRAMMAR["patterns"]]


def scopes(line: str) -> Iterator[tuple[str, str]]:
    """The tokens of a line with their scopes, by TextMate's rule: the leftmost match, then the
    first of the rules."""
    at = 0
    while at < len(line):
        found = [
            (match.start(), number, name, match)
            for number, (name, rule) in enumerate(RULES)
            if (match := rule.search(line, at)) and match.end() > match.start()
        ]
        if not found:
            return
        _, _, name, match = min(found, key=lambda one: one[:2])
        yield match.group(), name.removesuffix(".mlir")
        at = match.end()


def test_what_it_names_is_there() -> None:
    contributes = PACKAGE["contributes"]
    (language,), (grammar,) = contributes["languages"], contributes["grammars"]
    assert language["id"] == grammar["language"] == "mlir"
    assert grammar["scopeName"] == GRAMMAR["scopeName"]
    for path in (PACKAGE["main"], language["configuration"], grammar["path"], "README.md"):
        assert (FOLDER / path).is_file()
    assert PACKAGE["activationEvents"] == [f"onLanguage:{language['id']}"]
    read(language["configuration"])
    # The client has the version of the language server's protocol that the dependency brings.
    assert set(PACKAGE["dependencies"]) == {"vscode-languageclient"}


def test_the_server_is_a_command_of_the_project() -> None:
    setting = PACKAGE["contributes"]["configuration"]["properties"]["tilec.server"]
    (name,) = setting["default"]
    assert f"{name} = " in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "%x = tile.load %a[%i, %k] masked : memref<?x8xf16> -> tensor<32x64xbf16>",
            {
                "%x": "variable.other.value",
                "tile.load": "support.function.op",
                "masked": "keyword.control",
                "?x8x": "constant.numeric.dimension",
                "f16": "storage.type",
                "32x64x": "constant.numeric.dimension",
                "bf16": "storage.type",
                "memref": "storage.type",
                "->": "keyword.operator",
            },
        ),
        (
            'gpu.func @k(%p: !tile.frag<2xi4, #tile.layout<x>>) kernel attributes {a.b = "c\\"d"}',
            {
                "gpu.func": "support.function.op",
                "@k": "entity.name.function.symbol",
                "!tile.frag": "storage.type.alias",
                "i4": "storage.type",
                "#tile.layout": "constant.other.attribute",
                "kernel": "keyword.control",
                '"c\\"d"': "string.quoted.double",
            },
        ),
        (
            '"tile.dot"(%a#1) <{n = -3 : i64, x = 1.5e-3 : f8E4M3FN}> // "not a string"',
            {
                '"tile.dot"': "support.function.op",
                "%a#1": "variable.other.value",
                "n": "variable.parameter.attribute",
                "-3": "constant.numeric",
                "1.5e-3": "constant.numeric",
                "f8E4M3FN": "storage.type",
                '// "not a string"': "comment.line.double-slash",
            },
        ),
        (
            "^bb0(%b: vector<[4]xi1>): // pred",
            {
                "^bb0": "entity.name.label.block",
                "%b": "variable.other.value",
                "4": "constant.numeric",
            },
        ),
        ("%c = arith.constant dense<0xFF> : tensor<4xui8>", {"dense": "constant.language"}),
    ],
)
def test_scopes(line: str, expected: dict[str, str]) -> None:
    found = dict(scopes(line))
    assert {token: found.get(token) for token in expected} == expected


def test_every_op_of_the_examples_is_one() -> None:
    """What MLIR says are ops of the examples is coloured as ops, and nothing is left of names."""
    names = {cls.OPERATION_NAME for cls in ops.__dict__.values() if hasattr(cls, "OPERATION_NAME")}
    assert len(names) > 20
    for path in sorted((ROOT / "examples").rglob("*.mlir")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            code = line.partition("//")[0]
            found = list(scopes(line))
            wanted = [n for n in re.findall(r"(?<![\w.!#@%])\"?tile\.\w+", code) if n in names]
            coloured = [token for token, scope in found if scope == "support.function.op"]
            assert not [name for name in wanted if name not in coloured], (path, line)
            # Every % and @ begins a token of its own.
            values = re.findall(r"%[\w$.-]+", re.sub(r'"[^"]*"', "", code))
            assert [t.partition("#")[0] for t, s in found if "value" in s] == values, (path, line)


_FAKES = """
const Module = require("module");
const told = [];
class LanguageClient {
  constructor(id, name, server, options) { this.server = server; told.push([server, options]); }
  async start() { if (this.server.command === "missing") throw new Error("ENOENT"); }
  async stop() { told.push("stopped"); }
}
let command = ["tile-lsp-server"], changed;
const handlers = {};
const fakes = {
  "vscode": {
    workspace: {
      getConfiguration: () => ({ get: () => command }),
      onDidChangeConfiguration: (f) => { changed = f; return {}; },
    },
    commands: { registerCommand: (name, f) => { handlers[name] = f; return {}; } },
    window: { showErrorMessage: (text) => told.push(text) },
  },
  "vscode-languageclient/node": { LanguageClient },
};
const load = Module._load;
Module._load = (name, ...rest) => fakes[name] ?? load(name, ...rest);
(async () => {
  const extension = require(process.argv[1]);
  const context = { subscriptions: [] };
  await extension.activate(context);
  command = ["/venv/bin/tile-lsp-server", "-v"];
  await changed({ affectsConfiguration: (name) => name === "tilec.server" });
  await changed({ affectsConfiguration: () => false });
  command = ["missing"];
  await handlers["tilec.restart"]();
  await extension.deactivate();
  console.log(JSON.stringify([told, context.subscriptions.length]));
})();
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="no node")
def test_the_client() -> None:
    """It starts the server of the settings, again when they change, and says if it cannot."""
    words = ["node", "-e", _FAKES, str(FOLDER / "extension.js")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    told, subscriptions = json.loads(done.stdout)
    selector = {"documentSelector": [{"language": "mlir"}]}
    first, stopped, second, stopped_again, third, message = told
    assert first == [{"command": "tile-lsp-server", "args": []}, selector]
    assert second == [{"command": "/venv/bin/tile-lsp-server", "args": ["-v"]}, selector]
    assert stopped == stopped_again == "stopped"
    assert third[0]["command"] == "missing"
    assert message.startswith("missing does not start: ENOENT. Install it by")
    assert subscriptions == 2
