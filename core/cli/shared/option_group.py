"""Options that several commands share, as one parameter: a dataclass whose fields are options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeGuard, get_type_hints


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer reads it: the fields of its dataclasses are options of their own."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if _is_group(kind)}

    def run(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{each.name: values.pop(each.name) for each in fields(kind)})
        command(**values)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    # typer reads this signature
    run.__signature__ = inspect.Signature(list(_parameters(command, hints)))  # type: ignore[attr-defined]
    return run


def _parameters(command: Callable[..., None], hints: dict[str, Any]) -> Iterator[inspect.Parameter]:
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if not _is_group(kind):
            yield inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=parameter.default, annotation=kind
            )
            continue
        options = get_type_hints(kind, include_extras=True)
        for each in fields(kind):
            default = inspect.Parameter.empty if each.default is MISSING else each.default
            yield inspect.Parameter(
                each.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=default,
                annotation=options[each.name],
            )


def _is_group(kind: object) -> TypeGuard[type[Any]]:
    return isinstance(kind, type) and is_dataclass(kind)
