"""Standard input: classes and columns that come new are taken in."""

import json
from pathlib import Path

import numpy as np
import pytest

from onkel.apps.cli.checkpoints import Checkpoint
from onkel.apps.cli.main import main
from onkel.files.model_file import load_model
from tests.apps.cli.common import (
    DATA,
    LABELS,
    N_ROWS,
    BrokenDownError,
    X,
    breaking,
    csv,
    libsvm,
    stopped_after_every_block,
)

SHORT = ["--learner", "fogd", "--set", "gamma=0.5"]
RANDOM = np.random.default_rng(1)
MANY = RANDOM.standard_normal((6000, 3)).round(3)
FAR = np.sum(MANY**2, axis=1) > 3.0
SIDE = np.where(FAR, 1, -1)
LATE = np.where(np.arange(6000) < 4500, 1, SIDE)  # one class only in the rows that are looked at first
THREE = np.where((np.arange(6000) > 4200) & (MANY[:, 0] > 0.5), 5, SIDE)


def without_time(report):
    left = {key: value for key, value in report.items() if "second" not in key}
    if "history" in left:
        left["history"] = len(left["history"])
    return left


@pytest.fixture
def learned(told, standard_input):
    """Run on standard input: report, scores, and the answers of the saved model for binary.libsvm."""

    def run(text, *arguments, source="-"):
        if source == "-":
            standard_input(text)
        else:
            Path(source).write_text(text)
        out, said = told("run", source, *arguments, "--scores", "s.txt", "--save", "s.onkel", "--json", "-")
        answers = [told("predict", "s.onkel", "probe.libsvm", "--output", kind)[0] for kind in ("labels", "scores")]
        return without_time(json.loads(out)), Path("s.txt").read_text(), answers, said

    (Path("probe.libsvm")).write_text(libsvm(LABELS["binary"], X))
    return run


SPARSE = RANDOM.standard_normal((6000, 128)).round(2) * (RANDOM.random((6000, 128)) < 0.04)
SPARSE[5] = 0.5  # all columns are among the first rows
ROWS = {
    "libsvm": (libsvm(SIDE, MANY), "libsvm"),
    "sparse": (libsvm(np.where(SPARSE[:, 0] > SPARSE[:, 1], 1, -1), SPARSE), "libsvm"),
    "csv": (csv(SIDE, MANY, "a,b,c,y\n"), "csv"),
    "text": (csv(np.where(FAR, "far", "near"), MANY), "csv"),
}
LEARNERS = {"fogd": SHORT, "auto": [], "tvm": ["--learner", "tvm"], "bkm": ["--learner", "bkm"]}
WAYS = {"blocks": [*SHORT, "--evaluate", "blocks"], "delayed": [*SHORT, "--evaluate", "delayed", "--delay", "100"]}


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("how", [*LEARNERS, *WAYS])
def test_two_classes_from_standard_input_are_those_of_a_file_bit_for_bit(learned, kind, how):
    (text, form), more = ROWS[kind], {**LEARNERS, **WAYS}[how]
    found = learned(text, "--format", form, *more)
    assert found == learned(text, *more, source=f"rows.{form}")


@pytest.mark.parametrize("how", ["fogd", *WAYS])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("text", [False, True])
def test_a_second_class_may_come_after_any_number_of_rows(learned, how, turned, text):
    labels, more = -LATE if turned else LATE, {**LEARNERS, **WAYS}[how]
    rows = csv(np.where(labels > 0, "far", "near"), MANY) if text else csv(labels, MANY)
    found, expected = learned(rows, "--format", "csv", *more), learned(rows, *more, source="rows.csv")
    ours, theirs = (np.array(one[1].split(), float) for one in (found, expected))
    first = int(np.argmax(labels != labels[0]))
    unaware = range(4096, 6000) if how == "blocks" else [first]
    if turned == text:
        ours[: unaware[0]] *= -1.0  # a class that is alone stands for the first of two
    other = np.flatnonzero(ours != theirs)
    assert set(other.tolist()) <= set(unaware)  # it could not answer what it had never heard of
    assert found[2] == expected[2]
    assert found[0]["classes"] == expected[0]["classes"]


@pytest.mark.parametrize("more", [SHORT, [], *WAYS.values(), ["--learner", "bkm"]])
def test_a_third_class_turns_the_model_into_one_of_several(learned, more):
    report, scores, (answers, _), said = learned(libsvm(THREE, MANY), *more)
    rows = [line.split() for line in scores.splitlines()]
    assert {len(row) for row in rows[:4096]} == {1}
    assert {len(row) for row in rows[4300:]} == {3}
    assert (report["task"], report["classes"], report["rows"]) == ("multiclass", [-1, 1, 5], 6000)
    assert {*answers.split()} <= {"-1", "1", "5"}
    assert said == []
    assert load_model("s.onkel").answers.grows


