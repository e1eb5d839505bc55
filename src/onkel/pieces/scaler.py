"""Standardisation of a stream as it comes: each row by the statistics of the rows before it.

Dense rows are centred and divided by their deviation, x' = q((x - mean) / sd); of compressed rows only the stored
numbers are looked at, x' = q(x / rms), so zeros stay zeros. q is the identity for |v| <= 2 and sign(v) (2 +
ln(|v| - 1)) beyond, at most 20: linear in the bulk, logarithmic in the tails. A constant column gives 0.

Statistics are Welford's, of numbers clipped to 3 deviations once more than 10 were seen. One absurd number among the
first would spoil them for ever, so windows of 16, 32, 64, ... unclipped numbers run beside them; when a window shows a
hundredth of their variance or less, its statistics take their place and the next window is short again. Where numbers
beyond 1,000 deviations become the rule, which the clipped ones would follow for ever, statistics begin anew with those.

Where most rows of a dense column share one number m, like 0 or a limit, what lies close to m is told apart from it:
with its share (1 + l) / 2 the others move away from m by 4 l deviations, and all are centred and scaled anew, exactly
where the others lie on one side of m. m is found by a majority vote, with three numbers per column.
"""

from typing import Any, NamedTuple

import numpy as np

from onkel.core.borrowed import borrowed, row
from onkel.core.ranges import COUNT, MOST, between, contradiction, limits
from onkel.core.rows import Csr, Dense, row_count
from onkel.core.verbs import compiled, entry_point, known, verb

BULK, FARTHEST = 2.0, 20.0  # where the squashing begins, and the largest number that comes out
WINSOR = 3.0  # deviations to which a number is clipped before it is counted ...
TRUSTED = 10.0  # ... once there are more numbers than this
GUARD = 100.0  # times the variance of a window: the statistics are taken for spoilt
WINDOW = 16.0  # length of the first window
AWAY = 1000.0  # deviations beyond which a number is of another scale ...
NEARER = 0.25  # ... each of which weighs as much as four others ...
MANY, ENOUGH = 32.0, 8.0  # ... and so many more of which are the rule, once a window has some to begin anew with
FLAT = 1e-12  # a deviation below this share of the mean is rounding
HUGE = 1e100  # what an infinite number counts as
SEEN = between(-1.01 * HUGE, 1.01 * HUGE)  # a mean of rounded sums may be a little beyond
SQUARES = between(0.0, MOST * 4.1 * HUGE**2)
COUNTED = between(0.0, MOST)
GAP = 4.0  # deviations by which the others would move away from a number that almost all rows share


@known
@limits(
    count=COUNT, mean=SEEN, moment=SQUARES, window_count=COUNT, window_mean=SEEN, window_moment=SQUARES,
    window_length=COUNT, common=SEEN, hits=COUNT, away=COUNTED,
)  # fmt: skip
class Scaler(NamedTuple):
    """Running statistics of each feature, and those of its window; counts are float64 to stay in vector registers."""

    count: Any  # (d,)
    mean: Any
    moment: Any  # sum of squared deviations (compressed rows: of squares)
    window_count: Any
    window_mean: Any
    window_moment: Any
    window_length: Any
    common: Any  # (d,): the number that may be the one of most rows
    votes: Any  # rows with it less rows without, since it has been the candidate
    hits: Any  # rows with it since then
    away: Any = None  # numbers far from all that was seen, less a quarter of the others; old files have none


@contradiction.register
def _(state: Scaler) -> str:
    counted = (state.hits <= state.count) & ((state.count > 0.0) | (state.moment == 0.0))
    windows = (state.window_count < state.window_length) & (state.window_length >= WINDOW)
    return "" if (counted & windows).all() else "its counts of rows contradict each other"


@known
class Standardised(NamedTuple):
    """A model that sees its rows standardised."""

    scaler: Scaler
    model: Any


def scaler(n_features: int) -> Scaler:
    """Statistics of nothing yet."""
    zeros = [np.zeros(n_features) for _ in range(6)]
    return Scaler._make([*zeros, np.full(n_features, WINDOW), *(np.zeros(n_features) for _ in range(4))])


def standardised(state: Scaler, block: Any, importance: Any, dtype: Any) -> Any:
    """The rows of a float64 block by the statistics of the rows before each; changes state.

    A row of weight 0 is standardised but not counted in.
    """
    out = _room(block, dtype)
    learn(state, block, importance, out)
    return out


def touched(state: Scaler, block: Any) -> Any:
    """The columns whose statistics rows may change: all, unless there are fewer numbers in the rows than columns."""
    few = isinstance(block, Csr) and len(block.indices) < len(state.count)
    return block.indices if few else ...


def as_it_stands(state: Scaler, block: Any, dtype: Any) -> Any:
    """The rows of a float64 block by the statistics of all rows learned so far; changes nothing."""
    out = _room(block, dtype)
    apply(state, block, out)
    return out


