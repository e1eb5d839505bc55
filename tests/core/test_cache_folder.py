"""Where compiled code is kept: in a folder that nobody else can write to, or nowhere; the run goes on either way."""

import os
import stat
import subprocess
import sys
import tempfile

import numba
import pytest

from onkel.core import cache
from onkel.core.verbs import _Announcement

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="rights are others there")
plain_user = pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read and write anything")
superuser = pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A user whose home and temporary files are all in one folder."""
    for name in ("ONKEL_CACHE", "LOCALAPPDATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.mkdir()
    temporary.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(cache, "_said", set())
    return home


def chosen():
    """The folder, without the part that is named after the sources."""
    found = cache.folder_for.__wrapped__(frozenset())
    assert found is None or found.is_dir()
    return None if found is None else found.parent


def usual(home):
    return home / ".cache" / "onkel" / "compiled"


def temporary():
    return cache.Path(tempfile.gettempdir()) / f"onkel-{os.getuid()}"


def test_it_is_in_the_folder_for_caches_and_all_that_is_made_is_the_users_alone(home, capsys):
    before = os.umask(0)
    try:
        assert chosen() == usual(home)
    finally:
        os.umask(before)
    made = [path for path in home.rglob("*") if path.is_dir()]
    assert len(made) == 4
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o700}
    assert capsys.readouterr().err == ""


def test_the_users_choice_comes_first_and_then_the_systems(home, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert chosen() == tmp_path / "xdg" / "onkel" / "compiled"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, says the specification
    assert chosen() == temporary()
    monkeypatch.setenv("ONKEL_CACHE", str(tmp_path / "own" / "deep"))
    assert chosen() == tmp_path / "own" / "deep"
    assert capsys.readouterr().err == ""


@pytest.fixture
def own(home, tmp_path, monkeypatch):
    """The folder that ONKEL_CACHE names."""
    monkeypatch.setenv("ONKEL_CACHE", str(tmp_path / "own"))
    return tmp_path / "own"


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770, 0o720, 0o702])
@pytest.mark.parametrize("which", ["own", "the one inside"])
def test_a_folder_that_others_can_write_to_is_not_used(home, own, capsys, mode, which):
    chosen()
    (inside,) = own.iterdir()
    open_folder = own if which == "own" else inside
    open_folder.chmod(mode)
    assert chosen() == usual(home)
    why = f"{open_folder} can be written to by others: compiled code is kept in {usual(home)} instead."
    assert capsys.readouterr().err == f"onkel: {why}\n"


@superuser
@pytest.mark.parametrize("which", ["own", "the one inside"])
def test_a_folder_of_another_user_is_not_used(home, own, capsys, which):
    chosen()
    (inside,) = own.iterdir()
    given_away = own if which == "own" else inside
    os.chown(given_away, 4321, -1)
    assert chosen() == usual(home)
    why = f"{given_away} belongs to another user: compiled code is kept in {usual(home)} instead."
    assert capsys.readouterr().err == f"onkel: {why}\n"


def test_it_is_said_once(home, own, capsys):
    own.mkdir()
    own.chmod(0o777)
    assert chosen() == chosen() == usual(home)
    assert capsys.readouterr().err.count("onkel: ") == 1


def test_a_usual_folder_that_others_can_write_to_is_not_used_either(home, capsys):
    chosen()
    usual(home).chmod(0o777)
    assert chosen() == temporary()
    assert f"{usual(home)} can be written to by others" in capsys.readouterr().err


def test_a_choice_that_is_a_file_is_said_and_does_not_end_the_run(home, own, capsys):
    own.touch()
    assert chosen() == usual(home)
    assert capsys.readouterr().err.startswith(f"onkel: {own} cannot be used (")


@pytest.mark.parametrize("value", [None, "/proc/nothing/here", "relative"])
def test_without_a_home_it_is_among_temporary_files(home, monkeypatch, capsys, value):
    import pwd

    def unknown(_):
        raise KeyError("no such user")

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    if value is None:
        monkeypatch.delenv("HOME")
    else:
        monkeypatch.setenv("HOME", value)
    assert chosen() == temporary()
    assert stat.S_IMODE(temporary().stat().st_mode) == 0o700
    assert capsys.readouterr().err == ""


@plain_user
def test_with_a_home_that_cannot_be_written_to_it_is_among_temporary_files(home, capsys):
    home.chmod(0o500)
    assert chosen() == temporary()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("planted", ["open", "link", "file"])
def test_nothing_that_others_have_put_among_temporary_files_is_used(home, monkeypatch, capsys, planted):
    monkeypatch.setenv("HOME", "/proc/nothing/here")
    if planted == "open":
        temporary().mkdir()
        temporary().chmod(0o777)
    elif planted == "link":
        (home / "elsewhere").mkdir(mode=0o700)
        temporary().symlink_to(home / "elsewhere")
    else:
        temporary().touch()
    assert chosen() is None
    assert capsys.readouterr().err.endswith(": compiled code is not kept.\n")
    assert not (home / "elsewhere").exists() or list((home / "elsewhere").iterdir()) == []


def test_names_of_folders_reach_a_terminal_as_text(home, tmp_path, monkeypatch, capsys):
    odd = tmp_path / "a\x1b[2Jb"
    odd.mkdir()
    odd.chmod(0o777)
    monkeypatch.setenv("ONKEL_CACHE", str(odd))
    chosen()
    assert "a\\x1b[2Jb" in capsys.readouterr().err


WHATEVER = {
    "a file": lambda own: own.touch(),
    "a folder of all": lambda own: (own.mkdir(), own.chmod(0o777)),
    "a link that leads nowhere": lambda own: own.symlink_to(own),
}


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")  # type: ignore[attr-defined]
@pytest.mark.parametrize("what", WHATEVER)
def test_a_whole_run_goes_on_whatever_its_cache_is(home, own, tmp_path, what):
    WHATEVER[what](own)
    settings = {**os.environ, "XDG_CACHE_HOME": "/proc/nothing", "TMPDIR": str(tmp_path / "temporary")}
    given = ["run", "--learner", "perceptron", "--limit", "50", "--quiet"]
    for _ in range(2):
        done = subprocess.run([sys.executable, "-m", "onkel", *given], env=settings, capture_output=True, text=True)
        said = [line for line in done.stderr.splitlines(True) if line != _Announcement.text]
        assert (done.returncode, done.stdout, len(said)) == (0, "", 1), done.stderr
        assert said[0].startswith(f"onkel: {own} ")


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")  # type: ignore[attr-defined]
def test_a_whole_run_over_damaged_code_has_the_same_bits(home, own, tmp_path):
    given = ["run", "--learner", "perceptron", "--limit", "50", "--quiet", "--scores"]
    said = list[str]()
    for number in range(3):
        target = tmp_path / f"{number}.txt"
        done = subprocess.run([sys.executable, "-m", "onkel", *given, target], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        said.append(done.stderr.replace(_Announcement.text, ""))
        for path in own.rglob("*.nbc") if number == 0 else ():
            content = bytearray(path.read_bytes())
            content[len(content) // 2] ^= 16
            path.write_bytes(content)
    assert said[0] == said[2] == ""
    assert said[1].count("onkel: ") == 1
    assert "its checksum is wrong" in said[1]
    assert len({(tmp_path / f"{number}.txt").read_bytes() for number in range(3)}) == 1
