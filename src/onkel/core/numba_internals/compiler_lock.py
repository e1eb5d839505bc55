"""The lock that Numba holds while it compiles: whoever forks waits for it, or the child could never compile."""

from threading import RLock
from typing import Any

COMPILER_LOCK: Any
try:
    from numba.core.compiler_lock import global_compiler_lock

    COMPILER_LOCK = global_compiler_lock
except ImportError:  # then nobody waits for a thread that compiles
    COMPILER_LOCK = RLock()
