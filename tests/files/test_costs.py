"""What a hostile file costs before it is refused: at most a second, and 300 MB more than before."""

import io
import json
import stat
import time
import zipfile
from pathlib import Path

import pytest

from onkel.files import snapshot
from onkel.files.model_file import load_model
from onkel.files.snapshot import SnapshotError
from tests.files import extreme_files
from tests.files.test_made_up_files import ONE_ARRAY, header, mapped, np, npy
from tests.fuzz.packing import model_file, packed, packed_with, parts_of
from tests.fuzz.surviving import surviving

SECONDS, MEGABYTES = 1.0, 300
NULL = npy(np.zeros(3))


def with_mode(mode):
    """A file whose array is of another kind, as a zip can say."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo("header.json"), ONE_ARRAY)
        about = zipfile.ZipInfo("0.npy")
        about.external_attr = (mode | 0o777) << 16
        archive.writestr(about, NULL)
    return out.getvalue()


def deep(levels):
    """A file whose learner has so many others inside of each other; as text, since Python cannot nest so deep."""
    parts = parts_of(extreme_files.file_of("one_vs_rest binary"))
    content = parts.header["content"]["map"]
    inside = json.dumps({"map": {"learner": content["learner"], "parameters": content["parameters"]}})
    one = '{"map": {"learner": "one_vs_rest", "parameters": {"map": {"learner": '
    content["parameters"]["map"]["learner"] = "inside"
    text = json.dumps(parts.header).replace('"inside"', one * levels + inside + "}}}}" * levels)
    return model_file(text.encode(), parts.arrays)


def hashed(columns):
    """A file whose table claims that so many columns were made of text; each has a name."""
    parts = parts_of(extreme_files.file_of("run table"))
    table = parts.header["content"]["map"]["columns"]["map"]["table"]["map"]
    table["hash_columns"], table["categories"]["tuple"][0]["map"]["how"] = columns, "hash"
    return model_file(parts.header, parts.arrays)


def in_a_header(text):
    """A header with one part that is this text."""
    return header(mapped(a=0)).replace('"a": 0', f'"a": {text}').encode()


def headers():
    """Headers that are small in a file, or become large when they are read."""
    blank = b" " * (100 << 20)
    yield "100 MB of nothing", packed([("header.json", blank)])
    yield "100 MB of nothing, packed", packed_with([("header.json", blank)], {"header.json": zipfile.ZIP_DEFLATED})
    for name, one in (("lists", "[]"), ("maps", "{}"), ("numbers", "1e9"), ("words", '""'), ("zeros", "0")):
        whole = in_a_header(f"[{','.join([one] * ((31 << 20) // (len(one) + 1)))}]")
        yield f"31 MB of {name}", packed([("header.json", whole)])
        yield f"31 MB of {name}, packed", packed_with([("header.json", whole)], {"header.json": zipfile.ZIP_DEFLATED})
        few = in_a_header(f'{{"tuple": [{",".join([one] * (snapshot.MOST_PARTS // 2 - 50))}]}}')
        yield f"as many {name} as may be", packed([("header.json", few)])
    yield "brackets in brackets", packed([("header.json", b"[" * (31 << 20))])


def attacks():
    """All of them, by name."""
    yield from headers()
    yield "a link", with_mode(stat.S_IFLNK)
    yield "a second member of the same name", packed([("header.json", ONE_ARRAY.encode()), *[("0.npy", NULL)] * 2])
    for levels in (30, 1000, 100_000):
        yield f"{levels} learners inside of each other", deep(levels)
    for columns in (2**20, 2**24, 2**31 - 1, 2**62):
        yield f"{columns} columns of hashed text", hashed(columns)
    for name in extreme_files.names():
        if name in extreme_files.one_of_each():
            parts = parts_of(extreme_files.file_of(name))
            given = parts.header["content"]["map"]["parameters"]["map"]
            for key, before in list(given.items()):
                for value in (2**31 - 1, 2**62, 1e300) if isinstance(before, int | float) else ():
                    given[key] = value
                    yield f"{name}, {key}={value:.3g}", model_file(parts.header, parts.arrays)
                given[key] = before


def refuse_all(board, send, first, folder):
    """Load each file; sends how it ended, the seconds and the megabytes that it took."""
    path, status = Path(folder) / "model.onkel", Path("/proc/self/status")
    load(path, extreme_files.file_of("fogd binary"))
    for number, (name, data) in enumerate(attacks()):
        if number < first:
            continue
        board.write(number, name.encode())
        path.write_bytes(data)
        Path("/proc/self/clear_refs").write_text("5")  # the peak of the memory begins anew
        before, start = megabytes(status), time.process_time()  # which other programs do not lengthen
        ended = load(path, None)
        seconds = time.process_time() - start
        send((name, ended, seconds, megabytes(status) - before))


def megabytes(status):
    """The largest memory of this process so far."""
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) >> 10


def load(path, data):
    """Load a file; whether it works, or is refused in a sentence."""
    if data is not None:
        path.write_bytes(data)
    try:
        load_model(path)
    except SnapshotError as error:
        return "refused" if str(error).endswith(".") and "\n" not in str(error) else str(error)
    return "works"


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs to know the peak of the memory")
def test_a_hostile_file_is_refused_within_a_second_and_300_mb(tmp_path):
    found = [*surviving(refuse_all, lambda: (str(tmp_path),), patience=60.0)]
    assert [one for one in found if one[1] not in ("refused", "works") and "as may be" not in one[0]] == []
    assert [one for one in found if one[2] > SECONDS or one[3] > MEGABYTES] == []
    named = {name: ended for name, ended, *_ in found}
    worked = [name for name, ended in named.items() if ended == "works" and "=" not in name]
    assert worked == []
    assert len(named) > 300
