"""``python -m onkel`` is the command ``onkel``."""

from onkel.apps.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
