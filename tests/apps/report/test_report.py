"""Pages and pictures: what is in them, and that they change nothing."""

import json
import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from onkel import auto, fogd, make_learner, raker
from onkel.apps.cli.main import main
from onkel.apps.report.history import POINTS, SAMPLE, History, expert_weights
from onkel.apps.report.page import page
from onkel.apps.report.pictures import PICTURES, as_svg, pictures
from onkel.evaluation.prequential import prequential
from onkel.model.waiting import bare
from onkel.recipes import RECIPES

pytest.importorskip("matplotlib")
EMPTY_TAGS = {"meta", "br", "path", "use", "rect", "image"}


class Balanced(HTMLParser):
    """Fails where a tag is closed that is not open."""

    def __init__(self):
        super().__init__()
        self.open, self.count = [], 0

    def handle_starttag(self, tag, _):
        self.count += 1
        if tag not in EMPTY_TAGS:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in EMPTY_TAGS:
            assert self.open.pop() == tag


def reports_of(*learners, n=3000, task="binary", outputs=1):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = {
        "binary": np.where(np.sum(X**2, axis=1) > 2.4, 1.0, -1.0),
        "multiclass": np.digitize(np.sum(X**2, axis=1), [1.5, 3.5]).astype(float),
        "regression": np.sin(2 * X[:, 0]),
    }[task]
    found = {}
    for learner in learners:
        online = learner.start(3, task, outputs)
        history = History(online)
        blocks = history.seen((X[i : i + 200], y[i : i + 200]) for i in range(0, n, 200))
        report = prequential(online, blocks, max(outputs, 2), watch=history.update)
        found[learner.name] = {**report, "parameters": {"a<b": "<script>"}, "model_bytes": 1, **history.report()}
    return found


@pytest.fixture(scope="module")
def two():
    return reports_of(auto(n_frequencies=20), fogd(n_frequencies=20, sigma=1.0))


def test_a_page_holds_everything_and_fetches_nothing(two):
    text = page(two, "a <stream>")
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    assert parser.count > 100
    assert [title for title in PICTURES if f"<figcaption>{title}</figcaption>" in text] == list(PICTURES)
    fetched = re.findall(r"(?:src|href)=\"(?!#|data:)([^\"]*)|url\((?!#)([^)]*)\)|@import", text)
    assert fetched == []
    assert "a &lt;stream&gt;" in text
    assert "&lt;script&gt;" in text


def test_a_page_is_the_same_each_time(two):
    assert page(two, "x") == page(two, "x")


def test_pictures_take_the_colour_of_the_text_around_them(two):
    text = as_svg(pictures(two)["Error so far"])
    assert "currentColor" in text
    assert "#010203" not in text


@pytest.mark.parametrize(("task", "outputs"), [("binary", 1), ("multiclass", 3), ("regression", 1)])
def test_only_pictures_that_make_sense_are_made(task, outputs):
    made = pictures(reports_of(fogd(n_frequencies=10, sigma=1.0), task=task, outputs=outputs))
    expected = {"Error so far", "Error in a window", "Throughput"} | (
        set() if task == "regression" else {"Confusion", "Reliability"}
    )
    assert set(made) == expected


def test_regret_is_that_against_the_learner_that_was_best_in_the_end(two):
    axes = pictures(two)["Regret"].axes[0]
    ends = {line.get_label(): line.get_ydata()[-1] for line in axes.get_lines()}
    lost = {name: report["mistakes"] for name, report in two.items()}
    best = min(lost, key=lost.get)
    assert ends == pytest.approx({name: value - lost[best] for name, value in lost.items()})


def test_the_best_fixed_linear_model_is_the_one_of_least_squares(two):
    found = two["fogd"]["hindsight"]
    assert found["rows"] == 3000
    assert found["error"] == pytest.approx(two["fogd"]["mistake_rate"])
    assert found["best"] < found["error"]
    assert "hindsight" not in two["auto"]


