"""What is mutated: tiny model files, and tiny files of rows with a byte in front that says how they are read."""

import io
from collections.abc import Callable

import pyarrow as pa
from pyarrow import parquet

from tests.files import extreme_files
from tests.fuzz.running import COMPRESS, READERS

LIBSVM = [
    b"1 1:0.5 3:-2\n-1 2:1e-3\n1\n-1 1:7 2:8 3:9\n",
    b"# note\n2.5 1:1 # more\r\n3 4:1.25\n\n0.1 10:3\n",
    b"\xef\xbb\xbf+1 1:1 2:1\n-1 1:.5\n",
]
CSV = [
    b"a,b,label\n1,2,x\n3,4.5,y\n-1e3,0,x\n",
    b"1,2,0\n3,4,1\n",
    b'"a ""q""","b,c",y\n1,"2",near\n"3",4,far\n',
    b"1;2;0\r\n3;4;1\r\n\r\n5;6;0\r\n",
    b'x,note,y\n1,"two\nlines",0\n2,"",1\n',
]
TOKENS = {
    "libsvm": [
        b" ", b"\n", b"1:", b":", b"-1 ", b"+1 ", b"#", b"qid:1 ", b"1e999", b"nan", b"0x1p3", b"9" * 40, b"\r\n", b"-",
        b"4294967296:1 ", b"2147483647:1 ", b"0:1 ", b"\t", b"\xef\xbb\xbf", b"\0", b"1:1:1", b"1_0", b".",
    ],
    "csv": [
        b",", b"\n", b'"', b'""', b"\r\n", b"\r", b"nan", b"inf", b"1e999", b";", b"\xff", b"\xef\xbb\xbf", b" ", b"\t",
        b"x", b'"\n"', b",,", b"0x10", b"1_0", b"\0", b"-", b"\xe2\x88\x921", b"'",
    ],
}  # fmt: skip
MODELS = [
    "fogd binary", "nogd binary", "rbp binary", "rrf binary", "raker binary", "ada_raker binary", "bkm binary",
    "ik_ogd binary", "dual_sgd binary", "bpa_nn binary", "omkc binary", "projectron binary", "multi_rrf binary",
    "norma binary", "tvm binary", "budget_perceptron binary", "rks multiclass", "auto multiclass",
    "one_vs_rest multiclass", "ogd regression", "fkl regression", "auto regression", "ik_ogd trees",
    "ik_ogd trees refresh", "fogd fastfood", "fogd held", "rrf mixture", "rbp csr", "open", "run binary", "run report",
    "run regression", "run table",
]  # fmt: skip


def tables():
    """Small tables of numbers and text."""
    numbers = pa.table({"a": [1.0, 2.0, None, 4.0], "b": pa.array([1, 2, 3, 4], pa.int32()), "y": [0, 1, 0, 1]})
    text = pa.table({"a": pa.array([0.5, 1.5], pa.float32()), "y": pa.array(["x", "y"]).dictionary_encode()})
    return numbers, text


def parquet_files():
    """The bytes of some Parquet files."""
    found = []
    for table in tables():
        for compression in ("none", "snappy", "zstd"):
            out = io.BytesIO()
            parquet.write_table(table, out, compression=compression)
            found.append(out.getvalue())
    return found


def arrow_files():
    """The bytes of some Arrow files and streams."""
    found = []
    for table in tables():
        for make in (pa.ipc.new_file, pa.ipc.new_stream):
            out = io.BytesIO()
            with make(out, table.schema) as writer:
                writer.write_table(table)
            found.append(out.getvalue())
    return found


def model_files():
    """The bytes of tiny models of many types, that have learned a few rows, and of checkpoints."""
    return [extreme_files.file_of(name) for name in MODELS]


def compressed(ending: str) -> list[bytes]:
    """Compressed text."""
    return [COMPRESS[ending](data) for data in LIBSVM]


def seeds_of(name: str) -> list[bytes]:
    """The inputs with which the fuzzing of a reader begins."""
    if name == "models":
        return model_files()
    plain: dict[str, Callable[[], list[bytes]]] = {
        "libsvm": lambda: LIBSVM, "csv": lambda: CSV, "csv-python": lambda: CSV, "parquet": parquet_files,
        "arrow": arrow_files,
    }  # fmt: skip
    files = plain[name]() if name in plain else compressed(name)
    return [bytes([way]) + data for data in files for way in range(len(READERS[name].options))]
