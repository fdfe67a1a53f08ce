#!/usr/bin/env python3
"""Sets Verdigris up and runs it, in one command: python3 packaging/bootstrap.py --help.

Old versions of Python must be able to parse this file, so that they can report the problem.
The rest is in provision/.
"""

import sys

SUPPORTED = ((3, 11), (3, 12), (3, 13))


def version_problem(version: tuple, executable: str) -> str:
    """The message for a Python that cannot run Verdigris. Empty if it can."""
    if tuple(version[:2]) in SUPPORTED:
        return ""
    found = ".".join(str(part) for part in version[:3])
    fault = "too old" if tuple(version[:2]) < SUPPORTED[0] else "newer than its dependencies allow"
    return (
        f"verdigris: Python {found} ({executable}) is {fault}: Verdigris runs on Python 3.11, "
        "3.12 or 3.13.\n"
        "Install one of these and run the same command with it, for example: "
        "python3.12 packaging/bootstrap.py"
    )


if __name__ == "__main__":
    problem = version_problem(sys.version_info, sys.executable)
    if problem:
        sys.stderr.write(problem + "\n")
        sys.exit(1)
    from provision.cli import main

    sys.exit(main(sys.argv[1:]))
