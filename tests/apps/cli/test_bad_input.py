"""What is wrong, in one sentence."""

import os
from pathlib import Path

import pytest

import onkel
from onkel.apps.cli.main import main
from onkel.files import snapshot
from onkel.model.online import Online
from onkel.recipes import RECIPES
from onkel.streams import STREAMS
from tests.apps.cli.common import DATA, LABELS, OUTPUT, PACK, libsvm, spoken

BAD_LINES = {
    "bad.libsvm": ("1 2:x\n", "bad.libsvm, line 301: '2:x' is not of the form index:value."),
    "nan.libsvm": ("1 2:nan\n", "nan.libsvm, line 301: the value of feature 2 is nan; only finite numbers "),
    "inf.libsvm": ("1 2:1e999\n", "inf.libsvm, line 301: the value of feature 2 is inf; only finite numbers "),
    "label.libsvm": ("1:1 2:1\n", "label.libsvm, line 301: the label is missing."),
    "text.libsvm": ("yes 2:1\n", "text.libsvm, line 301: the label 'yes' is not a number."),
    "huge.libsvm": ("1 1:1e400\n", "huge.libsvm"),
    "bad.csv": ("1,2,x,near\n", "bad.csv, line 301: column 3 holds 'x', which is not a number."),
    "nan.csv": ("1,2,nan,near\n", "nan.csv, line 301: column 3 is nan; only finite numbers are accepted."),
    "empty.csv": ("1,2,,near\n", "empty.csv, line 301: column 3 is empty."),
    "label.csv": ("1,2,3,\n", "label.csv, line 301: column 4 is empty."),
    "short.csv": ("1,2,near\n", "short.csv, line 301: 3 cells where the first line has 4."),
}


@pytest.mark.parametrize("name", BAD_LINES)
@pytest.mark.parametrize("block", [100, 4096])
def test_a_bad_line_is_named(refused, name, block):
    line, sentence = BAD_LINES[name]
    Path(name).write_text(DATA["binary.libsvm" if name.endswith("libsvm") else "text.csv"] + line)
    assert refused(name, "--block", block, *OUTPUT).startswith(sentence)


@pytest.mark.parametrize("name", [name for name in BAD_LINES if name != "huge.libsvm"])
def test_a_bad_line_of_standard_input_is_named(refused, standard_input, name):
    line, sentence = BAD_LINES[name]
    kind = name.rpartition(".")[2]
    standard_input(DATA["binary.libsvm" if kind == "libsvm" else "text.csv"] + line)
    found = refused("-", "--format", kind, "--block", 100, *OUTPUT)
    assert found.startswith(sentence.replace(name, "standard input"))


@pytest.mark.parametrize("ending", PACK)
@pytest.mark.parametrize("cut", [20, 0.5])
def test_a_compressed_file_that_is_cut_off_is_named(refused, ending, cut):
    data = PACK[ending](DATA["binary.libsvm"].encode() * 20)
    Path(f"cut.libsvm{ending}").write_bytes(data[: int(len(data) * cut) if cut < 1 else -cut])
    assert refused(f"cut.libsvm{ending}", *OUTPUT) == f"cut.libsvm{ending}: the compressed file ends early."


@pytest.mark.parametrize("ending", PACK)
def test_a_file_that_is_not_compressed_as_its_name_says_is_named(refused, ending):
    Path(f"plain.libsvm{ending}").write_text(DATA["binary.libsvm"])
    assert refused(f"plain.libsvm{ending}").startswith(f"plain.libsvm{ending}: the compressed file is damaged")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("empty.libsvm", "", "empty.libsvm: the file is empty."),
        ("empty.csv", "", "empty.csv: the file is empty."),
        ("blank.libsvm", "\n\n# a comment\n", "blank.libsvm: there are no rows in it."),
        ("header.csv", "a,b,c,place\n", "header.csv: there are no rows in it."),
        (
            "labels.libsvm",
            "1\n-1\n",
            "labels.libsvm: no row has a feature, so their number must be given (--features).",
        ),
    ],
)
def test_a_file_without_rows_is_named(refused, name, content, sentence):
    Path(name).write_text(content)
    assert refused(name, *OUTPUT) == sentence


