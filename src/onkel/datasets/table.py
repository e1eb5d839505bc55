"""The data sets, mostly those of the papers. Rows, features and classes are those of the files."""

import re

from onkel.datasets.registry import DataSet, File

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"

ZERO_ONE = "all numbers are 0 or 1"
RAW = "raw numbers"
SCALED = "the file is scaled to [-1, 1]"
UNIT = "raw numbers; lu2016 scales features and target to [0, 1]"
FIFTH = "nguyen2018 tests on a fifth of the rows"


def _by_hand(name: str, shape: str, papers: str, source: str, scaling: str = "", split: str = "") -> DataSet:
    """A set that cannot be fetched in a form that could be read as it is.

    `shape` is the rows to learn, + those to test on, x the features, / the classes unless it is a regression.
    """
    found = re.fullmatch(r"([\d,]+)(?: \+ ([\d,]+))? x ([\d,]+)(?: / (\d+))?", shape)
    assert found is not None, shape
    rows, test_rows, features, classes = (int((text or "0").replace(",", "")) for text in found.groups())
    task = {0: "regression", 2: "binary"}.get(classes, "multiclass")
    return DataSet(
        name, task, rows, test_rows, features, classes,
        papers=tuple(papers.split()), scaling=scaling, split=split, source=source,
    )  # fmt: skip


def _libsvm(name: str, shape: str, files: str, papers: str, scaling: str = "", split: str = "") -> DataSet:
    """A set of the LIBSVM site: one file or two, each perhaps followed by = and its size in megabytes."""
    known = _by_hand(name, shape, papers, "", scaling, split)
    train, *test = (_file(f"{LIBSVM}{known.task}/{file}") for file in files.split())
    source = f"LIBSVM data, {LIBSVM}{known.task}.html"
    return known._replace(train=train, test=test[0] if test else None, source=source)


def _file(text: str) -> File:
    address, _, megabytes = text.partition("=")
    return File(address, float(megabytes) if megabytes else None)


_TWO_CLASSES = [
    _libsvm("a9a", "32,561 + 16,281 x 123 / 2", "a9a=2.3 a9a.t=1.2", "lu2016 nguyen2018 ting2021", scaling=ZERO_ONE),
    _libsvm("w7a", "24,692 + 25,057 x 300 / 2", "w7a=1.7 w7a.t=1.7", "lu2016", scaling=ZERO_ONE),
    _libsvm("w8a", "49,749 + 14,951 x 300 / 2", "w8a w8a.t", "lu2016 nguyen2018", scaling=ZERO_ONE),
    _libsvm(
        "cod-rna", "59,535 + 271,617 x 8 / 2", "cod-rna cod-rna.t", "lu2016 nguyen2017 nguyen2018",
        scaling="raw numbers; nguyen2017 scales to [-1, 1]", split="nguyen2018 tests on 11,907 of the 59,535 rows",
    ),
    _libsvm("german", "1,000 x 24 / 2", "german.numer=0.1", "lu2016", scaling="raw; lu2016 takes them as they are"),
    _libsvm(
        "ijcnn1", "49,990 + 91,701 x 22 / 2", "ijcnn1.bz2=1.4 ijcnn1.t.bz2=2.6",
        "lu2016 nguyen2017 nguyen2018 ting2021",
    ),
    _libsvm(
        "skin", "245,057 x 3 / 2", "skin_nonskin=4.6", "nguyen2018",
        scaling="raw, 0 to 255; sorted by class", split=FIFTH,
    ),
    _libsvm(
        "covtype.binary", "581,012 x 54 / 2", "covtype.libsvm.binary.bz2", "nguyen2018 ting2021", scaling=RAW,
        split="nguyen2018 and ting2021 test on 116,202 rows",
    ),
    _libsvm(
        "epsilon", "400,000 + 100,000 x 2,000 / 2", "epsilon_normalized.xz epsilon_normalized.t.xz",
        "nguyen2018 ting2021", scaling="the file is standardised, then each row has length 1",
    ),
    _libsvm("susy", "5,000,000 x 18 / 2", "SUSY.xz", "nguyen2018", split="nguyen2018 tests on 1,000,000 rows"),
    _libsvm("higgs", "11,000,000 x 28 / 2", "HIGGS.xz", "nguyen2018", split="nguyen2018 tests on 2,200,000 rows"),
    _libsvm("url", "2,396,130 x 3,231,961 / 2", "url_combined.bz2", "ting2021", split="ting2021 learns 30,000 rows"),
    _libsvm(
        "news20.binary", "19,996 x 1,355,191 / 2", "news20.binary.bz2", "ting2021", split="ting2021 tests on 3,999 rows"
    ),
    _libsvm("rcv1.binary", "20,242 + 677,399 x 47,236 / 2", "rcv1_train.binary.bz2 rcv1_test.binary.bz2", "ting2021"),
    _libsvm("real-sim", "72,309 x 20,958 / 2", "real-sim.bz2", "ting2021", split="ting2021 tests on 14,461 rows"),
    DataSet(
        "spambase", "binary", 4601, 0, 57, 2, File(f"{UCI}spambase/spambase.data"), label=-1, papers=("lu2016",),
        scaling="raw, up to 15,841; lu2016 takes them as they are", source="UCI, Spambase",
    ),
    _by_hand(
        "kddcup99", "1,131,571 x 127 / 2", "lu2016",
        "UCI, KDD Cup 1999 Data; its columns of words have to be turned into 0 and 1",
        split="lu2016 tests on 226,314 rows",
    ),
    _by_hand(
        "kddcup08", "102,294 x 117 / 2", "lu2016", "KDD Cup 2008, which asks for a registration",
        split="lu2016 tests on 20,459 rows",
    ),
    _by_hand("elec2", "45,312 x 8 / 2", "", "the New South Wales electricity market (Harries, 1999); a stream"),
    _by_hand("susy_30k", "30,000 x 18 / 2", "", "30,000 rows of susy", scaling=RAW),
    _by_hand("reuters_moneyfx", "7,770 + 3,299 x 8,315 / 2", "", "the Reuters texts of the LaSVM papers"),
]  # fmt: skip

