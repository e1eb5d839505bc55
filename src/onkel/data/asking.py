"""Ask a server for a file, or for what is missing of it."""

import http.client
import re
import urllib.error
import urllib.request
from email.message import Message
from typing import Any, NamedTuple

from onkel.data.registry import DataError

TIMEOUT = 30.0  # seconds without a byte
PIECE_BYTES = 2**18
MAY_PASS = (408, 425, 429, 500, 502, 503, 504)  # codes of servers that are busy or out of order


class BrokenError(Exception):
    """A failure that may pass."""


class Answer(NamedTuple):
    """What a server sends.

    Attributes
    ----------
    body
        To be read and closed; None when there is nothing more to send.
    start
        Bytes of the file that precede it.
    total
        Bytes of the whole file; None where the server does not tell.
    validator
        What the server calls this version of the file (ETag or date), if it does.
    """

    body: Any
    start: int
    total: int | None
    validator: str


def ask(address: str, start: int = 0, validator: str = "") -> Answer:
    """Ask for a file from byte `start` on; all of it comes where the server has another version of it, or no ranges.

    Raises
    ------
    BrokenError
        If it may be worth trying again.
    DataError
        If it is not.
    """
    headers = {"User-Agent": "onkel"}
    if start:
        headers["Range"] = f"bytes={start}-"
        if validator:
            headers["If-Range"] = validator
    try:
        body = urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and start:  # there is nothing from there on
            return Answer(None, start, start, validator) if _size(error.headers) == start else ask(address)
        raise _refusal(address, error.code) from None
    except (OSError, http.client.HTTPException) as error:
        raise BrokenError(f"the server cannot be reached ({_reason(error)})") from None
    if body.status == 206:
        return Answer(body, start, _size(body.headers), validator)
    length = body.headers.get("Content-Length", "")
    return Answer(body, 0, int(length) if length.isdigit() else None, _validator(body.headers))


def read_piece(answer: Answer) -> bytes:
    """The next bytes of an answer; none at its end."""
    try:
        piece: bytes = answer.body.read(PIECE_BYTES)
    except (OSError, http.client.HTTPException) as error:
        raise BrokenError(f"the connection broke ({_reason(error)})") from None
    return piece


def _size(headers: Message) -> int | None:
    """Bytes of the whole file, from "bytes 5-9/10" or "bytes */10"."""
    found = re.fullmatch(r"bytes [-*0-9]+/([0-9]+)", headers.get("Content-Range", ""))
    return int(found[1]) if found else None


def _validator(headers: Message) -> str:
    """The ETag, unless it is a weak one, which names no bytes; else the date of the last change."""
    tag: str = headers.get("ETag", "")
    return tag if tag.startswith('"') else headers.get("Last-Modified", "")


def _refusal(address: str, code: int) -> Exception:
    if code in MAY_PASS:
        return BrokenError(f"the server is out of order (HTTP {code})")
    if code in (404, 410):
        return DataError(f"{address}: the server has no such file (HTTP {code}).")
    return DataError(f"{address}: the server refuses to send it (HTTP {code}).")


def _reason(error: BaseException) -> str:
    """What went wrong, in the words of the system."""
    cause = getattr(error, "reason", error)
    if isinstance(cause, TimeoutError):
        return f"no answer within {TIMEOUT:g} seconds"
    return getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