@pytest.mark.parametrize("format", ["libsvm", "csv"])
def test_an_empty_standard_input_is_named(refused, standard_input, format):
    standard_input("")
    assert refused("-", "--format", format, *OUTPUT) == "standard input: there are no rows in it."


def test_a_missing_file_is_named(refused):
    expected = f"'nowhere.libsvm' is neither a file nor a built-in stream ({', '.join(STREAMS)})."
    assert refused("nowhere.libsvm", *OUTPUT) == expected


def test_a_folder_is_named(refused):
    Path("inner").mkdir()
    assert refused("inner") == "inner: there is no Parquet or Arrow file in this folder."


BAD_PARAMETERS = [
    ("fogd", "eta=-1", "eta must be a positive number, not -1."),
    ("fogd", "eta=0", "eta must be a positive number, not 0."),
    ("fogd", "eta=nan", "eta must be a positive number, not nan."),
    ("fogd", "eta=abc", "eta must be a positive number, not 'abc'."),
    ("fogd", "lam=abc", "lam must be at least 0 and below 1 / eta, not 'abc'."),
    ("fogd", "sigma=abc", "sigma must be a positive number, not 'abc'."),
    ("fogd", "sigma=-1", "sigma must be a positive number, not -1."),
    ("fogd", "gamma=abc", "gamma must be a number or one of scale, median, not 'abc'."),
    ("fogd", "loss=foo", "loss for classification must be one of hinge, logistic, softmax, not 'foo'."),
    ("fogd", "loss=squared", "loss for classification must be one of hinge, logistic, softmax, not 'squared'."),
    ("fogd", "loss=3", "loss for classification must be one of hinge, logistic, softmax, not 3."),
    ("fogd", "epsilon=abc", "epsilon must be at least 0, not 'abc'."),
    ("fogd", "n_frequencies=abc", "n_frequencies must be a positive whole number, not 'abc'."),
    ("fogd", "n_frequencies=none", "n_frequencies must be a positive whole number, not None."),
    ("fogd", "n_frequencies=1.5", "n_frequencies must be a positive whole number, not 1.5."),
    ("fogd", "draw=foo", "draw must be one of iid, orthogonal, sorf, fastfood, not 'foo'."),
    ("fogd", "kernel=foo", "kernel must be one of gaussian, laplacian, cauchy, polynomial, linear, additive_chi2, not"),
    ("fogd", "kernel=3", "kernel must be one of gaussian, laplacian, cauchy, polynomial, linear, additive_chi2, not 3"),
    ("fogd", "kernel=linear", "Random features need a gaussian, laplacian, cauchy or additive_chi2 kernel."),
    ("fogd", "step=foo", "step must be one of constant, inverse_sqrt, adagrad, inverse_time, not 'foo'."),
    ("fogd", "step=3", "step must be one of constant, inverse_sqrt, adagrad, inverse_time, not 3."),
    ("fogd", "budget=3", "fogd has no parameter 'budget'; it has n_frequencies, eta, "),
    ("fogd", "eta", "--set takes KEY=VALUE, not 'eta'."),
    ("nogd", "budget=abc", "budget must be a positive whole number, not 'abc'."),
    ("nogd", "rank=0", "rank must be a positive whole number, not 0."),
    ("nogd", "cut=abc", "cut must be a positive number, not 'abc'."),
    ("norma", "nu=abc", "nu must lie between 0 and 1, not 'abc'."),
    ("norma", "nu=1", "nu must lie between 0 and 1, not 1."),
    ("norma", "start=abc", "start must be a "),
    ("norma", "start=nan", "start must be a "),
    ("passive_aggressive", "C=none", "C must be a positive number, not None."),
    ("passive_aggressive", "variant=foo", "variant must be one of PA, PA-I, PA-II, not 'foo'."),
    ("rks", "batch=abc", "batch must be a positive whole number, not 'abc'."),
    ("rbp", "budget=0", "budget must be a positive whole number, not 0."),
    ("forgetron", "root=other", "root must be one of exact, published, not 'other'."),
    ("projectron", "guard=-1", "guard must be at least 0, not -1."),
    ("bogd", "removal=newest", "removal must be one of random, oldest, not 'newest'."),
    ("bsgd_r", "lam=0", "lam must be a positive number, not 0."),
    ("bsgd_m", "kernel=linear", "bsgd_m merges points of the Gaussian kernel only."),
    ("one_vs_rest", "learner=nobody", "There is no learner 'nobody'; there are "),
    ("one_vs_rest", "learner__nothing=1", "bpa_p has no parameter 'nothing'; it has "),
    ("foo", "eta=1", "There is no learner 'foo'; there are ada_raker, auto, bkm, "),
]