_MANY_CLASSES = [
    _libsvm("dna", "2,000 + 1,186 x 180 / 3", "dna.scale=0.5 dna.scale.t=0.3", "lu2016", scaling=ZERO_ONE),
    _libsvm(
        "satimage", "4,435 + 2,000 x 36 / 6", "satimage.scale satimage.scale.t", "lu2016", scaling=SCALED
    ),
    _libsvm("usps", "7,291 + 2,007 x 256 / 10", "usps.bz2 usps.t.bz2", "lu2016", scaling=SCALED),
    _libsvm(
        "mnist", "60,000 + 10,000 x 780 / 10", "mnist.bz2 mnist.t.bz2=2.5", "lu2016 ting2021",
        scaling="raw, 0 to 255", split="lu2016 learns 10,000 rows",
    ),
    _libsvm(
        "letter", "15,000 + 5,000 x 16 / 26", "letter.scale=2.6 letter.scale.t=0.9", "lu2016", scaling=SCALED
    ),
    _libsvm("shuttle", "43,500 + 14,500 x 9 / 7", "shuttle.scale shuttle.scale.t", "lu2016", scaling=SCALED),
    _libsvm("acoustic", "78,823 + 19,705 x 50 / 3", "vehicle/acoustic.bz2 vehicle/acoustic.t.bz2", "lu2016"),
    _libsvm("seismic", "78,823 + 19,705 x 50 / 3", "vehicle/seismic.bz2 vehicle/seismic.t.bz2", "nguyen2018"),
    _libsvm("covtype", "581,012 x 54 / 7", "covtype.bz2", "lu2016", scaling=RAW),
    _libsvm(
        "poker", "25,010 + 1,000,000 x 10 / 10", "poker.bz2 poker.t.bz2", "lu2016 nguyen2017 nguyen2018",
        split="lu2016 learns 1,000,000 rows, nguyen2017 both parts",
    ),
    _libsvm("connect-4", "67,557 x 126 / 3", "connect-4=15", "nguyen2018", scaling=ZERO_ONE, split=FIFTH),
    _libsvm("smallNORB", "24,300 + 24,300 x 18,432 / 5", "smallNORB.xz smallNORB.t.xz", "ting2021"),
    _libsvm("cifar-10", "50,000 + 10,000 x 3,072 / 10", "cifar10.bz2 cifar10.t.bz2", "ting2021"),
    _by_hand(
        "kddcup99_10pct", "494,021 + 311,029 x 119 / 5", "",
        "UCI, KDD Cup 1999 Data, a tenth; its columns of words have to be turned into 0 and 1", scaling=RAW,
    ),
]  # fmt: skip

_NUMBERS = [
    _libsvm("housing", "506 x 13", "housing", "lu2016", scaling=UNIT),
    _libsvm("mg", "1,385 x 6", "mg", "lu2016", scaling=UNIT),
    _libsvm("abalone", "4,177 x 8", "abalone", "lu2016", scaling=UNIT),
    _libsvm("cpusmall", "8,192 x 12", "cpusmall", "lu2016", scaling=UNIT),
    _libsvm("cadata", "20,640 x 8", "cadata", "lu2016", scaling=UNIT),
    _libsvm(
        "year", "463,715 + 51,630 x 90", "YearPredictionMSD.bz2 YearPredictionMSD.t.bz2",
        "lu2016 nguyen2017", scaling=UNIT, split="nguyen2017 learns both parts",
    ),
    DataSet(
        "casp", "regression", 45_730, 0, 9, 0, File(f"{UCI}00265/CASP.csv"), label="RMSD",
        papers=("lu2016", "nguyen2017"), scaling=UNIT,
        source="UCI, Physicochemical Properties of Protein Tertiary Structure",
    ),
    DataSet(
        "parkinsons", "regression", 5875, 0, 21, 0,
        File(
            f"{UCI}parkinsons/telemonitoring/parkinsons_updrs.data",
            sha256="f2c7d5025dec4e92e7feae367a5f7ccf58789a10ac6b54bdf15976c599f9dd39",
        ),
        label="total_UPDRS", papers=("lu2016",), scaling=UNIT,
        source="UCI, Parkinsons Telemonitoring; with the number of the patient and the other score among the features",
    ),
    _by_hand("slice", "53,500 x 385", "lu2016 nguyen2017",
             "UCI, Relative location of CT slices on axial axis; a zip archive", scaling=UNIT),
    _by_hand("airlines", "5,929,413 x 8", "nguyen2017",
             "the flights of 2008 of the ASA Data Expo 2009", scaling="nguyen2017 scales to [0, 1]",
             split="as two classes: late by more than 15 minutes or not"),
    _by_hand("twitter_buzz", "13,813 x 77", "shen2018 shen2019",
             "UCI, Buzz in social media, the part that the authors of shen2019 publish with their code",
             scaling="features and target in [0, 1]", split="shen2019 learns 6,000 rows"),
    _by_hand("toms_hardware", "9,725 x 96", "shen2018 shen2019",
             "UCI, Buzz in social media, the part that the authors of shen2019 publish with their code",
             scaling="features and target in [0, 1]"),
    _by_hand("nycflights13", "273,853 x 8", "", "flights from New York in 2013; a stream", scaling=RAW),
]  # fmt: skip

SETS = {data_set.name: data_set for data_set in (*_TWO_CLASSES, *_MANY_CLASSES, *_NUMBERS)}
