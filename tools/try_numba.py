"""Try any version of Numba: `python tools/try_numba.py 0.69.0 [--python python3.13]`.

Makes a virtual environment in a temporary folder, installs this version and what onkel needs besides, and runs the
tests of compiled code, with tricks and without, and of some learners. What `pyproject.toml` allows does not matter. It
prints versions and outcome as a line for the table in CONTRIBUTING.md; `--all` runs all tests.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = [
    "tests/core",
    "tests/test_reproducible.py",
    "tests/test_extending.py",
    "tests/integrations/sklearn/test_labels_weights_and_files.py",
]
BESIDES = ("pytest", "hypothesis", "pandas", "pyarrow")
VERSIONS = (
    "import platform, numba, llvmlite, numpy; "
    "print(numba.__version__, llvmlite.__version__, platform.python_version(), numpy.__version__, sep=' | ')"
)


def requirements() -> list[str]:
    """What onkel needs, without the bounds of Numba and LLVM that are to be tried."""
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    return [one for one in needed if re.split(r"\W", one)[0] not in {"numba", "llvmlite"}]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", help="of Numba")
    parser.add_argument("--python", default=sys.executable, help="the Python to try it with (default: this one)")
    parser.add_argument("--all", action="store_true", help="all tests")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.python, "-m", "venv", folder], check=True)
        python = Path(folder) / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        wanted = [f"numba=={options.version}", *requirements(), *BESIDES]
        subprocess.run([python, "-m", "pip", "install", "-q", *wanted], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "-e", ROOT], check=True)
        settings = {**os.environ, "ONKEL_CACHE": f"{folder}/cache"}
        tests = [] if options.all else TESTS
        failed = subprocess.run([python, "-m", "pytest", "-q", *tests], cwd=ROOT, env=settings).returncode
        versions = subprocess.run([python, "-c", VERSIONS], capture_output=True, text=True, check=True).stdout.strip()
    print(f"| {versions} | {'fails' if failed else 'passes'} |")
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
