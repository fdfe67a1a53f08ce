"""Words for the artist: reports, names of parts, and the docstrings of settings as tooltips."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

from verdigris.core.progress import PHASE_WORDS
from verdigris.ui.signals import capitalise

PHASES = {**PHASE_WORDS, "starting": "starting"}
STOPS = {
    "request": "stopped by you",
    "target error": "the error is at its target",
    "quality": "nothing was left to gain",
    "time limit": "at the time limit",
}
"""Why a bake ended before its last step."""
_FATES = {
    "kept": "Kept",
    "approximated": "Approximated",
    "ignored": "Ignored",
    "dropped": "Left out",
}
# The words of artists for the lobes of a material.
_LOBES = {
    "oren_nayar_diffuse_bsdf": "diffuse",
    "burley_diffuse_bsdf": "diffuse",
    "dielectric_bsdf": "clear reflection",
    "conductor_bsdf": "metal",
    "generalized_schlick_bsdf": "reflection",
    "sheen_bsdf": "sheen",
    "chiang_hair_bsdf": "hair",
    "thin_film_bsdf": "thin film",
    "uniform_edf": "emission",
    "conical_edf": "emission in a cone",
    "measured_edf": "measured emission",
    "generalized_schlick_edf": "emission by view",
}


def format_nanoseconds(value: float) -> str:
    return f"{value:.2g} ns" if value < 100 else f"{value:,.0f} ns"


def part_name(name: str) -> str:
    """`oren_nayar_diffuse_bsdf` -> `diffuse`."""
    plain = name.removesuffix("_bsdf").removesuffix("_edf").replace("_", " ")
    return _LOBES.get(name, plain)


def parts_by_fate(report: Mapping[str, Any]) -> list[tuple[str, str, list[str]]]:
    """The parts of a material: kept, approximated or left out, the heading, one line per part."""
    found = []
    for fate, heading in _FATES.items():
        lines = [
            part_name(str(part["name"])) + (f": {part['how']}" if part.get("how") else "")
            for part in report.get("parts", ())
            if part["fate"] == fate
        ]
        if lines:
            # two lobes may have one name
            found.append((fate, heading, list(dict.fromkeys(lines))))
    return found


def describe_verdict(report: Mapping[str, Any]) -> str:
    """The verdict of a report as a sentence."""
    text = str(report.get("verdict", ""))
    if text == "not evaluated":
        return "Choose this material to evaluate it."
    return capitalise(text) + ("" if text.endswith(".") else ".")


def describe_textures(report: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The images of a material: a line for each that is wrong, and one for all with the same
    size."""
    problems, by_size = [], defaultdict(list)
    for each in report.get("textures", ()):
        name = str(each["file"]).replace("\\", "/").rsplit("/", 1)[-1]
        # the problem of the material names the folders that were searched
        problem = f"{name}: missing" if each.get("is_missing") else each["problem"]
        if problem:
            problems.append(problem)
            continue
        tiles = f", {each['tiles']} tiles" if each["tiles"] > 1 else ""
        by_size[f"{each['width']} x {each['height']}{tiles}"].append(name)
    return problems, [f"{size}: {', '.join(names)}" for size, names in by_size.items()]


@lru_cache(maxsize=32)
def field_docs(kind: type) -> dict[str, str]:
    """The docstring of each field of a dataclass. Empty if the source is not available."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    except (OSError, SyntaxError):
        return {}
    body = getattr(tree.body[0], "body", [])
    found = {}
    for field, below in pairwise(body):
        is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and is_text:
            found[field.target.id] = " ".join(str(below.value.value).split())
    return found
