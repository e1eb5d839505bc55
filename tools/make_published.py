"""Make `src/onkel/reproduce/published.csv` from a folder of CSV files with the papers' tables: numbers only.

``python tools/make_published.py FOLDER``. A file has the columns table, dataset, algorithm, value, std and time.
"""

import csv
import re
import sys
from pathlib import Path

TARGET = Path(__file__).parents[1] / "src" / "onkel" / "apps" / "reproduce" / "published.csv"
TABLES = {  # experiment: file and table
    "lsokl-table3": ("lsokl_table3_batch_binary.csv", "3"),
    "lsokl-table5": ("lsokl_table5_online_binary.csv", "5"),
    "lsokl-table7": ("lsokl_table7_online_multiclass.csv", "7"),
    "lsokl-table9": ("lsokl_table9_regression.csv", "9"),
    "rrf-table1": ("rrf_table1_table2.csv", "1"),
    "rrf-table2": ("rrf_table1_table2.csv", "2"),
    "bkm-table2": ("bkm_table2.csv", "2"),
    "ik-table5": ("ik_tables5_6_7_8.csv", "5"),
    "ik-table7": ("ik_tables5_6_7_8.csv", "7"),
    "ik-table8": ("ik_tables5_6_7_8.csv", "8"),
}
NUMBER = re.compile(r"\d*\.?\d+")


def number(text: str) -> str:
    """A number as it is printed, with a 0 before its point; empty for anything else."""
    return ("0" if text.startswith(".") else "") + text if NUMBER.fullmatch(text) else ""


def seconds(text: str) -> str:
    """The time of training: of "train a; test b" the first, of "a+b" (search and training) the sum."""
    text = text.removesuffix(" total").partition(";")[0].removeprefix("train ")
    parts = text.split("+")
    return number(text) if len(parts) == 1 else f"{sum(map(float, parts)):.2f}"


def main(folder: Path) -> None:
    lines = [["experiment", "dataset", "algorithm", "value", "std", "time"]]
    for experiment, (name, table) in TABLES.items():
        with open(folder / name, encoding="utf-8") as file:
            for line in csv.DictReader(file):
                if line["table"] == table and number(line["value"]):
                    figures = number(line["value"]), number(line["std"]), seconds(line["time"])
                    lines.append([experiment, line["dataset"], line["algorithm"], *figures])
    with open(TARGET, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
