"""A user's file under pyright: no error, and completion, by a wheel and by an editable install."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tilec.lang as tl

ROOT = Path(__file__).resolve().parents[3]
USER = '''"""A user's kernels."""

from typing import Annotated, Literal, NamedTuple

import numpy as np
import tilec
import tilec.lang as tl


class Norm(NamedTuple):
    weight: tl.Array[tl.float32, int]
    bias: tl.Array[tl.float32, int] | None


@tl.function
def scaled(x: tl.Tile, n: int) -> tuple[tl.Tile, int]:
    for i in range(n):
        if i > 3:
            return x * 2.0, i
    return x, n


@tilec.kernel(warps=8)
def kernel(
    x: Annotated[tl.Array[tl.float16, int, Literal[64]], tl.Facts(aligned=16)],
    out: tl.Array[tl.float32, int, int],
    norm: Norm,
    eps: float,
    rows: list[tl.Array[tl.int32, int]],
    BLOCK: tl.Constant[int] = 64,
) -> None:
    row = tl.program_id(0) * BLOCK
    held = tl.load(x, (row, 0), (BLOCK, 64)).astype(tl.float32)
    held, count = scaled(held, x.shape[0])
    acc = tl.zeros((BLOCK, 64)) + held.sum(axis=1, keepdims=True) * eps
    if norm.bias is not None:
        acc += tl.load(norm.bias, 0, 64)
    for k in tl.range(0, count, stages=2):
        acc = tl.where(acc > 0.0, acc * k, -acc)
    for each in rows:
        tl.atomic_add(each, tl.argmax(acc, 1), 1)
    tl.store(out, (row, 0), acc[:, ::2] if BLOCK > 64 else acc)