@pytest.mark.parametrize(("name", "setting", "sentence"), BAD_PARAMETERS)
def test_a_bad_parameter_is_named(refused, name, setting, sentence):
    assert refused("binary.libsvm", "--learner", name, "--set", setting, *OUTPUT).startswith(sentence)


@pytest.mark.parametrize("name", ["perceptron", "passive_aggressive", "ogd"])
@pytest.mark.parametrize("value", ["abc", "-1", "nan"])
def test_a_bad_tube_of_a_regression_is_named(refused, name, value):
    found = refused("regression.libsvm", "--learner", name, "--set", f"epsilon={value}", *OUTPUT)
    assert found.startswith("epsilon must be at least 0, not ")


BAD_OPTIONS = [
    (["--limit", "abc"], "--limit", "abc"),
    (["--limit", "0"], "--limit", "0 is not a positive whole number"),
    (["--block", "-3"], "--block", "-3 is not a positive whole number"),
    (["--block", "1.5"], "--block", "1.5"),
    (["--features", "0"], "--features", "0 is not a positive whole number"),
    (["--seed", "abc"], "--seed", "abc"),
    (["--permutation", "-1"], "permutation", "-1"),
    (["--permutation", "abc"], "--permutation", "abc"),
    (["--evaluate", "delayed", "--delay", "-1"], "delay", "-1"),
    (["--dtype", "float16"], "--dtype", "float16"),
    (["--task", "ranking"], "--task", "ranking"),
    (["--evaluate", "never"], "--evaluate", "never"),
    (["--format", "arff"], "--format", "arff"),
    (["--unheard-of"], "--unheard-of", ""),
    (["more.libsvm"], "more.libsvm", ""),
    (["--save"], "--save", "argument"),
]


@pytest.mark.parametrize(("options", "name", "value"), BAD_OPTIONS)
def test_a_bad_option_is_named(refused, options, name, value):
    found = refused("binary.libsvm", *options)
    assert name in found
    assert value in found
    assert "_count" not in found  # a name inside the program means nothing to its user


def test_an_abbreviated_option_of_another_meaning_is_not_guessed(refused):
    assert "--s" in refused("binary.libsvm", "--s", "x")


@pytest.mark.parametrize(
    ("name", "task", "sentence"),
    [
        ("multiclass.libsvm", "binary", "--task binary needs two classes; there are 3."),
        ("regression.libsvm", "binary", "--task binary needs labels that are classes; these are fractions, or more "),
        ("regression.libsvm", "multiclass", "--task multiclass needs labels that are classes; these are fractions, "),
        ("text.csv", "regression", "text.csv"),
    ],
)
def test_labels_that_do_not_fit_the_task_are_refused(refused, name, task, sentence):
    found = refused(name, "--task", task, *OUTPUT)
    assert found.startswith(sentence)
    assert task != "regression" or ": the labels of a regression must be numbers; text is for classes" in found


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        ("1 2 x", "order.txt: an order consists of whole numbers only."),
        ("1.5", "order.txt: an order consists of whole numbers only."),
        ("1 2 300", "order.txt: row number 300 is outside 0 to 299."),
        ("-1", "order.txt: row number -1 is outside 0 to 299."),
        ("99999999999999999999", "order.txt: "),
        ("", "order.txt: "),
    ],
)
def test_a_bad_order_is_named(refused, order, sentence):
    Path("order.txt").write_text(order)
    assert refused("binary.libsvm", "--order", "order.txt", *OUTPUT).startswith(sentence)


