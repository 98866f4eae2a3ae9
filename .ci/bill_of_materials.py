#!/usr/bin/env python3
"""The software bill of materials of a wheel, in CycloneDX 1.6, and the licences of what it needs.

    bill_of_materials.py WHEEL [-o FILE] [--licences FILE]

Versions and hashes of what the wheel needs to run are those of `constraints.txt` beside this
script; licences and dependencies are those that the installed packages declare, so it is run where
`pip install --require-hashes -r .ci/constraints.txt` was. Nothing in it depends on the day or the
machine, but for the markers of the platform.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import re
import sys
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from email.message import Message
from email.parser import Parser
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any, NamedTuple

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CONSTRAINTS = Path(__file__).with_name("constraints.txt")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
PINNED = re.compile(
    r"^(?P<name>[\w.-]+)==(?P<version>[\w.+!]+)(?P<rest>(?:.*\\\n)*.*)", re.MULTILINE
)


class Pinned(NamedTuple):
    """A package at one version.

    Attributes:
        name: as PyPI writes it.
        version: its version.
        hashes: SHA-256 of the files that PyPI has of it.
    """

    name: str
    version: str
    hashes: tuple[str, ...]

    @property
    def purl(self) -> str:
        """What other tools call it."""
        return f"pkg:pypi/{self.name}@{self.version}"


def pinned(text: str, python: str = platform.python_version()) -> dict[str, Pinned]:
    """The packages of a constraints file with hashes that are for this Python, by name."""
    environment = {"python_full_version": python, "python_version": python.rpartition(".")[0]}
    found = {}
    for match in PINNED.finditer(text):
        marker = match["rest"].partition("\\\n")[0].lstrip(" ;")
        if marker and not Marker(marker).evaluate(environment):
            continue
        name = canonicalize_name(match["name"])
        found[name] = Pinned(name, match["version"], tuple(HASH.findall(match["rest"])))
    return found


def needed(declared: Message) -> Iterator[str]:
    """Names of what a package needs to run here, without its extras."""
    for line in declared.get_all("Requires-Dist") or []:
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield canonicalize_name(requirement.name)


def licence(declared: Message) -> str:
    """The licence that a package declares, on one line; empty if it does not say."""
    if expression := declared["License-Expression"]:
        return str(expression)
    classifiers = declared.get_all("Classifier") or []
    named = [
        c.rpartition(" :: ")[2] for c in classifiers if c.startswith("License :: OSI Approved ::")
    ]
    text = str(declared["License"] or "").strip()
    return text if text and "\n" not in text else ", ".join(named)


def closure(root: Message, packages: Mapping[str, Pinned]) -> dict[str, Message]:
    """What a package needs, and what that needs, by name.

    Raises:
        SystemExit: if one is not pinned or not installed.
    """
    found: dict[str, Message] = {}
    left = list(needed(root))
    while left:
        name = left.pop()
        if name in found:
            continue
        if name not in packages:
            sys.exit(f"error: {name} is not in {CONSTRAINTS.name}: run .ci/lock")
        try:
            found[name] = metadata(name)  # type: ignore[assignment]
        except PackageNotFoundError:
            sys.exit(f"error: {name} is not installed")
        left += needed(found[name])
    return dict(sorted(found.items()))


def _component(package: Pinned, declared: Message) -> dict[str, Any]:
    """A package as a component."""
    known = licence(declared)
    return {
        "type": "library",
        "bom-ref": package.purl,
        "name": package.name,
        "version": package.version,
        "purl": package.purl,
        **({"licenses": [{"license": {"name": known}}]} if known else {}),
        "externalReferences": [
            {
                "type": "distribution",
                "url": f"https://pypi.org/project/{package.name}/{package.version}/#files",
                "hashes": [{"alg": "SHA-256", "content": one} for one in package.hashes],
            }
        ],
    }


def bill(wheel: Path, packages: Mapping[str, Pinned]) -> dict[str, Any]:
    """The bill of materials of a wheel."""
    declared = wheel_metadata(wheel)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    own = Pinned(canonicalize_name(declared["Name"]), declared["Version"], (digest,))
    parts = closure(declared, packages)
    wants = {own.purl: declared} | {packages[name].purl: parts[name] for name in parts}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": own.purl,
                "name": own.name,
                "version": own.version,
                "purl": own.purl,
                "hashes": [{"alg": "SHA-256", "content": digest}],
                "licenses": [{"expression": licence(declared)}],
            }
        },
        "components": [_component(packages[name], parts[name]) for name in parts],
        "dependencies": [
            {"ref": ref, "dependsOn": sorted(packages[name].purl for name in needed(of))}
            for ref, of in wants.items()
        ],
    }


def wheel_metadata(wheel: Path) -> Message:
    """What a wheel declares."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        return Parser().parsestr(archive.read(name).decode())


def licences(document: Mapping[str, Any]) -> str:
    """The licences of the components, as a table."""
    lines = ["| package | version | licence |", "|---|---|---|"]
    for one in document["components"]:
        named = one.get("licenses", [{"license": {"name": "not declared"}}])[0]["license"]["name"]
        lines.append(f"| {one['name']} | {one['version']} | {named} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write both."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--licences", type=Path, help="write the table of licences to this file")
    arguments = parser.parse_args()
    document = bill(arguments.wheel, pinned(CONSTRAINTS.read_text(encoding="utf-8")))
    text = json.dumps(document, indent=2) + "\n"
    if arguments.output:
        arguments.output.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    if arguments.licences:
        arguments.licences.write_text(licences(document), encoding="utf-8")


if __name__ == "__main__":
    main()
