"""The same rows give the same bits in every process of a machine type, whatever its surroundings."""

import os
import subprocess
import sys
from pathlib import Path

SURROUNDINGS = [
    {"PYTHONHASHSEED": "1", "ONKEL_THREADS": "1", "OMP_NUM_THREADS": "1"},
    {"PYTHONHASHSEED": "2", "ONKEL_THREADS": "2", "OMP_NUM_THREADS": "2", "LC_ALL": "C", "TZ": "Asia/Tokyo"},
]


def test_processes_agree_bit_for_bit():
    command, here = [sys.executable, "-m", "tests.reproducing"], Path(__file__).parents[1]
    found = set()
    for more in SURROUNDINGS:
        done = subprocess.run(command, env={**os.environ, **more}, cwd=here, capture_output=True, text=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1
    assert len(found.pop().splitlines()) == 14
