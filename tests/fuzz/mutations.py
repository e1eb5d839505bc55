"""Bytes that are almost right: seeded mutations of bytes, of JSON and of the arrays and members of model files."""

import io
import json
import zipfile

import numpy as np

NUMBERS = [0, -1, 1, 2, 7, 8, 9, 255, 65_536, 2**31 - 1, 2**31, 2**32, 2**63, 10**30, -(2**63), 0.5, -0.0, 1e308, 1e9]
VALUES = [*NUMBERS, None, True, False, "", "iid", "hinge", "auto", "\0", "x" * 300, [], [1, 2], {}, {"array": 0},
          {"array": -1}, {"float": "nan"}, {"float": "1e9"}, {"tuple": []}, {"map": {}},
          {"kind": "rows.Dense", "fields": []}, {"kind": "kernels.Kernel", "fields": [99, 1.0, 0.0, 1]}]  # fmt: skip
TYPES = ["<f4", "<f8", ">f8", "<i4", "<i8", "<u8", "|b1", "<U3", "<c16", "|O", "<f2", "<M8[s]"]
SHAPES = [
    "()",
    "(0,)",
    "(1,)",
    "(3,)",
    "(-1,)",
    "(2, -3)",
    "(0, 9999999999)",
    "(1, 3)",
    "(99999999999999,)",
    "(1,) * 9",
]
NAMES = ["../0.npy", "/etc/x", "0.npy", "99.npy", "header.json", "a\\b"]
METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


def mutated(random, data, others, tokens=()):
    """A few changes of bytes: bits, pieces cut out, doubled, moved, taken from other data, or tokens of the format."""
    data = bytearray(data)
    for _ in range(int(random.integers(1, 5))):
        at, length = int(random.integers(len(data) + 1)), int(1 << random.integers(8))
        kind = random.integers(8 if tokens else 7)
        if kind == 0:
            for place in range(at, min(at + 1, len(data))):
                data[place] ^= 1 << int(random.integers(8))
        elif kind == 1:
            data[at : at + 1] = random.bytes(1)
        elif kind == 2:
            del data[at : at + length]
        elif kind == 3:
            data[at:at] = data[max(0, at - length) : at]
        elif kind == 4:
            data = data[:at]
        elif kind == 5:
            other = others[int(random.integers(len(others)))]
            start = int(random.integers(len(other) + 1))
            data[at : at + length] = other[start : start + length]
        elif kind == 6:
            data[at : at + 4] = int(random.choice([0, 1, 255, 65_535, 2**31, 2**32 - 1])).to_bytes(4, "little")
        else:
            data[at : at + int(random.integers(3))] = tokens[int(random.integers(len(tokens)))]
    return bytes(data)


def places(tree, path=()):
    """The paths to everything inside of JSON."""
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, part in inside:
        yield (*path, key)
        yield from places(part, (*path, key))


def changed_json(random, tree):
    """JSON with some of its parts replaced, removed, doubled or exchanged."""
    tree = json.loads(json.dumps(tree))
    for _ in range(int(random.integers(1, 4))):
        paths = [*places(tree)]
        if not paths:
            return tree
        *way, last = paths[int(random.integers(len(paths)))]
        inside = tree
        for key in way:
            inside = inside[key]
        kind = random.integers(6)
        if kind == 0:
            del inside[last]
        elif kind == 1 and isinstance(inside, list):
            inside.append(inside[last])
        elif kind == 2 and isinstance(inside, dict):
            inside[str(last) + "x"] = inside[last]
        elif kind == 3:
            *other_way, other = paths[int(random.integers(len(paths)))]
            found = tree
            for key in [*other_way, other]:
                found = found[key] if isinstance(found, dict | list) and _has(found, key) else None
            inside[last] = json.loads(json.dumps(found))
        else:
            inside[last] = json.loads(json.dumps(VALUES[int(random.integers(len(VALUES)))]))
    return tree


def _has(tree, key):
    return key in tree if isinstance(tree, dict) else isinstance(key, int) and key < len(tree)


def changed_array(random, data):
    """The bytes of an array with another type, shape or other numbers."""
    kind = random.integers(5)
    if kind < 3:
        start = data.index(b"{")
        text, rest = data[start : data.index(b"\n")].decode("latin-1"), data[data.index(b"\n") :]
        if kind == 0:
            text = text.replace(text.split("'")[3], TYPES[int(random.integers(len(TYPES)))])
        elif kind == 1:
            shape = text[text.index("(") : text.rindex(")") + 1]
            text = text.replace(shape, SHAPES[int(random.integers(len(SHAPES)))])
        else:
            text = text.replace("False", "True")
        text = text.rstrip().ljust(117)
        return data[:8] + len(text + "\n").to_bytes(2, "little") + text.encode("latin-1") + rest
    if kind == 3:
        return mutated(random, data, [data])
    values = np.load(io.BytesIO(data))
    odd = random.choice([0.0, -1.0, 1e30, -1e30, 1e-30, 127.0, 2.0**31]) * np.ones(values.shape)
    with np.errstate(all="ignore"):
        chosen = np.where(random.random(values.shape) < 0.5, odd, 0.0).astype(values.dtype, casting="unsafe")
    out = io.BytesIO()
    np.save(out, chosen if random.integers(2) else values[..., :-1] if values.ndim else values)
    return out.getvalue()


def mutated_model(random, data, others):
    """A model file with changed bytes, or packed anew, with right checksums, around a changed header or array."""
    if random.integers(3) == 0:
        return mutated(random, data, others)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    names = [*members]
    if random.integers(3) and len(names) > 1:
        name = names[int(random.integers(1, len(names)))]
        try:
            members[name] = changed_array(random, members[name])
        except (ValueError, IndexError):  # an array of text has no such numbers
            members[name] = mutated(random, members[name], others)
    else:
        members["header.json"] = json.dumps(changed_json(random, json.loads(members["header.json"]))).encode()
    if random.integers(20) == 0:
        names[int(random.integers(len(names)))] = NAMES[int(random.integers(len(NAMES)))]
    method = METHODS[int(random.integers(4)) if random.integers(8) == 0 else 0]
    return packed(zip(names, members.values(), strict=True), method)


def packed(members, method):
    """A zip of members, which may have the same name."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()