def _room(block: Any, dtype: Any) -> Any:
    if isinstance(block, Dense):
        return Dense(np.empty(block.values.shape, dtype))
    return Csr(np.empty(len(block.data), dtype), block.indices, block.indptr, block.width)


@verb
def place(block: Any, i: int, state: Any, out: Any) -> None:
    """Write row i, standardised, into the block `out`."""


@verb
def observe(block: Any, i: int, state: Any) -> None:
    """Count row i in; changes state."""


@entry_point
def learn(state: Any, block: Any, importance: Any, out: Any) -> None:
    """Standardise row after row, counting each in once it is written."""
    state, block, importance, out = borrowed(state), borrowed(block), borrowed(importance), borrowed(out)
    for i in range(row_count(block)):
        place(block, i, state, out)
        if importance[i] > 0.0:
            observe(block, i, state)


@entry_point
def count_rows(state: Any, block: Any, importance: Any) -> None:
    """Count in rows that were standardised as the state was."""
    state, block, importance = borrowed(state), borrowed(block), borrowed(importance)
    for i in range(row_count(block)):
        if importance[i] > 0.0:
            observe(block, i, state)


@entry_point
def apply(state: Any, block: Any, out: Any) -> None:
    """Standardise all rows by the same statistics."""
    state, block, out = borrowed(state), borrowed(block), borrowed(out)
    for i in range(row_count(block)):
        place(block, i, state, out)


@compiled
def squashed(v: float) -> float:
    """q(v); 0 for NaN."""
    size = abs(v)
    if size <= BULK:
        return v
    if not size > BULK:
        return 0.0
    far = min(BULK + np.log(size - 1.0), FARTHEST)
    return far if v > 0.0 else -far


@compiled
def bounded(x: float) -> float:
    """The same number, or the largest that counts; NaN stays."""
    return min(max(x, -HUGE), HUGE) if x == x else x


@place.of(Dense)
def _(block: Dense, i: int, state: Any, out: Any) -> None:
    x = row(block.values, i)
    place_dense(x, state.count, state.mean, state.moment, state.common, state.hits, row(out.values, i))


@compiled
def placed(x: float, mean: float, variance: float, common: float, share: float) -> float:
    """(x - mean) / sd, the number of a share of the rows set apart from the others; of mean 0 and variance 1 again."""
    deviation, offset, lead = np.sqrt(variance), mean - common, max(2.0 * share - 1.0, 0.0)
    others, gap = 0.5 * (1.0 - lead), GAP * lead
    side = (1.0 if x > common else 0.0) - (1.0 if x < common else 0.0)
    middle = others if offset > 0.0 else -others
    apart = gap * (1.0 - others) * (2.0 * abs(offset) * deviation + gap * others * variance)
    return (x - mean + gap * (side - middle) * deviation) / np.sqrt(variance + apart)


@compiled(heavy=True)
def place_dense(x: Any, count: Any, mean: Any, moment: Any, common: Any, hits: Any, out: Any) -> None:
    real, far = out.dtype.type, False
    for j in range(x.shape[0]):
        one = 1.0 / count[j]  # the share of one row
        v = placed(x[j], mean[j], moment[j] * one, common[j], hits[j] * one)
        varied = count[j] >= 2.0 and np.sqrt(moment[j] * one) > FLAT * abs(mean[j])
        v = v if varied else 0.0
        out[j] = v
        far = far | (not abs(v) <= BULK)  # v, not out[j]: a number that is read again is not taken by vectors
    if far:
        for j in range(x.shape[0]):
            if not abs(out[j]) <= BULK:
                v = np.float64(out[j])
                if not abs(v) < HUGE:
                    one = 1.0 / count[j]
                    v = placed(bounded(x[j]), mean[j], moment[j] * one, common[j], hits[j] * one)
                out[j] = real(squashed(v))


@place.of(Csr)
def _(block: Csr, i: int, state: Any, out: Any) -> None:
    for p in range(block.indptr[i], block.indptr[i + 1]):
        j, x = block.indices[p], bounded(block.data[p])
        count, moment = state.count[j], state.moment[j]
        if count == 0.0:
            v = np.sign(x)
        else:
            v = x / np.sqrt(moment / count) if moment > 0.0 else 0.0
        out.data[p] = squashed(v)


@observe.of(Dense)
def _(block: Dense, i: int, state: Any) -> None:
    x = row(block.values, i)
    elsewhere = count_in(x, state.count, state.mean, state.moment, state.away)
    vote(x, state.common, state.votes, state.hits)
    full = watch(x, state.window_count, state.window_mean, state.window_moment, state.window_length)
    if full or elsewhere:
        for j in range(x.shape[0]):
            look_back(state, j)


