"""The figures: their words fit together, streams are watched as the papers say, pages have pictures and verdicts."""

import json
import subprocess
import sys

import numpy as np
import pytest

from onkel import datasets
from onkel.apps.cli.describe import bibliography
from onkel.apps.reproduce import EXPERIMENTS, FIGURES, claims, curves, redraw
from onkel.apps.reproduce.drawing import draw, pictures
from onkel.apps.reproduce.figure_pages import findings, page, verdict
from onkel.apps.reproduce.loading import load
from onkel.apps.reproduce.naive import Naive
from onkel.apps.reproduce.results import Data, Drawn, Point, Series
from onkel.apps.reproduce.spec import ACCURACY, MISTAKES, ROWS, Entry, Figure, Panel, entry, source
from onkel.evaluation.prequential import Spread
from onkel.recipes import RECIPES, make_learner
from tests.apps.cli.common import spoken
from tests.apps.reproduce.conftest import ROWS as COUNT
from tests.apps.reproduce.conftest import made_up

EVERY = pytest.mark.parametrize("name", FIGURES)
ISOLATION = {"t": 20, "psi": 8, "eta": 0.5}


def test_every_table_and_figure_is_there():
    tables = {"lsokl": "3 5 7 9", "rrf": "1 2", "bkm": "2", "ik": "5 7 8"}
    figures = {"lsokl": "3 4", "rrf": "1 2", "ik": "3 4 5", "raker": "1"}
    assert set(EXPERIMENTS) == {f"{paper}-table{k}" for paper, ks in tables.items() for k in ks.split()}
    assert set(FIGURES) == {f"{paper}-figure{k}" for paper, ks in figures.items() for k in ks.split()} | {"bkm-figures"}


@EVERY
def test_data_sets_and_the_paper_are_known(name):
    figure = FIGURES[name]
    assert figure.paper in bibliography()
    assert figure.protocol in (*curves.MEASURES,)
    for made in figure.sources.values():
        known = datasets.info(made.name)
        assert made.rows <= known.rows + known.test_rows, made


@EVERY
def test_every_learner_takes_its_parameters_at_every_value(name):
    figure = FIGURES[name]
    for made in figure.sources.values():
        letters = {**figure.letters, **made.letters, "n": 1000, "d": 8}
        task = "binary" if made.positive or made.above is not None else datasets.info(made.name).task
        for panel in figure.panels:
            own = [one for one in panel.algorithms.values() if isinstance(one, Entry)]
            for x in panel.values or (0,):
                for given, recipe in (
                    (g, one.recipe) for one in own for g in one.candidates({**letters, panel.across: x})
                ):
                    if recipe in RECIPES:
                        learner = make_learner(recipe, **given)
                        assert learner.plan(task).build
                        taken = learner.get_params()
                    else:
                        taken = Naive(**given)._asdict()
                    assert {key: taken[key] for key in given} == given


def straight(name, slope=-1.0):
    """A figure whose lines all go down, or up, and take longer and longer."""
    figure = FIGURES[name]
    dataset = next(iter(figure.sources))
    lines = []
    for panel in figure.panels:
        values = (100, 200) if panel.across == ROWS else panel.values
        for k, (algorithm, made) in enumerate(panel.algorithms.items()):
            points = [Point(x, Spread(50.0 + slope * i - k, 0.5), 1.0 + i, {}) for i, x in enumerate(values)]
            known = isinstance(made, Entry)
            lines.append(Series(dataset, panel.across, algorithm, "a", points if known else [], "" if known else made))
    return Drawn(name, [Data(dataset, dataset, 9, 9, "")], lines, {}, 2, None, False)


@EVERY
def test_claims_are_about_lines_that_the_figure_has(name):
    assert [claim for claim, *_ in findings(straight(name))] == list(FIGURES[name].claims)


@EVERY
def test_pictures_are_small_and_the_same_each_time_and_all_on_the_page(name):
    result = straight(name)
    text = page(result)
    for picture in pictures(result):
        svg = draw(picture, "mistakes")
        assert svg == draw(picture, "mistakes")
        assert svg.startswith("<svg")
        assert len(svg) < 150_000
        assert f"(pictures/{picture.name}.svg)" in text


def lines(metric=MISTAKES, **algorithms):
    """Lines over D = 1, 2, 3 from their figures and seconds."""
    made = {}
    for name, (figures, seconds) in algorithms.items():
        points = [
            Point(x, Spread(figure, 0.0), s, {}) for x, figure, s in zip((1, 2, 3), figures, seconds, strict=True)
        ]
        made["D", name] = Series("set", "D", name, "ogd", points)
    return claims.Lines(metric, made)


DOWN, UP, FLAT = (
    ((9.0, 5.0, 4.9), (1.0, 2.0, 4.0)),
    ((1.0, 2.0, 6.0), (1.0, 1.0, 1.0)),
    ((5.0, 5.1, 5.0), (2.0, 2.0, 2.0)),
)


def test_improving_follows_the_direction_of_the_metric():
    assert claims.improves("D", "a")(lines(a=DOWN)) == (True, "a 9.00 to 4.90")
    assert claims.improves("D", "a")(lines(ACCURACY, a=DOWN))[0] is False
    assert claims.improves("D", "a", "b")(lines(a=DOWN, b=UP))[0] is False


