"""Kill runs with checkpoints at random moments: `python tools/torture.py --kills 2000 [--seed 0] [--record FILE]`.

Runs of several learners, formats and ways to learn are killed with SIGKILL, most often while a file is being written,
and go on from the checkpoint that is there, until they end. Model, scores, report and page must then be those of a run
that nobody disturbed, byte for byte, and nothing else may be left. What was written whole must be whole at any moment.

This process compiles everything once and forks each run. The clock of reports stands still in them, so that reports
can be compared, too.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import platform
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

import onkel
from onkel.apps.cli.main import main as command

BLOCK, CHECKPOINT, PART = 64, "here.onkel", re.compile(r"\.(.+)\.[0-9a-f]{8}")
WHOLE = ("out.onkel", "out.json", "page.html")  # files that have a name only when they are finished
LONGEST = 120.0  # seconds that a run may take
MAPPED, KIND = ["--set", "n_frequencies=20"], ["--categorical", "kind"]


class Case(NamedTuple):
    """What is run: options of the stream, those of a fresh start, and what is written beside the model."""

    stream: list[str]
    start: list[str]
    more: tuple[str, ...] = ()
    grows: bool = False  # whether its file becomes longer meanwhile


SCORES, REPORT = ("--scores", "out.txt"), ("--report", "page.html")
CASES = {
    "rows": Case(["rows.libsvm"], ["--learner", "auto"], SCORES),
    "log": Case(["log.libsvm"], ["--learner", "fogd", *MAPPED], SCORES, grows=True),
    "delayed": Case(["rows.libsvm", "--evaluate", "delayed", "--delay", "90"], ["--learner", "ogd"], SCORES),
    "blocks": Case(["rows.libsvm", "--evaluate", "blocks", "--epochs", "2"], ["--learner", "bkm"]),
    "report": Case(["rows.libsvm"], ["--learner", "raker", *MAPPED], (*SCORES, *REPORT)),
    "holes": Case(
        ["holes.csv.gz", "--missing", "mean", *KIND], ["--learner", "nogd", "--set", "standardise=false"], SCORES
    ),
    "pipe": Case(["-"], ["--learner", "fogd", *MAPPED, "--classes", "grow"], SCORES),
    "order": Case(["rows.libsvm", "--permutation", "3", "--epochs", "2"], ["--learner", "passive_aggressive"]),
    "wide": Case(["wide.libsvm"], ["--learner", "norma"], SCORES),
    "numbers": Case(["numbers.csv"], ["--learner", "rrf", *MAPPED], SCORES),
}


def write_data(rows: int) -> None:
    """The files that are learned."""
    chance = np.random.default_rng(0)
    X = chance.standard_normal((rows, 5)).round(3)
    y = np.where(np.sum(X**2, axis=1) > 4.0, 1, -1)
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row) if v) for label, row in zip(y, X, strict=True)
    ]
    Path("rows.libsvm").write_text("\n".join(lines) + "\n")
    wide = [re.sub(r" (\d):", lambda at: f" {300 * int(at[1])}:", line) for line in lines]
    Path("wide.libsvm").write_text("\n".join(wide) + "\n")
    text = np.where(X < -1.0, "", X.astype(str))
    kinds = np.array(["red", "green", "blue"])[chance.integers(3, size=rows)]
    table = [",".join([*row, kind, str(label)]) for row, kind, label in zip(text, kinds, y, strict=True)]
    Path("holes.csv.gz").write_bytes(gzip.compress(("a,b,c,d,e,kind,label\n" + "\n".join(table) + "\n").encode()))
    numbers = [",".join(map(str, [*row, round(float(np.sin(row[0])), 4)])) for row in X]
    Path("numbers.csv").write_text("\n".join(numbers) + "\n")


def arguments(case: Case, resumed: bool) -> list[str]:
    """The command line."""
    outputs = ["--quiet", "--save", "out.onkel", "--json", "out.json", *case.more]
    how = ["--resume", CHECKPOINT] if resumed else case.start
    return ["run", *case.stream, *how, "--block", str(BLOCK), *outputs, "--checkpoint", CHECKPOINT, "--every", "1"]


def forked(case: Case, resumed: bool) -> int:
    """Begin a run in a child; returns its number."""
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        if case.stream[0] == "-":
            sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO("rows.libsvm")))
        with mock.patch("onkel.evaluation.prequential.perf_counter", return_value=0.0):
            code = command(arguments(case, resumed))
    finally:
        sys.stderr.flush()
        os._exit(code)


def parts() -> list[str]:
    """Files that are being written, or were when a run was killed."""
    return [name for name in os.listdir() if PART.fullmatch(name)]


def ended(child: int, until: Callable[[], bool] = lambda: False) -> int | None:
    """The exit code of a run, or None where it is still there when it is time."""
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        if until():
            return None
        if (state := os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            os.waitpid(child, 0)
            return state.si_status if state.si_code == os.CLD_EXITED else -state.si_status
        time.sleep(0.0001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError(f"A run took more than {LONGEST:g} seconds.")


class Moment:
    """When to kill: at any time, or when the n-th file has been under way for a moment."""

    def __init__(self, chance: random.Random, seconds: float, few: int) -> None:
        self.start, self.wait = time.monotonic(), None
        self.written = chance.choices(["", CHECKPOINT, "any but the checkpoint"], [1, 6, 2])[0]
        self.left, self.delay, self.seen = chance.randint(1, few), chance.uniform(0.0, 0.002), {*parts()}
        if not self.written:
            self.wait = self.start + chance.uniform(0.0, seconds)

    def __call__(self) -> bool:
        now = time.monotonic()
        if self.wait is not None:
            return now >= self.wait
        new = {*parts()} - self.seen
        self.seen |= new
        own = [name for name in new if name.startswith(f".{CHECKPOINT}.") == (self.written == CHECKPOINT)]
        self.left -= len(own)
        if own and (self.left <= 0 or self.written != CHECKPOINT):
            self.wait = now + self.delay
        return False


class Torturer:
    """Kills and resumes the runs of one case, and counts."""

    def __init__(self, name: str, chance: random.Random) -> None:
        self.name, self.case, self.chance = name, CASES[name], chance
        self.counts, self.problems = Counter[str](), list[str]()
        self.lines = Path("rows.libsvm").read_text().splitlines(keepends=True)
        self.seconds, self.expected = self.undisturbed()

    def undisturbed(self) -> tuple[float, dict[str, bytes]]:
        """What a run writes that nobody disturbs, and how long that takes."""
        self.grow_to(len(self.lines))
        with mock.patch(
            "onkel.evaluation.prequential.perf_counter", return_value=0.0
        ):  # compiles, and finds out what it is like
            if self.case.stream[0] == "-":
                with mock.patch("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.FileIO("rows.libsvm")))):
                    assert command(arguments(self.case, False)) == 0
            else:
                assert command(arguments(self.case, False)) == 0
        self.clear()
        start = time.monotonic()
        assert ended(forked(self.case, False)) == 0
        seconds, expected = time.monotonic() - start, self.outputs()
        self.clear()
        return seconds, expected

    def outputs(self) -> dict[str, bytes]:
        return {name: Path(name).read_bytes() for name in (*WHOLE, "out.txt") if os.path.exists(name)}

    def clear(self) -> None:
        for name in (*WHOLE, "out.txt", CHECKPOINT):
            Path(name).unlink(missing_ok=True)

    def grow_to(self, rows: int) -> None:
        if self.case.grows:
            Path("log.libsvm").write_text("".join(self.lines[:rows]))

    def run(self, kills: int) -> None:
        """Kill runs so many times; then let the last one come to its end."""
        while self.counts["kills"] < kills:
            self.one(kills)

    def one(self, kills: int) -> None:
        """From the first row to the end, with as many kills as it takes."""
        rows = len(self.lines) // 3
        while True:
            rows += self.chance.randrange(len(self.lines) // 20)
            self.grow_to(rows if self.counts["kills"] < kills else len(self.lines))
            resumed = os.path.exists(CHECKPOINT)
            self.counts["resumed"] += resumed
            before = {*parts()}
            child = forked(self.case, resumed)
            alone = self.counts["kills"] >= kills
            code = ended(child) if alone else ended(child, Moment(self.chance, self.seconds, few=12))
            if code is None:
                self.kill(child, before)
            elif code:
                self.problems.append(f"{self.name}: a run ended with exit code {code}")
                return self.clear()
            elif not self.case.grows or rows >= len(self.lines) or alone:
                return self.compare()

    def kill(self, child: int, before: set[str]) -> None:
        """Kill a run, and look at what it has left."""
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):  # it was at its end
            self.counts["missed"] += 1
            return
        self.counts["kills"] += 1
        left = [name for name in parts() if name not in before]
        self.counts["while a file was written"] += bool(left)
        others = [name for name in left if not name.startswith(f".{CHECKPOINT}.")]
        self.counts["while another than the checkpoint was written"] += bool(others)
        for name, content in self.outputs().items():
            if name in WHOLE and not self.case.grows and content != self.expected[name]:
                self.problems.append(f"{self.name}: {name} was there and not whole")

    def compare(self) -> None:
        """Hold what is there in the end against the run that nobody disturbed."""
        found = self.outputs()
        self.counts["runs"] += 1
        wrong = [name for name in self.expected if found.get(name) != self.expected[name]]
        self.counts["differing"] += bool(wrong)
        self.problems += [f"{self.name}: {name} differs" for name in wrong]
        self.problems += [f"{self.name}: a part of {name} was left" for name in parts()]
        self.clear()


def code_digest() -> str:
    """A digest of the package."""
    folder = Path(onkel.__file__).parent
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        whole.update(f"{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes())
    return whole.hexdigest()


def tortured(names: list[str], kills: int, rows: int, seed: int) -> dict[str, Any]:
    """All cases, with about equally many kills; what came of them."""
    write_data(rows)
    start, chance, every = time.monotonic(), random.Random(seed), dict[str, Counter[str]]()
    total, problems = Counter[str](), list[str]()
    for place, name in enumerate(names):
        torturer = Torturer(name, chance)
        torturer.run(kills * (place + 1) // len(names) - kills * place // len(names))
        every[name], total = torturer.counts, total + torturer.counts
        problems += torturer.problems
        print(line(name, torturer.counts, torturer.problems), flush=True)
    print(line("all", total, problems))
    return {
        "code": code_digest(), "python": platform.python_version(), "machine": platform.machine(), "seed": seed,
        "rows": rows, **counted(total), "problems": problems, "seconds": round(time.monotonic() - start),
        "cases": {name: counted(counts) for name, counts in every.items()},
    }  # fmt: skip


COUNTED = (
    *("kills", "while a file was written", "while another than the checkpoint was written"),
    *("resumed", "runs", "differing"),
)


def counted(counts: Counter[str]) -> dict[str, int]:
    return {name: counts[name] for name in COUNTED}


def line(name: str, counts: Counter[str], problems: list[str]) -> str:
    """A line of the table."""
    return f"| {name} | " + " | ".join(f"{counts[kind]:,}" for kind in COUNTED) + f" | {len(problems)} |"


def main() -> int:
    """Torture, print a table, and keep a record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int, default=2000, help="of each file")
    parser.add_argument("--cases", default=",".join(CASES), help="names with commas between them")
    parser.add_argument("--record", type=Path, help="file for what came of it, as JSON")
    options = parser.parse_args()
    print(f"| case | {' | '.join(COUNTED)} | problems |\n|{'---|' * (len(COUNTED) + 2)}")
    folder, here = tempfile.mkdtemp(), Path.cwd()
    os.chdir(folder)
    try:
        record = tortured(options.cases.split(","), options.kills, options.rows, options.seed)
    finally:
        os.chdir(here)
        shutil.rmtree(folder)
    if options.record:
        options.record.write_text(json.dumps(record, indent=1) + "\n")
    for problem in record["problems"]:
        print(problem)
    return bool(record["problems"])


if __name__ == "__main__":
    raise SystemExit(main())
