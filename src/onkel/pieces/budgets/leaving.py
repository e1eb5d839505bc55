"""A budget that drops the point which the others classify best without its help."""

from typing import Any, NamedTuple

from onkel.core.growing import Change, by_field, changed
from onkel.core.support import append, place
from onkel.core.verbs import compiled
from onkel.pieces.budgets.neighbours import note
from onkel.pieces.budgets.verbs import admit


class DropBest(NamedTuple):
    """When full, the point with the largest sign(a_i) (f(x_i) - a_i k_ii) goes, f including the candidate.

    The similarities of all points and f at each of them are kept, so a row costs O(B).
    """

    gram: Any  # (B, B)
    values: Any  # (B,): f(x_i) of each point


@admit.of(DropBest)
def _(budget: DropBest, kernel: Any, support: Any, block: Any, candidate: Any) -> bool:
    n, a = support.count[0], candidate.coef[0]
    value = a * candidate.self_similarity
    for j in range(n):
        value += support.coef[0, j] * float(candidate.similar[j])
    gain(budget, n, candidate.similar, a)
    if append(support, block, candidate):
        enter(budget, n, n, candidate, value)
        return True
    slot = best_without(budget, support, n, helped(a, value, candidate.self_similarity))
    if slot == n:
        gain(budget, n, candidate.similar, -a)
    else:
        leaver = float(support.coef[0, slot])
        value -= leaver * float(candidate.similar[slot])
        for j in range(n):
            budget.values[j] -= leaver * budget.gram[slot, j]
        place(support, slot, block, candidate)
        enter(budget, n, slot, candidate, value)
    return True


@compiled
def gain(budget: Any, n: int, similar: Any, a: float) -> None:
    """Add a k(x_t, .) to the values of all points; changes budget."""
    for j in range(n):
        budget.values[j] += a * float(similar[j])


@compiled
def enter(budget: Any, n: int, slot: int, candidate: Any, value: float) -> None:
    """Note the similarities and the value of the point that is new in a slot; changes budget."""
    note(budget.gram, n, slot, candidate.similar, candidate.self_similarity)
    budget.values[slot] = value


@compiled
def helped(a: float, value: float, alike: float) -> float:
    """How well a point would be classified without itself."""
    rest = value - a * alike
    return rest if a > 0.0 else -rest


@compiled
def best_without(budget: Any, support: Any, n: int, of_candidate: float) -> int:
    """The slot of the point that is classified best without itself; n stands for the candidate."""
    best, slot = 0.0, -1
    for j in range(n):
        own = helped(float(support.coef[0, j]), budget.values[j], budget.gram[j, j])
        if slot < 0 or own > best:
            best, slot = own, j
    return n if of_candidate > best else slot


@changed.register
def _(fresh: DropBest, old: Any, change: Change) -> Any:
    return by_field(fresh, old, change, values=change.signed(old.values, 0))
