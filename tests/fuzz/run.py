"""Starts the fuzzer, or one of its processes: python packaging/bootstrap.py fuzz --help."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # at the end: folders of the repository have names of installed packages
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    if sys.argv[1:] == ["--child"]:
        from tests.fuzz.child import main as serve

        serve()
    elif sys.argv[1:2] == ["kills"]:
        from tests.fuzz.kills import main

        sys.exit(main(sys.argv[2:]))
    else:
        from tests.fuzz.campaign import main

        sys.exit(main(sys.argv[1:]))
