"""The tables, as data. One more is an entry here and its cells in `published.csv`.

A letter such as B stands for a number, or for several to choose from; data sets may have their own. Recipes and their
parameters are those of `onkel describe`. FOGD's step is D times the paper's, whose features are not divided by
sqrt(D).
"""

from typing import Any

from onkel.apps.reproduce.spec import (
    ACCURACY,
    MISTAKES,
    PERCENT,
    ROOT,
    SQUARED,
    Entry,
    Experiment,
    entry,
    source,
)  # fmt: skip
from onkel.pieces.kernels import gaussian

REGULARISERS = (1e-3, 1e-4, 1e-5, 1e-6)
WIDTHS = (0.01, 0.1, 1.0, 10.0)  # gamma of exp(-gamma |x - z|^2)
PENALTIES = (1.0, 10.0, 100.0)  # C
CELLS = (4, 16, 64, 256, 1024, 4096)  # psi
GAUSSIANS = tuple(gaussian(gamma=2.0**power) for power in range(-8, 8))

GAUSSIAN = {"sigma": "sigma"}
BUDGETED = {"budget": "B", "sigma": "sigma"}
LU: dict[str, Entry | str] = {
    "Perceptron": entry("perceptron", **GAUSSIAN),
    "OGD": entry("ogd", eta="eta", **GAUSSIAN),
    "RBP": entry("rbp", **BUDGETED),
    "Forgetron": entry("forgetron", root="published", **BUDGETED),
    "Projectron": entry("projectron", **BUDGETED),
    "Projectron++": entry("projectron_pp", **BUDGETED),
    "BPA-S": entry("bpa_s", **BUDGETED),
    "BOGD": entry("bogd", eta="eta", lam="lam", removal="removal", **BUDGETED),
    "FOGD": entry("fogd", n_frequencies="D", eta="eta_f", **GAUSSIAN),
    "NOGD": entry("nogd", rank="k", eta="eta", **BUDGETED),
}
LU_REGRESSION: dict[str, Entry | str] = {
    "OGD": LU["OGD"],
    "Perceptron": LU["Perceptron"],
    "Norma": entry("norma", eta=0.03, lam=0.03, nu=0.4, published=True, **GAUSSIAN),
    **{name: LU[name] for name in ("RBP", "Forgetron", "Projectron", "BOGD", "FOGD", "NOGD")},
}
UNSTABLE = "the inverse of the authors' code breaks down; ours is guarded"


OTHER_USPS = (
    "unexplained: neither the file's range [-1, 1] nor [0, 1] gives the figure of the Perceptron, whose only parameter "
    "is sigma"
)

OTHER_CODRNA = "unexplained: the paper's rows are the test part, which is not here"

OTHER_NORMA = "unexplained: lam = 0.02 in place of the authors' 0.03 would come closer"


