"""What may reach a terminal, which obeys what it prints, where names of files, columns and classes come from strangers.

A name can hold a sequence that clears the screen, renames the window or types for the user, or a mark that turns the
order of letters around. All that people read goes through `printable`; files and pipes get what stands there.
"""

import re
import sys
from contextlib import suppress
from typing import Any

# C0 and C1, of which ESC and CSI begin sequences; line ends that str.splitlines knows; marks that turn letters around
# or cannot be seen; halves of characters, which no terminal can show and not every stream can write.
UNPRINTABLE = "\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
_UNPRINTABLE = re.compile(f"[{UNPRINTABLE}\U000e0000-\U000e007f]")


def printable(text: str, keep: str = "") -> str:
    r"""The text with everything that a terminal would obey, or not show, written as an escape; `keep` stays.

    Examples
    --------
    >>> print(printable("a\x1b[2Jb\u202e.csv"), printable("caf\u00e9 \u4e2d"))
    a\x1b[2Jb\u202e.csv café 中
    >>> printable("two\nlines", keep="\n")
    'two\nlines'
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNPRINTABLE.sub(lambda found: found[0] if found[0] in keep else ascii(found[0])[1:-1], text)


def complain(sentence: str) -> None:
    """One line of onkel's own on standard error, terminal or not: whoever looks at a log has one, too."""
    if sys.stderr is not None:  # as in programs without a console
        with suppress(OSError, ValueError):  # full, or closed: there is nobody else to tell
            sys.stderr.write(f"onkel: {printable(sentence)}\n")


def show(text: Any) -> None:
    """Lines on standard output: as they are in a pipe or a file, made printable on a terminal."""
    if sys.stdout is not None:
        print(printable(str(text), keep="\n\t") if sys.stdout.isatty() else text)