@pytest.mark.parametrize("option", ["--order", "--test", "--resume"])
def test_another_missing_file_is_named_before_anything_is_learned(refused, option, monkeypatch):
    monkeypatch.setattr(Online, "learn", lambda *_: pytest.fail("something was learned"))
    assert "nowhere.txt" in refused("binary.libsvm", option, "nowhere.txt", *OUTPUT)


UNKNOWN = {
    "test.libsvm": ("binary.libsvm", "1 1:1\n-1 1:1\n2 1:1\n", "2", "-1, 1"),
    "three.libsvm": ("multiclass.libsvm", "1 1:1\n1 1:1\n3 1:1\n", "3", "0, 1, 2"),
    "short.csv": ("text.csv", "1,2,3,far\n1,2,3,near\n1,2,3,on\n", "'on'", "'far', 'near'"),
    "long.csv": ("text.csv", "1,2,3,far\n1,2,3,near\n1,2,3,nearby\n", "'nearby'", "'far', 'near'"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_class_in_a_test_file_is_named(refused, name):
    data, text, label, classes = UNKNOWN[name]
    Path(name).write_text(text)
    found = refused(data, "--test", name, *OUTPUT)
    assert found.startswith((f"{name}, line 3: ", f"{name}, near line 3: "))
    assert found.endswith(f"he label {label} is not among the classes {classes}.")


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_class_later_on_standard_input_is_named(refused, standard_input, name):
    data, text, label, classes = UNKNOWN[name]
    standard_input(DATA[data] + text)
    given = ["--classes", classes.replace("'", "").replace(" ", "")]
    found = refused("-", "--format", name.rpartition(".")[2], "--block", 50, *given, *OUTPUT)
    assert found.startswith(("standard input, line 303: ", "standard input, near line 303: "))
    assert found.endswith(f"he label {label} is not among the classes {classes}.")


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_class_after_going_on_is_named(refused, onkel_run, name):
    data, text, label, classes = UNKNOWN[name]
    onkel_run(data, "--save", "model.onkel", "--quiet")
    Path(name).write_text(text)
    found = refused(name, "--resume", "model.onkel", *OUTPUT)
    assert found.startswith((f"{name}, line 3: ", f"{name}, near line 3: "))
    assert found.endswith(f"he label {label} is not among the classes {classes}.")


@pytest.mark.parametrize(("data", "other"), [("binary.libsvm", "text.csv"), ("text.csv", "binary.libsvm")])
def test_labels_of_another_kind_in_a_test_file_are_named(refused, data, other):
    found = refused(data, "--test", other)
    assert found.startswith(other)
    assert "not among the classes" in found


def test_a_test_file_of_another_width_is_named(refused):
    Path("wide.libsvm").write_text("1 1:1 9:1\n")
    assert refused("binary.libsvm", "--test", "wide.libsvm", *OUTPUT).startswith(
        "wide.libsvm, line 1: feature index 9 "
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "this is not an onkel model, or it is damaged or cut off."),
        (b"hello", "this is not an onkel model, or it is damaged or cut off."),
    ],
)
def test_a_file_that_is_no_model_is_named(refused, content, sentence):
    Path("model.onkel").write_bytes(content)
    assert refused("binary.libsvm", "--resume", "model.onkel", *OUTPUT) == f"model.onkel: {sentence}"


@pytest.mark.parametrize("damage", [lambda data: data[:-30], lambda data: data[:900] + b"\xff" + data[901:]])
def test_a_damaged_model_is_named(refused, onkel_run, damage):
    onkel_run("binary.libsvm", "--save", "model.onkel", "--quiet")
    Path("model.onkel").write_bytes(damage(Path("model.onkel").read_bytes()))
    assert refused("binary.libsvm", "--resume", "model.onkel", *OUTPUT).startswith("model.onkel: ")


def test_a_model_of_a_later_version_is_named(refused, onkel_run, monkeypatch):
    with monkeypatch.context() as later:
        later.setattr(snapshot, "VERSION", 9)
        onkel_run("binary.libsvm", "--save", "model.onkel", "--quiet")
    found = refused("binary.libsvm", "--resume", "model.onkel", *OUTPUT)
    assert found == f"model.onkel: its format has version 9; this onkel reads versions up to {snapshot.VERSION}."


