"""A short run of the kill tests; `python tools/torture.py` makes long ones, docs/reliability.md has their table."""

import json
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[3] / "tools" / "torture.py"


def test_runs_that_are_killed_while_they_write_end_as_if_nothing_had_been(tmp_path):
    record, kills = tmp_path / "record.json", 40
    options = ["--kills", str(kills), "--rows", "1500", "--cases", "rows,log,delayed,pipe", "--record", str(record)]
    done = subprocess.run([sys.executable, str(TOOL), *options], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(record.read_text())
    assert (found["kills"], found["differing"], found["problems"]) == (kills, 0, [])
    assert found["while a file was written"] > kills // 4
    assert found["resumed"] > kills // 2


def test_what_is_not_as_it_should_be_is_a_problem(tmp_path):
    """The same with checkpoints that forget a row."""
    code = """
import sys
from unittest import mock
sys.argv = ["torture", "--kills", "3", "--rows", "600", "--cases", "rows"]
sys.path.insert(0, {folder!r})
import torture
from onkel.apps.cli.session import Session
save = Session._save
def forgetting(self, path, place):
    save(self, path, place._replace(rows=place.rows - 1))
with mock.patch.object(Session, "_save", forgetting):
    sys.exit(torture.main())
"""
    done = subprocess.run(
        [sys.executable, "-c", code.format(folder=str(TOOL.parent))], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "rows: out.onkel differs" in done.stdout
