"""`verdigris panel`"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.cli.shared.extras import PANEL, require_extra
from verdigris.core.cli.shared.options import CommandApp, Confined, Search

app = CommandApp()


@app.add("panel copper_tray.mtlx --mesh tray.obj")
def panel(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]", help="A MaterialX document (.mtlx) or a shader file (.slang, .hlsl)."
        ),
    ] = None,
    mesh: Annotated[
        Path | None, typer.Option(help="A mesh with painted weights (.obj, .usd).")
    ] = None,
    search: Search = None,
    confined: Confined = False,
    link: Annotated[
        bool,
        typer.Option(
            "--link",
            help="Switch the live link on: games and pages that are running show what the panel "
            "bakes.",
        ),
    ] = False,
    yes: Annotated[
        bool,
        typer.Option("--yes", help="Install missing packages of the panel without a question."),
    ] = False,
) -> None:
    """Opens the bake panel in a window."""
    require_extra(PANEL, "verdigris panel --yes", yes)
    try:
        # by name: the core does not depend on Qt
        window = import_module("verdigris.ui.window")
    except ImportError as failure:
        raise VerdigrisError(f"the panel's window system cannot be loaded: {failure}") from None
    raise typer.Exit(window.run(file, mesh, tuple(search or ()), confined, link))
