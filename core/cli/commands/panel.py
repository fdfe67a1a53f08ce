"""`verdigris panel`"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.cli.shared.options import CommandApp, Confined, Search

app = CommandApp()

_NEEDED = ("PySide6", "pyqtgraph", "shiboken6")


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
) -> None:
    """Opens the bake panel in a window."""
    try:
        # by name: the core does not depend on Qt
        window = import_module("verdigris.ui.window")
    except ImportError as failure:
        if failure.name and failure.name.split(".")[0] in _NEEDED:
            raise VerdigrisError(
                f"the panel needs {failure.name}: pip install 'verdigris[panel]'"
            ) from None
        raise VerdigrisError(f"the panel's window system cannot be loaded: {failure}") from None
    raise typer.Exit(window.run(file, mesh, tuple(search or ()), confined))