@pytest.mark.parametrize(
    ("name", "text"),
    [("wide.libsvm", "1 1:1 9:1\n"), ("wide.csv", "1,2,3,4,1\n"), ("narrow.csv", "1,2,1\n")],
)
def test_going_on_with_rows_of_another_width_is_refused(refused, onkel_run, name, text):
    onkel_run("binary.libsvm", "--save", "model.onkel", "--quiet")
    Path(name).write_text(text)
    assert refused(name, "--resume", "model.onkel", *OUTPUT).startswith(f"{name}, line 1: ")


def test_going_on_with_a_built_in_stream_of_another_width_is_refused(refused, onkel_run):
    onkel_run("binary.libsvm", "--save", "model.onkel", "--quiet")
    found = refused("rings", "--resume", "model.onkel", *OUTPUT)
    assert "2" in found
    assert "3" in found
    assert "(0, 2)" not in found  # the rings have rows


@pytest.mark.parametrize(
    "options",
    [["--learner", "ogd"], ["--set", "eta=1"], ["--dtype", "float64"], ["--task", "regression"], ["--features", "9"]],
)
def test_options_that_a_saved_model_answers_are_refused(refused, onkel_run, options):
    onkel_run("binary.libsvm", "--save", "model.onkel", "--quiet")
    assert "--resume" in refused("binary.libsvm", "--resume", "model.onkel", *options)


@pytest.mark.parametrize("option", ["--scores", "--json", "--save"])
@pytest.mark.parametrize("target", ["nowhere/out", ".", "inner"])
def test_an_output_that_cannot_be_written_is_named_before_anything_is_learned(refused, option, target, monkeypatch):
    Path("inner").mkdir()
    monkeypatch.setattr(Online, "learn", lambda *_: pytest.fail("something was learned"))
    found = refused("binary.libsvm", *OUTPUT, option, target)
    assert found.startswith((target.partition("/")[0], str(Path(target).absolute())))
    assert ".part" not in found


def test_the_chi2_kernel_refuses_negative_values(refused):
    found = refused("binary.libsvm", "--learner", "fogd", "--set", "kernel=additive_chi2", *OUTPUT)
    assert "chi2" in found
    assert "egative" in found


def test_labels_too_large_to_be_squared_are_refused_or_reported(folder, capsys):
    Path("large.libsvm").write_text(libsvm(1e200 * LABELS["regression"]))
    code = main(["run", "large.libsvm", "--json", "out.json", "--quiet"])
    lines = spoken(capsys.readouterr().err)
    assert (code, len(lines)) in ((0, 0), (2, 1))
    assert code == 0 or lines[0].startswith("onkel: large.libsvm")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "onkel: The following arguments are required: COMMAND. See `onkel --help`."),
        (["learn"], "onkel: Argument COMMAND: invalid choice: 'learn' (choose from 'run', "),
    ],
)
def test_a_command_is_needed(arguments, sentence, capsys):
    assert main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(sentence)
    assert line.endswith("See `onkel --help`.")


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"]])
def test_help_is_not_an_error(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    out, err = capsys.readouterr()
    assert (caught.value.code, err) == (0, "")
    assert "``" not in out
    if arguments == ["--version"]:
        assert out == f"onkel {onkel.__version__}\n"
    if arguments[0] == "run":
        assert all(name in out for name in RECIPES)
        assert "onkel run a9a" in out


def test_a_stop_in_the_middle_leaves_nothing_behind(folder, capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    before = set(os.listdir(folder))
    monkeypatch.setattr(Online, "learn", interrupt)
    assert main(["run", "binary.libsvm", *OUTPUT]) == 130
    assert spoken(capsys.readouterr().err) == ["onkel: stopped."]
    assert set(os.listdir(folder)) == before


def test_too_little_memory_is_said_in_a_sentence(refused, monkeypatch):
    def exhaust(*_):
        raise MemoryError

    monkeypatch.setattr(Online, "learn", exhaust)
    assert refused("binary.libsvm", *OUTPUT) == "there is not enough memory for a model of this size."
