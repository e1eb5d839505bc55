"""Where this machine keeps what can be made anew."""

import os
import sys
from pathlib import Path


def user_caches() -> Path:
    """The folder for caches: ``XDG_CACHE_HOME`` where it is set, ``LOCALAPPDATA`` on Windows, else that of the home.

    ``~/Library/Caches`` on macOS, ``~/.cache`` elsewhere. A RuntimeError where nobody knows a home.
    """
    given = os.environ.get("XDG_CACHE_HOME")
    if not given and sys.platform == "win32":
        given = os.environ.get("LOCALAPPDATA")
    return Path(given) if given else Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
