"""All commands by name. The module of a command is imported when the command is called, so that
`verdigris --help` answers at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup


class Listed(NamedTuple):
    """A command, or a group of commands, in the list of all."""

    module: str
    """The module of `core.cli.commands` that has it in its `app`."""
    help: str
    """Its line in the list: the first sentence of its own help."""
    begins_driver: bool = False
    """Whether the graphics driver is loaded while the module is imported."""


COMMANDS = {
    "bake": Listed("bake", "Trains a neural material and writes it as a bundle, NAME.vdg.", True),
    "inspect": Listed("inspect", "Lists what a bake of a document keeps, approximates or drops."),
    "new": Listed("new", "Writes a shader file that can be baked at once."),
    "render": Listed("render", "Draws a material or a bundle on a sphere, a plane or a mesh."),
    "measure": Listed("measure", "Measures the errors of a bundle against its source material."),
    "compare": Listed("compare", "Draws two to four materials and maps of their difference."),
    "verify": Listed("verify", "Checks that all decoders agree on a bundle."),
    "export": Listed("bundles", "Writes a bundle for other devices, an engine, Maya or RTXNS."),
    "versions": Listed("bundles", "Lists the versions of a bundle, or changes them."),
    "pack": Listed("bundles", "Joins bundles with the same architecture into a scene pack."),
    "publish": Listed("publish", "Writes a web page that shows bundles on any computer or phone."),
    "link": Listed("link", "Shows bundles in games and pages that are running."),
    "cost": Listed("cost", "Reports bytes and times of a neural material and of its graph."),
    "view": Listed("view", "Shows a bundle in a window, decoded by its runtime shader."),
    "serve": Listed("serve", "Keeps a worker ready, so that bakes begin at once."),
    "panel": Listed("panel", "Opens the bake panel in a window."),
    "selftest": Listed("selftest", "Tests a plug-in in a real Maya, Houdini or Blender."),
    "ladder": Listed("ladder", "Fits forms of a material on a mesh, for slower devices."),
    "compress": Listed("compress", "Compresses all images of a material together."),
    "weights": Listed("weights", "Makes and shows importance maps."),
    "scene": Listed("scene", "Bakes all materials of a scene: plan, run, status."),
    "farm": Listed("farm", "Bakes a scene on a farm, with Open Job Description or Dask."),
}


class Commands(TyperGroup):
    """All commands, each loaded when it is called. Their list is printed without loading any."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Loaded()  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, listed.help) for name, listed in COMMANDS.items()])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        listed = COMMANDS.get(args[0])
        if listed and listed.begins_driver and "--help" not in args:
            from verdigris.core.base.adapters import begin_driver
            from verdigris.core.worker.resident.place import is_served

            # a driver takes long to end, too, and a resident worker has its own
            device = _find_device(args)
            if not is_served(device):
                begin_driver(device)
        return super().resolve_command(ctx, args)


class _Loaded(Mapping[str, Any]):
    """The commands as typer runs them. Reading one imports its module."""

    def __init__(self) -> None:
        self._read: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._read:
            module = import_module(f"verdigris.core.cli.commands.{COMMANDS[name].module}")
            read = typer.main.get_command(module.app)
            self._read[name] = read if read.name == name else read.commands[name]  # type: ignore[attr-defined]
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


def _find_device(words: list[str]) -> str | None:
    """The value of `--device`, before the words are parsed."""
    for place, word in enumerate(words):
        name, is_joined, value = word.partition("=")
        if name == "--device":
            return value if is_joined else next(iter(words[place + 1 :]), None)
    return None
