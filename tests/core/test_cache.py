"""Compiled code on disk: whatever happens to it, answers are the same, and only what was written is ever run."""

import errno
import hashlib
import os
import pickle
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import numba
import numpy as np
import pytest

from onkel.core import cache, verbs

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")  # type: ignore[attr-defined]
posix = pytest.mark.skipif(sys.platform == "win32", reason="rights are others there")
plain_user = pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read and write anything")
superuser = pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root can give files away")
SAID = "this compiled code cannot be used"


def total(numbers):
    found = 0.0
    for i in range(len(numbers)):
        found += numbers[i]
    return found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder for compiled code, of a process that has said nothing yet."""
    monkeypatch.setattr(cache, "_said", set())
    made = tmp_path / "compiled"
    made.mkdir(mode=0o700)
    return made


def begin(folder, function=total):
    """A dispatcher as in a new process."""
    return verbs._dispatcher.__wrapped__(function, folder)


def summed(folder, dtype=np.float64):
    """The answer, and whether it came from the folder."""
    dispatcher = begin(folder)
    found = dispatcher(np.arange(4, dtype=dtype))
    return found, bool(dispatcher.stats.cache_hits)


@pytest.fixture
def kept(folder):
    """The file of a function that was compiled."""
    assert summed(folder) == (6.0, False)
    (path,) = folder.iterdir()
    return path


def made_anew(folder, capsys):
    """Whatever was done to the folder: the answer is right, one sentence is said, and the next process is content."""
    assert summed(folder) == (6.0, False)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("onkel: ")
    assert SAID in line
    assert summed(folder) == (6.0, True)
    assert capsys.readouterr().err == ""


def test_what_is_compiled_is_kept_for_this_user_alone_and_found_again(folder, kept, capsys):
    assert summed(folder) == (6.0, True)
    assert [path.name for path in folder.iterdir()] == [kept.name]
    assert sys.platform == "win32" or stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("part", [0, 1, 15, 16, 24, 55, 56, 57, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, -1])
def test_a_file_that_was_cut_is_made_anew(folder, kept, capsys, part):
    whole = kept.read_bytes()
    kept.write_bytes(whole[: int(part * len(whole)) if 0 < part < 1 else part])
    made_anew(folder, capsys)


def test_wherever_a_file_is_cut_or_changed_nothing_of_it_is_unpickled(kept, monkeypatch):
    whole, random = kept.read_bytes(), np.random.default_rng(1)
    monkeypatch.setattr(pickle, "loads", lambda _: pytest.fail("it was unpickled"))
    for place in {*range(80), *random.integers(0, len(whole), 400).tolist()}:
        changed = bytearray(whole)
        changed[place] ^= 1 << int(random.integers(8))
        for damaged in (whole[:place], bytes(changed)):
            kept.write_bytes(damaged)
            with pytest.raises(cache.DamagedError):
                cache.read(kept)


def test_a_file_with_more_behind_it_is_made_anew(folder, kept, capsys):
    kept.write_bytes(kept.read_bytes() + b"\0")
    made_anew(folder, capsys)


class Evil:
    """What a stranger would have unpickled."""

    def __reduce__(self):
        return pytest.fail, ("it was unpickled",)


def headed(body, checksum=None):
    return cache.HEAD.pack(cache.MARK, len(body), checksum or hashlib.sha256(body).digest()) + body


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 300, pickle.dumps(Evil()), headed(pickle.dumps(Evil()), b"\1" * 32), pickle.dumps("0.68.1")],
    ids=["empty", "zeros", "a pickle", "a pickle with a wrong checksum", "as Numba's own begin"],
)
def test_what_is_no_compiled_code_is_never_unpickled(folder, kept, capsys, content):
    kept.write_bytes(content)
    made_anew(folder, capsys)


@pytest.mark.parametrize(
    "body",
    [b"", b"no pickle", pickle.dumps(None), pickle.dumps((1, 2, 3)), b"cno.such.module\nthing\n.", b"((((((("],
)
def test_a_right_checksum_of_something_else_is_made_anew(folder, kept, capsys, body):
    kept.write_bytes(headed(body))
    made_anew(folder, capsys)


def test_the_code_of_another_function_is_never_run(folder, kept, capsys):
    summed(folder, np.float32)
    (other,) = {*folder.iterdir()} - {kept}
    shutil.copy(other, kept)  # it would read 4 bytes where there are 8
    made_anew(folder, capsys)


def folder_instead(path):
    path.unlink()
    path.mkdir()
    (path / "inside").touch()


def pipe_instead(path):
    path.unlink()
    os.mkfifo(path)


def link_to_nothing_but_itself(path):
    path.unlink()
    path.symlink_to(path)


@posix
@pytest.mark.parametrize("replace", [folder_instead, pipe_instead, link_to_nothing_but_itself])
def test_something_else_in_the_place_of_a_file_is_taken_away(folder, kept, capsys, replace):
    replace(kept)
    made_anew(folder, capsys)
    assert kept.is_file()


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_to_is_not_trusted(folder, kept, capsys, mode):
    kept.chmod(mode)
    made_anew(folder, capsys)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@superuser
def test_a_file_of_another_user_is_not_trusted(folder, kept, capsys):
    os.chown(kept, 4321, -1)
    made_anew(folder, capsys)


@plain_user
def test_a_file_that_must_not_be_read_is_made_anew(folder, kept, capsys):
    kept.chmod(0)
    made_anew(folder, capsys)


def test_a_file_that_cannot_be_read_is_made_anew(folder, kept, capsys, monkeypatch):
    status, refused = os.fstat, []

    def refuse_once(number):
        if not refused:
            refused.append(number)
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return status(number)

    monkeypatch.setattr(os, "fstat", refuse_once)
    assert summed(folder) == (6.0, False)
    assert "Input/output error" in capsys.readouterr().err
    assert summed(folder) == (6.0, True)


def test_several_damaged_files_are_said_once(folder, kept, capsys):
    summed(folder, np.float32)
    for path in folder.iterdir():
        path.write_bytes(b"")
    assert summed(folder) == summed(folder, np.float32) == (6.0, False)
    assert capsys.readouterr().err.count("onkel:") == 1


def test_a_folder_that_vanishes_in_the_middle_is_made_again(folder, kept, capsys):
    dispatcher = begin(folder)
    dispatcher(np.ones(2))
    shutil.rmtree(folder)
    assert dispatcher(np.ones(2, np.float32)) == 2.0
    assert len(list(folder.iterdir())) == 1
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700 or sys.platform == "win32"
    assert capsys.readouterr().err == ""


@plain_user
def test_a_folder_that_cannot_be_written_to_costs_time_alone(folder, kept, capsys):
    folder.chmod(0o500)
    assert summed(folder) == (6.0, True)  # what is there is used
    assert [summed(folder, np.float32) for _ in range(2)] == [(6.0, False)] * 2
    folder.chmod(0o700)
    assert capsys.readouterr().err == f"onkel: compiled code cannot be kept in {folder} (Permission denied).\n"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EDQUOT])
@pytest.mark.parametrize("step", ["mkstemp", "replace"])
def test_a_full_or_read_only_disk_costs_time_alone(folder, capsys, monkeypatch, code, step):
    def refuse(*_, **__):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(*((tempfile, "mkstemp") if step == "mkstemp" else (os, "replace")), refuse)
    assert [summed(folder) for _ in range(2)] == [(6.0, False)] * 2
    assert list(folder.iterdir()) == []
    assert capsys.readouterr().err == f"onkel: compiled code cannot be kept in {folder} ({os.strerror(code)}).\n"


@posix
def test_a_disk_that_is_full_in_the_middle_of_a_file_leaves_none_behind(folder, capsys):
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        found = summed(folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert found == (6.0, False)
    assert list(folder.iterdir()) == []
    assert "cannot be kept" in capsys.readouterr().err


def test_where_nothing_can_be_kept_everything_still_runs(folder, capsys):
    assert summed(None) == (6.0, False)
    assert capsys.readouterr().err == ""


def test_of_two_that_write_at_once_neither_gets_the_code_of_the_other(folder, monkeypatch):
    """The second compiles and writes while the first is about to: Numba's index would then name one file for both."""
    replace, at_once = os.replace, []

    def replace_late(part, path):
        if not at_once:
            at_once.append(path)
            assert summed(folder, np.float32) == summed(folder) == (6.0, False)
        replace(part, path)

    monkeypatch.setattr(os, "replace", replace_late)
    assert summed(folder) == (6.0, False)
    assert summed(folder) == summed(folder, np.float32) == (6.0, True)
    assert len(list(folder.iterdir())) == 2


