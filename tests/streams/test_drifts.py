"""Drift is where the parameters say, and nowhere else."""

import numpy as np
import pytest

from onkel.streams import abrupt, concatenate, gradual, recurring, waves
from onkel.streams.generated import random_of

ROWS = 12_000
NEVER = 10**9


def labels(stream):
    return concatenate(stream).labels


def changed(stream, still):
    """For each row, whether its label is another one than in a stream of the same rows that does not drift."""
    block, before = concatenate(stream), concatenate(still)
    assert np.array_equal(block.rows, before.rows)
    return block.labels != before.labels


@pytest.mark.parametrize("at", [0, 1, 2, 3, 1500, 2047, 2048, 2049, 5000])
def test_abrupt_changes_at_its_row(at):
    moved = changed(abrupt(rows=ROWS, at=at), abrupt(rows=ROWS, at=NEVER))
    assert not moved[:at].any()
    assert np.array_equal(moved[at:], changed(abrupt(rows=ROWS, at=0), abrupt(rows=ROWS, at=NEVER))[at:])
    assert 0.3 < moved[at:].mean() < 0.7


def test_gradual_changes_little_by_little():
    moved = changed(gradual(rows=ROWS, at=3000, length=6000), abrupt(rows=ROWS, at=NEVER))
    complete = changed(abrupt(rows=ROWS, at=0), abrupt(rows=ROWS, at=NEVER))
    assert not moved[:3000].any()
    assert np.array_equal(moved[9000:], complete[9000:])
    followed = [moved[part][complete[part]].mean() for part in (slice(i, i + 1500) for i in range(3000, 9000, 1500))]
    assert np.allclose(followed, [0.125, 0.375, 0.625, 0.875], atol=0.06)


def test_recurring_concepts_come_back_in_turn():
    first = changed(recurring(rows=ROWS, length=2000, concepts=3), recurring(rows=ROWS, length=NEVER))
    shares = first.reshape(-1, 2000).mean(axis=1)
    assert shares[[0, 3]].tolist() == [0.0, 0.0]
    assert shares[[1, 2, 4, 5]].min() > 0.3


def test_recurring_goes_through_as_many_concepts_as_asked_for():
    two, three = (labels(recurring(rows=ROWS, length=2000, concepts=n)).reshape(-1, 2000) for n in (2, 3))
    assert np.array_equal(two[:2], three[:2])
    assert not np.array_equal(two[2], three[2])


def test_rows_before_a_change_predict_others_before_it_but_not_those_after():
    block = concatenate(abrupt(rows=5500, at=5000))
    known, answers = block.rows[:4500], block.labels[:4500]
    distances = ((block.rows[4500:, None, :] - known) ** 2).sum(axis=2)
    nearest = np.argpartition(distances, 15, axis=1)[:, :15]
    wrong = np.sign(answers[nearest].sum(axis=1)) != block.labels[4500:]
    assert wrong[:500].mean() < 0.25
    assert wrong[500:].mean() > 0.35


def test_labels_are_those_of_the_formula_but_for_one_in_twenty():
    concept = random_of(1, None)
    frequencies, phases = 0.7 * concept.standard_normal((5, 10)), concept.uniform(0.0, 2.0 * np.pi, 10)
    block = concatenate(abrupt(rows=20_000, at=NEVER))
    said = np.sign(np.cos(block.rows @ frequencies + phases).sum(axis=1))
    assert 0.045 < np.mean(said != block.labels) < 0.055


@pytest.mark.parametrize("period", [1000, 4096, 6000])
def test_waves_have_the_opposite_sign_half_a_period_later_and_are_back_after_one(period):
    still, moving = (concatenate(waves(rows=ROWS, period=p)) for p in (float("inf"), period))
    assert np.array_equal(still.rows, moving.rows)
    start, half, whole = 0, period // 2, period
    assert abs(moving.labels[start] - still.labels[start]) < 1e-9
    assert abs(moving.labels[whole] - still.labels[whole]) < 1e-6
    assert abs(moving.labels[half] + still.labels[half]) < 1.0  # the noise, twice


def test_standing_waves_are_a_smooth_function_and_a_little_noise():
    block = concatenate(waves(rows=ROWS, period=float("inf")))
    assert block.labels.std() > 0.5
    distances = ((block.rows[:200, None, :] - block.rows[200:]) ** 2).sum(axis=2)
    nearest = block.labels[200:][distances.argmin(axis=1)]
    assert np.mean((nearest - block.labels[:200]) ** 2) < 0.5 * block.labels.var()
