"""The tables are well formed: nothing in them can fail only when a large data set is there."""

import pytest

from onkel import datasets
from onkel.apps.cli.describe import bibliography
from onkel.apps.reproduce import EXPERIMENTS
from onkel.apps.reproduce.machines import MACHINES
from onkel.apps.reproduce.published import published
from onkel.apps.reproduce.spec import Entry
from onkel.recipes import RECIPES, make_learner

EVERY = pytest.mark.parametrize("name", EXPERIMENTS)


@EVERY
def test_every_published_cell_has_a_data_set_and_a_learner_or_a_reason(name):
    experiment = EXPERIMENTS[name]
    cells = published(name)
    assert cells
    assert {dataset for dataset, _ in cells} == set(experiment.sources)
    assert {algorithm for _, algorithm in cells} == set(experiment.algorithms)
    assert all(experiment.algorithms.values())


@EVERY
def test_data_sets_and_the_paper_are_known(name):
    experiment = EXPERIMENTS[name]
    assert experiment.paper in bibliography()
    for source in experiment.sources.values():
        known = datasets.info(source.name)
        both = known.rows + known.test_rows
        assert source.rows <= max(both, known.rows), source
        assert source.scale in ("", "unit", "signed", "bytes")
        assert source.parts in ("train", "test", "both")


@EVERY
def test_every_learner_takes_its_parameters_on_every_data_set(name):
    experiment = EXPERIMENTS[name]
    for dataset, algorithm in published(name):
        source, entry = experiment.sources[dataset], experiment.algorithms[algorithm]
        if not isinstance(entry, Entry):
            continue
        letters = {**experiment.letters, **source.letters, "n": 1000, "d": 8}
        known = datasets.info(source.name)
        task = "binary" if source.positive or source.above is not None else known.task
        for given in entry.candidates(letters):
            if entry.recipe in RECIPES:
                make_learner(entry.recipe, **given).plan(task)
            else:
                assert experiment.protocol == "held out"
                MACHINES[entry.recipe](**given)


@EVERY
def test_notes_are_about_what_the_table_has(name):
    experiment = EXPERIMENTS[name]
    for key in experiment.notes:
        assert key in experiment.algorithms or key in published(name), key


def test_a_letter_of_a_data_set_comes_before_that_of_the_table():
    table, source = EXPERIMENTS["lsokl-table7"], EXPERIMENTS["lsokl-table7"].sources["dna"]
    entry = table.algorithms["NOGD"]
    assert entry.candidates({**table.letters, **source.letters})[0]["budget"] == 200
    assert entry.candidates(table.letters)[0]["budget"] == 100
