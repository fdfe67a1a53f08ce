"""Names and ports of MaterialX's node definitions, without MaterialX.

A host's Python may have no MaterialX, or another version. tools/node_signatures.py writes the table
beside this file from the library, and a test compares the two.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

TABLE = Path(__file__).with_name("signatures.json")
CURRENT_VERSION = (1, 39)


@dataclass(frozen=True)
class Signature:
    """A node definition's category and its typed ports."""

    definition: str
    category: str
    outputs: dict[str, str]
    inputs: dict[str, str]
    is_current: bool
    """Whether the current library also has the definition: only then may a node refer to it by
    name."""

    @property
    def node_type(self) -> str:
        """The type attribute of a node with this definition."""
        return next(iter(self.outputs.values())) if len(self.outputs) == 1 else "multioutput"


@lru_cache(maxsize=1)
def _table() -> dict[str, dict[str, list[dict[str, str]]]]:
    found: dict[str, dict[str, list[dict[str, str]]]] = json.loads(TABLE.read_text("utf-8"))
    return found


def find_signature(definition: str, version: tuple[int, int]) -> Signature | None:
    """The definition with this name in this version of MaterialX."""
    current = _table()["current"].get(definition)
    before = _table()["before_1.39"].get(definition) if version < CURRENT_VERSION else None
    found = before or current
    if found is None:
        return None
    category, outputs, inputs = found
    return Signature(definition, str(category), outputs, inputs, before is None)


@lru_cache(maxsize=1)
def known_categories() -> frozenset[str]:
    """The categories of nodes in the current library."""
    return frozenset(str(category) for category, *_ in _table()["current"].values())