@pytest.mark.parametrize("learner", ["tvm", "bpa_p"])
def test_a_third_class_is_one_sentence_where_a_recipe_knows_two_only(sentence, standard_input, learner):
    standard_input(libsvm(THREE, MANY))
    said = sentence("run", "-", "--learner", learner, "--json", "-")
    remedy = f"{learner} learns two classes only; one_vs_rest({learner}()) learns several."
    assert said == f"standard input, near line {np.argmax(THREE == 5) + 1}: A third class came: {remedy}"


WIDER = RANDOM.standard_normal((300, 40)).round(2)
WIDER[:, 3:] *= RANDOM.random((300, 37)) < 0.1
WIDER[:40, 3:] = WIDER[:90, 20:] = 0.0  # columns 4 to 20 come first, the others later
FEW = np.where(np.sum(WIDER**2, axis=1) > 4.0, 1, -1)
FEW[200::3] = 2
GROWS = libsvm(FEW, WIDER)
HEAD = pytest.mark.usefixtures("short_head")


@pytest.fixture
def short_head(monkeypatch):
    """Only 30 rows are looked at before the first is learned."""
    monkeypatch.setattr("onkel.apps.cli.feeding.LOOK", 30)


@HEAD
@pytest.mark.parametrize("more", [SHORT, [], ["--evaluate", "delayed", "--delay", "25"], ["--learner", "bkm"]])
def test_what_comes_new_does_not_depend_on_the_size_of_blocks(learned, more):
    found = learned(GROWS, *more)
    assert found[0]["classes"] == [-1, 1, 2]
    assert load_model("s.onkel").columns.width == 64
    for block in (1, 7, 100):
        assert learned(GROWS, *more, "--block", block) == found


@HEAD
@pytest.mark.parametrize("more", [SHORT, ["--evaluate", "blocks"], ["--evaluate", "delayed", "--delay", "25"]])
def test_a_growing_run_that_stopped_goes_on_as_if_it_had_not(told, folder, more):
    (folder / "rows.libsvm").write_text(GROWS)
    grows, given = (
        ["--classes", "grow", "--features", "grow"],
        [*more, "--block", "20", "--quiet", "--report", "r.html"],
    )
    told("run", "rows.libsvm", *grows, *given, "--scores", "whole.txt", "--save", "whole.onkel")
    given = ["--evaluate", *more[1:], *given[len(more) :]] if more is not SHORT else given[len(more) :]
    start = [*grows, *(more if more is SHORT else [])]
    stopped_after_every_block(["run", "rows.libsvm", *given, "--scores", "parts.txt", "--save", "parts.onkel"], start)
    assert Path("parts.txt").read_text() == Path("whole.txt").read_text()
    assert Path("parts.onkel").read_bytes() == Path("whole.onkel").read_bytes()


@HEAD
@pytest.mark.parametrize("rows", [20, 120, 260])  # before, between and after what comes new
def test_standard_input_goes_on_from_a_checkpoint(told, standard_input, rows):
    standard_input(GROWS)
    told("run", "-", *SHORT, "--quiet", "--save", "whole.onkel")
    standard_input(GROWS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Checkpoint, "passed", lambda *of: breaking(*of) if of[2].rows >= rows else None)
        with pytest.raises(BrokenDownError):
            main(["run", "-", *SHORT, "--quiet", "--block", "20", "--checkpoint", "here.onkel"])
    standard_input(GROWS)
    told("run", "-", "--quiet", "--resume", "here.onkel", "--save", "both.onkel")
    assert Path("both.onkel").read_bytes() == Path("whole.onkel").read_bytes()
    standard_input("".join(GROWS.splitlines(keepends=True)[:130]))
    told("run", "-", *SHORT, "--quiet", "--save", "half.onkel")
    standard_input("".join(GROWS.splitlines(keepends=True)[130:]))
    told("run", "-", "--quiet", "--resume", "half.onkel", "--save", "both.onkel")
    assert Path("both.onkel").read_bytes() == Path("whole.onkel").read_bytes()


def test_columns_grow_up_to_32768_and_no_further_unless_their_number_is_given(told, sentence, standard_input):
    text = DATA["binary.libsvm"] * 20 + "1 32768:1\n"
    standard_input(text)
    told("run", "-", "--learner", "rbp", "--quiet", "--save", "model.onkel")
    assert load_model("model.onkel").columns.width == 32768
    standard_input(text + "1 32769:1\n")
    said = sentence("run", "-", "--learner", "rbp", "--quiet")
    assert said == "standard input: there are more than 32,768 columns: give their number at the start (--features N)."
    standard_input(text + "1 32769:1\n")
    told("run", "-", "--learner", "rbp", "--quiet", "--features", "40000", "--save", "model.onkel")
    assert load_model("model.onkel").columns.width == 40000


