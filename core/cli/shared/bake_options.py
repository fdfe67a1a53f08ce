"""Options of `verdigris bake`, its help in groups, and what `--if-changed` compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from verdigris.core.baking.bake_request import BakeRequest, options_of
from verdigris.core.cli.shared.options import (
    PRESET_HELP,
    SettingChanges,
    parse_setting_changes,
    path_argument,
    with_most_bytes,
)
from verdigris.core.material.live_inputs.live_input import parse_all_wanted
from verdigris.core.pictures.compare.verdict import require_target
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.draw_settings import DrawSettings
from verdigris.core.worker.protocol.messages import encode

if TYPE_CHECKING:
    from verdigris.core.material.load.mtlx_document import Document, Material

_HELP = {name: asked.help for name, asked in options_of().items()}

Files = Annotated[
    list[Path],
    path_argument(
        "FILE...", "Documents (.mtlx) or shader files (.slang, .hlsl). Several share one decoder."
    ),
]
Preset = Annotated[str, typer.Option("--preset", "-p", help=PRESET_HELP)]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        show_default=False,
        help="The folder for the bundle. Default: the folder neural beside the document.",
    ),
]
BundleName = Annotated[
    str | None, typer.Option(help="The bundle's name. Default: the material's name.")
]
Resume = Annotated[bool, typer.Option("--resume", help=_HELP["resume"])]
Live = Annotated[list[str] | None, typer.Option(metavar="NAME=LOW..HIGH", help=_HELP["live"])]
Mesh = Annotated[
    Path | None,
    typer.Option(
        help="Evaluate the material on this mesh (.obj, .usd): with its positions, normals, uv "
        "sets and painted colours. --uv SET chooses another uv set than the first."
    ),
]
Resolution = Annotated[
    int | None,
    typer.Option(
        help="Latent texels per side, a power of two. Default: as few as the material needs."
    ),
]
MostBytes = Annotated[
    str | None,
    typer.Option(
        "--bytes",
        metavar="BYTES",
        help="The most bytes of the bundle on a GPU, such as 1.4M. The bake then takes fewer "
        "texels, or 4 latents per texel instead of 8, whichever loses less quality.",
    ),
]
TimeLimit = Annotated[float | None, typer.Option(help=_HELP["time_limit"])]
Target = Annotated[str, typer.Option(help=_HELP["target"])]
Importance = Annotated[Path | None, typer.Option(help=_HELP["importance"])]
Replace = Annotated[
    bool,
    typer.Option(
        "--replace",
        help="Remove the previous bundle. Without this option, it is kept as a version: see "
        "'verdigris versions'.",
    ),
]
Link = Annotated[
    bool,
    typer.Option(
        "--link", help="Show the training in games and pages that are running: see docs/LINK.md."
    ),
]

# Options without a line in the help, which shows only the most common ones. The first two equal
# --set iterations=N and --set seed=N; most of the others are for programs.
Iterations = Annotated[int | None, typer.Option(hidden=True)]
Seed = Annotated[int | None, typer.Option(hidden=True)]
TargetError = Annotated[float | None, typer.Option(hidden=True, help=_HELP["target_error"])]
UvSet = Annotated[str | None, typer.Option(hidden=True)]
Directions = Annotated[str | None, typer.Option(hidden=True, help=_HELP["directions"])]
ViewportTextures = Annotated[
    bool, typer.Option("--viewport-textures", hidden=True, help=_HELP["viewport_textures"])
]
Trainer = Annotated[str | None, typer.Option(hidden=True)]
LinkAt = Annotated[str | None, typer.Option("--link-at", metavar="HOST:PORT", hidden=True)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", hidden=True)]
IfChanged = Annotated[bool, typer.Option("--if-changed", hidden=True)]
CheckpointSeconds = Annotated[float, typer.Option(hidden=True)]

GROUPS = {
    "Basic": ("preset", "out", "name", "material", "search", "confined", "resume"),
    "Material": ("live", "set_input", "mesh"),
    "Quality": ("resolution", "most_bytes", "time_limit", "target", "importance"),
    "Output": ("link", "replace", "as_json", "help"),
    "Expert": ("settings", "device"),
}
"""Headings of the help, and the options below each."""


@dataclass(frozen=True)
class RequestOptions:
    """What `verdigris bake` asks of a bake. Fields with a name of `BakeRequest` are passed on."""

    preset: Preset = ""
    resume: Resume = False
    live: Live = None
    resolution: Resolution = None
    most_bytes: MostBytes = None
    time_limit: TimeLimit = None
    target: Target = ""
    target_error: TargetError = None
    importance: Importance = None
    directions: Directions = None
    viewport_textures: ViewportTextures = False
    settings: SettingChanges = None
    iterations: Iterations = None
    seed: Seed = None
    trainer: Trainer = None
    checkpoint_seconds: CheckpointSeconds = 5.0

    def request(self) -> BakeRequest:
        """The request that these options make."""

        changes = parse_setting_changes(self.settings)
        numbers = {name: getattr(self, name) for name in ("resolution", "iterations", "seed")}
        changes |= {name: value for name, value in numbers.items() if value is not None}
        if self.most_bytes is not None:
            changes = with_most_bytes(changes, self.most_bytes)
        given = {name: getattr(self, name) for name in options_of() if name != "changes"}
        given["live"] = parse_all_wanted(self.live or ())
        given["target"] = require_target(self.target) if self.target else ""
        return BakeRequest(**given, changes=changes)


class BakeCommand(TyperCommand):
    """The help in groups, and an error with the remedy for options that are settings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        parameters = {each.name: each for each in self.get_params(ctx)}
        for group, names in {"Arguments": ("files",), **GROUPS}.items():
            records = [parameters[name].get_help_record(ctx) for name in names]
            with formatter.section(group):
                formatter.write_dl([each for each in records if each])

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = {"--help", *(each for parameter in self.params for each in parameter.opts)}
        for word in args:
            option = word.partition("=")[0]
            if option == "--":
                break
            if option.startswith("--") and option not in known:
                remedy = _find_replacement(option)
                if remedy:
                    raise typer.BadParameter(f"not an option: {remedy}", ctx, None, option)
        return super().parse_args(ctx, args)


