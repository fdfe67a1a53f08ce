"""`verdigris inspect`"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.cli.shared.options import (
    AllowOutside,
    AsJson,
    DeviceChoice,
    FileOrBundle,
    MaterialName,
    Search,
)


def inspect(
    file: FileOrBundle,
    material: MaterialName = None,
    search: Search = None,
    allow_outside: AllowOutside = False,
    as_json: AsJson = False,
    probe: Annotated[
        bool, typer.Option(help="Evaluate the material to see whether it reflects anything.")
    ] = True,
    device: DeviceChoice = None,
) -> None:
    """Says what is in a document, and what of each material a bake keeps, approximates or drops;
    of a bundle, what it holds."""
    from verdigris.core.bundle.files.read import is_bundle
    from verdigris.core.material.load.mtlx_document import load_document
    from verdigris.core.material.report.report import describe, print_reports

    if is_bundle(file):
        _inspect_bundle(file, material, as_json)
        return
    document = load_document(file, search or (), allow_outside)
    reports = describe(document, material, probe=probe, device_choice=device)
    left_out = {} if material else document.left_out
    if as_json:
        found = {
            "file": str(file),
            "materials": [report.as_json() for report in reports],
            "left_out": left_out,
        }
        print(json.dumps(found, indent=2))
    else:
        print_reports(str(file), reports, left_out)
    if any(report.problem for report in reports):
        raise typer.Exit(1)


def _inspect_bundle(path: Path, material: str | None, as_json: bool) -> None:
    from verdigris.core.base.json_fields import parse_json
    from verdigris.core.base.outputs import MANIFEST_FILE
    from verdigris.core.bundle.files.checked_files import read_whole
    from verdigris.core.bundle.files.manifest import LARGEST_MANIFEST
    from verdigris.core.bundle.files.read import open_bundle
    from verdigris.core.cli.shared.describe import print_bundle
    from verdigris.core.cli.shared.opening import require_own_material

    bundle = open_bundle(path)
    require_own_material(bundle, path, material)
    if as_json:
        # as it is there: its own version, and fields that this Verdigris does not know
        data = read_whole(bundle.folder, MANIFEST_FILE, LARGEST_MANIFEST)
        print(json.dumps(parse_json(data, MANIFEST_FILE).values, indent=1))
    else:
        print_bundle(bundle)
