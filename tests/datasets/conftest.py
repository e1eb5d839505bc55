"""A server on this machine, and data sets that live on it."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from onkel.datasets import DataSet, File, fetching, http
from onkel.datasets.table import SETS

TRAIN = b"".join(b"%d 1:%d 2:0.5\n" % ((-1) ** i, i) for i in range(5000))
TEST = b"1 1:3\n-1 2:1\n"


class Handler(BaseHTTPRequestHandler):
    """Sends the contents of its server as the server wants it."""

    def do_GET(self):
        server = self.server
        server.requests.append(dict(self.headers))
        if server.codes:
            return self.send_error(server.codes.pop(0))
        content = server.contents.get(self.path)
        if content is None:
            return self.send_error(404)
        start = self.wanted_start(len(content))
        if start >= len(content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(content)}")
            self.end_headers()
            return None
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        if server.tag:
            self.send_header("ETag", server.tag)
        if server.date:
            self.send_header("Last-Modified", server.date)
        self.end_headers()
        cut = server.cuts.pop(0) if server.cuts else len(content)
        middle = max(start, cut) - 100
        self.wfile.write(content[start:middle])
        if server.pause is not None:
            self.wfile.flush()
            server.pause.wait(60)
        self.wfile.write(content[max(start, middle) : max(start, cut)])
        return None

    def wanted_start(self, size):
        server, wanted = self.server, self.headers.get("Range")
        if not server.ranges or wanted is None:
            return 0
        if self.headers.get("If-Range", server.tag) not in (server.tag, server.date):
            return 0
        return int(wanted.removeprefix("bytes=").removesuffix("-"))

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    """A server with the files /train and /test. `cuts`: bytes after which it breaks off; `codes`: errors first.

    `pause`: an event that it waits for before it sends the last 100 bytes.
    """
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(fetching, "PAUSES", (0.0, 0.0))
    monkeypatch.setattr(http, "PIECE_BYTES", 4096)
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.contents = {"/train": TRAIN, "/test": TEST}
    httpd.tag, httpd.date, httpd.ranges = '"one"', "", True
    httpd.cuts, httpd.codes, httpd.requests, httpd.pause = [], [], [], None
    httpd.address = f"http://127.0.0.1:{httpd.server_port}"
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield httpd
    httpd.shutdown()
    httpd.server_close()
    thread.join()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder to which files are fetched."""
    monkeypatch.delenv("ONKEL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "onkel" / "data"


@pytest.fixture
def tiny(server, cache, monkeypatch):
    """A data set on the server, called tiny."""
    data_set = DataSet(
        "tiny", "binary", 5000, 2, 3, 2, File(f"{server.address}/train", 0.1), File(f"{server.address}/test", 0.1)
    )
    monkeypatch.setitem(SETS, "tiny", data_set)
    return data_set
