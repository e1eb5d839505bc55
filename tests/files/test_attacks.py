"""Files made to do harm: archives that are not what they say, and headers that ask for more than the file holds."""

import io
import json
import struct
import zipfile
import zlib

import numpy as np
import pytest

from onkel.files import archive, snapshot
from onkel.files.model_file import load_model
from onkel.files.snapshot import SnapshotError
from tests.files.common import DAMAGED
from tests.files.test_made_up_files import ONE_ARRAY, header, mapped, npy, packed
from tests.files.test_misfits import replaced


def refused(data, path):
    """The sentence by which bytes are refused."""
    path.write_bytes(data)
    with pytest.raises(SnapshotError) as caught:
        load_model(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}: ")
    assert sentence.endswith(".")
    return sentence.removeprefix(f"{path}: ")


def zipped(members, method=zipfile.ZIP_STORED, **more):
    """A zip of (name, bytes), where names may come twice."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        for name, data in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            for key, value in more.items():
                setattr(info, key, value)
            made.writestr(info, data, method)
    return out.getvalue()


WHOLE = [("header.json", ONE_ARRAY), ("0.npy", npy(np.zeros(3)))]


def test_the_archive_behind_these_tests_is_read(path):
    path.write_bytes(zipped(WHOLE))
    assert snapshot.read(path)["a"].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "members",
    [
        [*WHOLE, ("0.npy", npy(np.ones(3)))],
        [("header.json", header(mapped())), *WHOLE],
        [*WHOLE, ("header.json", ONE_ARRAY)],
        [*WHOLE, ("../1.npy", npy(np.zeros(3)))],
        [*WHOLE, ("/etc/passwd", b"x")],
        [*WHOLE, ("1.npy", npy(np.zeros(3)))],
        [*WHOLE, ("notes.txt", b"x")],
        [*WHOLE, ("folder/", b"")],
        [WHOLE[0], ("./0.npy", WHOLE[1][1])],
        [WHOLE[0], ("0.npy\0.txt", WHOLE[1][1])],
        [WHOLE[0], ("０.npy", WHOLE[1][1])],
        [WHOLE[0], ("x" * 5000, WHOLE[1][1])],
        [WHOLE[1], WHOLE[0]],
    ],
    ids=lambda members: " ".join(name[:12] for name, _ in members).encode("ascii", "replace").decode(),
)
def test_members_that_do_not_belong_there_are_refused(members, path):
    refused(zipped(members), path)


@pytest.mark.parametrize(
    "more", [{"extra": b"\x99\x99\0\0"}, {"comment": b"hello"}, {"extra": b"\1\0\x10\0" + b"\0" * 16}], ids=str
)
def test_fields_that_we_do_not_write_are_refused(more, path):
    assert refused(zipped(WHOLE, **more), path) == DAMAGED


@pytest.mark.parametrize("more", [b"\0", b"PK\5\6", b"#!/bin/sh\n" * 10])
def test_bytes_before_between_and_behind_are_refused(more, path):
    data = zipped(WHOLE)
    table = data.index(b"PK\1\2")
    assert refused(more + data, path) == DAMAGED
    assert refused(data + more, path) == DAMAGED
    assert refused(data[:table] + more + data[table:], path) == DAMAGED


def test_a_table_of_contents_that_points_elsewhere_is_refused(path):
    """Two entries over the same bytes: a small file that would unpack to many times its size."""
    data = zipped(WHOLE)
    place = data.rindex(b"PK\1\2") + 42  # the offset of the last member
    assert refused(data[:place] + b"\0\0\0\0" + data[place + 4 :], path) == DAMAGED


@pytest.mark.parametrize("flag", [1, 8, 0x40, 0x2000])
def test_encrypted_and_streamed_members_are_refused(flag, path):
    data = bytearray(zipped(WHOLE))
    for mark, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        start = 0
        while (start := data.find(mark, start)) >= 0:
            data[start + at : start + at + 2] = struct.pack("<H", flag)
            start += 4
    assert refused(bytes(data), path) == DAMAGED


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_bomb_is_refused_before_it_goes_off(method, path, monkeypatch):
    zeros = npy(np.zeros(1 << 17))  # a megabyte
    data = zipped([WHOLE[0], ("0.npy", zeros)], method)
    monkeypatch.setattr(archive, "SMALL", 1000)
    monkeypatch.setattr(archive, "_expanded", lambda *_: pytest.fail("something was unpacked"))
    assert refused(data, path) == DAMAGED


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_no_more_is_unpacked_than_a_member_claims(method, path, monkeypatch):
    longest, real = [], archive._expanded

    def watched(*given):
        found = real(*given)
        longest.append(len(found[0]))
        return found

    monkeypatch.setattr(archive, "_expanded", watched)
    zeros, small = npy(np.zeros(1 << 17)), npy(np.zeros(3))
    data = zipped([WHOLE[0], ("0.npy", zeros)], method)
    claim = struct.pack("<I", len(zeros)), struct.pack("<I", len(small))
    assert data.count(claim[0]) == 2  # in the member and in the table of contents
    data = data.replace(*claim).replace(struct.pack("<I", zlib.crc32(zeros)), struct.pack("<I", zlib.crc32(small)))
    assert refused(data, path) == DAMAGED
    assert max(longest) <= max(len(small), len(ONE_ARRAY)) + 1


def test_a_dictionary_of_gigabytes_is_not_allocated(path):
    data = bytearray(zipped(WHOLE, zipfile.ZIP_LZMA))
    start = 30 + len("header.json") + 5  # behind version, length and the first property
    data[start : start + 4] = b"\xff\xff\xff\xff"
    assert refused(bytes(data), path) == DAMAGED


def test_a_header_of_any_length_is_refused_before_it_is_read(path, monkeypatch):
    monkeypatch.setattr(snapshot, "LARGEST_HEADER", 1 << 20)
    monkeypatch.setattr(snapshot.json, "loads", lambda *_, **__: pytest.fail("the header was read"))
    assert refused(packed({"header.json": " " * (1 << 21)}), path) == "its header is larger than 1 MiB."


CONTENTS = {
    "numbers of arrays below 0": mapped(a={"array": -1}),
    "an array in two places": {"map": {"a": {"array": 0}, "b": {"array": 0}}},
    "an array in no place": mapped(),
    "truth for a number": mapped(a={"array": False}),
    "more keys": mapped(a={"array": 0, "kind": "x"}),
    "a list": mapped(a={"array": 0}, b=[1, 2]),
    "a number in disguise": mapped(a={"array": 0}, b={"float": "1_0"}),
    "nested beyond reason": mapped(a={"array": 0}, b=json.loads('{"tuple":[' * 400 + "1" + "]}" * 400)),
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_a_header_that_we_would_not_write_is_refused(kind, path):
    refused(packed({"header.json": header(CONTENTS[kind]), "0.npy": npy(np.zeros(3))}), path)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "9" * 5000, '"\\ud800"'])
def test_json_beyond_the_standard_is_refused(text, path):
    refused(packed({"header.json": header(mapped(a=0)).replace('"a": 0', f'"a": {text}')}), path)


def described(text, data=b"\0" * 24):
    line = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\1\0" + len(line).to_bytes(2, "little") + line + data


ARRAYS = {
    "a negative shape": described("{'descr': '<f8', 'fortran_order': False, 'shape': (-3,), }"),
    "two negative sizes": described("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -3), }"),
    "a product that overflows": described(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({2**40}, {2**40}), }}"),
    "nothing times very much": described(f"{{'descr': '<f8', 'fortran_order': False, 'shape': (0, {10**30}), }}", b""),
    "code": described("{'descr': '<f8', 'fortran_order': False, 'shape': (print(1),), }"),
    "an open bracket": described("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }".replace("}", "")),
    "arrays in arrays": described("{'descr': ('<f8', (3,)), 'fortran_order': False, 'shape': (), }"),
    "half precision": described("{'descr': '<f2', 'fortran_order': False, 'shape': (12,), }"),
    "long doubles": described("{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }", b"\0" * 16),
    "dates": described("{'descr': '<M8[s]', 'fortran_order': False, 'shape': (3,), }"),
    "bytes": described("{'descr': '|S8', 'fortran_order': False, 'shape': (3,), }"),
    "text of no length": described("{'descr': '<U0', 'fortran_order': False, 'shape': (1000,), }", b""),
    "text of no characters": described("{'descr': '<U6', 'fortran_order': False, 'shape': (1,), }", b"\xff" * 24),
    "surrogates": described("{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }", b"\0\xd8\0\0"),
    "truth of 7": described("{'descr': '|b1', 'fortran_order': False, 'shape': (24,), }", b"\7" * 24),
    "another version": b"\x93NUMPY\2\0" + described("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }")[8:],
    "a header of any length": b"\x93NUMPY\1\0\xff\xff" + b" " * 65_535,
    "a nameless type": described("{'descr': '<Q9', 'fortran_order': False, 'shape': (3,), }"),
}


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.filterwarnings("error")
def test_an_array_that_we_would_not_write_is_refused(kind, path):
    path.write_bytes(packed({"header.json": ONE_ARRAY, "0.npy": ARRAYS[kind]}))
    with pytest.raises(SnapshotError):
        snapshot.read(path)


DEMANDS = [
    ("linear", {"parameters": {"n_frequencies": 10**9}}),
    ("linear", {"parameters": {"n_frequencies": 10**9, "draw": "orthogonal"}}),
    ("linear", {"parameters": {"n_frequencies": 1e12}}),
    ("linear", {"setting": {"n_features": 2**31 - 1}}),
    ("linear", {"setting": {"n_features": 10**18}}),
    ("linear", {"setting": {"n_features": 30_000}, "parameters": {"n_frequencies": 100_000}}),
    ("linear", {"setting": {"n_features": "3"}}),
    ("linear", {"setting": {"n_features": 3.0}}),
    ("linear", {"setting": {"n_features": 0}}),
    ("linear", {"setting": {"n_features": -3}}),
    ("several", {"setting": {"n_outputs": 10**9}}),
    ("fading", {"parameters": {"budget": 10**9}}),
    ("span", {"parameters": {"budget": 30_000}}),
    ("hybrid", {"parameters": {"budget": 10**9}}),
    ("particles", {"parameters": {"n_particles": 10**9}}),
    ("particles", {"parameters": {"batch": 10**9}}),
    ("cells", {"parameters": {"t": 10**9}}),
    ("cells", {"setting": {"n_features": 2**31 - 1}}),
    ("trees", {"setting": {"n_features": 2}}),
    ("spectrum", {"parameters": {"n_components": 10**9}}),
    ("experts", {"parameters": {"n_frequencies": 10**9}}),
    ("readouts", {"parameters": {"n_frequencies": 10**9}}),
    ("readouts", {"setting": {"n_features": 2**31 - 1}}),
    ("standardised", {"setting": {"n_features": 2**31 - 1}}),
    ("held", {"setting": {"n_features": 2**31 - 1}}),
    ("side by side", {"setting": {"n_outputs": 10**9}}),
    ("linear", {"parameters": {"n_frequencies": 10**400}}),
]


def test_trees_of_very_wide_rows_take_no_memory_per_column(models, path):
    """Trees know the columns that they ask for and no others, so any width from there on is theirs."""
    resource = pytest.importorskip("resource")
    content = snapshot.read(models / "trees")
    content["setting"]["n_features"] = 2**31 - 1
    snapshot.write(path, content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    load_model(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 17  # KiB


@pytest.mark.parametrize(("name", "changes"), DEMANDS, ids=str)
def test_a_small_file_cannot_ask_for_a_large_model(models, name, changes, path):
    resource = pytest.importorskip("resource")
    content = snapshot.read(models / name)
    for key, change in changes.items():
        content[key] = content[key] | change
    snapshot.write(path, content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(SnapshotError, match=r"model\.onkel: its .*\.$"):
        load_model(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 17  # KiB


def test_learners_inside_of_learners_end_somewhere(models, path):
    content = snapshot.read(models / "side by side")
    inside = {"learner": content["learner"], "parameters": content["parameters"]}
    for _ in range(30):
        inside = {"learner": "one_vs_rest", "parameters": {"learner": inside}}
    snapshot.write(path, content | inside)
    with pytest.raises(SnapshotError):
        load_model(path)


def test_a_clock_does_not_make_levels(models, path):
    content = snapshot.read(models / "levels")
    content["model"] = replaced(content["model"], "clock", np.array([2**62]))
    snapshot.write(path, content)
    with pytest.raises(SnapshotError):
        load_model(path)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("partitions.depths", lambda depths: np.full_like(depths, 2**31 - 1)),
        ("partitions.depths", lambda depths: np.full_like(depths, -1)),
        ("partitions.columns", lambda columns: columns + 10**9),
        ("partitions.columns", lambda columns: columns - 10**9),
        ("partitions.cell", lambda cell: np.where(cell == 1, -(10**6), cell).astype(cell.dtype)),
    ],
)
def test_trees_that_lead_outside_are_refused(models, place, value, path):
    content = snapshot.read(models / "trees")
    content["model"] = replaced(content["model"], place, value)
    snapshot.write(path, content)
    with pytest.raises(SnapshotError):
        load_model(path)
