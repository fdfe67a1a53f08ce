"""The Python of the LOP that writes results onto USD materials."""

from __future__ import annotations

import json

from verdigris.core.errors import HostError

RESULT_NODE = "verdigris_result"
USD_ATTRIBUTE = "verdigris:bundle"

_SCRIPT = """# Made by Verdigris: notes baked results on their materials.
import hou
from pxr import Sdf

RESULTS = {results}

stage = hou.pwd().editableStage()
for path, bundle in RESULTS.items():
    prim = stage.GetPrimAtPath(path)
    if prim:
        attribute = prim.CreateAttribute("{attribute}", Sdf.ValueTypeNames.Asset, True)
        attribute.Set(Sdf.AssetPath(bundle))
"""


def result_script(results: dict[str, str]) -> tuple[str, str]:
    """The script for results by material path, and the same results as data."""
    data = json.dumps(results, indent=4, sort_keys=True)
    return _SCRIPT.format(results=data, attribute=USD_ATTRIBUTE), data


def read_results(data: str | None) -> dict[str, str]:
    """Results as `result_script` wrote them."""
    try:
        found = json.loads(data or "{}")
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise HostError("the results noted on the node are damaged: delete its user data")
    return found