@compiled(heavy=True)
def count_in(x: Any, count: Any, mean: Any, moment: Any, away: Any) -> bool:
    """Welford's update of each feature, of numbers clipped to a few deviations; whether any scale may have changed."""
    elsewhere = False
    for j in range(x.shape[0]):
        seen = x[j] == x[j]
        n = count[j] + 1.0
        apart = min(max(x[j], -HUGE), HUGE) - mean[j]
        limit = WINSOR * np.sqrt(moment[j] / count[j])
        clipped = n > TRUSTED and moment[j] > 0.0
        far = away[j] + 1.0 if clipped and abs(apart) > AWAY / WINSOR * limit else max(away[j] - NEARER, 0.0)
        away[j] = far if seen else away[j]
        elsewhere = elsewhere | (away[j] >= MANY)
        apart = min(max(apart, -limit), limit) if clipped else apart
        step = apart / n
        count[j] = n if seen else count[j]
        mean[j] = mean[j] + step if seen else mean[j]
        moment[j] = moment[j] + apart * (apart - step) if seen else moment[j]
    return elsewhere


@compiled(heavy=True)
def vote(x: Any, common: Any, votes: Any, hits: Any) -> None:
    """Majority vote of Boyer and Moore: a number that most rows share ends as the candidate."""
    for j in range(x.shape[0]):
        value = min(max(x[j], -HUGE), HUGE)
        seen, same, free = x[j] == x[j], value == common[j], votes[j] == 0.0
        common[j] = value if seen and free else common[j]
        step = 1.0 if same or free else -1.0
        votes[j] += step if seen else 0.0
        hits[j] = (hits[j] + 1.0 if same else 1.0 if free else hits[j]) if seen else hits[j]


@compiled(heavy=True)
def watch(x: Any, count: Any, mean: Any, moment: Any, length: Any) -> bool:
    """Welford's update of each window; whether one is full."""
    full = False
    for j in range(x.shape[0]):
        seen = x[j] == x[j]
        n = count[j] + 1.0
        apart = min(max(x[j], -HUGE), HUGE) - mean[j]
        step = apart / n
        count[j] = n if seen else count[j]
        mean[j] = mean[j] + step if seen else mean[j]
        moment[j] = moment[j] + apart * (apart - step) if seen else moment[j]
        full = full | (count[j] == length[j])
    return full


@observe.of(Csr)
def _(block: Csr, i: int, state: Any) -> None:
    for p in range(block.indptr[i], block.indptr[i + 1]):
        j, x = block.indices[p], bounded(block.data[p])
        if x == x:
            n, moment, square = state.count[j] + 1.0, state.moment[j], x * x
            clipped, limit = n > TRUSTED and moment > 0.0, WINSOR * WINSOR * moment / max(n - 1.0, 1.0)
            if clipped and square > (AWAY / WINSOR) * (AWAY / WINSOR) * limit:
                state.away[j] += 1.0
            else:
                state.away[j] = max(state.away[j] - NEARER, 0.0)
            square = min(square, limit) if clipped else square
            state.count[j], state.moment[j] = n, moment + square
            state.window_count[j] += 1.0
            state.window_moment[j] += x * x
            look_back(state, j)


@compiled
def look_back(state: Any, j: int) -> None:
    """Let the statistics of a feature begin anew, or its next window begin, where it is time."""
    if state.away[j] >= MANY and state.window_count[j] >= ENOUGH:
        begin_anew(state, j)
    elif state.window_count[j] == state.window_length[j]:
        turn_window(state, j)


@compiled
def begin_anew(state: Any, j: int) -> None:
    """Begin with the numbers of another scale, next to which all others of the window are as good as 0."""
    seen, mean = state.window_count[j], state.window_mean[j]
    n = np.floor(min(state.away[j], seen))
    squares, total = state.window_moment[j] + mean * mean * seen, mean * seen
    state.count[j], state.mean[j] = n, total / n
    state.moment[j] = max(squares - total / n * total, 0.0)
    state.votes[j] = state.hits[j] = state.away[j] = 0.0
    state.window_length[j] = WINDOW
    state.window_count[j] = state.window_mean[j] = state.window_moment[j] = 0.0


@compiled
def turn_window(state: Any, j: int) -> None:
    """Begin the next window of a feature; the full one replaces statistics that it shows to be spoilt."""
    count, moment = state.window_count[j], state.window_moment[j]
    variance = moment / count
    spoilt = variance > 0.0 and state.moment[j] / state.count[j] > GUARD * variance
    if spoilt:
        state.count[j], state.mean[j], state.moment[j] = count, state.window_mean[j], moment
        state.votes[j], state.hits[j] = min(state.votes[j], count), min(state.hits[j], count)
    state.window_length[j] = WINDOW if spoilt else 2.0 * state.window_length[j]
    state.window_count[j] = state.window_mean[j] = state.window_moment[j] = 0.0
