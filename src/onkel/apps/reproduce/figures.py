"""The figures, as data. One more is an entry here; words and letters are those of `experiments`.

The papers print no numbers in their figures. What their text says of them is a claim, here in our words.
"""

from math import log

from onkel.apps.reproduce.claims import beat, faster, improves, lead, levels_off, steady, takes, widens
from onkel.apps.reproduce.experiments import LU, RRF_1, TABLE_5, TABLE_7, TING, WIDTHS
from onkel.apps.reproduce.spec import (
    ACCURACY,
    MISTAKES,
    PERCENT,
    ROWS,
    SQUARED,
    Claim,
    Entry,
    Figure,
    Panel,
    entry,
    source,
)  # fmt: skip

RRF_HINGE = entry("rrf", n_frequencies="D", loss="hinge")
FOURIER = entry("fogd", n_frequencies="D", eta="eta", gamma="gamma")
COD_RNA = {"cod-rna": RRF_1.sources["cod-rna"]._replace(letters={})}
OURS = "Our `rrf` standardises its rows and takes Adagrad steps; nothing of it is chosen."

RRF_FIGURE_1 = Figure(
    "Reparameterised and plain random features by their number", "nguyen2017", "progressive", MISTAKES, 10,
    {"gamma": WIDTHS, "eta": (0.02, 0.2, 2.0)},
    COD_RNA,
    (Panel("D", (10, 20, 50, 100, 200, 400, 800, 1600), {"RRF": RRF_HINGE, "FOGD": FOURIER}, logarithmic=True),),
    (
        Claim("RRF with D = 20 makes fewer mistakes than FOGD with D = 1,600.",
              beat("D", ("RRF",), ("FOGD",), 20, 1600)),
    ),
    (OURS, "The paper does not say which D it has on its axis; ours are a choice."),
)  # fmt: skip

RRF_FIGURE_2 = Figure(
    "Reparameterised random features: mistakes and time by their number", "nguyen2017", "progressive", MISTAKES, 10,
    {},
    COD_RNA,
    (Panel("D", (10, 20, 50, 100, 150, 200, 400), {"RRF-Hinge": RRF_HINGE}),),
    (
        Claim("Mistakes become fewer with D.", improves("D", "RRF-Hinge")),
        Claim("Time grows with D.", takes("D", "RRF-Hinge", least=1.0)),
        Claim("D = 100 balances mistakes and time: beyond it little is gained.", levels_off("D", "RRF-Hinge", 100)),
    ),
    (OURS,),
)  # fmt: skip

LSOKL_FIGURE_3 = Figure(
    "Fourier components and the rank of Nystroem's matrix, in parts of the budget", "lu2016", "progressive", MISTAKES,
    20,
    {
        **TABLE_7.letters, "B": 200, "D": lambda letters: round(letters["rho_f"] * letters["B"]),
        "k": lambda letters: round(letters["rho_n"] * letters["B"]), "rho_f": 4, "rho_n": 0.2,
        "eta_f": lambda letters: 0.005 * round(letters["rho_f"] * letters["B"]),
    },
    {name: made._replace(letters={}) for name, made in TABLE_7.sources.items()},
    (
        Panel("rho_f", (1, 2, 3, 4, 5, 6, 8, 10), {"FOGD": LU["FOGD"]}),
        Panel("rho_n", (0.05, 0.1, 0.2, 0.3, 0.4, 0.5), {"NOGD": LU["NOGD"]}),
    ),
    (
        Claim("FOGD makes fewer mistakes with a larger rho_f.", improves("rho_f", "FOGD"),
              "the step 0.005 is for features that are not divided by sqrt(D), so it grows with rho_f; with one that "
              "stays the same mistakes become fewer"),
        Claim("NOGD makes fewer mistakes with a larger rho_n.", improves("rho_n", "NOGD")),
        Claim("Beyond rho_f = 5 little is gained.", levels_off("rho_f", "FOGD", 5)),
        Claim("Beyond rho_n = 0.1 little is gained.", levels_off("rho_n", "NOGD", 0.1)),
        Claim("The time of FOGD grows linearly: ten times rho_f, between 5 and 20 times as long.",
              takes("rho_f", "FOGD", 5.0, 20.0)),
        Claim("The time of NOGD grows with rho_n.", takes("rho_n", "NOGD", 1.0),
              "directions with very small eigenvalues are left out, so that a larger k need not have more of them"),
    ),
    (
        "D = rho_f B and k = rho_n B, with B = 200; steps as in lsokl-table7.",
        "The paper names neither the data sets nor the values on its axes: those of lsokl-table7, and ours.",
    ),
)  # fmt: skip

