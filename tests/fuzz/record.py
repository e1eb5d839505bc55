"""What documented runs of the fuzzer add up to, as long as the code that they tried is the same."""

import fcntl
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import onkel

PACKAGE = Path(onkel.__file__).parent
ELSEWHERE = ("apps", "datasets", "integrations")  # folders that read neither model files nor files of rows
READING = ("apps/cli/checkpoints.py",)  # but for these
FACES = ("river", "__main__")


def files_under_test() -> list[Path]:
    """The modules of the package that are involved in reading."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name in READING or not (name.split("/")[0] in ELSEWHERE or name.startswith(FACES)):
            found.append(path)
    return found


def digest() -> str:
    """The SHA-256 of the code under test: of the names and the bytes of its files."""
    found = hashlib.sha256()
    for path in files_under_test():
        data = path.read_bytes()
        found.update(f"{path.relative_to(PACKAGE).as_posix()} {len(data)}\n".encode() + data)
    return found.hexdigest()


def recorded(path: Path | None) -> tuple[dict[str, Any], str]:
    """What runs so far add up to, and a sentence where they begin anew because the code is another one."""
    fresh: dict[str, Any] = {"digest": digest(), "readers": {}}
    if path is None or not path.exists() or not path.read_text().strip():
        return fresh, ""
    known = json.loads(path.read_text())
    if known["digest"] == fresh["digest"]:
        return known, ""
    before = sum(reader["inputs"] for reader in known["readers"].values())
    return fresh, f"The code has changed since {path} was written: its {before:,} inputs no longer count."


def add_to(path: Path, name: str, counts: Counter[str], slowest: float, peak: int, seconds: float) -> None:
    """Add what came of more inputs of a reader; several runs may do so side by side."""
    with open(path, "a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        known, _ = recorded(path)
        own = known["readers"].setdefault(name, {"inputs": 0, "answered": 0, "refused": 0, "failed": 0})
        for what in ("answered", "refused", "failed"):
            own[what] += counts[what]
        own["inputs"] += sum(counts.values())
        own["slowest_ms"] = max(own.get("slowest_ms", 0), round(1e3 * slowest))
        own["peak_mb"] = max(own.get("peak_mb", 0), peak)
        own["seconds"] = round(own.get("seconds", 0.0) + seconds, 1)
        file.seek(0)
        file.truncate()
        file.write(json.dumps(known, indent=1, sort_keys=True) + "\n")
