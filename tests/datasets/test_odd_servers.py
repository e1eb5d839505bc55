"""Whatever a server sends, a fetch ends: with the file or with one sentence, and with no more than it can have."""

import itertools
import os
import socket
import sys
import threading
import time
from contextlib import suppress

import pytest

from onkel.datasets import DataError, File, connecting, fetching, http
from onkel.datasets.fetching import download

CONTENT = b"1 1:0.5\n" * 1000
OK = b"HTTP/1.1 200 OK\r\n"
LENGTH = b"Content-Length: 8000\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


class Server:
    """Answers each connection with the next of its answers, which are pieces of bytes; the last one stays."""

    def __init__(self):
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.listening.getsockname()[1]}/file"
        self.answers, self.requests, self.over = [], [], False
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while not self.over:
            connection, _ = self.listening.accept()
            with connection, suppress(OSError):  # when whoever asked has gone
                self.answer(connection)

    def answer(self, connection):
        request = b""
        while not self.over and not request.endswith(b"\r\n\r\n"):
            request += connection.recv(4096)
        self.requests.append(request.decode())
        for piece in self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]:
            if self.over:
                return
            connection.sendall(piece)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)

    def close(self):
        self.over = True
        socket.create_connection(self.listening.getsockname()).close()
        self.thread.join(10)
        self.listening.close()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(fetching, "PAUSES", (0.0,))
    made = Server()
    yield made
    made.close()


@pytest.fixture
def path(tmp_path):
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder" / "file"


def open_files():
    """What this process has open, as far as the system tells."""
    return sorted(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else []


@pytest.fixture
def refused(server, path):
    """Fetch from a server that gives such answers: one sentence, no file, and nothing is open that was not before."""

    def refused(*answers, **known):
        server.answers = [[answer] if isinstance(answer, bytes) else answer for answer in answers]
        before = open_files()
        with pytest.raises(DataError) as caught:
            download(File(server.address, **known), path)
        said = str(caught.value)
        del caught
        for _ in range(200):  # the server closes its end a little later
            if len(open_files()) <= len(before):
                break
            time.sleep(0.01)
        assert len(open_files()) <= len(before)
        assert not path.exists()
        assert said.startswith(f"{server.address}: ")
        assert said.endswith(".")
        assert len(said) < 600
        return said.removeprefix(f"{server.address}: ")

    return refused


def part_of(path):
    return path.with_name("file.part")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (OK + b"Content-Length: -5\r\n\r\n", "'-5', which is no number"),
        (OK + b"Content-Length: +5\r\n\r\n12345", "'+5', which is no number"),
        (OK + "Content-Length: ²\r\n\r\n12345".encode("latin-1"), "'²', which is no number"),
        (OK + b"Content-Length: 0x10\r\n\r\n12345", "'0x10', which is no number"),
        (OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n12345", "which is no number"),
        (OK + b"Content-Length: 8\r\nContent-Length: 9\r\n\r\n12345678", "'8, 9', which is no number"),
        (OK + b"Content-Length: 8, 8\r\n\r\n12345678", "'8, 8', which is no number"),
        (OK + b"Content-Length: 999999999999999999\r\n\r\n", "999,999,999,999,999,999 bytes would come, but "),
        (OK + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n", "how long it is, and"),
        (OK + b"Content-Encoding: gzip\r\n\r\nabcd", "packs the file on its way ('gzip')"),
        (OK + b"Content-Encoding: " + b"x" * 9000 + b"\r\n\r\nabcd", "packs the file on its way ('xxx"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "refuses to send it (HTTP 204)"),
        (b"HTTP/1.1 206 Partial\r\n" + LENGTH + b"\r\n" + CONTENT, "does not say which"),
        (b"HTTP/1.1 206 P\r\nContent-Range: bytes 5-9/20\r\n\r\nabcde", "asked for what follows byte 0"),
        (b"HTTP/1.1 206 P\r\nContent-Range: bytes 0-9/5\r\n\r\nabcde", "asked for what follows byte 0"),
        (b"HTTP/1.1 999999 Odd\r\n\r\n", "makes no sense"),
        (b"HTTP/1.1 \r\n\r\n", "makes no sense"),
        (b"\x1b[2Jhello\r\n\r\n", "makes no sense"),
        (b"\0" * 100_000, "makes no sense (got more than 65536 bytes when reading status line)"),
        (
            OK + b"A: " + b"a" * 70_000 + b"\r\n\r\n",
            "makes no sense (got more than 65536 bytes when reading header line)",
        ),
        (OK + b"".join(b"A%d: b\r\n" % i for i in range(200)) + b"\r\n", "makes no sense (got more than 100 headers)"),
        (b"", "cannot be reached (Remote end closed connection without response)"),
        (CHUNKED + b"zz\r\nabcd\r\n", "the connection broke"),
        (CHUNKED + b"-5\r\nabcdefgh\r\n0\r\n\r\n", "parts of negative length"),
        (CHUNKED + b"ffffffffffffffffffffff\r\nabcd", "the connection broke"),
        (CHUNKED + b"4\r\nabcd\r\n", "the connection broke"),
        (OK + LENGTH + b"\r\nabc", "the connection broke after 3 of 8,000 bytes"),
    ],
)
def test_an_answer_that_makes_no_sense_is_one_sentence(refused, answer, said):
    assert said in refused(answer)


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Range: bytes 50-7999/8000\r\n",
        b"Content-Range: bytes 0-7999/8000\r\n",
        b"Content-Range: bytes 100-50/8000\r\n",
        b"Content-Range: bytes 100-8000/8000\r\n",
        b"Content-Range: bytes 100-7999/8000\r\nContent-Length: 9\r\n",
        b"Content-Range: bytes 100-7999/8000\r\nContent-Range: bytes 200-7999/8000\r\n",
        b"Content-Range: bytes 100-7999/*\r\n",
        b"Content-Range: bytes a-b/c\r\n",
        b"",
    ],
)
def test_another_part_than_was_asked_for_is_refused_and_the_next_fetch_begins_anew(server, refused, path, headers):
    first = OK + b'ETag: "1"\r\n' + LENGTH + b"\r\n" + CONTENT[:100]
    said = refused(first, b"HTTP/1.1 206 Partial\r\n" + headers + b"\r\n" + CONTENT[100:])
    assert "Range: bytes=100-" in server.requests[-1]
    assert "part of the file" in said or "asked for what follows byte 100" in said
    assert not part_of(path).exists()
    server.answers = [[OK + LENGTH + b"\r\n" + CONTENT]]
    download(File(server.address), path)
    assert path.read_bytes() == CONTENT


