"""Bytes that are almost right: seeded mutations of bytes, of JSON and of the arrays and members of model files.

Whatever is random comes from a `random.Random`, which is several times as fast for single numbers as NumPy's generator.
"""

import contextlib
import json
import marshal
import zipfile

import numpy as np

from tests.fuzz.packing import array_of, npy, packed, packed_with

NUMBERS = [0, -1, 1, 2, 7, 8, 9, 255, 65_536, 2**31 - 1, 2**31, 2**32, 2**62, 2**63, 10**30, -(2**63), 0.5, -0.0, 1e308]
VALUES = [*NUMBERS, 1e9, 5e-324, None, True, False, "", "iid", "hinge", "auto", "\0", "x" * 300, [], [1, 2], {},
          {"array": 0}, {"array": -1}, {"float": "nan"}, {"float": "inf"}, {"float": "1e9"}, {"tuple": []}, {"map": {}},
          {"kind": "rows.Dense", "fields": []}, {"kind": "Kernel", "fields": [99, 1.0, 0.0, 1]}]  # fmt: skip
TYPES = ["<f4", "<f8", ">f8", "<i4", "<i8", "<u8", "|b1", "<U3", "<c16", "|O", "<f2", "<M8[s]"]
SHAPES = ["()", "(0,)", "(1,)", "(3,)", "(-1,)", "(2, -3)", "(0, 9999999999)", "(1, 3)", "(99999999999999,)"]
SHAPES += ["(1,) * 9"]
ODD = [0.0, -1.0, -0.0, 1e30, -1e30, 1e300, 1e-30, 5e-324, 127.0, 2.0**31, -(2.0**31), 2.0**62, np.nan, np.inf]
NAMES = ["../0.npy", "/etc/x", "0.npy", "99.npy", "header.json", "a\\b"]
METHODS = [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
WORDS = [0, 1, 255, 65_535, 2**31, 2**32 - 1]


def mutated(random, data, others, tokens=()):
    """A few changes of bytes: bits, pieces cut out, doubled, moved, taken from other data, or tokens of the format."""
    data = bytearray(data)
    for _ in range(random.randrange(1, 5)):
        at, length = random.randrange(len(data) + 1), 1 << random.randrange(8)
        kind = random.randrange(8 if tokens else 7)
        if kind == 0:
            for place in range(at, min(at + 1, len(data))):
                data[place] ^= 1 << random.randrange(8)
        elif kind == 1:
            data[at : at + 1] = random.randbytes(1)
        elif kind == 2:
            del data[at : at + length]
        elif kind == 3:
            data[at:at] = data[max(0, at - length) : at]
        elif kind == 4:
            data = data[:at]
        elif kind == 5:
            other = random.choice(others)
            start = random.randrange(len(other) + 1)
            data[at : at + length] = other[start : start + length]
        elif kind == 6:
            data[at : at + 4] = random.choice(WORDS).to_bytes(4, "little")
        else:
            data[at : at + random.randrange(3)] = random.choice(tokens)
    return bytes(data)


def places(tree, path=()):
    """The paths to everything inside of JSON."""
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, part in inside:
        yield (*path, key)
        yield from places(part, (*path, key))


def changed_json(random, tree, paths):
    """JSON with some of its parts, at these paths, replaced, removed, doubled or exchanged; the tree itself stays."""
    tree = marshal.loads(marshal.dumps(tree))  # a copy
    for _ in range(random.randrange(1, 4)):
        with contextlib.suppress(KeyError, IndexError, TypeError):  # a change before may have removed it
            change(random, tree, random.choice(paths), paths)
    return tree


def change(random, tree, path, paths):
    """Change one part; changes the tree."""
    inside, last, kind = at(tree, path[:-1]), path[-1], random.randrange(6)
    if kind == 0:
        del inside[last]
    elif kind == 1 and isinstance(inside, list):
        inside.append(inside[last])
    elif kind == 2 and isinstance(inside, dict):
        inside[str(last) + "x"] = inside[last]
    else:
        new = at(tree, random.choice(paths)) if kind == 3 else random.choice(VALUES)
        inside[last] = marshal.loads(marshal.dumps(new))


def at(tree, path):
    """The part at a path."""
    for key in path:
        tree = tree[key]
    return tree


def changed_array(random, data):
    """The bytes of an array with another type, shape or other numbers."""
    kind = random.randrange(6)
    if kind < 3:
        start = data.index(b"{")
        text, rest = data[start : data.index(b"\n")].decode("latin-1"), data[data.index(b"\n") :]
        if kind == 0:
            text = text.replace(text.split("'")[3], random.choice(TYPES))
        elif kind == 1:
            shape = text[text.index("(") : text.rindex(")") + 1]
            text = text.replace(shape, random.choice(SHAPES))
        else:
            text = text.replace("False", "True")
        text = text.rstrip().ljust(117)
        return data[:8] + len(text + "\n").to_bytes(2, "little") + text.encode("latin-1") + rest
    if kind == 3:
        return mutated(random, data, [data])
    values = array_of(data)
    if kind == 5 and values.dtype.kind == "f" and random.randrange(4):  # which is mostly allowed
        return npy(values * values.dtype.type(random.choice([0.5, 0.99, 1.01, 2.0])))
    if kind == 4 and values.size:  # one number, or all of them
        chosen = values.copy()
        with np.errstate(all="ignore"):
            odd = np.asarray(random.choice(ODD)).astype(values.dtype, casting="unsafe")
        chosen.reshape(-1)[random.randrange(values.size) if random.randrange(4) else slice(None)] = odd
        return npy(chosen)
    return npy(values[..., :-1] if values.ndim else values)


def mutated_model(random, data, parts, paths, others):
    """A model file with changed bytes, or packed anew, with right checksums, around a changed header or array."""
    if parts is None or random.randrange(4) == 0:
        return mutated(random, data, others)
    arrays, header, k = [*parts.arrays], parts.header, -1
    if random.randrange(3) and arrays:
        k = random.randrange(len(arrays))
        try:
            arrays[k] = changed_array(random, arrays[k])
        except (ValueError, IndexError):  # there are no such numbers in it
            arrays[k] = mutated(random, arrays[k], others)
    else:
        header = changed_json(random, header, paths)
    names = ["header.json", *(f"{k}.npy" for k in range(len(arrays)))]
    if random.randrange(20) == 0:
        names[random.randrange(len(names))] = random.choice(NAMES)
    members = [*zip(names, [json.dumps(header).encode(), *arrays], strict=True)]
    if random.randrange(16):
        return packed(members)
    return packed_with(members, {names[k + 1]: random.choice(METHODS)})
