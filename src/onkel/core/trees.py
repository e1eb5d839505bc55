"""Trees of tuples with arrays in them, which models are: what in them may change, copies, equality, sizes."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from onkel.core.rows import aligned_zeros

_unchanging: set[type] = set()


def unchanging(kind: type) -> type:
    """Mark a named tuple whose arrays learning never changes: copying them would be in vain."""
    _unchanging.add(kind)
    return kind


def kept(tree: Any) -> Any:
    """The tree with copies of all arrays that may change.

    >>> kept((np.zeros(2), 3))
    (array([0., 0.]), 3)
    """
    if isinstance(tree, np.ndarray):
        copy = aligned_zeros(tree.shape, tree.dtype)
        copy[...] = tree
        return copy
    if not isinstance(tree, tuple) or type(tree) in _unchanging:
        return tree
    return type(tree)(*map(kept, tree)) if hasattr(tree, "_fields") else tuple(map(kept, tree))


def changing(tree: Any) -> Iterator[Any]:
    """All arrays of a tree that may change."""
    if isinstance(tree, np.ndarray):
        yield tree
    elif isinstance(tree, tuple) and type(tree) not in _unchanging:
        for part in tree:
            yield from changing(part)


def same(a: Any, b: Any) -> bool:
    """Whether two trees are equal bit by bit."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def nbytes(tree: Any) -> int:
    """Bytes in the arrays of a tree."""
    if isinstance(tree, np.ndarray):
        return int(tree.nbytes)
    return sum(map(nbytes, tree)) if isinstance(tree, tuple) else 0


def writable(tree: Any) -> Any:
    """The tree with copies of the arrays that cannot be written to, as where a pickled model is mapped into memory."""
    if isinstance(tree, np.ndarray):
        return tree if tree.flags.writeable else np.array(tree)
    if isinstance(tree, dict):
        return {name: writable(part) for name, part in tree.items()}
    if not isinstance(tree, tuple):
        return tree
    return type(tree)(*map(writable, tree)) if hasattr(tree, "_fields") else tuple(map(writable, tree))
