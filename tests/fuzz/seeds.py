"""What is mutated: tiny model files, and tiny files of rows."""

import io
import os
import tempfile

import pyarrow as pa
from pyarrow import parquet

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
    """The bytes of tiny models of many types, that have learned a few rows."""
    from onkel import stored
    from tests.tables import parameters, started, stream

    wanted = {
        "binary": "fogd nogd rbp rrf raker ada_raker bkm ik_ogd dual_sgd bpa_nn omkc projectron multi_rrf norma",
        "multiclass": "rks auto one_vs_rest",
        "regression": "ogd fkl auto",
    }
    found = []
    cells = [(name, task, parameters(name, task)) for task, names in wanted.items() for name in names.split()]
    cells += [("ik_ogd", "binary", {"partition": "trees", "t": 7, "psi": 9, "sample": 16, "max_depth": 2})]
    cells += [("fogd", "binary", {"n_frequencies": 13, "draw": "fastfood", "sigma": 1.5})]
    for name, task, given in cells:
        online = started(name, task, given, "float32")
        X, y = stream(task)
        online.learn(X[:40], y[:40])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            stored.save_model(path, online)
            with open(path, "rb") as file:
                found.append(file.read())
    return found
