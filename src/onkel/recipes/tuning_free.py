"""The learner that needs no tuning."""

from typing import Any

from onkel.core.parameters import positive
from onkel.learners.mixed import mixed
from onkel.model.online import Plan, Setting
from onkel.pieces.maps.tuned import tuned
from onkel.pieces.readouts.exact import Absent, least_squares
from onkel.pieces.readouts.heads import heads
from onkel.pieces.readouts.outcomes import Labels, numbers
from onkel.recipes.learner import recipe

FASTER = (0.25, 1.0, 4.0)  # steps of the readouts, relative to each other
READOUT_STEPS = (0.7, 0.3, 0.1)  # of features, of the row itself, of the bias
MAP_STEPS = (1.4, 1.0, 0.1)  # starting width, steps of frequencies and of log-widths
SKIP, SHARE = 0.01, 0.001
FORGET, RIDGE = 0.9995, 0.1


@recipe(standardise=True)
def auto(task: str, n_frequencies: int = 256) -> Plan:
    r"""One setting for all streams: learned widths and frequencies, three readouts in one mixture, online scaling.

    Rows are standardised as they come. u_j = 1.4 l exp(g_j) x_j, l = 1 / sqrt(mean |x|^2); phases u . E_k;
    z = [cos; sin]. Readouts f_h = W_h . z + V_h . x + B_h with Adagrad steps times 1/4, 1 and 4; for regression one
    more by recursive least squares on some of the features, and targets on a scale of their own. Answers are mixed by
    their likelihood with fixed share; E and g follow the slope of the shared-weighted losses.

    Pieces: scaler.Scaler, maps.tuned.Tuned, readouts.heads.Heads, readouts.exact.LeastSquares,
    readouts.outcomes.Labels or Numbers.
    Tasks: binary, multiclass, regression. Constant memory.
    Scores are log-odds, logarithms of probabilities, or predictions. Differs from the paper: this is ours; it joins
    learned widths, mixtures of experts and random features of several papers.

    >>> model = auto(n_frequencies=8).start(1)
    >>> model.learn([[0.0], [1.0], [0.0], [1.0]], [1.0, -1.0, 1.0, -1.0]).shape
    (4, 1)

    References: nguyen2017, lu2016, shen2019, duchi2011, herbster1998
    """
    D = positive("n_frequencies", n_frequencies, integer=True)

    def build(_: Any, setting: Setting) -> Any:
        d, K, dtype = setting.n_features, setting.n_outputs, setting.dtype
        readouts = heads(FASTER, READOUT_STEPS, SKIP, (2 * D, K, d), dtype)
        regression = task == "regression"
        exact = least_squares(d, D, FORGET, RIDGE) if regression else Absent()
        outcome = numbers() if regression else Labels()
        return mixed(tuned(MAP_STEPS, d, D, dtype, setting.seed), outcome, readouts, exact, SHARE)

    return Plan(None, build, probable=task != "regression", folds=True)
