"""What `--fast` leaves of the tests: one recipe for each loop, all units, all faces once.

Left out are tests marked as `slow`, the files below, and of the cases that name recipes those that name no chosen one.
"""

import re
from pathlib import Path

from onkel.recipes import RECIPES

ONE_PER_LOOP = {
    "linear": "fogd",
    "expansion": "rbp",
    "hybrid": "dual_sgd",
    "partitioned": "ik_ogd",
    "mixed": "auto",
    "particles": "bkm",
    "ensembles": "raker",
}
OF_FACES = {"auto"}  # what holds for one recipe in scikit-learn, river and ONNX holds for the others, too
TESTS = Path(__file__).parent
SLOW_FILES = {  # ten seconds and more each, and why
    "all_recipes/test_wide.py": "rows of millions of columns",
    "apps/cli/test_checkpoints.py": "kills runs and goes on with them",
    "apps/cli/test_data_sets.py": "waits for servers",
    "apps/cli/test_full_disk.py": "writes every file at every byte of a full disk",
    "apps/cli/test_growing_streams.py": "a process for each stream on standard input",
    "apps/cli/test_process.py": "a process for each test",
    "apps/cli/test_rows_without_labels.py": "a process for each pipe",
    "apps/cli/test_tasks_and_targets.py": "a process for each target",
    "apps/cli/test_torture.py": "kills runs while they write",
    "apps/reproduce/test_command.py": "learns tables of papers",
    "apps/reproduce/test_times.py": "learns long enough to be timed",
    "core/test_cache.py": "compiles in folders of its own",
    "core/test_cache_folder.py": "compiles in folders of its own",
    "core/test_interrupts.py": "waits for interrupts",
    "datasets/test_odd_servers.py": "waits for servers",
    "evaluation/test_bounds.py": "draws millions of frequencies",
    "files/test_costs.py": "hostile files, one after the other, with a clock",
    "files/test_extremes.py": "puts extremes into every number of a file",
    "fuzz/test_fuzz.py": "thousands of inputs",
    "integrations/river/test_checks.py": "river's checks of every recipe",
    "integrations/sklearn/test_faults.py": "a fault at every moment",
    "test_bombs.py": "files that ask for all memory",
    "test_extending.py": "compiles a piece four times",
    "test_golden_rates.py": "twenty orders of each data set",
    "test_processes.py": "a process for each test",
    "test_reproducible.py": "every recipe in several processes",
    "test_robustness.py": "whole data sets",
}


def chosen(item):
    """Whether a test belongs to the choice."""
    path = item.path.relative_to(TESTS).as_posix() if item.path.is_relative_to(TESTS) else ""
    if item.get_closest_marker("slow") or path in SLOW_FILES:
        return False
    named = set(re.findall(r"\w+", item.name)) & RECIPES.keys()
    wanted = OF_FACES if path.startswith("integrations/") else set(ONE_PER_LOOP.values())
    return not named or not named.isdisjoint(wanted)
