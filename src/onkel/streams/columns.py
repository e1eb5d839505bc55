"""Which columns of a table are read, and as what."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict, cast, get_args

from onkel.streams.block import StreamError

Column: TypeAlias = int | str
Categorical: TypeAlias = Mapping[Column, str | Sequence[str]] | Sequence[Column]
Missing: TypeAlias = Literal["error", "zero", "mean", "nan"]

MISSING = frozenset(["", "?", "NA", "N/A", "NaN", "nan", "NULL", "null"])  # cells that hold no value
HASH_COLUMNS = 256
MOST_COLUMNS = 2**15  # of a table; wider rows are mostly zeros, which no cell should have to say
MOST_HASHED = 2**20  # features that hashed columns share, each of which has a name
FEW_VALUES = 64  # up to which a column of text is one-hot unless told otherwise
HOW = ("auto", "hash", "onehot")
TO_BE_FOUND = {"onehot": "find values", "auto": "find few values", "hash": "hash"}


class Choice(NamedTuple):
    """What is asked for, before the columns of the file are known.

    Attributes
    ----------
    label
        Column of the label: its position, counted from 0 or, if negative, from the end, or its name; None for none.
    columns
        Columns of the features; by default all but the label.
    drop
        Columns that are left out.
    categorical
        Columns of text: "hash" adds 1 to one of `hash_columns` features that all such columns share, "onehot" gives
        each value that the file holds a feature, a list of values does so for these. "auto", which a list of columns
        means, is "onehot" for a file in which the column has at most 64 values, else "hash"; so is a list of columns
        with another number of `hash_columns`. Other values, and missing ones, are zeros.
    missing
        What an empty cell (or NA, N/A, NaN, null, ?) is: an error, zero, NaN, or the mean of the values in the rows
        before, which is zero before the first. Labels cannot be missing.
    hash_columns
        Number of the features that hashed columns share.
    separator
        Character between the cells of text; by default the most frequent of comma, semicolon and tab in the first line.
    """

    label: Column | None = -1
    columns: Sequence[Column] | None = None
    drop: Sequence[Column] = ()
    categorical: Categorical = ()
    missing: Missing = "error"
    hash_columns: int = HASH_COLUMNS
    separator: str | None = None


class ColumnChoice(TypedDict, total=False):
    """The words of a `Choice`, as keywords."""

    label: Column | None
    columns: Sequence[Column] | None
    drop: Sequence[Column]
    categorical: Categorical
    missing: Missing
    hash_columns: int
    separator: str | None


class Category(NamedTuple):
    """A column of text: hashed, or with a feature for each of its values, which may still be to be found."""

    position: int
    name: str
    how: Literal["hash", "values", "find values", "find few values"]
    values: tuple[str, ...] = ()


class Plan(NamedTuple):
    """What becomes of the columns of one table: numbers first, then one-hot features, then the hashed ones."""

    label: int | None  # None: there is none
    numeric: tuple[int, ...]
    categories: tuple[Category, ...]
    names: tuple[str, ...]  # of all columns of the table
    missing: Missing
    hash_columns: int
    named: bool = True  # whether the table itself has these names
    separator: str = ""  # between the cells of text; empty for other formats

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        numbers = [self.names[position] for position in self.numeric]
        values = [f"{category.name}={value}" for category in self.categories for value in category.values]
        return (*numbers, *values, *(f"hash{number}" for number in range(self.n_hashed)))

    @property
    def n_features(self) -> int:
        """Their number, which needs no names."""
        return len(self.numeric) + sum(len(category.values) for category in self.categories) + self.n_hashed

    @property
    def n_hashed(self) -> int:
        """Number of features at the end that hashed columns share."""
        return self.hash_columns if any(c.how == "hash" for c in self.categories) else 0


@lru_cache(maxsize=2**16)
def hashed(feature: str, n_columns: int) -> int:
    """Column of a feature that is known by its name alone: the same on every machine and in every run.

    Examples
    --------
    >>> hashed("city=Rome", 1024)
    727
    """
    return int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "little") % n_columns


def checked(choice: Choice) -> Choice:
    """The choice, with what it says about categories in one form, or a sentence about what is wrong with it.

    Examples
    --------
    >>> checked(Choice(categorical=["city"])).categorical
    {'city': 'auto'}
    """
    if choice.missing not in get_args(Missing):
        raise StreamError(f"Missing values are an error, zero, the mean or nan, not {choice.missing!r}.")
    if choice.columns is not None and choice.drop:
        raise StreamError("Columns are either chosen or dropped, not both.")
    if choice.hash_columns < 1:
        raise StreamError(f"Hashed values need at least one column, not {choice.hash_columns}.")
    if choice.hash_columns > MOST_HASHED:
        raise StreamError(f"Hashed values share at most {MOST_HASHED:,} columns, not {choice.hash_columns:,}.")
    if choice.separator is not None and len(choice.separator) != 1:
        raise StreamError(f"A separator is one character, such as ';' or a tab, not {choice.separator!r}.")
    given, default = choice.categorical, "auto" if choice.hash_columns == HASH_COLUMNS else "hash"
    categorical = dict(given) if isinstance(given, Mapping) else dict.fromkeys(given, default)
    for column, how in categorical.items():
        if how not in HOW if isinstance(how, str) else not how:
            raise StreamError(f"Column {column!r} is categorical by hash, onehot or a list of values, not {how!r}.")
    return choice._replace(categorical=categorical)


def is_position(text: str) -> bool:
    """Whether a text could stand for the position of a column."""
    return re.fullmatch("-?[0-9]{1,9}", text) is not None


def position_of(column: Column, names: Sequence[str]) -> int:
    """Position of a column that is given by its name or position; a name goes first where it looks like a position.

    Examples
    --------
    >>> position_of("height", ["age", "height", "answer"]), position_of(-1, ["age", "height", "answer"])
    (1, 2)
    """
    if column in names:
        return list(names).index(cast(str, column))
    if isinstance(column, str) and not is_position(column):
        raise StreamError(f"there is no column {shown(column)} among {shown(', '.join(names))}.")
    position = int(column)
    if not -len(names) <= position < len(names):
        raise StreamError(f"there is no column at position {position}, only {len(names)} columns.")
    return position % len(names)


def planned(choice: Choice, names: Sequence[str], named: bool = True) -> Plan:
    """Hold a choice against the columns of a table.

    Examples
    --------
    >>> planned(checked(Choice("y", drop=["id"], categorical={"city": ["Rome"]})), ["id", "age", "city", "y"]).features
    ('age', 'city=Rome')
    """
    label = None if choice.label is None else position_of(choice.label, names)
    dropped = {label, *(position_of(column, names) for column in choice.drop)}
    if choice.columns is None:
        chosen = [position for position in range(len(names)) if position not in dropped]
    else:
        chosen = [position_of(column, names) for column in choice.columns]
    if label is not None and label in chosen:
        raise StreamError(f"column {shown(names[label])} is the label and cannot be a feature.")
    if not chosen or len(set(chosen)) < len(chosen):
        raise StreamError("a column is chosen twice." if chosen else "no column is left for the features.")
    categories = _categories(choice, names, chosen)
    text = {category.position for category in categories}
    numeric = tuple(position for position in chosen if position not in text)
    return Plan(label, numeric, categories, tuple(names), choice.missing, choice.hash_columns, named)


def _categories(choice: Choice, names: Sequence[str], chosen: Sequence[int]) -> tuple[Category, ...]:
    assert isinstance(choice.categorical, Mapping)
    categories = []
    for column, how in choice.categorical.items():
        position = position_of(column, names)
        if position not in chosen:
            raise StreamError(f"column {shown(names[position])} is categorical, but not one of the features.")
        if not isinstance(how, str):
            categories.append(Category(position, names[position], "values", tuple(how)))
        else:
            categories.append(Category(position, names[position], cast(Any, TO_BE_FOUND[how])))
    return tuple(categories)


def not_too_wide(width: int, name: object) -> None:
    """Refuse a table with too many columns, before anything is made for each of them."""
    if width > MOST_COLUMNS:
        remedy = "write such rows as LIBSVM text, which leaves out zeros"
        raise StreamError(f"{name}: a table has at most {MOST_COLUMNS:,} columns, this one {width:,}; {remedy}.")


def distinct(names: Iterable[str]) -> list[str]:
    """Names of columns, each once: a column without one is called after its position, a second `a` is `a.1`.

    Examples
    --------
    >>> distinct(["a", "", "a", " b "])
    ['a', 'x2', 'a.1', 'b']
    """
    found: dict[str, None] = {}
    for number, name in enumerate(names, start=1):
        plain = name.strip() or f"x{number}"
        own, copy = plain, 0
        while own in found:
            copy += 1
            own = f"{plain}.{copy}"
        found[own] = None
    return list(found)


def cleaned(cell: str | None) -> str:
    """A cell of text without blanks around it; empty where the value is missing.

    Examples
    --------
    >>> cleaned(" Rome"), cleaned("NA"), cleaned(None)
    ('Rome', '', '')
    """
    text = (cell or "").strip()
    return "" if text in MISSING else text


def shown(cell: str) -> str:
    """A cell as messages show it."""
    return repr(cell if len(cell) <= 40 else cell[:37] + "...")
