"""`verdigris serve`"""

from __future__ import annotations

from typing import Annotated

import typer

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.text import format_seconds
from verdigris.core.cli.shared.options import CommandApp, DeviceChoice
from verdigris.core.worker.client.resident import IDLE, find_address, start_resident, stop_resident
from verdigris.core.worker.resident.place import SERVE_VARIABLE, is_off

app = CommandApp()


@app.add("serve --minutes 30")
def serve(
    *,
    minutes: Annotated[
        float, typer.Option(help="End the worker when nobody has needed it for so long.")
    ] = IDLE / 60,
    stop: Annotated[
        bool, typer.Option("--stop", help="End the worker, after the bake that it is at.")
    ] = False,
    device: DeviceChoice = None,
) -> None:
    """Keeps a worker ready, so that bakes begin at once.

    The worker runs in the background and has its device open. `verdigris bake` finds it, and bakes
    by itself if there is none or if it is busy. The results are the same.
    """
    if not minutes > 0:
        raise typer.BadParameter(f"{minutes:g}: use a number above 0", param_hint="--minutes")
    if stop:
        print("the worker ends" if stop_resident(device) else "no worker is there")
        return
    if is_off():
        raise VerdigrisError(f"{SERVE_VARIABLE} is off: remove it, or set it to on")
    address = find_address(device) or start_resident(device, 60 * minutes)
    until = f" until nobody has needed it for {format_seconds(address.idle)}"
    print(f"process {address.process} serves {address.device}{until if address.idle else ''}")
