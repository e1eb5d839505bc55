"""Taking back what was changed in place: copies of the arrays of a tree of tuples, and their numbers put back."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from onkel.rows import aligned_zeros

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


class Undo:
    """What fails inside of ``with undo.of(tree)`` leaves the arrays of the tree as they were.

    The same tree is looked through only once, and copied to the same places: a row alone is learned in little time.

    >>> from contextlib import suppress
    >>> undo, tree = Undo(), (np.zeros(2), "name")
    >>> with suppress(ZeroDivisionError), undo.of(tree):
    ...     tree[0][:] = 1 / np.float64(3)
    ...     1 / 0
    >>> tree[0].tolist()
    [0.0, 0.0]
    """

    def __init__(self) -> None:
        self.tree: Any = None
        self.places: Any = ...
        self.arrays: list[Any] = []
        self.copies: list[Any] = []

    def of(self, tree: Any, places: Any = ...) -> "Undo":
        """Keep the numbers of a tree; with `places`, nothing else of its arrays may change."""
        if tree is not self.tree:
            self.tree, self.arrays, self.copies = tree, list(changing(tree)), []
        if places is not self.places or places is not ... or not self.copies:
            self.places, self.copies = places, [array[places].copy() for array in self.arrays]
            return self
        for array, copy in zip(self.arrays, self.copies, strict=True):
            copy[...] = array
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            for array, copy in zip(self.arrays, self.copies, strict=True):
                array[self.places] = copy

    def surely(self, tree: Any, work: Callable[[], object]) -> None:
        """Do what must not be left out: if it fails, the arrays of the tree are put back, and it begins anew.

        So whoever follows a model that has learned rows is never behind it.
        """
        try:
            with self.of(tree):
                work()
        except BaseException:
            work()
            raise

    def __deepcopy__(self, memo: Any) -> "Undo":
        return Undo()

    def __reduce__(self) -> tuple[type["Undo"], tuple[()]]:
        return Undo, ()