a, c = np.zeros((64, 64), np.float16), np.zeros((64, 64), np.float32)
kernel[tl.cdiv(64, 64)](a, c, Norm(c[0], None), 1e-5, [np.zeros(64, np.int32)], BLOCK=64)
'''
needs_pyright = pytest.mark.skipif(shutil.which("pyright") is None, reason="no pyright")
pytestmark = needs_pyright


@pytest.fixture(scope="module", params=["wheel", "editable"])
def python(request: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The Python of an environment in which tilec is installed so."""
    where = tmp_path_factory.mktemp(request.param)
    source = where / "tilec"  # as a clone is called, which must not come before the package
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    links = [path for path in (ROOT / "compiler").iterdir() if path.is_symlink()]
    for name in ("src", "compiler", *(path.name for path in links)):
        left = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=left)
    venv = where / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    site = next((venv / "lib").glob("python*")) / "site-packages"
    found = [path for path in sys.path if path.endswith("site-packages")]
    (site / "others.pth").write_text("\n".join(found), encoding="utf-8")
    own = str(venv / "bin" / "python")
    pip = [own, "-m", "pip", "install", "-q", "--no-deps", "--ignore-installed"]
    if request.param == "editable":
        pip += ["-e"]
    made = subprocess.run([*pip, source], check=False, capture_output=True, text=True)
    if "No matching distribution" in made.stderr:
        pytest.skip("setuptools cannot be fetched")
    assert made.returncode == 0, made.stderr
    for other in site.glob("others.pth"):  # numpy, but no tilec of another place
        other.write_text(f"{Path(np_folder()).parent}\n", encoding="utf-8")
    return own


def np_folder() -> str:
    """Where numpy is."""
    import numpy as np

    return str(Path(np.__file__).parent)


@pytest.fixture
def project(tmp_path: Path, python: str) -> Path:
    """A user's project, which says where its environment is."""
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    config: dict[str, Any] = {
        "include": ["user.py"],
        "strict": ["user.py"],
        "pythonVersion": "3.11",
    }
    config |= {"venvPath": str(Path(python).parents[2]), "venv": "venv"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    return tmp_path


def test_the_folder_of_a_clone_is_not_the_package(python: str) -> None:
    command = [python, "-c", "import tilec; print(tilec.compile)"]
    above = Path(python).parents[2]
    done = subprocess.run(command, cwd=above, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("python", ["editable"], indirect=True)
def test_new_files_are_followed(python: str, tmp_path: Path) -> None:
    clone = Path(python).parents[2] / "tilec"
    new = clone / "layout" / "added.py"
    new.write_text("HERE: int = 3\n", encoding="utf-8")
    user = tmp_path / "user.py"
    user.write_text("from tilec.layout.added import HERE\nreveal_type(HERE)\n", encoding="utf-8")
    command = ["pyright", "--pythonpath", python, "--outputjson", str(user)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    new.unlink()
    said = " ".join(one["message"] for one in json.loads(done.stdout)["generalDiagnostics"])
    assert 'Type of "HERE" is "int"' in said


@pytest.mark.slow
def test_mypy_follows_it(project: Path, python: str) -> None:
    text = USER + "reveal_type(tilec.compile(''))\nreveal_type(tl.program_id(0))\n"
    (project / "user.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--python-executable", python, "user.py"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=project)
    assert 'Revealed type is "tilec.compiled.Compiled"' in done.stdout, done.stdout
    assert "Any" not in done.stdout, done.stdout


def test_a_user_s_file_has_no_error(project: Path) -> None:
    command = ["pyright", "--project", str(project), "--outputjson"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert [one["message"] for one in found["generalDiagnostics"]] == []
    assert found["summary"]["filesAnalyzed"] == 1


def test_a_user_s_mistake_has_one(project: Path) -> None:
    """So that the other test does not pass for lack of types."""
    text = USER.replace("axis=1, keepdims=True", "axis='rows'") + "\ntl.cumsam(1)\n"
    (project / "user.py").write_text(text, encoding="utf-8")
    command = ["pyright", "--project", str(project), "--outputjson"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    said = " ".join(one["message"] for one in json.loads(done.stdout)["generalDiagnostics"])
    assert "cumsam" in said
    assert "rows" in said


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tl.", {*tl.__all__}),
        ("tl.zeros(4).", {"astype", "reshape", "sum", "T", "dtype", "shape"}),
        ("kernel.", {"using", "compile", "explain"}),
    ],
)
def test_names_are_completed(project: Path, line: str, expected: set[str]) -> None:
    found = completions(project, USER + line)
    assert expected - found == set()


def completions(project: Path, text: str) -> set[str]:
    """What pyright offers at the end of a text."""
    server = subprocess.Popen(
        [sys.executable, "-m", "pyright.langserver", "--stdio"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=project,
    )
    try:
        return _completions(server, project, text)
    finally:
        server.kill()
        server.wait()


def _completions(server: Any, project: Path, text: str) -> set[str]:
    uri = (project / "user.py").as_uri()
    folder = {"uri": project.as_uri(), "name": "project"}
    _send(
        server,
        1,
        "initialize",
        {
            "capabilities": {},
            "workspaceFolders": [folder],
            "processId": None,
            "rootUri": project.as_uri(),
        },
    )
    _answer(server, 1)
    _send(server, None, "initialized", {})
    document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
    _send(server, None, "textDocument/didOpen", {"textDocument": document})
    lines = text.split("\n")
    position = {"line": len(lines) - 1, "character": len(lines[-1])}
    _send(
        server, 2, "textDocument/completion", {"textDocument": {"uri": uri}, "position": position}
    )
    found = _answer(server, 2)
    return {item["label"] for item in (found["items"] if isinstance(found, dict) else found)}


def _send(server: Any, number: int | None, method: str, params: Any) -> None:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    _write(server, message if number is None else {**message, "id": number})


def _write(server: Any, message: Any) -> None:
    body = json.dumps(message).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    server.stdin.flush()


def _answer(server: Any, number: int) -> Any:
    """The answer to a request; what the server asks meanwhile gets its own."""
    for message in _messages(server):
        if message.get("id") == number and "method" not in message:
            return message["result"]
        if message.get("method") == "workspace/configuration":
            settings: list[Any] = [{} for _ in message["params"]["items"]]
            _write(server, {"jsonrpc": "2.0", "id": message["id"], "result": settings})
        elif "id" in message and "method" in message:
            _write(server, {"jsonrpc": "2.0", "id": message["id"], "result": None})
    raise AssertionError("the server has ended")


def _messages(server: Any) -> Iterator[Any]:
    while header := server.stdout.readline():
        length = int(header.split(b":")[1])
        while server.stdout.readline().strip():
            pass
        yield json.loads(server.stdout.read(length))
