"""`verdigris bake --if-changed`: compares a bundle with its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.batch.plan.inputs import collect_inputs
from verdigris.core.batch.plan.plan import Choices, Planned, State, check_bundle
from verdigris.core.batch.scene.entry import Entry, Source
from verdigris.core.flatten.viewport import texture_paths
from verdigris.core.material.load.mtlx_document import Document, Material
from verdigris.core.worker.protocol.messages import encode


def is_up_to_date(
    chosen: Sequence[tuple[Document, Material]],
    bundle: Path,
    request: BakeRequest,
    mesh: Mapping[str, Any],
) -> bool:
    """Whether a bake now would record the same inputs as the existing bundle, as `verdigris scene`
    compares them. There may be one material only."""
    if len(chosen) > 1:
        raise typer.BadParameter(
            f"needs one material, and these are {len(chosen)}: bake each by itself",
            param_hint="--if-changed",
        )
    document, material = chosen[0]
    entry = Entry(bundle.stem, Source(document.name), material.name, request)
    inputs = replace(collect_inputs(entry, document), mesh=mesh)
    planned = Planned(entry, bundle, State.MISSING, inputs=inputs)
    return check_bundle(planned, Choices(request.trainer)).state == State.CURRENT


def show_up_to_date(bundle: Path, as_json: bool, quiet: bool) -> None:
    """Reports that nothing was baked."""
    if as_json:
        textures = {
            kind: str(path) for kind, path in texture_paths(bundle).items() if path.is_file()
        }
        event = {"event": "up_to_date", "results": [str(bundle)], "textures": [textures]}
        print(encode(event).decode(), end="", flush=True)
    else:
        print(bundle if quiet else f"{bundle} is up to date")