@HEAD
def test_a_page_of_a_growing_run_has_all_its_classes(told, standard_input):
    pytest.importorskip("matplotlib")
    for more in ([], ["--evaluate", "blocks"], ["--learner", "bkm"]):
        standard_input(GROWS)
        told("run", "-", *more, "--quiet", "--report", "page.html", "--plots", "plots", "--json", "r.json")
        assert json.loads(Path("r.json").read_text())["classes"] == [-1, 1, 2]
        assert "<html" in Path("page.html").read_text()


@HEAD
@pytest.mark.parametrize("more", [[], ["--permutations", "2"]])
def test_several_learners_see_the_same_rows_of_standard_input(told, standard_input, more):
    pytest.importorskip("matplotlib")
    found = {}
    for learners in ("fogd:gamma=0.5,rbp,fogd:gamma=0.50", "fogd:gamma=0.5"):
        standard_input(GROWS)
        out, _ = told("compare", "-", "--learners", learners, *more, "--report", "page.html", "--json", "-")
        found[learners] = json.loads(out)
    several, one = found.values()
    errors = [learner["error"] for learner in several["learners"]]
    assert errors[0] == errors[2] == one["learners"][0]["error"]
    assert (several["task"], one["task"]) == ("multiclass", "multiclass")


def test_text_labels_may_come_new_too(learned):
    names = np.where(np.arange(6000) % 2000 == 1999, "between", np.where(FAR, "far", "near"))
    names[:4200] = np.where(FAR, "far", "near")[:4200]
    report, *_ = learned(csv(names, MANY), "--format", "csv", *SHORT)
    assert report["classes"] == ["between", "far", "near"]


def test_numbers_come_from_standard_input_as_from_a_file(learned):
    text = libsvm(np.sin(MANY[:, 0]).round(4), MANY)
    found = learned(text, *SHORT)
    assert found[0]["task"] == "regression"
    assert found == learned(text, *SHORT, source="rows.libsvm")


def test_all_classes_can_be_named_at_the_start(learned, sentence, standard_input):
    report, scores, *_ = learned(libsvm(THREE, MANY), "--classes", "-1,1,5", *SHORT)
    assert (report["task"], report["classes"]) == ("multiclass", [-1, 1, 5])
    assert {len(line.split()) for line in scores.splitlines()} == {3}
    standard_input(libsvm(THREE, MANY))
    line = np.argmax(THREE == 5) + 1
    said = sentence("run", "-", "--classes", "-1,1", "--quiet")
    assert said.startswith(f"standard input, near line {line}: ")


def test_a_fraction_among_classes_is_one_sentence(sentence, standard_input):
    standard_input(DATA["multiclass.libsvm"] * 14 + "1.5 1:1\n")
    said = sentence("run", "-", "--quiet", *SHORT)
    assert said == (
        f"standard input, near line {14 * N_ROWS + 1}: the label 1.5 is no whole number, as those before are: "
        "--task regression learns numbers."
    )


def test_files_stay_as_they_are(onkel_run, refused, folder):
    onkel_run("binary.libsvm", *SHORT, "--quiet", "--save", "model.onkel")
    saved = load_model("model.onkel")
    assert not saved.answers.grows
    assert not saved.columns.grows
    (folder / "more.libsvm").write_text("7 1:1\n")
    assert refused("more.libsvm", "--resume", "model.onkel").startswith("more.libsvm, near line 1: ")


def test_compressed_rows_do_not_depend_on_blocks_either_as_they_become_wider(learned):
    rows = SPARSE.copy()
    rows[:4500, 100:] = 0.0
    text = libsvm(np.where(rows[:, 0] > rows[:, 1], 1, -1), rows)
    found = learned(text, *SHORT)
    assert load_model("s.onkel").columns.width == 128
    assert learned(text, *SHORT, "--block", 500) == found


@pytest.mark.parametrize("source", ["rings", "wide.csv"])
def test_a_grown_model_refuses_rows_of_another_width_that_cannot_grow(told, sentence, standard_input, source):
    standard_input(libsvm(SIDE[:300], MANY[:300]))
    told("run", "-", *SHORT, "--save", "grown.onkel", "--quiet")
    Path("wide.csv").write_text("1,2,3,4,-1\n5,6,7,8,1\n")
    assert "features" in sentence("run", source, "--resume", "grown.onkel")
