"""`.ci/release` refuses what is not a release before it builds anything."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

if not shutil.which("git"):
    pytest.skip("needs git", allow_module_level=True)

SCRIPT = Path(__file__).resolve().parents[3] / ".ci" / "release"
NOBODY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "nobody"), ("EMAIL", "nobody@example.org"))
}


def git(tree: Path, *words: str) -> None:
    environment = {**os.environ, **NOBODY, "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *words], cwd=tree, env=environment, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with the script, whose tag v1.0 is of an unreleased version."""
    tree = tmp_path / "tree"
    (tree / ".ci").mkdir(parents=True)
    shutil.copy(SCRIPT, tree / ".ci")
    (tree / "pyproject.toml").write_text('[project]\nversion = "1.0"\n')
    (tree / "CHANGELOG.md").write_text("## 1.0, unreleased\n")
    git(tree, "init", "-q")
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "Begin")
    git(tree, "tag", "v1.0")
    return tree


def release(tree: Path, *words: str) -> tuple[int, str]:
    ran = subprocess.run(
        [tree / ".ci" / "release", *words], capture_output=True, text=True, check=False
    )
    return ran.returncode, ran.stderr


def test_no_tag(tree: Path) -> None:
    assert release(tree, "HEAD") == (1, "error: HEAD is not a tag\n")


def test_folder_that_exists(tree: Path, tmp_path: Path) -> None:
    assert release(tree, "v1.0", str(tmp_path)) == (1, f"error: {tmp_path} exists\n")


def test_another_version(tree: Path) -> None:
    git(tree, "tag", "v1.1")
    message = "error: v1.1 names another version than pyproject.toml, which has 1.0\n"
    assert release(tree, "v1.1") == (1, message)


def test_unreleased(tree: Path) -> None:
    assert release(tree, "v1.0") == (1, "error: CHANGELOG.md calls 1.0 unreleased\n")
    assert not (tree / "dist").exists()


def test_what_is_not_committed_does_not_count(tree: Path) -> None:
    (tree / "CHANGELOG.md").write_text("## 1.0, 2026-11-23\n")
    assert release(tree, "v1.0") == (1, "error: CHANGELOG.md calls 1.0 unreleased\n")


def test_no_section(tree: Path) -> None:
    (tree / "CHANGELOG.md").write_text("## 0.9\n")
    git(tree, "commit", "-qam", "Forget the section")
    git(tree, "tag", "-f", "v1.0")
    assert release(tree, "v1.0") == (1, "error: CHANGELOG.md has no section of 1.0\n")
