"""Several classes through learners of two."""

from typing import Any

from onkel.core.randomness import derive
from onkel.learners.ensembles.one_vs_rest import one_vs_rest as side_by_side
from onkel.model.online import Plan, Setting
from onkel.recipes.learner import inner, recipe


@recipe(tasks=("binary", "multiclass"))
def one_vs_rest(task: str, learner: Any = "bpa_p") -> Plan:
    r"""One binary learner per class, each of which tells its class from all others.

    f_k learns +1 for rows of class k and -1 for all others; the prediction is the k with the largest f_k.

    Pieces: ensembles.one_vs_rest.OneVsRest over whatever `learner`, a recipe or its name, is made of.
    Tasks: binary (the learner itself), multiclass. Memory as that of the learner, once per class.
    Differs from the paper: this is ours. Papers that know two classes only do not say how to tell apart more; where a
    paper does, its recipe learns several classes itself, with one set of points for all of them.

    >>> from onkel.recipes import budget_perceptron
    >>> model = one_vs_rest(budget_perceptron(gamma=1.0)).start(1, "multiclass", 3)
    >>> model.learn([[0.0], [0.0]], [0, 0]).tolist()
    [[0.0, 0.0, 0.0], [1.0, -1.0, -1.0]]

    References: rifkin2004
    """
    plan = inner(learner).plan("binary")
    if task == "binary":
        return plan

    def build_all(settled: Any, setting: Setting) -> Any:
        one = setting._replace(n_outputs=1)
        seeds = [derive(setting.seed, k) for k in range(setting.n_outputs)]
        return side_by_side(tuple(plan.build(settled, one._replace(seed=seed)) for seed in seeds))

    return Plan(plan.kernel, build_all, plan.standardise, folds=plan.folds)
