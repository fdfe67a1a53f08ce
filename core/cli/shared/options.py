"""Options that commands share, and how a module declares its commands."""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeGuard, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand

from verdigris.core.baking.bake_request import options_of
from verdigris.core.base.errors import VerdigrisError, why_no_folder
from verdigris.core.base.text import parse_bytes
from verdigris.core.material.load.changes import DocumentChanges, read_changes
from verdigris.core.settings.changes import parse_changes

if TYPE_CHECKING:
    from verdigris.core.material.load.mtlx_document import Document

Number = TypeVar("Number", int, float)
Command = TypeVar("Command", bound=Callable[..., None])


@contextlib.contextmanager
def as_usage_error(option: str) -> Iterator[None]:
    """Turns an error in an option's value into a usage error that names the option."""
    try:
        yield
    except VerdigrisError as failure:
        raise typer.BadParameter(str(failure), param_hint=option) from None


def _require_folders(paths: list[Path] | None) -> list[Path] | None:
    for path in paths or ():
        why = why_no_folder(path)
        if why:
            raise typer.BadParameter(f"{why}: correct it, or leave it out")
    return paths


def path_argument(metavar: str, text: str) -> Any:
    """An argument that names a file or a bundle. An unreadable file is a failure with exit code 1,
    not a usage error, so typer does not check it."""
    return typer.Argument(metavar=metavar, help=text, readable=False)


PRESET_HELP = options_of()["preset"].help
FileOrBundle = Annotated[
    Path, path_argument("FILE", "A document (.mtlx), a shader file (.slang, .hlsl) or a bundle.")
]
Bundle = Annotated[Path, path_argument("BUNDLE", "A bundle (.vdg).")]
MaterialName = Annotated[
    str | None,
    typer.Option(
        "--material", "-m", metavar="NAME", help="The material's name, if the document has several."
    ),
]
MaterialNames = Annotated[
    list[str] | None,
    typer.Option(
        "--material",
        "-m",
        metavar="NAME",
        help="The material's name, if a document has several. Repeatable.",
    ),
]
SourceMesh = Annotated[
    Path | None,
    typer.Option(
        "--mesh",
        help="The mesh of the bake, if it lies neither beside --source nor beside the bundle.",
    ),
]
Search = Annotated[
    list[Path] | None,
    typer.Option(
        "--search",
        "-s",
        metavar="FOLDER",
        callback=_require_folders,
        help="Also look for textures and includes in this folder. Repeatable.",
    ),
]
Confined = Annotated[
    bool,
    typer.Option(
        "--confined",
        help="Refuse to read files outside of the document's folder and the --search folders. For "
        "untrusted documents.",
    ),
]
DeviceChoice = Annotated[
    str | None,
    typer.Option(
        "--device",
        help="auto, software, vulkan, d3d12, metal or cuda. A number chooses an adapter: vulkan:1.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SettingChanges = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help=options_of()["changes"].help)
]


SetInput = Annotated[
    list[str] | None,
    typer.Option(
        "--set-input",
        metavar="NAME=VALUE",
        help="Set an input, such as roughness=0.3; 'inspect' lists them. Repeatable. -D NAME=VALUE "
        "defines a name for the preprocessor of a shader file.",
    ),
]
Define = Annotated[
    list[str] | None,
    typer.Option(
        "--define",
        "-D",
        metavar="NAME[=VALUE]",
        hidden=True,
        help="Define a name for the preprocessor of a shader file. Repeatable.",
    ),
]


def document_changes(set_input: list[str] | None, define: list[str] | None) -> DocumentChanges:
    """The changes of a document that these options ask for."""
    with as_usage_error("--set-input"):
        return read_changes(set_input or (), define or ())


@dataclass(frozen=True)
class DocumentOptions:
    """The material of a document, and where its files are found."""

    material: MaterialName = None
    search: Search = None
    confined: Confined = False
    set_input: SetInput = None
    define: Define = None

    def load(self, path: Path) -> Document:
        """Reads the document; its files are found with these options."""
        from verdigris.core.material.load.mtlx_document import load_document

        changes = document_changes(self.set_input, self.define)
        return load_document(path, self.search or (), self.confined, changes=changes)


def parse_setting_changes(texts: list[str] | None) -> dict[str, Any]:
    """The settings to change, from the values of `--set`."""
    with as_usage_error("--set"):
        return parse_changes(texts or ())


def with_most_bytes(changes: dict[str, Any], text: str) -> dict[str, Any]:
    """The changes with the value of `--bytes`. A resolution is then the largest that is tried."""
    with as_usage_error("--bytes"):
        size = {**changes.get("size", {}), "most_bytes": parse_bytes(text)}
    if "resolution" in changes:
        size = {"tolerance": 0.0, **size}
    return {**changes, "size": size}


def require_known(value: str, known: Sequence[str], option: str) -> str:
    """The value, or a usage error that lists all values of its option."""
    if value not in known:
        words = ", ".join(known)
        raise typer.BadParameter(f"{value!r} is not known: use one of {words}", param_hint=option)
    return value


def parse_three(text: str, option: str) -> tuple[float, float, float]:
    """The finite numbers of a text x,y,z, or a usage error that names its option."""
    try:
        x, y, z = (float(word) for word in text.split(","))
    except ValueError:
        x = y = z = math.nan
    if not all(map(math.isfinite, (x, y, z))):
        raise typer.BadParameter(
            f"{text!r} is not x,y,z: use three finite numbers", param_hint=option
        )
    return x, y, z


def require_at_least(value: float, low: float, option: str) -> float:
    """The value, or a usage error that names its option."""
    if require_finite(value, option) < low:
        raise typer.BadParameter(f"{value} is less than {low}", param_hint=option)
    return value


def require_finite(value: float, option: str) -> float:
    """The value, or a usage error that names its option."""
    if not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number", param_hint=option)
    return value


def require_in_range(value: Number, low: Number, high: Number, option: str) -> Number:
    """The value, or a usage error that names its option and both ends of the range."""
    if not low <= value <= high:
        raise typer.BadParameter(f"{value} is not in the range {low} to {high}", param_hint=option)
    return value


class CommandApp(typer.Typer):
    """The commands of a module: one, several, or a group under a name of its own."""

    def __init__(self, name: str | None = None, help: str | None = None) -> None:
        super().__init__(
            name=name,
            help=help,
            no_args_is_help=True,
            add_completion=False,
            rich_markup_mode=None,
            pretty_exceptions_enable=False,
        )

    def add(
        self, example: str, name: str | None = None, cls: type[TyperCommand] = TyperCommand
    ) -> Callable[[Command], Command]:
        """Makes a function a command, whose help ends with this example. A parameter may be a
        dataclass: its fields are then options that several commands share."""

        def add_function(function: Command) -> Command:
            epilog = f"Example: verdigris {example}"
            self.command(name, cls=cls, epilog=epilog)(_with_options(function))
            return function

        return add_function


def _with_options(command: Command) -> Callable[..., None]:
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