def test_a_learned_map_is_taken_as_it_is_at_the_end():
    found = reports_of(make_learner("rrf", n_frequencies=10))["rrf"]
    assert found["hindsight"]["rows"] == 3000
    assert "no_hindsight" not in found


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_every_learner_has_a_best_fixed_linear_model_or_says_why_not(name):
    learner = make_learner(name)
    task = learner.tasks[0]
    online, rng = learner.start(3, task), np.random.default_rng(0)
    history, X = History(online), np.abs(rng.normal(size=(40, 3)))
    blocks = history.seen(iter([(X, np.where(X[:, 0] > 0.7, 1.0, -1.0))]))
    prequential(online, blocks, watch=history.update)
    found = history.report()
    assert ("hindsight" in found) != ("no_hindsight" in found)
    assert found.get("no_hindsight") != "it is not linear in one map of features"
    assert ("hindsight" in found) == (type(bare(online.model)).__name__ == "Linear")


def test_the_page_says_what_the_best_fixed_linear_model_is_and_why_there_is_none(two):
    text = page(two, "x")
    assert "fitted by least squares to 3,000 rows drawn from the stream" in text
    why = "it mixes several readouts, which do not all use the same features."
    assert f"<p>auto is compared with no best fixed linear model: {why}</p>" in text
    assert "fogd is compared with no" not in text


def test_a_history_stays_small_and_its_sample_is_of_all_rows():
    online = fogd(n_frequencies=2, sigma=1.0).start(1)
    history, n = History(online), 40_000
    X = np.arange(n, dtype=float)[:, None]
    prequential(online, history.seen((X[i : i + 50], np.ones(50)) for i in range(0, n, 50)), watch=history.update)
    kept = history._kept.rows[:, 0]
    assert len(history.moments) <= POINTS
    assert len(kept) == SAMPLE == len(np.unique(kept))
    assert abs(kept.mean() - n / 2) < 5 * n / np.sqrt(12 * SAMPLE)


@pytest.mark.parametrize("learner", [auto(n_frequencies=5), raker(n_frequencies=5), make_learner("omkl")])
def test_weights_of_experts_add_up_to_one(learner):
    online = learner.start(2)
    online.learn(np.random.default_rng(0).normal(size=(80, 2)), np.tile([1.0, -1.0], 40))
    assert sum(expert_weights(online.model)) == pytest.approx(1.0)
    assert expert_weights(fogd(n_frequencies=5, sigma=1.0).start(2).model) == ()


def test_a_report_changes_nothing_in_what_is_learned(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    given = ["run", "rings", "--limit", "3000", "--learner", "fogd", "--quiet"]
    assert main([*given, "--save", "plain.onkel"]) == 0
    assert (
        main([*given, "--save", "seen.onkel", "--report", "page.html", "--plots", "pictures", "--json", "all.json"])
        == 0
    )
    assert Path("plain.onkel").read_bytes() == Path("seen.onkel").read_bytes()
    assert Path("page.html").read_text().startswith("<!doctype html>")
    shown = {"error-so-far", "error-in-a-window", "throughput", "confusion", "reliability"}
    assert {path.stem for path in Path("pictures").iterdir()} == shown
    assert {path.suffix for path in Path("pictures").iterdir()} == {".png", ".svg"}
    assert json.loads(Path("all.json").read_text())["history"][-1]["rows"] == 3000


def test_a_comparison_has_a_page_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = ["compare", "rings", "--limit", "3000", "--learners", "fogd,fogd:eta=0.01", "--quiet"]
    assert main([*given, "--report", "page.html"]) == 0
    text = Path("page.html").read_text()
    assert "fogd:eta=0.01" in text
    assert "<figcaption>Regret</figcaption>" in text


def test_without_matplotlib_it_is_said_before_anything_is_learned(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["run", "rings", "--limit", "100", "--report", "page.html"]) == 2
    assert capsys.readouterr().err == "onkel: Pictures need the package matplotlib: `pip install onkel[plots]`.\n"
    assert os.listdir() == []


@pytest.mark.parametrize("given", [["--report", "nowhere/page.html"], ["--plots", "file/folder"]])
def test_what_cannot_be_written_is_refused_before_anything_is_learned(tmp_path, monkeypatch, given, capsys):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    assert main(["run", "rings", "--limit", "100", *given]) == 2
    assert given[1].split("/")[0] in capsys.readouterr().err
