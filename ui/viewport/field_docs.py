"""Reads the docstrings of settings, which the panel shows as tooltips."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import lru_cache
from itertools import pairwise


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