def sizes(budget: int, per_budget: int = 4) -> dict[str, Any]:
    """B, D and k where the paper has them in fixed proportions."""
    return {"B": budget, "D": per_budget * budget, "k": budget // 5}


TABLE_3 = Experiment(
    "Batch binary classification", "lu2016", "held out", PERCENT, 5,
    {
        **sizes(400), "sigma": (1.0, 2.0, 4.0, 8.0), "gamma": WIDTHS, "eta": (0.02, 0.2, 2.0), "lam": REGULARISERS,
        "C": PENALTIES,
    },
    {
        "codrna": source("cod-rna", 59_535, scale="signed"),
        "w7a": source("w7a", 24_692),
        "w8a": source("w8a", 49_749, **sizes(1000)),
        "a9a": source("a9a", 32_561, **sizes(1000)),
        "KDD08": source("kddcup08", 81_835, scale="unit", **sizes(200)),
        "KDD99": source("kddcup99", 905_257, scale="unit", **sizes(200, 2)),
    },
    {
        "LIBSVM": entry("svc", C="C", gamma="gamma"),
        "LLSVM": entry("llsvm", budget="B", C="C", gamma="gamma"),
        "BSGD-M": entry("bsgd_m", lam="lam", **BUDGETED),
        "BSGD-R": entry("bsgd_r", lam="lam", **BUDGETED),
        "FOGD": entry("fogd", n_frequencies="D", eta="eta", **GAUSSIAN),
        "NOGD": entry("nogd", rank="k", eta="eta", **BUDGETED),
    },
    {},
    ("LIBSVM learns at most 10,000 rows here.",),
)  # fmt: skip

TABLE_5 = Experiment(
    "Online binary classification", "lu2016", "progressive", MISTAKES, 20,
    {**sizes(100), "sigma": 8.0, "eta": 0.2, "eta_f": 400 * 0.002, "lam": 1e-6, "removal": "random"},
    {
        "german": source("german", 1_000),
        "spambase": source("spambase", 4_601),
        "w7a": source("w7a", 24_692),
        "w8a": source("w8a", 64_700, parts="both"),
        "a9a": source("a9a", 48_842, parts="both"),
        "ijcnn1": source("ijcnn1", 141_691, parts="both"),
        "codrna": source("cod-rna", 271_617, parts="both", scale="signed"),
        "KDDCUP08": source("kddcup08", 102_294, scale="unit"),
        "KDDCUP99": source("kddcup99", 1_131_571, scale="unit"),
    },
    LU,
    {("codrna", name): OTHER_CODRNA for name in LU},
    (
        "The paper searches its steps in {2, 0.2, ..., 0.0002} and does not name them. Steps here are not searched: "
        "0.2, and 0.002 for FOGD, are the authors' own, and come closest to the paper on german, w7a and a9a.",
        "The paper's codrna is the test part of cod-rna; here it is all that is there, within [-1, 1].",
    ),
)  # fmt: skip

TABLE_7 = Experiment(
    "Online multiclass classification", "lu2016", "progressive", MISTAKES, 20,
    {**sizes(100), "sigma": 8.0, "eta": 0.5, "eta_f": 0.005 * 400, "lam": 1e-5, "removal": "oldest"},
    {
        "dna": source("dna", 2_000, eta_f=0.005 * 800, **sizes(200)),
        "satimage": source("satimage", 4_435, eta_f=0.005 * 800, **sizes(200)),
        "usps": source("usps", 7_291, eta_f=0.005 * 800, **sizes(200)),
        "mnist": source("mnist", 10_000, parts="test", scale="bytes", eta_f=0.005 * 800, **sizes(200)),
        "letter": source("letter", 15_000),
        "shuttle": source("shuttle", 43_500),
        "acoustic": source("acoustic", 78_823),
        "covtype": source("covtype", 581_012, scale="unit"),
        "poker": source("poker", 1_000_000, parts="both"),
    },
    LU,
    {
        "FOGD": "unexplained: the paper does not print its steps; ours is that of the authors' code, 0.005",
        **{("dna", name): UNSTABLE for name in ("Projectron", "Projectron++")},
        **{("usps", name): OTHER_USPS for name in LU},
    },
    (
        "The paper's mnist of 10,000 rows is the test part: it fits five of six algorithms tried "
        "(not FOGD), other rows do not.",
        "The paper does not say how mnist and covtype are scaled; here features are within [0, 1].",
        "B is 200 for dna, mnist, satimage and usps, 100 for the others.",
    ),
)  # fmt: skip

TABLE_9 = Experiment(
    "Online regression", "lu2016", "progressive", SQUARED, 20,
    {
        **sizes(30, 15), "sigma": 8.0, "eta": (0.1, 0.2, 0.3, 0.4, 0.5), "lam": 0.03, "removal": "oldest",
        "eta_f": 450 * 6e-4,
    },
    {
        "housing": source("housing", 506, scale="unit", eta=0.3),
        "mg": source("mg", 1_385, scale="unit", eta=0.4),
        "abalone": source("abalone", 4_177, scale="unit"),
        "parkinsons": source("parkinsons", 5_875, scale="unit"),
        "cpusmall": source("cpusmall", 8_192, scale="unit"),
        "cadata": source("cadata", 20_640, scale="unit"),
        "casp": source("casp", 45_730, scale="unit"),
        "slice": source("slice", 53_500, scale="unit"),
        "year": source("year", 463_715, scale="unit"),
    },
    LU_REGRESSION,
    {
        "BOGD": "unexplained: the paper prints neither step nor regulariser; no pair that was tried fits all data sets",
        **{(name, "Norma"): OTHER_NORMA for name in ("abalone", "cpusmall")},
    },
    (
        "Targets are within [0, 1] too.",
        "Steps of OGD and NOGD on housing and mg give the paper's figures exactly over the authors' permutations.",
        "Steps of FOGD, Norma and the perceptrons are the authors' own, not searched: a search for FOGD "
        "gave 0.07856 on casp.",
    ),
)  # fmt: skip

RRF_BUDGETED = {"budget": "B", "gamma": "gamma"}
RRF_ONLINE: dict[str, Entry | str] = {
    "Perceptron": entry("perceptron", gamma="gamma"),
    "OGD": entry("ogd", eta="eta", gamma="gamma"),
    "RBP": entry("rbp", **RRF_BUDGETED),
    "Forgetron": entry("forgetron", root="published", **RRF_BUDGETED),
    "Projectron": entry("projectron", **RRF_BUDGETED),
    "Projectron++": entry("projectron_pp", **RRF_BUDGETED),
    "BPAS": entry("bpa_s", **RRF_BUDGETED),
    "BSGD-M": entry("bsgd_m", lam="lam", **RRF_BUDGETED),
    "BOGD": entry("bogd", eta="eta", lam=1e-6, **RRF_BUDGETED),
    "FOGD": entry("fogd", n_frequencies="D_f", eta="eta", gamma="gamma"),
    "NOGD": entry("nogd", eta="eta", **RRF_BUDGETED),
    "DualSGD": entry("dual_sgd", budget=100, merge=20, n_frequencies=200, lam="lam", gamma="gamma"),
}
CHOSEN_ANEW = "unexplained: the paper does not print the widths and steps that it chose; ours are chosen anew"
OWN_RRF = "unexplained: our rrf standardises its rows and takes Adagrad steps"
RRF_1 = Experiment(
    "Reparameterised random features: online classification", "nguyen2017", "progressive", MISTAKES, 10,
    {"B": 1000, "D": 100, "D_f": 4000, "gamma": WIDTHS, "eta": (0.02, 0.2, 2.0), "lam": REGULARISERS},
    {
        "cod-rna": source("cod-rna", 331_152, parts="both", scale="signed", B=400, D_f=1600),
        "ijcnn1": source("ijcnn1", 141_691, parts="both"),
        "poker": source("poker", 1_025_010, parts="both", scale="signed", D=200),
        "airlines": source("airlines", 5_929_413, scale="unit", above=15.0),
    },
    {
        **RRF_ONLINE,
        "RRF-Logit": entry("rrf", n_frequencies="D", loss="logistic"),
        "RRF-Hinge": entry("rrf", n_frequencies="D", loss="hinge"),
    },
    {**dict.fromkeys(RRF_ONLINE, CHOSEN_ANEW), **dict.fromkeys(("RRF-Logit", "RRF-Hinge"), OWN_RRF)},
    ("Our `rrf` standardises its rows and takes Adagrad steps; nothing of it is chosen.",),
)  # fmt: skip

RRF_REGRESSION = ("RBP", "Forgetron", "Projectron", "BOGD", "FOGD", "NOGD", "DualSGD")
RRF_2 = Experiment(
    "Reparameterised random features: online regression", "nguyen2017", "progressive", ROOT, 10,
    {"B": 400, "D": 100, "D_f": 2000, "gamma": WIDTHS, "eta": (0.01, 0.1, 0.5), "lam": (10.0, 1.0, 0.1, 0.01)},
    {
        "casp": source("casp", 45_730, scale="unit"),
        "slice": source("slice", 53_500, scale="unit", B=1000, D=500),
        "year": source("year", 515_345, parts="both", scale="unit", D=20, D_f=1600),
        "airlines": source("airlines", 5_929_413, scale="unit", B=1000, D=50),
    },
    {
        **{name: RRF_ONLINE[name] for name in RRF_REGRESSION},
        "RRF-eps": entry("rrf", n_frequencies="D", loss="epsilon_insensitive"),
        "RRF-l1": entry("rrf", n_frequencies="D", loss="absolute"),
        "RRF-l2": entry("rrf", n_frequencies="D", loss="squared"),
    },
    {**dict.fromkeys(RRF_REGRESSION, CHOSEN_ANEW), **dict.fromkeys(("RRF-eps", "RRF-l1", "RRF-l2"), OWN_RRF)},
    ("Targets are within [0, 1]. The paper gives no standard deviations.",),
)  # fmt: skip

BKM_2 = Experiment(
    "The Bayesian kernel machine", "nguyen2018", "held out", PERCENT, 5,
    {"gamma": WIDTHS, "lam": REGULARISERS, "C": PENALTIES},
    {
        "poker": source("poker", 25_010, scale="signed", passes=20),
        "a9a": source("a9a", 32_561, passes=20),
        "w8a": source("w8a", 49_749, passes=20),
        "cod-rna": source("cod-rna", 47_628, scale="signed", passes=20),
        "ijcnn1": source("ijcnn1", 49_990, passes=20),
        "seismic": source("seismic", 78_823, passes=12),
        "connect-4": source("connect-4", 54_045, passes=12),
        "skin": source("skin", 196_046, scale="signed", passes=5),
        "epsilon": source("epsilon", 400_000, passes=1),
        "covtype": source("covtype", 464_810, scale="signed", positive=(2.0,), passes=1),
        "susy": source("susy", 4_000_000, passes=1),
        "higgs": source("higgs", 8_800_000, passes=1),
    },
    {
        "BKM": entry("bkm"),
        "LIBSVM": entry("svc", C="C", gamma="gamma"),
        "RKS": entry("rks", gamma="gamma", lam=1e-5, eta=(0.1, 1.0)),
        "BSGD": entry("bsgd_m", budget=200, gamma="gamma", lam="lam"),
        "FKL": entry("fkl", eta=(0.1, 1.0), start=(0.1, 1.0)),
        "RRF": entry("rrf", n_frequencies=400),
    },
    {
        ("cod-rna", "BKM"): "unexplained: another fifth is held out; over three more it is 95.77 in the mean, and "
        "LIBSVM is below the paper's, too",
        ("skin", "RKS"): "the paper prints the same numbers for RKS and RRF",
        ("skin", "RRF"): "the paper prints the same numbers for RKS and RRF",
        ("a9a", "RKS"): "the paper prints the same numbers for RKS and FKL",
        ("a9a", "FKL"): "the paper prints the same numbers for RKS and FKL",
        **{("w8a", name): "the paper's figure is the share of the larger class" for name in ("RKS", "FKL", "RRF")},
    },
    (
        "All algorithms but LIBSVM make the same number of passes: the authors' 20, 5 to 12 or 1 over larger sets.",
        "LIBSVM learns at most 10,000 rows here.",
        "Times hold the search for parameters, in the paper over larger grids.",
    ),
    search_is_timed=True,
)  # fmt: skip

TING = {
    "url": source("url", 30_000),
    "news20.binary": source("news20.binary", 15_997),
    "rcv1.binary": source("rcv1.binary", 20_242),
    "real-sim": source("real-sim", 57_848),
    "smallNORB": source("smallNORB", 24_300, scale="unit", positive=(1.0, 4.0)),
    "cifar-10": source("cifar-10", 50_000, scale="unit", positive=(0.0, 2.0, 3.0, 4.0, 5.0)),
    "epsilon": source("epsilon", 400_000),
    "mnist": source("mnist", 60_000, scale="bytes", positive=(3.0, 4.0, 6.0, 7.0, 9.0)),
    "a9a": source("a9a", 32_561),
    "covertype": source("covtype", 464_810, scale="unit", positive=(2.0,)),
    "ijcnn1": source("ijcnn1", 49_990),
}
TWO_OF_MANY = "Two classes of mnist, smallNORB and cifar-10 are made as in the paper's footnote 4."
IK_5 = Experiment(
    "Isolation kernels: online gradient descent", "ting2021", "held out", ACCURACY, 1,
    {"eta": 0.5, "gamma": WIDTHS, "psi": CELLS},
    TING,
    {
        "OGD": entry("ogd", kernel="laplacian", eta="eta", gamma="gamma"),
        "IKi-OGD": entry("ik_ogd", partition="trees", t=100, psi="psi", eta="eta", sample="n"),
        "IKa-OGD": entry("ik_ogd", partition="cells", t=100, psi="psi", eta="eta", sample="n"),
        "NOGD": entry("nogd", kernel="laplacian", budget=100, rank=20, eta="eta", gamma="gamma"),
        "AdaRaker": entry("ada_raker", n_frequencies=50, kernels=(GAUSSIANS,), eta="eta"),
    },
    {},
    (TWO_OF_MANY, "The paper has one trial, and prints two digits."),
)  # fmt: skip

IK_7 = Experiment(
    "Isolation kernels: support vector machines", "ting2021", "held out", ACCURACY, 1,
    {"gamma": WIDTHS, "psi": CELLS, "C": PENALTIES},
    TING,
    {
        "SVM(Laplacian,LIBSVM)": entry("laplacian_svc", C="C", gamma="gamma"),
        "IKa-SVM(LIBLINEAR)": entry("ik_svm", partition="cells", t=100, psi="psi", C="C"),
    },
    {},
    (
        TWO_OF_MANY,
        "LIBSVM learns at most 4,000 rows here.",
        "The paper's times are without the feature map, ours with it.",
    ),
)  # fmt: skip

ADDITIVE = {**TING, "ijcnn1": source("ijcnn1", 49_990, scale="unit")}
IK_8 = Experiment(
    "Isolation kernels and the additive chi2 kernel: kernels and feature maps", "ting2021", "held out", ACCURACY, 1,
    {"psi": CELLS, "C": 1.0},
    ADDITIVE,
    {
        "LIBSVM IKa": entry("ik_svc", partition="cells", t=100, psi="psi", C="C"),
        "LIBSVM chi2": entry("chi2_svc", C="C"),
        "LIBLINEAR chi2": entry("chi2_svm", C="C"),
        "LIBLINEAR IKa": entry("ik_svm", partition="cells", t=100, psi="psi", C="C"),
    },
    {},
    (
        TWO_OF_MANY,
        "The chi2 kernel needs features of at least 0: ijcnn1 is within [0, 1] here, test rows below 0 are set to 0.",
        "The feature map of chi2 has one feature per input, as the paper's.",
        "LIBSVM learns at most 4,000 rows here. The paper names no C; here it is 1, and psi is chosen.",
    ),
)  # fmt: skip

EXPERIMENTS = {
    "lsokl-table3": TABLE_3,
    "lsokl-table5": TABLE_5,
    "lsokl-table7": TABLE_7,
    "lsokl-table9": TABLE_9,
    "rrf-table1": RRF_1,
    "rrf-table2": RRF_2,
    "bkm-table2": BKM_2,
    "ik-table5": IK_5,
    "ik-table7": IK_7,
    "ik-table8": IK_8,
}