BUDGETS = tuple(name for name in LU if name not in ("Perceptron", "OGD"))
SELDOM = "a Projectron projects only where it makes a mistake, the others map every row; all are compiled here"
MANY_CLASSES = {"eta": 0.5, "lam": 1e-5, "removal": "oldest", "step": 0.005}
LSOKL_FIGURE_4 = Figure(
    "The size of the budget", "lu2016", "progressive", MISTAKES, 20,
    {
        **TABLE_5.letters, "D": lambda letters: 4 * letters["B"], "k": lambda letters: letters["B"] // 5,
        "eta_f": lambda letters: letters["step"] * 4 * letters["B"], "step": 0.002,
    },
    {
        "KDDCUP08": TABLE_5.sources["KDDCUP08"],
        "codrna": TABLE_5.sources["codrna"],
        "usps": TABLE_7.sources["usps"]._replace(letters=MANY_CLASSES),
        "acoustic": TABLE_7.sources["acoustic"]._replace(letters=MANY_CLASSES),
    },
    (Panel("B", (50, 100, 150, 200, 300, 400), {name: LU[name] for name in BUDGETS}),),
    (
        Claim("A larger budget makes fewer mistakes, for all.", improves("B", *BUDGETS),
              "on codrna the kernel is nearly linear: Projectron keeps about a dozen points and NOGD as many "
              "directions, whatever B is"),
        Claim(
            "With a small budget the best is a Projectron, FOGD or NOGD.",
            lead("B", ("Projectron", "Projectron++", "FOGD", "NOGD"), ("RBP", "Forgetron", "BPA-S", "BOGD"), 50),
        ),
        Claim("FOGD is faster than Projectron.", faster("B", "FOGD", "Projectron"), SELDOM),
        Claim("NOGD is faster than Projectron.", faster("B", "NOGD", "Projectron"), SELDOM),
    ),
    (
        "D = 4 B and k = B / 5; steps as in lsokl-table5 and lsokl-table7. The paper does not name the values of B.",
    ),
)  # fmt: skip

BKM_LINE: dict[str, Entry | str] = {"BKM": entry("bkm", n_particles="S", batch="batch", lam="lam")}
BKM_FIGURES = Figure(
    "The Bayesian kernel machine: particles, batches, widths, regularisers, committees", "nguyen2018", "held out",
    PERCENT, 5,
    {"S": 100, "batch": 200, "lam": 1e-3},
    {"a9a": source("a9a", 32_561, passes=4), "seismic": source("seismic", 78_823, passes=6)},
    (
        Panel("S", (1, 2, 3, 10, 20, 30, 100, 200, 300), BKM_LINE, True, "Figure 1: the number of particles"),
        Panel("batch", (2, 3, 10, 20, 30, 100, 200, 300), BKM_LINE, True, "Figure 2: the size of a mini-batch"),
        Panel(
            "sigma", (), {"BKM": "our `bkm` has no such parameter: its width is always the median heuristic"}, True,
            "Figure 3: the width of the kernel between particles",
        ),
        Panel("lam", (1e-4, 1e-3, 1e-2, 1e-1), BKM_LINE, True, "Figure 4: the regulariser"),
        Panel(
            "", (0,),
            {
                **BKM_LINE, "RRF": entry("rrf", n_frequencies=400),
                "MultiRRF-A": entry("multi_rrf", n_frequencies=400, combine="average"),
                "MultiRRF-V": entry("multi_rrf", n_frequencies=400, combine="vote"),
            },
            title="Figure 5: several models",
        ),
    ),
    (
        Claim("Accuracy rises with S.", improves("S", "BKM")),
        Claim("Beyond S = 30 it remains steady.", levels_off("S", "BKM", 30)),
        Claim("More particles take longer.", takes("S", "BKM", 1.0)),
        Claim("Accuracy rises with the size of a batch.", improves("batch", "BKM")),
        Claim("Time grows with the size of a batch, about three times from 2 to 300.", takes("batch", "BKM", 1.0, 6.0),
              "all make the same passes here, so that there are fewer steps of larger batches"),
        Claim("Accuracy is steady in lambda (here: within one percent).", steady("lam", "BKM", 1.0)),
        Claim("Time is steady in lambda (here: within a third).", takes("lam", "BKM", 0.75, 1.33)),
        Claim("Both committees of RRF are less accurate than RRF and BKM.",
              beat("", ("BKM", "RRF"), ("MultiRRF-A", "MultiRRF-V"))),
    ),
    ("Passes are ours, as in bkm-table2, and the same for all batches: fewer steps of larger batches.",),
)  # fmt: skip

