"""Connections that end: none lasts beyond its deadline, comes ever more slowly, or sends without end what is no file.

A socket's own timeout begins anew with every byte, so a server that sends one now and then holds on to whoever listens
for years. Here all that is read, the first line, headers, lengths of chunks and what follows them included, goes
through `Watched`, which looks at the clock and at what came.
"""

import http.client
import io
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any

WINDOW = 60.0  # seconds of waiting, in which so many bytes a second have to come
LOWEST_RATE = 1000
MOST_AT_ONCE = 2**21  # bytes until there is something for the file: headers, or what stands between two pieces
MAX_REDIRECTIONS = 5


class GivenUpError(Exception):
    """A server that behaves so that no further try is worth while."""


class Pace:
    """How long an answer may take, and what came in it so far."""

    def __init__(self, deadline: float, silence: float) -> None:
        self.deadline, self.silence = deadline, silence
        self.waited, self.came, self.at_once = 0.0, 0, 0

    def left(self) -> float:
        """Seconds that may be waited now."""
        left = self.deadline - monotonic()
        if left <= 0.0:
            raise GivenUpError("it takes too long")
        return min(self.silence, left)

    def note(self, seconds: float, count: int) -> None:
        """Bytes have come, after so many seconds."""
        self.waited, self.came, self.at_once = self.waited + seconds, self.came + count, self.at_once + count
        if self.at_once > MOST_AT_ONCE:
            raise GivenUpError("what the server sends is no file")
        if self.waited >= WINDOW:
            if self.came < LOWEST_RATE * self.waited:
                raise GivenUpError(f"it comes too slowly, less than {LOWEST_RATE:,} bytes per second")
            self.waited, self.came = 0.0, 0


class Watched(io.RawIOBase):
    """What comes from a socket, as its pace allows."""

    def __init__(self, raw: Any, sock: Any, pace: Pace) -> None:
        self.raw, self.sock, self.pace = raw, sock, pace

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self.sock.settimeout(self.pace.left())
        start = monotonic()
        count: int | None = self.raw.readinto(buffer)
        self.pace.note(monotonic() - start, count or 0)
        return count

    def close(self) -> None:
        self.raw.close()
        super().close()


class Response(http.client.HTTPResponse):
    """An answer, watched from its first byte on."""

    def __init__(self, pace: Pace, sock: Any, *args: Any, **given: Any) -> None:
        super().__init__(sock, *args, **given)
        whole: Any = self.fp
        self.fp = io.BufferedReader(Watched(whole.detach(), sock, pace))


def _made(kind: Callable[..., Any], pace: Pace, host: str, **given: Any) -> Any:
    connection = kind(host, **given)
    connection.response_class = partial(Response, pace)
    return connection


class _Http(urllib.request.HTTPHandler):
    def __init__(self, pace: Pace) -> None:
        super().__init__()
        self.pace = pace

    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(partial(_made, http.client.HTTPConnection, self.pace), req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, pace: Pace) -> None:
        self.own = ssl.create_default_context()
        super().__init__(context=self.own)
        self.pace = pace

    def https_open(self, req: urllib.request.Request) -> Any:
        made: Any = partial(_made, http.client.HTTPSConnection, self.pace)
        return self.do_open(made, req, context=self.own)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a few, to servers alone, and never from an encrypted one to one that is not."""

    max_redirections = MAX_REDIRECTIONS

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if not newurl.startswith("https://" if req.type == "https" else ("http://", "https://")):
            raise urllib.error.HTTPError(newurl, code, msg, headers, fp)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def opener(pace: Pace) -> urllib.request.OpenerDirector:
    """What opens addresses of servers, and of nothing else: no files, no FTP."""
    made = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(), urllib.request.UnknownHandler(), _Http(pace), _Https(pace),
        urllib.request.HTTPDefaultErrorHandler(), _Redirects(), urllib.request.HTTPErrorProcessor(),
    ):  # fmt: skip
        made.add_handler(handler)
    return made
