"""`verdigris verify`"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.commands.options import (
    AllowOutside,
    AsJson,
    Bundle,
    DeviceChoice,
    MaterialName,
    Search,
)


def verify(
    bundle: Bundle,
    source: Annotated[
        Path | None, typer.Option("--source", help="The document it was baked from.")
    ] = None,
    material: MaterialName = None,
    search: Search = None,
    allow_outside: AllowOutside = False,
    as_json: AsJson = False,
    device: DeviceChoice = None,
) -> None:
    """Proves a bundle: decodes its bytes and compares with its reference values, and with the
    material's own graph when the source is given. Exit 1 where anything is beyond its bounds."""
    from verdigris.core.bundle.device_eval import device_decoders
    from verdigris.core.bundle.read import open_bundle
    from verdigris.core.bundle.verify import print_verification
    from verdigris.core.bundle.verify import verify as prove
    from verdigris.core.commands.opening import open_teacher
    from verdigris.core.device import open_device
    from verdigris.core.errors import DeviceError

    opened = open_bundle(bundle)
    decoders, teacher = [], None
    try:
        on = open_device(device)
    except DeviceError as failure:
        # numpy needs none; whoever asked for one is told
        if device or source:
            raise
        print(f"verdigris: numpy alone: {failure}", file=sys.stderr)
    else:
        decoders = device_decoders(opened, on)
        if source:
            name = material or opened.source_name
            teacher = open_teacher(source, name, search, allow_outside, on)
    result = prove(opened, decoders, teacher)
    if as_json:
        print(json.dumps(result.as_json(), indent=2))
    else:
        print_verification(result)
    if not result.holds:
        raise typer.Exit(1)