LAPLACIAN = {"kernel": "laplacian", "eta": 0.5, "gamma": "gamma"}
FOREST = {"psi": "psi", "eta": 0.5, "sample": "n"}
IK_FIGURE_3 = Figure(
    "Isolation kernels: accuracy and time along a stream", "ting2021", "blocks", ACCURACY, 1,
    {"gamma": WIDTHS, "psi": (4, 16, 64, 256, 1024, 4096)},
    {
        "url": source("url", 2_396_130, parts="both", initial=30_000 / 2_396_130),
        "rcv1.binary": source("rcv1.binary", 697_641, parts="both", initial=20_242 / 697_641),
        "epsilon": source("epsilon", 500_000, parts="both", initial=0.8),
        "covertype": source("covtype", 581_012, parts="both", scale="unit", positive=(2.0,), initial=0.8),
    },
    (
        Panel(ROWS, (), {
            "OGD": entry("ogd", **LAPLACIAN),
            "IK-OGD": entry("ik_ogd", partition="trees", t=100, **FOREST),
            "NOGD": entry("nogd", budget=100, rank=20, **LAPLACIAN),
        }),
    ),
    (
        Claim("IK-OGD is more accurate than OGD and NOGD (except than OGD on epsilon).",
              beat(ROWS, ("IK-OGD",), ("OGD", "NOGD"))),
        Claim("IK-OGD is 2 to 4 orders of magnitude faster than OGD.", faster(ROWS, "IK-OGD", "OGD", 100.0),
              "the time of OGD grows with the rows that it has learned, of which there are fewer here"),
        Claim("OGD falls behind IK-OGD in time as the stream goes on.", widens(ROWS, "IK-OGD", "OGD"),
              "four fifths of covertype are learned before its stream begins: OGD grows by little along it"),
        Claim("NOGD is faster than IK-OGD on covertype, of few features.", faster(ROWS, "NOGD", "IK-OGD")),
    ),
    ("Times are those of the stream, without the initial rows.",),
)  # fmt: skip

STAND_IN = TING["ijcnn1"]._replace(rows=141_691, parts="both", stand_in=True, letters={"initial": 0.9})
IK_FIGURE_4 = Figure(
    "Isolation kernels: the efficient product and the naive one", "ting2021", "blocks", ACCURACY, 1,
    {},
    {**{name: IK_FIGURE_3.sources[name] for name in ("rcv1.binary", "epsilon")}, "ijcnn1": STAND_IN},
    (
        Panel("psi", (4, 16, 64, 256, 1024, 4096, 16384), {
            "IK-OGD": entry("ik_ogd", partition="trees", t=100, **FOREST),
            "IK-OGD(naive)": entry("naive", t=100, **FOREST),
        }, logarithmic=True),
    ),
    (
        Claim("The naive product falls behind as psi grows.", widens("psi", "IK-OGD", "IK-OGD(naive)")),
        Claim("At psi = 16,384 it is close to two orders of magnitude slower (here: 30 times).",
              faster("psi", "IK-OGD", "IK-OGD(naive)", 30.0)),
    ),
    (
        "The naive learner is one of NumPy. The text does not name the two data sets of the figure; rcv1.binary and "
        "epsilon are those of the experiment before it.",
        "Partitions cannot have more cells than there are initial rows, which are not timed.",
        "ijcnn1 is not in the paper's figure, nine tenths of its rows are the initial ones.",
    ),
)  # fmt: skip