USE = """
import sys
import numpy as np
from tests.core.test_cache import begin, Path
for dtype in sys.argv[2:]:
    dispatcher = begin(Path(sys.argv[1]))
    for _ in range(20):
        assert dispatcher(np.arange(4, dtype=dtype)) == 6.0, dtype
"""


def test_processes_that_compile_at_once_do_not_disturb_each_other(folder):
    kinds = ["float64", "float32", "int64", "int32", "uint8", "int16"]
    start = [sys.executable, "-c", USE, str(folder)]
    root = Path(__file__).parents[2]
    orders = (kinds, kinds[::-1], kinds[3:] + kinds[:3])
    running = [subprocess.Popen([*start, *order], cwd=root, stderr=subprocess.PIPE, text=True) for order in orders]
    said = [process.communicate()[1].replace(verbs._Announcement.text, "") for process in running]
    assert [(text, process.returncode) for text, process in zip(said, running, strict=True)] == [("", 0)] * 3
    assert all(summed(folder, dtype) == (6.0, True) for dtype in kinds)
    assert len(list(folder.iterdir())) == len(kinds)


def in_a_prompt():
    names = {}
    exec(compile("def doubled(x):\n    return 2 * x\n", "<stdin>", "exec"), names)
    return names["doubled"]


def test_code_without_a_file_runs_and_is_not_kept(folder, capsys):
    assert begin(folder, in_a_prompt())(2) == 4
    assert list(folder.iterdir()) == []
    assert capsys.readouterr().err == ""
