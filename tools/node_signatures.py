#!/usr/bin/env python3
"""Writes core/material/usd/signatures.json from MaterialX's libraries.

Run it with a Python that has the current MaterialX, and pass the Python of an environment with
MaterialX 1.38: USD files without a version use definitions that 1.39 changed or removed.

    .venv/bin/python tools/node_signatures.py OLD_ENVIRONMENT/bin/python
"""

import json
import subprocess
import sys
from pathlib import Path

TABLE = Path(__file__).parents[1] / "core" / "material" / "usd" / "signatures.json"


def read_library() -> dict[str, list]:
    import MaterialX as mx

    library = mx.createDocument()
    mx.loadLibraries(mx.getDefaultDataLibraryFolders(), mx.getDefaultDataSearchPath(), library)
    return {
        definition.getName(): [
            definition.getNodeString(),
            {port.getName(): port.getType() for port in definition.getActiveOutputs()},
            {port.getName(): port.getType() for port in definition.getActiveInputs()},
        ]
        for definition in library.getNodeDefs()
    }


def main(older_python: str) -> None:
    answer = subprocess.run(
        [older_python, __file__, "--print"], check=True, capture_output=True, text=True
    )
    current, older = read_library(), json.loads(answer.stdout)
    changed = {name: found for name, found in older.items() if current.get(name) != found}
    lines = []
    for part, table in (("current", current), ("before_1.39", changed)):
        rows = (
            f"{json.dumps(name)}:{json.dumps(found, separators=(',', ':'))}"
            for name, found in sorted(table.items())
        )
        lines.append(f'"{part}":{{\n' + ",\n".join(rows) + "\n}")
    TABLE.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        print(json.dumps(read_library()))
    elif len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        sys.exit(__doc__)