def test_a_right_part_is_appended(server, path):
    rest = b"HTTP/1.1 206 Partial\r\nContent-Range: bytes 100-7999/8000\r\nContent-Length: 7900\r\n\r\n" + CONTENT[100:]
    server.answers = [[OK + b'ETag: "1"\r\n' + LENGTH + b"\r\n" + CONTENT[:100]], [rest]]
    download(File(server.address), path)
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize("encoding", [b"gzip", b"x-gzip", b"identity", b"GZIP"])
def test_a_server_may_say_that_a_packed_file_is_packed(server, path, encoding):
    server.answers = [[OK + LENGTH + b"Content-Encoding: " + encoding + b"\r\n\r\n" + CONTENT]]
    download(File(f"{server.address}.gz"), path)
    assert path.read_bytes() == CONTENT


def redirect(to):
    return b"HTTP/1.1 302 Found\r\nLocation: " + to.encode() + b"\r\n\r\n"


@pytest.mark.parametrize("to", ["file:///etc/passwd", "ftp://127.0.0.1/file", "data:,abcd", "/file", "gopher://x"])
def test_a_redirection_in_a_circle_or_to_what_is_no_server_is_one_sentence(server, refused, to):
    assert refused(redirect(to)) == "the server sends us in circles, or to where nothing is fetched from (HTTP 302)."
    assert len(server.requests) <= 6


@pytest.mark.parametrize("to", ["http://[nowhere", "http://127.0.0.1:port/", "http://", "//"])
def test_a_redirection_to_no_address_is_one_sentence(refused, to):
    assert refused(redirect(to))


