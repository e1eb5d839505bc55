"""What is left when nothing more can be written: one sentence that names the file, and the files of before."""

import errno
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from onkel.apps.cli.main import main
from onkel.files.model_file import load_model
from tests.apps.cli.common import DATA, spoken
from tests.apps.cli.forks import forked

LEARNER = ["--learner", "fogd", "--set", "n_frequencies=20", "--set", "gamma=1"]
RUN = ["run", "binary.libsvm", *LEARNER, "--block", "100", "--quiet"]
COMPARE = ["compare", "binary.libsvm", "--learners", "fogd:gamma=1", "--quiet"]
CHECKPOINTS = ["--checkpoint", "out.onkel", "--every", "100"]
WRITING = {  # what is written, in the order of the names
    "save": ([*RUN, "--save", "out.onkel"], ["out.onkel"]),
    "scores": ([*RUN, "--scores", "out.txt"], ["out.txt"]),
    "json": ([*RUN, "--json", "out.json"], ["out.json"]),
    "report": ([*RUN, "--report", "out.html"], ["out.html"]),
    "plots": ([*RUN, "--plots", "plots"], ["plots/error-so-far.png", "plots/error-so-far.svg"]),
    "everything": (
        [*RUN, "--save", "out.onkel", "--scores", "out.txt", "--json", "out.json", "--report", "out.html"],
        ["out.html", "out.json", "out.onkel", "out.txt"],
    ),
    "predict": (["predict", "model.onkel", "binary.libsvm", "--output", "scores", "--to", "out.txt"], ["out.txt"]),
    "predict as JSON": (
        ["predict", "model.onkel", "binary.libsvm", "--to", "out.txt", "--json", "out.json"],
        ["out.json", "out.txt"],
    ),
    "compare": (
        [*COMPARE, "--json", "out.json", "--report", "o.html"],
        ["o.html", "out.json"],
    ),
    "tune": (
        ["tune", "binary.libsvm", "--learner", "fogd", "--set", "gamma=1", "--grid", "eta=0.1,1", "--json", "out.json"],
        ["out.json"],
    ),
    "export": (["export", "model.onkel", "--onnx", "out.onnx", "--json", "out.json"], ["out.json", "out.onnx"]),
    "describe": (["describe", "fogd", "--json", "out.json"], ["out.json"]),
    "describe a model": (["describe", "model.onkel", "--json", "out.json"], ["out.json"]),
    "data": (["data", "list", "--json", "out.json"], ["out.json"]),
    "reproduce": (["reproduce", "--json", "out.json"], ["out.json"]),
    "warm": (["warm", "fogd", "--task", "binary", "--layout", "dense", "--json", "out.json"], ["out.json"]),
}  # fmt: skip
SHARES = (0.0, 0.02, 0.5, 0.95)  # of the largest file: headers, the middle, what is written as files are closed
BEFORE = b"what was there before"


@pytest.fixture
def model(folder):
    assert main([*RUN, "--save", "model.onkel"]) == 0
    return folder


