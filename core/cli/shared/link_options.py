"""Options of a live link, and the link beside a bake."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from verdigris.core.link.server import LOOPBACK, PORT, LinkServer
from verdigris.core.link.training import TrainingLink

if TYPE_CHECKING:
    from verdigris.core.baking.state.options import BakeControl
    from verdigris.core.progress import Event

TOKEN = "VERDIGRIS_LINK_TOKEN"

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
    """A server that is not started. The token is new, or that of VERDIGRIS_LINK_TOKEN."""
    host, port = LOOPBACK[0], PORT
    if at:
        name, _, number = at.rpartition(":")
        if not name and not number.isdecimal():
            name, number = number, str(PORT)
        if not number.isdecimal() or int(number) > 65535:
            raise typer.BadParameter(f"{at}: use HOST:PORT", param_hint="--at")
        host, port = name.strip("[]") or host, int(number)
    return LinkServer(host, port, os.environ.get(TOKEN, ""), origins or ())


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