def test_an_encrypted_connection_is_never_left_for_a_plain_one():
    asked = connecting.urllib.request.Request("https://example.org/file")
    plain = (asked, None, 302, "Found", {}, "http://example.org/file")
    with pytest.raises(connecting.urllib.error.HTTPError):
        connecting._Redirects().redirect_request(*plain)
    assert connecting._Redirects().redirect_request(*plain[:-1], "https://example.org/other").full_url.endswith("other")


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://127.0.0.1/file", "/etc/passwd", "data:,abc"])
def test_only_servers_are_asked(path, address):
    with pytest.raises(DataError, match="only addresses that begin with"):
        download(File(address), path)


@pytest.fixture
def impatient(monkeypatch):
    """Little time for those who send little."""
    monkeypatch.setattr(connecting, "WINDOW", 0.05)
    monkeypatch.setattr(connecting, "LOWEST_RATE", 10**6)


def dripping(before, drop=b"x"):
    """Some bytes, and then drop after drop, as long as somebody listens."""
    yield before
    while True:
        time.sleep(0.002)
        yield drop


PLACES = {
    "the first line": (b"HTTP/1.1 200 O", b"k"),
    "a header": (OK + b"A: ", b"a"),
    "headers": (OK, b"A: b\r\n"),
    "answers before the answer": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "the file": (OK + b"Content-Length: 800000\r\n\r\n", b"a"),
    "the file, of unknown length": (OK + b"\r\n", b"a"),
    "the length of a part": (CHUNKED, b"0"),
    "parts": (CHUNKED, b"1\r\na\r\n"),
    "what follows the last part": (CHUNKED + b"1\r\na\r\n0\r\n", b"A: b\r\n"),
    "a redirection": (b"HTTP/1.1 302 Found\r\nLocation: /other\r\n\r\n", b"a"),
}


@pytest.mark.parametrize("place", PLACES)
def test_an_endless_slow_drip_ends_with_one_sentence(refused, impatient, place):
    said = refused(dripping(*PLACES[place]))
    assert said.startswith(
        ("it comes too slowly, less than 1,000,000 bytes per second", "the answer of the server makes")
    )


def test_what_a_slow_server_has_sent_is_kept(server, refused, impatient, path):
    said = refused(dripping(OK + b'ETag: "1"\r\n' + LENGTH + b"\r\n" + CONTENT[:3000]))
    here = part_of(path).stat().st_size
    assert said.endswith(f"; {here:,} bytes are kept, and the next fetch goes on from there.")
    assert here >= 3000


@pytest.mark.parametrize("place", sorted(set(PLACES) - {"the file, of unknown length", "parts", "the file"}))
def test_an_endless_flood_of_what_is_no_file_ends_with_one_sentence(refused, monkeypatch, place):
    monkeypatch.setattr(connecting, "MOST_AT_ONCE", 2**17)
    begin, drop = PLACES[place]
    assert refused(itertools.chain([begin], itertools.repeat(drop * 5000)))


@pytest.mark.parametrize("place", ["the file, of unknown length", "parts"])
@pytest.mark.parametrize("known", [{"size": 5000}, {"megabytes": 0.5}, {}])
def test_no_more_is_taken_than_the_file_can_be_large(refused, monkeypatch, path, place, known):
    monkeypatch.setattr(fetching, "MOST_BYTES", 100_000)
    begin, drop = PLACES[place]
    most = {"size": 5000, "megabytes": 2_000_000}.get(next(iter(known), ""), 100_000)
    watched = []
    monkeypatch.setattr(fetching, "read_piece", lambda answer: watched.append(http.read_piece(answer)) or watched[-1])
    said = refused(itertools.chain([begin], itertools.repeat(drop * 1000)), **known)
    at_most = "" if "size" in known else " at most"
    assert said.endswith(f" bytes came, but {most:,}{at_most} are expected; they were thrown away.")
    assert most < sum(map(len, watched)) <= most + http.PIECE_BYTES
    assert not part_of(path).exists()


def test_a_server_that_announces_more_than_the_table_says_is_refused_at_once(refused):
    said = refused(OK + b"Content-Length: 3000001\r\n\r\n", megabytes=1.0)
    assert said == "3,000,001 bytes would come, but 3,000,000 at most are expected."