def _find_replacement(option: str) -> str | None:
    """The remedy for an option that names a setting; None for other words."""

    name = option.removeprefix("--").replace("-", "_")
    for prefix, settings in (("", BakeSettings), ("draw.", DrawSettings)):
        if name in {each.name for each in fields(settings)}:
            return f"use --set {prefix}{name}=VALUE"
    return None


def is_up_to_date(
    chosen: Sequence[tuple[Document, Material]],
    bundle: Path,
    request: BakeRequest,
    mesh: Mapping[str, Any],
) -> bool:
    """Whether a bake now would record the same inputs as the existing bundle, by the comparison of
    `verdigris scene`. Only one material may be chosen."""
    if len(chosen) > 1:
        raise typer.BadParameter(
            f"needs one material, and {len(chosen)} are chosen: bake each by itself",
            param_hint="--if-changed",
        )
    from verdigris.core.batch.plan.inputs import collect_inputs
    from verdigris.core.batch.plan.plan import Choices, Planned, State, check_bundle
    from verdigris.core.batch.scene.entry import Entry, Source

    document, material = chosen[0]
    entry = Entry(bundle.stem, Source(document.name), material.name, request)
    inputs = replace(collect_inputs(entry, document), mesh=mesh)
    planned = Planned(entry, bundle, State.MISSING, inputs=inputs)
    return check_bundle(planned, Choices(request.trainer)).state == State.CURRENT


def show_up_to_date(bundle: Path, as_json: bool, quiet: bool) -> None:
    """Reports that nothing was baked."""
    if as_json:
        from verdigris.core.flatten.viewport import texture_paths

        textures = {
            kind: str(path) for kind, path in texture_paths(bundle).items() if path.is_file()
        }
        event = {"event": "up_to_date", "results": [str(bundle)], "textures": [textures]}
        print(encode(event).decode(), end="", flush=True)
    else:
        print(bundle if quiet else f"{bundle} is up to date")