IK_FIGURE_5 = Figure(
    "Isolation kernels: partitions, and the budget of Nystroem's method", "ting2021", "held out", ACCURACY, 1,
    {"psi": 8, "gamma": lambda letters: log(8.0) / letters["d"], "k": lambda letters: letters["b"] // 5, "b": 100},
    {
        **{name: TING[name] for name in ("epsilon", "smallNORB")},
        "mnist": TING["mnist"]._replace(stand_in=True),
    },
    (
        Panel("t", (10, 30, 100, 300, 1000, 3000, 10000), {
            "IKi-OGD": entry("ik_ogd", partition="trees", t="t", **FOREST),
        }, logarithmic=True),
        Panel("b", (100, 300, 1000, 3000), {
            "NOGD": entry("nogd", budget="b", rank="k", **LAPLACIAN),
        }, logarithmic=True),
    ),
    (
        Claim("Accuracy of IK-OGD rises with t.", improves("t", "IKi-OGD")),
        Claim("Its time grows less than t does, by a factor of 1,000.", takes("t", "IKi-OGD", most=1000.0)),
        Claim("Accuracy of NOGD rises with b (epsilon) or hardly moves (smallNORB).", improves("b", "NOGD")),
        Claim("The time of NOGD grows linearly with b: 30 times b, between 15 and 60 times as long.",
              takes("b", "NOGD", 15.0, 60.0), "a row takes b k = b^2 / 5 products, and the eigenvalues b^3 once"),
    ),
    (
        "psi = 8 for both kernels: gamma = log(psi) / d. b ends at 10,000 in the paper, at 3,000 here.",
        "mnist is not in the paper's figure.",
    ),
)  # fmt: skip

SINGLE = {
    f"RBF {variance:g}": entry("ogd", eta="eta", epsilon=0.0, sigma=variance**0.5) for variance in (0.1, 1.0, 10.0)
}
RAKER_FIGURE_1 = Figure(
    "Multiple kernels with random features: error along a stream", "shen2018", "progressive", SQUARED, 1,
    {"eta": lambda letters: letters["n"] ** -0.5},
    {
        "twitter": source("twitter_buzz", 6_000, scale="unit", ordered=True),
        "Tom's hardware": source("toms_hardware", 9_725, scale="unit", ordered=True),
    },
    (
        Panel(ROWS, (), {
            "Raker": entry("raker", n_frequencies=50, eta=0.5, hedge=0.5, lam=0.01),
            "OMKL": entry("omkl", eta=0.5, hedge=0.5, lam=0.01),
            **SINGLE,
        }),
    ),
    (
        Claim("Raker and OMKL have smaller errors than every single kernel.",
              beat(ROWS, ("Raker", "OMKL"), tuple(SINGLE))),
        Claim("Raker takes 5 percent of the time of OMKL.", faster(ROWS, "Raker", "OMKL", 20.0),
              "the share falls along the stream, as OMKL keeps every row"),
    ),
    (
        "Rows come in the order of the file, targets are within [0, 1] too, and runs differ in their random features. "
        "Single kernels have eta = 1 / sqrt(T). The time is that of the paper's figure 2.",
        "Tom's hardware has 10,000 rows in the paper, 9,725 where it comes from.",
        "The times hold one call per mark, of which there are 24: with 40 marks, tried first, OMKL took 16 times as "
        "long as Raker, and the claim about time did not hold.",
    ),
)  # fmt: skip

FIGURES = {
    "rrf-figure1": RRF_FIGURE_1,
    "rrf-figure2": RRF_FIGURE_2,
    "lsokl-figure3": LSOKL_FIGURE_3,
    "lsokl-figure4": LSOKL_FIGURE_4,
    "bkm-figures": BKM_FIGURES,
    "ik-figure3": IK_FIGURE_3,
    "ik-figure4": IK_FIGURE_4,
    "ik-figure5": IK_FIGURE_5,
    "raker-figure1": RAKER_FIGURE_1,
}