def test_all_tries_together_have_a_deadline(server, refused, monkeypatch):
    """A server that breaks off after each byte makes progress with each try, and could go on for ever."""
    monkeypatch.setattr(fetching, "DEADLINE", 0.3)
    first = OK + b'ETag: "1"\r\n' + LENGTH + b"\r\na"
    rest = (b"HTTP/1.1 206 P\r\nContent-Range: bytes %d-7999/8000\r\n\r\na" % start for start in range(1, 7999))
    said = refused(first, *([answer] for answer in rest))
    assert said.startswith("it takes too long; ")
    assert len(server.requests) > 1


def test_a_steady_server_has_a_deadline_too(refused, monkeypatch):
    monkeypatch.setattr(fetching, "DEADLINE", 0.2)
    said = refused(dripping(OK + b"Content-Length: 800000000\r\n\r\n", b"a" * 4000))
    assert said.startswith("it takes too long; ")


posix = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes are others there")


@pytest.fixture
def whole(server):
    server.answers = [[OK + b'ETag: "1"\r\n' + LENGTH + b"\r\n" + CONTENT]]
    return File(server.address)


PLANTED = {
    "a link": lambda path, mine: path.symlink_to(mine),
    "a link to nothing": lambda path, mine: path.symlink_to(mine.with_name("nothing")),
    "a hard link": lambda path, mine: os.link(mine, path),
    "a pipe": lambda path, mine: os.mkfifo(path),
    "a device": lambda path, mine: path.symlink_to("/dev/full"),
}


@posix
@pytest.mark.parametrize("ending", [".part", ".json.new"])
@pytest.mark.parametrize("planted", PLANTED)
def test_nothing_is_written_through_what_was_planted_for_it(whole, path, tmp_path, ending, planted):
    mine = tmp_path / "mine"
    mine.write_bytes(b"precious" * 100)
    PLANTED[planted](path.with_name(f"file{ending}"), mine)
    path.with_name("file.json").write_text(f'{{"address": "{whole.address}", "validator": "\\"1\\""}}')
    download(whole, path)
    assert path.read_bytes() == CONTENT
    assert not path.is_symlink()
    assert path.stat().st_nlink == 1
    assert mine.read_bytes() == b"precious" * 100
    assert not (tmp_path / "nothing").exists()
    assert sorted(found.name for found in path.parent.iterdir()) == ["file", "file.json"]


@posix
@pytest.mark.parametrize("planted", ["a link", "a pipe", "a device"])
def test_a_lock_that_is_no_plain_file_is_not_opened(whole, path, tmp_path, planted):
    mine = tmp_path / "mine"
    mine.touch()
    PLANTED[planted](path.with_name("file.lock"), mine)
    with pytest.raises((DataError, OSError), match=r"file\.lock"):
        download(whole, path)
    assert not path.exists()


@posix
def test_a_pipe_in_the_place_of_the_note_is_not_waited_for(whole, path):
    os.mkfifo(path.with_name("file.json"))
    download(whole, path)
    assert path.read_bytes() == CONTENT


@posix
@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root can give files away")
def test_a_part_of_another_user_is_not_gone_on_with(server, whole, path):
    part_of(path).write_bytes(b"planted")
    os.chown(part_of(path), 4321, -1)
    path.with_name("file.json").write_text(f'{{"address": "{whole.address}", "validator": "\\"1\\""}}')
    download(whole, path)
    assert path.read_bytes() == CONTENT
    assert "Range:" not in server.requests[0]


@pytest.mark.parametrize("note", ['{"validator": 5}', '{"validator": "a\\r\\nEvil: 1"}', "[" * 100_000, "null", "\0"])
def test_a_note_that_makes_no_sense_is_never_sent(server, whole, path, note):
    path.with_name("file.json").write_text(note)
    part_of(path).write_bytes(CONTENT[:10])
    download(whole, path)
    assert path.read_bytes() == CONTENT
    assert "Evil" not in server.requests[0]


def test_a_name_for_the_version_on_several_lines_is_never_sent_back(server, path):
    server.answers = [[OK + b'ETag: "1\r\n Evil: 1"\r\n' + LENGTH + b"\r\n" + CONTENT[:100]], [OK + b"\r\n" + CONTENT]]
    download(File(server.address), path)
    assert path.read_bytes() == CONTENT
    assert "Evil" not in server.requests[-1]
