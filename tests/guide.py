"""The code of docs/extending.md: what stands in a module of one's own, and the files that a package gets."""

import re
from pathlib import Path

GUIDE = Path(__file__).parents[1] / "docs" / "extending.md"


def code():
    """{file: code}; what names no file belongs to mine.py."""
    found = {"mine.py": ""}
    for block in re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL):
        named = re.match(r"# (src/\S+)\n", block)
        if named:
            found[named[1]] = block
        else:
            found["mine.py"] += block + "\n"
    return found