@pytest.mark.parametrize(
    ("check", "holds"),
    [
        (claims.levels_off("D", "a", 2), True),
        (claims.levels_off("D", "b", 2), False),
        (claims.steady("D", "c", 0.2), True),
        (claims.steady("D", "b", 0.2), False),
        (claims.beat("D", ("a", "c"), ("b",)), True),
        (claims.beat("D", ("a", "b"), ("c",)), False),
        (claims.beat("D", ("b",), ("a",), 1, 3), True),
        (claims.lead("D", ("a", "b"), ("c",)), True),
        (claims.takes("D", "a", 3.0, 5.0), True),
        (claims.takes("D", "c", 3.0), False),
        (claims.faster("D", "b", "a", 4.0), True),
        (claims.faster("D", "a", "c"), False),
        (claims.widens("D", "b", "a"), True),
        (claims.widens("D", "a", "c"), False),
    ],
)
def test_a_claim_is_judged_by_the_numbers(check, holds):
    found, said = check(lines(a=DOWN, b=UP, c=FLAT))
    assert (found, bool(said)) == (holds, True)


def test_rows_in_order_are_the_first_ones_as_they_come(home):
    task = load(source("housing", 40, ordered=True), False, 30)
    X, _ = made_up(4)
    assert np.array_equal(task.block.rows[:, :4], X[:30])
    assert curves.permutation(3, task).tolist() == list(range(30))


def figure_of(protocol, panel, **letters):
    return Figure("", "lu2016", protocol, MISTAKES, 1, letters, {"german": source("german", COUNT)}, (panel,), ())


def test_a_stream_is_marked_along_its_rows(home, monkeypatch):
    panel = Panel(ROWS, (), {"OGD": entry("ogd", gamma=0.5)})
    monkeypatch.setitem(FIGURES, "mine", figure_of("progressive", panel))
    (line,) = redraw("mine", runs=2).lines
    assert [point.x for point in line.points] == list(range(3, COUNT + 1, 3))
    task = load(source("german", COUNT), False, None)
    whole = curves.progressive(entry("ogd", gamma=0.5), {}, task, 2)
    assert line.points[-1].ours.mean == pytest.approx(100 * np.mean([error for error, _ in whole.runs]))


def test_blocks_are_predicted_before_they_are_learned_and_after_the_initial_rows(home, monkeypatch):
    panel = Panel(ROWS, (), {"OGD": entry("ogd", gamma=0.5)})
    monkeypatch.setitem(FIGURES, "mine", figure_of("blocks", panel, initial=0.5))
    monkeypatch.setattr(curves, "ceil", lambda x: 10)  # rows of a block
    (line,) = redraw("mine").lines
    assert [point.x for point in line.points] == [10, 20, 30]
    task = load(source("german", COUNT), False, None)
    X, y = task.part(curves.permutation(0, task))
    online = make_learner("ogd", gamma=0.5).start(task.n_features)
    online.learn(X[:30], y[:30])
    wrong = np.sign(online.score(X[30:40])[:, 0]) != y[30:40]
    assert line.points[0].ours.mean == pytest.approx(100 * np.mean(wrong))


def test_the_naive_product_gives_the_same_scores():
    (X, y), (Z, _) = made_up(0), made_up(1)
    naive = Naive(**ISOLATION, sample=COUNT).start(4, seed=3)
    quick = make_learner("ik_ogd", partition="trees", sample=COUNT, **ISOLATION).start(4, seed=3)
    for learner in (naive, quick):
        learner.learn(X, y)
    assert np.allclose(naive.score(Z), quick.score(Z), atol=1e-5)


def test_a_claim_that_does_not_hold_has_a_reason_or_is_unexplained():
    named = FIGURES["rrf-figure2"]
    assert verdict(named.claims[0], True) == "holds"
    assert verdict(named.claims[0], False) == "does not hold: unexplained"
    assert verdict(named.claims[0]._replace(why="few rows"), False) == "does not hold: few rows"
    assert "| does not hold: unexplained |" in page(straight("rrf-figure2", slope=1.0))


def test_what_has_no_learner_here_is_said(home):
    assert "- BKM over sigma: our `bkm` has no such parameter" in page(straight("bkm-figures"))


@pytest.mark.slow
def test_a_figure_runs_as_a_process(home):
    command = [
        sys.executable,
        "-m",
        "onkel",
        "reproduce",
        "rrf-figure2",
        "--quick",
        "--page",
        "a.md",
        "--json",
        "a.json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (done.returncode, spoken(done.stderr)) == (0, [])
    found, text = json.loads((home / "a.json").read_text()), (home / "a.md").read_text()
    (line,) = found["lines"]
    assert [point["x"] for point in line["points"]] == [10, 100, 400]
    for point in line["points"]:
        shown = f"{point['ours']['mean']:.2f} +- {point['ours']['std']:.2f}, {point['seconds']:.2g} s"
        assert shown in text
        assert shown in done.stdout
    assert (home / "pictures" / "rrf-figure2.svg").read_text().startswith("<svg")
    assert "![RRF-Hinge](pictures/rrf-figure2.svg)" in text
    assert [claim["claim"] for claim in found["claims"]] == [claim.text for claim in FIGURES["rrf-figure2"].claims]


def test_a_figure_without_data_says_so(home, capsys):
    result = redraw("raker-figure1")
    assert (result.lines, set(result.absent)) == ([], {"twitter", "Tom's hardware"})
    assert "## Not here" in page(result)
