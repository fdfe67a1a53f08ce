"""Starts an example: python examples/learn NAME [its options].

Python finds modules of a folder that it runs, so examples import `kit` without its path.
"""

import sys
from importlib import import_module
from pathlib import Path

from kit import run

NAMES = sorted(page.parent.name for page in Path(__file__).parent.glob("*/README.md"))

if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in NAMES:
        sys.exit(f"example {name!r}: choose one of {', '.join(NAMES)}")
    sys.path.append(str(Path(__file__).parent / name))
    example = import_module(name)
    parser = example.arguments()
    parser.prog = f"{Path(sys.argv[0]).name} {name}"
    run(example.main, parser.parse_args(sys.argv[2:]))