def everything_in(folder):
    return {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def parts(folder):
    return sorted(name for name in os.listdir(folder) if re.fullmatch(r"\..*\.[0-9a-f]{8}", name))


def limited(size):
    """No file may become longer, as on a disk that is full then."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("kind", WRITING)
def test_a_full_disk_leaves_what_was_there_and_is_said_in_one_sentence(model, kind):
    command, names = WRITING[kind]
    assert main(command) == 0
    sizes = {name: os.path.getsize(name) for name in names}
    for share in SHARES:
        for name in names:
            Path(name).write_bytes(BEFORE)
        before, limit = everything_in(model), int(share * max(sizes.values()))
        code, out, err = forked(command, limited(limit))
        assert (code, len(err)) == (2, 1), (limit, err)
        assert out == "" or kind == "warm"  # which says what it does while it does it
        assert any(err[0] == f"onkel: {name}: File too large." for name in (*names, tempfile.gettempdir())), err
        assert everything_in(model) == before


LONGER = ["run", "rings", "--limit", "6000", "--block", "100", "--quiet"]


def test_a_checkpoint_of_before_stays_where_the_next_has_no_room(model):
    assert main([*LONGER, *LEARNER, *CHECKPOINTS]) == 0
    size = os.path.getsize("out.onkel")
    os.unlink("out.onkel")
    code, _, err = forked([*LONGER, *LEARNER, *CHECKPOINTS], limited(size - 2000))  # its curve and its window grow
    assert (code, err) == (2, ["onkel: out.onkel: File too large."])
    assert 0 < load_model("out.onkel").online.rows_learned < 6000
    assert parts(model) == []


def test_scores_that_have_no_room_left_go_on_from_the_last_checkpoint(model):
    """With checkpoints they stand in their place from the start, and a checkpoint knows how many bytes count."""
    command = [*LONGER, *LEARNER, *CHECKPOINTS, "--scores", "out.txt"]
    assert main(command) == 0
    whole, lines = Path("out.txt").read_bytes(), Path("out.txt").read_text().splitlines(keepends=True)
    limit = sum(map(len, lines[:4050]))
    assert limit > os.path.getsize("out.onkel")
    os.unlink("out.onkel")
    code, _, err = forked(command, limited(limit))
    assert (code, err) == (2, ["onkel: out.txt: File too large."])
    assert load_model("out.onkel").online.rows_learned == 4000
    assert main([*LONGER, "--resume", "out.onkel", "--scores", "out.txt"]) == 0
    assert Path("out.txt").read_bytes() == whole


def test_no_byte_of_a_small_file_is_where_a_full_disk_is_missed(model):
    assert main(["describe", "model.onkel", "--json", "out.json"]) == 0
    whole = Path("out.json").read_bytes()
    Path("out.json").write_bytes(BEFORE)
    for limit in range(0, len(whole), 7):
        assert forked(["describe", "model.onkel", "--json", "out.json"], limited(limit)).code == 2
        assert Path("out.json").read_bytes() == BEFORE
    assert forked(["describe", "model.onkel", "--json", "out.json"], limited(len(whole))).code == 0
    assert Path("out.json").read_bytes() == whole


def test_a_disk_that_is_really_full_is_named(model):
    if os.geteuid() or not shutil.which("mount"):
        pytest.skip("only root can mount a small disk")
    os.mkdir("disk")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "onkel", "disk"], capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        for option in ("--save", "--scores", "--checkpoint", "--report"):
            code, _, err = forked([*RUN, option, "disk/out", "--every", "100"])
            assert (code, err) == (2, ["onkel: disk/out: No space left on device."])
            assert os.listdir("disk") == []
    finally:
        subprocess.run(["umount", "disk"], check=True)


PRINTING = {
    "predict": ["predict", "model.onkel", "binary.libsvm"],
    "json": [*RUN, "--json", "-"],
    "scores": [*RUN, "--scores", "-"],
    "save": [*RUN, "--save", "-"],
    "table": [*RUN[:-1]],
    "list": ["data", "list"],
    "describe": ["describe", "fogd"],
}
COMMAND = [sys.executable, "-m", "onkel"]


@pytest.mark.parametrize("kind", PRINTING)
def test_a_standard_output_that_takes_nothing_is_said_in_one_sentence(model, kind):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, *PRINTING[kind]], stdout=full, stderr=subprocess.PIPE, text=True)
    said = f"onkel: standard output: {os.strerror(errno.ENOSPC)}."
    assert (done.returncode, [line for line in spoken(done.stderr) if "mistakes" not in line]) == (2, [said])


@pytest.mark.parametrize(("kind", "code"), [("predict", 2), ("json", 2), ("table", 0), ("list", 0), ("describe", 0)])
def test_a_standard_output_that_is_closed_is_none(model, kind, code):
    """What was only meant for eyes is not missed; what was asked for is."""
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *COMMAND, *PRINTING[kind]], capture_output=True, text=True)
    said = [] if code == 0 else [f"onkel: standard output: {os.strerror(errno.EBADF)}."]
    assert (done.returncode, spoken(done.stderr)) == (code, said)


@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full"])
def test_nobody_who_listens_changes_nothing(model, where):
    for command, code in (([*RUN, "--json", "a.json"], 0), (["run", "nowhere.libsvm"], 2)):
        done = subprocess.run(["sh", "-c", f'"$@" {where}', "sh", *COMMAND, *command], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (code, "")


def test_a_standard_input_that_is_closed_is_said(model):
    done = subprocess.run(["sh", "-c", '"$@" <&-', "sh", *COMMAND, "run", "-"], capture_output=True, text=True)
    assert (done.returncode, len(spoken(done.stderr))) == (2, 1), done.stderr
    assert "standard input" in done.stderr


@pytest.mark.parametrize("option", ["--save", "--scores", "--json", "--checkpoint", "--report", "--plots"])
def test_a_user_who_may_not_write_is_told_before_anything_is_learned(option, tmp_path):
    if os.geteuid():
        pytest.skip("only root can become somebody else")
    folder = Path(tempfile.mkdtemp())  # the folders of pytest are those of one user
    try:
        (folder / "binary.libsvm").write_text(DATA["binary.libsvm"])
        assert main(["run", str(folder / "binary.libsvm"), *LEARNER, "--quiet"]) == 0  # compiled
        folder.chmod(0o555)
        target = str(folder / "out")
        done = forked(["run", str(folder / "binary.libsvm"), *LEARNER, option, target], lambda: os.setuid(65534))
        assert (done.code, done.err) == (2, [f"onkel: {target}: Permission denied."])
        assert os.listdir(folder) == ["binary.libsvm"]
    finally:
        shutil.rmtree(folder)


CANNOT_BE_REPLACED = {  # rights of the folder, and what is said of a file there that everybody can write to
    "in a folder that is not the users": (0o755, "Permission denied"),
    "of another user where everybody has files": (0o1777, "Operation not permitted"),
}


@pytest.mark.parametrize("kind", CANNOT_BE_REPLACED)
def test_a_file_that_cannot_be_replaced_is_told_before_anything_is_learned(kind, monkeypatch):
    if os.geteuid():
        pytest.skip("only root can become somebody else")
    (rights, said), folder = CANNOT_BE_REPLACED[kind], Path(tempfile.mkdtemp())
    try:
        (folder / "binary.libsvm").write_text(DATA["binary.libsvm"])
        assert main(["run", str(folder / "binary.libsvm"), *LEARNER, "--quiet"]) == 0  # all of it is imported
        monkeypatch.setattr("onkel.apps.cli.session.Session.learn", lambda *_: os._exit(1))
        (folder / "out").write_bytes(BEFORE)
        (folder / "out").chmod(0o666)
        folder.chmod(rights)
        run = ["run", str(folder / "binary.libsvm"), *LEARNER]
        for option in ("--save", "--json", "--checkpoint"):
            done = forked([*run, option, str(folder / "out")], lambda: os.setuid(65534))
            assert (done.code, done.err) == (2, [f"onkel: {folder / 'out'}: {said}."])
        assert (folder / "out").read_bytes() == BEFORE
    finally:
        shutil.rmtree(folder)


def test_a_folder_for_pictures_that_must_not_be_written_to_is_told_before_anything_is_learned():
    if os.geteuid():
        pytest.skip("only root can become somebody else")
    pytest.importorskip("matplotlib")
    folder = Path(tempfile.mkdtemp())
    try:
        (folder / "binary.libsvm").write_text(DATA["binary.libsvm"])
        folder.chmod(0o755)
        (folder / "plots").mkdir(mode=0o755)
        run = ["run", str(folder / "binary.libsvm"), *LEARNER, "--plots", str(folder / "plots")]
        done = forked(run, lambda: os.setuid(65534))
        assert (done.code, done.err) == (2, [f"onkel: {folder / 'plots'}: Permission denied."])
    finally:
        shutil.rmtree(folder)


@pytest.mark.usefixtures("model")
def test_a_name_without_room_for_that_of_its_part_is_told_before_anything_is_learned(sentence, monkeypatch):
    monkeypatch.setattr("onkel.apps.cli.session.Session.learn", lambda *_: pytest.fail("something was learned"))
    name = "x" * 250
    assert sentence(*RUN, "--save", name) == f"{name}: File name too long."


@pytest.mark.usefixtures("model")
def test_a_link_that_leads_nowhere_is_named(sentence):
    os.symlink("nowhere/out", "link")
    assert sentence(*RUN, "--save", "link") == "link: No such file or directory."


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="there are no names of open files")
@pytest.mark.parametrize("option", ["--save", "--scores", "--json"])
def test_an_open_file_goes_on_where_it_is(model, option):
    """As `3>>log` and `2>log` give them: what stood there stays, and so does what others write to it."""
    assert main([*RUN, option, "expected"]) == 0
    with open("log", "ab") as log:
        log.write(BEFORE)
        log.flush()
        assert main([*RUN, option, f"/dev/fd/{log.fileno()}"]) == 0
        log.write(b"and what came then")
    found = Path("log").read_bytes()
    assert found.startswith(BEFORE)
    assert found.endswith(b"and what came then")
    if option != "--json":  # which has times in it
        assert found == BEFORE + Path("expected").read_bytes() + b"and what came then"


@pytest.mark.parametrize("option", ["--save", "--scores", "--json"])
def test_a_socket_is_written_to(model, option):
    assert main([*RUN, option, "expected"]) == 0
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        listening.listen()
        found = []

        def listen():
            with listening.accept()[0] as connection, connection.makefile("rb") as file:
                found.append(file.read())

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        assert main([*RUN, option, "socket"]) == 0
        listener.join(10)
    assert Path("socket").is_socket()
    assert len(found[0]) > 0
    if option != "--json":  # which has times in it
        assert found[0] == Path("expected").read_bytes()


def test_a_socket_without_a_listener_is_named(sentence):
    with socket.socket(socket.AF_UNIX) as nobody:
        nobody.bind("socket")
    assert sentence(*RUN, "--json", "socket") == "socket: Connection refused."
    assert Path("socket").is_socket()


def test_what_a_killed_process_left_is_removed_by_the_next_that_writes_the_file(folder):
    Path(".left.json.0123abcd").write_bytes(b"half")
    Path(".left.json.backup").write_bytes(b"somebody's")
    Path(".other.json.0123abcd").write_bytes(b"of another file")
    os.symlink("binary.libsvm", ".left.json.89abcdef")
    assert main([*RUN, "--json", "left.json"]) == 0
    assert parts(folder) == [".left.json.89abcdef", ".other.json.0123abcd"]
    assert Path(".left.json.backup").exists()


def test_what_another_process_is_writing_stays(folder):
    held = "from onkel.core.whole_files import Part; part = Part(sys.argv[1])"
    code = f"import sys; {held}; print('begun', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "held.json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout.readline() == "begun\n"
        assert main([*RUN, "--json", "held.json"]) == 0
        assert len(parts(folder)) == 1
        writer.kill()
    assert forked([*RUN, "--json", "held.json"]).code == 0
