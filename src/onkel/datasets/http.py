"""Ask a server for a file, or for what is missing of it, and believe only headers that agree with each other."""

import http.client
import re
import urllib.error
import urllib.request
from email.message import Message
from typing import Any, NamedTuple

from onkel.datasets.connecting import GivenUpError, Pace, opener
from onkel.datasets.registry import DataError

TIMEOUT = 30.0  # seconds without a byte
PIECE_BYTES = 2**18
MAY_PASS = (408, 425, 429, 500, 502, 503, 504)  # codes of servers that are busy or out of order
PACKED = {"gzip": ".gz", "x-gzip": ".gz", "bzip2": ".bz2", "x-bzip2": ".bz2", "xz": ".xz", "x-xz": ".xz"}
NUMBER = re.compile(r"[0-9]{1,18}")
RANGE = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})")
NO_RANGE = re.compile(r"bytes (?:\*|[0-9]{1,18}-[0-9]{1,18})/([0-9]{1,18})")
LONGEST_REASON = 200  # letters of a server's own words


class BrokenError(Exception):
    """A failure that may pass."""


class OddError(GivenUpError):
    """An answer that contradicts itself, or the question."""


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
    pace
        Of what comes.
    """

    body: Any
    start: int
    total: int | None
    validator: str
    pace: Pace


def ask(address: str, deadline: float, start: int = 0, validator: str = "") -> Answer:
    """Ask for a file from byte `start` on; all of it comes where the server has another version of it, or no ranges.

    Raises
    ------
    BrokenError
        If it may be worth trying again.
    DataError
        If it is not.
    GivenUpError
        If it is not, because the server behaves oddly; `OddError`, if what it says cannot be.
    """
    if not address.startswith(("http://", "https://")):
        raise DataError(f"{address}: only addresses that begin with https:// or http:// can be fetched.")
    headers, pace = {"User-Agent": "onkel", "Accept-Encoding": "identity"}, Pace(deadline, TIMEOUT)
    if start:
        headers["Range"] = f"bytes={start}-"
        if validator:
            headers["If-Range"] = validator
    try:
        body = opener(pace).open(urllib.request.Request(address, headers=headers), timeout=pace.left())
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 416 and start:  # there is nothing from there on
                whole = NO_RANGE.fullmatch(error.headers.get("Content-Range", ""))
                if whole is not None and int(whole[1]) == start:
                    return Answer(None, start, start, validator, pace)
                return ask(address, deadline)
            raise _refusal(address, error.code) from None
    except (OSError, http.client.HTTPException) as error:
        raise BrokenError(_failure(error)) from None
    except ValueError as error:  # what stands in a header is no address
        raise OddError(f"the server's answer makes no sense ({_reason(error)})") from None
    try:
        return _understood(address, body, start, validator, pace)
    except BaseException:
        body.close()
        raise


def _understood(address: str, body: Any, start: int, validator: str, pace: Pace) -> Answer:
    """The answer, if what its headers say can be."""
    length = _length(body.headers)
    _check_encoding(address, body.headers)
    if body.status == 200:
        return Answer(body, 0, length, _validator(body.headers), pace)
    if body.status != 206:
        raise _refusal(address, body.status)
    said = body.headers.get_all("Content-Range", [])
    found = RANGE.fullmatch(said[0]) if len(said) == 1 else None
    if found is None:
        raise OddError(f"the server sends a part of the file and does not say which ({_quoted(', '.join(said))})")
    first, last, total = map(int, found.groups())
    fits = first == start and first <= last < total and length in (None, last + 1 - first)
    if not fits:
        raise OddError(f"the server was asked for what follows byte {start:,}, and sends something else ({said[0]})")
    return Answer(body, start, total, validator if start else _validator(body.headers), pace)


def read_piece(answer: Answer) -> bytes:
    """The next bytes of an answer; none at its end."""
    answer.pace.at_once = 0
    try:
        piece: bytes = answer.body.read1(PIECE_BYTES)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise BrokenError(f"the connection broke ({_reason(error)})") from None
    left = getattr(answer.body, "chunk_left", None)
    if isinstance(left, int) and left < 0:  # Python takes such lengths, and reads on without end
        raise OddError("the server sends parts of negative length")
    return piece


def _length(headers: Message) -> int | None:
    """Bytes that follow; None where that is not said."""
    said = {text.strip() for text in headers.get_all("Content-Length", [])}
    if not said:
        return None
    if len(said) > 1 or not NUMBER.fullmatch(text := said.pop()):
        every = ", ".join(headers.get_all("Content-Length", []))
        raise OddError(f"the server says of the length of what it sends {_quoted(every)}, which is no number")
    if headers.get("Transfer-Encoding"):
        raise OddError("the server says of what it sends how long it is, and also that it does not know")
    return int(text)


def _check_encoding(address: str, headers: Message) -> None:
    """Refuse what is packed on its way. A server may also say so of a file that is packed itself."""
    said = headers.get("Content-Encoding", "identity").strip().lower()
    ending = PACKED.get(said)
    if said not in ("", "identity") and not (ending and address.endswith(ending)):
        raise OddError(f"the server packs the file on its way ({_quoted(said)}), which it was asked not to do")


def _validator(headers: Message) -> str:
    """The ETag, unless it is a weak one, which names no bytes; else the date of the last change."""
    tag: str = headers.get("ETag", "")
    found = tag if tag.startswith('"') else headers.get("Last-Modified", "")
    return found if can_be_sent(found) else ""


def can_be_sent(validator: str) -> bool:
    """Whether a server can have said this, and can be told it again."""
    return len(validator) <= 1000 and validator.isascii() and (validator.isprintable() or not validator)


def _refusal(address: str, code: int) -> Exception:
    if code in MAY_PASS:
        return BrokenError(f"the server is out of order (HTTP {code})")
    if code in (404, 410):
        return DataError(f"{address}: the server has no such file (HTTP {code}).")
    if 300 <= code < 400:
        return DataError(
            f"{address}: the server sends us in circles, or to where nothing is fetched from (HTTP {code})."
        )
    return DataError(f"{address}: the server refuses to send it (HTTP {code}).")


def _failure(error: BaseException) -> str:
    odd = isinstance(error, http.client.HTTPException) and not isinstance(error, OSError)
    return f"{'the answer of the server makes no sense' if odd else 'the server cannot be reached'} ({_reason(error)})"


def _reason(error: BaseException) -> str:
    """What went wrong, in the words of the system."""
    cause = getattr(error, "reason", error)
    if isinstance(cause, TimeoutError):
        return f"no answer within {TIMEOUT:g} seconds"
    return _cut(getattr(cause, "strerror", None) or str(cause) or type(cause).__name__)


def _quoted(text: str) -> str:
    return repr(_cut(text))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_REASON else text[:LONGEST_REASON] + " ..."
