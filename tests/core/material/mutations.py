"""Damages documents in the ways that hands, programs and disks do."""

from __future__ import annotations

import random
import re

_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_TAG = re.compile(r"<[^>]+>")
_ODD_VALUES = (
    "",
    "nan",
    "inf",
    "-1",
    "1e39",
    "0",
    "99999999999999999999",
    "1, 2, 3, 4, 5",
    "%s%n",
    "../../../etc/passwd",
    "a" * 5000,
    "\u202e\u0000".replace("\u0000", ""),
    "float",
    "color3",
    "surfaceshader",
    "material",
    "filename",
    "1.38",
)


def mutate(text: str, rng: random.Random) -> str:
    """One or two random damages to a document."""
    for _ in range(rng.randint(1, 2)):
        text = rng.choice(_WAYS)(text, rng)
    return text


def _cut(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text) + 1)]


def _change_character(text: str, rng: random.Random) -> str:
    if not text:
        return text
    place = rng.randrange(len(text))
    return (
        text[:place] + chr(rng.choice((0, 9, 34, 38, 60, 62, 65, 233, 0x4E2D))) + text[place + 1 :]
    )


def _change_value(text: str, rng: random.Random) -> str:
    found = list(_ATTRIBUTE.finditer(text))
    if not found:
        return text
    chosen = rng.choice(found)
    other = rng.choice((*_ODD_VALUES, rng.choice(found).group(2)))
    return text[: chosen.start(2)] + other + text[chosen.end(2) :]


def _rename_attribute(text: str, rng: random.Random) -> str:
    found = list(_ATTRIBUTE.finditer(text))
    if not found:
        return text
    chosen = rng.choice(found)
    name = rng.choice(("name", "type", "value", "nodename", "nodegraph", "interfacename", "output"))
    return text[: chosen.start(1)] + name + text[chosen.end(1) :]


def _drop_tag(text: str, rng: random.Random) -> str:
    found = list(_TAG.finditer(text))
    if not found:
        return text
    chosen = rng.choice(found)
    return text[: chosen.start()] + text[chosen.end() :]


def _repeat_tag(text: str, rng: random.Random) -> str:
    found = list(_TAG.finditer(text))
    if not found:
        return text
    chosen, target = rng.choice(found), rng.choice(found)
    return text[: target.end()] + chosen.group() + text[target.end() :]


def _swap_values(text: str, rng: random.Random) -> str:
    """Wires things to other things: what cycles and mismatched types are made of."""
    found = [
        m for m in _ATTRIBUTE.finditer(text) if m.group(1) in ("name", "nodename", "nodegraph")
    ]
    if len(found) < 2:
        return text
    first, second = sorted(rng.sample(found, 2), key=lambda match: match.start())
    return (
        text[: first.start(2)]
        + second.group(2)
        + text[first.end(2) : second.start(2)]
        + first.group(2)
        + text[second.end(2) :]
    )


_WAYS = (
    _cut,
    _change_character,
    _change_value,
    _change_value,
    _change_value,
    _rename_attribute,
    _drop_tag,
    _repeat_tag,
    _swap_values,
    _swap_values,
)
