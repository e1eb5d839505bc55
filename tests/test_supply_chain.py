"""What is installed is what is pinned: constraints.txt has every package of every extra, with one version each."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
LINES = (ROOT / "constraints.txt").read_text().splitlines()
EXTRAS = ("arrow", "zstd", "completion", "plots", "onnx", "tune", "test")


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


PINNED = dict(line.split("==") for line in LINES)
VERSIONS = {plain(name): version for name, version in PINNED.items()}


def needed(name, extras=()):
    """All packages that an installed one needs, and theirs; those that are not installed here are left out."""
    found, waiting = set(), [(name, extras)]
    while waiting:
        one, wanted = waiting.pop()
        try:
            requirements = distribution(one).requires or []
        except PackageNotFoundError:
            continue
        found.add(plain(one))
        for text in requirements:
            requirement = Requirement(text)
            marker = requirement.marker
            applies = marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *wanted))
            if applies and plain(requirement.name) not in found:
                waiting.append((requirement.name, tuple(requirement.extras)))
    return found - {"onkel"}


def test_a_line_is_a_name_and_a_version_and_no_address():
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+", line) for line in LINES)
    assert len(VERSIONS) == len(LINES)
    assert sorted(LINES, key=str.lower) == LINES


@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_every_package_that_is_needed_is_pinned(extra):
    packages = needed("onkel", (extra,))
    assert packages >= {"numpy", "numba", "scipy"}
    assert packages - VERSIONS.keys() == set()


def test_what_is_installed_is_what_is_pinned():
    installed = {name: distribution(name).version for name in needed("onkel", EXTRAS)}
    assert installed == {name: VERSIONS[name] for name in installed}


def test_the_oldest_and_the_newest_numba_that_are_allowed_were_tried():
    """CONTRIBUTING.md has a line for each version that was."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (allowed,) = (one for one in map(Requirement, project["dependencies"]) if one.name == "numba")
    bounds = {own.operator: Version(own.version) for own in allowed.specifier}
    lines = re.findall(r"^\| ([0-9.]+) \| .* \| passes \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    tried = sorted(map(Version, lines))
    assert tried[0].release[:2] == bounds[">="].release
    assert tried[-1] == Version(VERSIONS["numba"])
    assert (tried[-1].major, tried[-1].minor + 1) == bounds["<"].release


def test_nothing_in_the_project_names_a_registry():
    for name in ("constraints.txt", "pyproject.toml", "run"):
        assert "://" not in (ROOT / name).read_text(), name
