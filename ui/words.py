"""Says in an artist's words what a report, a size or a time is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FATES = {
    "kept": "Kept",
    "approximated": "Approximated",
    "dropped": "Left out",
}


def duration(seconds: float | None) -> str:
    """As one says it: `40 s`, `3 min 20 s`, `2 h 5 min`."""
    if seconds is None or not seconds < 1e8:
        return "not known"
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def size_of(count: float) -> str:
    """Bytes as an artist reads them off a file."""
    for unit in ("bytes", "KB", "MB"):
        if count < 1000:
            return (
                f"{count:.0f} {unit}" if unit == "bytes" or count >= 10 else f"{count:.1f} {unit}"
            )
        count /= 1000
    return f"{count:.1f} GB"


def nanoseconds(value: float) -> str:
    return f"{value:.2g} ns" if value < 100 else f"{value:,.0f} ns"


def part_name(name: str) -> str:
    """`oren_nayar_diffuse_bsdf` -> `oren nayar diffuse`."""
    return name.removesuffix("_bsdf").removesuffix("_edf").replace("_", " ")


def parts_by_fate(report: Mapping[str, Any]) -> list[tuple[str, str, list[str]]]:
    """What becomes of the parts of a material: fate, its name in words, one line a part."""
    found = []
    for fate, words in _FATES.items():
        lines = [
            part_name(str(part["name"])) + (f": {part['how']}" if part.get("how") else "")
            for part in report.get("parts", ())
            if part["fate"] == fate
        ]
        if lines:
            found.append((fate, words, lines))
    return found


def verdict(report: Mapping[str, Any]) -> str:
    text = str(report.get("verdict", ""))
    if text == "not evaluated":
        return "Choose it to see what it reflects."
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def textures(report: Mapping[str, Any]) -> list[str]:
    """One line for each image that a material reads."""
    lines = []
    for each in report.get("textures", ()):
        name = str(each["file"]).replace("\\", "/").rsplit("/", 1)[-1]
        tiles = f", {each['tiles']} tiles" if each["tiles"] > 1 else ""
        lines.append(each["problem"] or f"{name}, {each['width']} x {each['height']}{tiles}")
    return lines
