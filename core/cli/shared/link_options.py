"""Options of a live link, and the link beside a bake."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from verdigris.core.cli.shared.extras import LINK, require_extra
from verdigris.core.link.protocol import TOKEN_VARIABLE
from verdigris.core.link.server import LinkServer, place_of
from verdigris.core.link.training import TrainingLink

if TYPE_CHECKING:
    from verdigris.core.baking.state.options import BakeControl
    from verdigris.core.progress import Event

At = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="HOST:PORT",
        show_default=False,
        help="Where to listen. Default: 127.0.0.1, port 8748, which only this machine reaches.",
    ),
]
Origins = Annotated[
    list[str] | None,
    typer.Option(
        "--origin",
        metavar="ORIGIN",
        help="Also accept pages from this origin, such as https://game.example. Repeatable.",
    ),
]


def open_link(at: str | None, origins: list[str] | None = None) -> LinkServer:
    """A server that is not started. The token is new, or that of the environment."""
    require_extra(LINK, f"pip install {' '.join(LINK.pins)}", False)
    try:
        host, port = place_of(at or "")
    except ValueError:
        raise typer.BadParameter(f"{at}: use HOST:PORT", param_hint="--at") from None
    return LinkServer(host, port, os.environ.get(TOKEN_VARIABLE, ""), origins or ())


def show_address(server: LinkServer) -> None:
    """Prints where clients connect, beside the output of the command."""
    print(f"link: {server.address}\npage: {server.page}", file=sys.stderr, flush=True)


@contextmanager
def linked(
    at: str | None, control: BakeControl
) -> Iterator[Callable[[Iterator[Event]], Iterator[Event]]]:
    """Serves a bake. Gives a function that follows its events."""
    with open_link(at) as server:
        show_address(server)
        yield TrainingLink(server, control).follow
