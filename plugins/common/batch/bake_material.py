"""Bakes one material of a host, or hands it over as a document."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from verdigris.core.base.errors import HostError
from verdigris.core.base.lock import clear_locks
from verdigris.core.hosts.host import BakedResult, HostDocument
from verdigris.core.hosts.painted_meshes import Painted
from verdigris.core.importance.maps import ARRAY_SUFFIX
from verdigris.plugins.common.batch.arguments import BatchOptions
from verdigris.plugins.common.batch.bake_process import Ended, Event
from verdigris.plugins.common.batch.summary import (
    BAKED,
    CANCELLED,
    FAILED,
    HANDED_OVER,
    UP_TO_DATE,
    Outcome,
    write,
)

Run = Callable[[list[str]], Ended]
_BUNDLE_SUFFIX = ".vdg"


def hand_over(
    document: HostDocument,
    painted: Painted | None,
    name: str,
    options: BatchOptions,
    outcome: Outcome,
) -> None:
    """Writes a material as a document, with its painted weights."""
    file = options.out / f"{name}.mtlx"
    write(file, document.text.encode())
    if painted is not None:
        weights = options.out / f"{name}.weights{ARRAY_SUFFIX}"
        write(weights, _array(painted))
        outcome.importance = str(weights)
    outcome.status, outcome.document = HANDED_OVER, str(file)
    outcome.search = tuple(str(folder) for folder in document.search)
    outcome.live, outcome.confined = document.live, document.confined


def bake_material(
    document: HostDocument,
    painted: Painted | None,
    name: str,
    options: BatchOptions,
    python: str,
    outcome: Outcome,
    run: Run,
    is_cancelled: Callable[[], bool],
) -> BakedResult | None:
    """Bakes a material. Returns None without a result, and then the outcome has the reason."""
    with tempfile.TemporaryDirectory(prefix="verdigris_") as folder:
        file = Path(folder) / f"{name}.mtlx"
        file.write_text(document.text, encoding="utf-8")
        weights = None
        if painted is not None:
            weights = file.with_suffix(f".weights{ARRAY_SUFFIX}")
            weights.write_bytes(_array(painted))
        try:
            ended = run(_command(file, weights, document, name, options, python))
        finally:
            # a killed bake leaves its locks
            clear_locks(options.out, {name, f"{name}{_BUNDLE_SUFFIX}"})
    outcome.notes = (*outcome.notes, *ended.warnings)
    if ended.result is None and is_cancelled():
        outcome.status, outcome.error = CANCELLED, ended.error
        return None
    if ended.result is None or ended.code != 0:
        why = f"failed (exit code {ended.code}): {ended.error or 'no error message'}"
        if ended.code == 0:
            why = "ended without a result"
        outcome.status, outcome.error = FAILED, f"{document.name}: the bake {why}"
        return None
    result = _result_of(ended.result, document.name)
    is_baked = ended.result["event"] == "finished"
    outcome.status = BAKED if is_baked else UP_TO_DATE
    outcome.stopped_by = str(ended.result.get("stopped_by") or "")
    outcome.bundle = str(result.bundle)
    return result


def _command(
    file: Path,
    weights: Path | None,
    document: HostDocument,
    name: str,
    options: BatchOptions,
    python: str,
) -> list[str]:
    command = [python, "-P", "-m", "verdigris.core", "bake", str(file), "--json"]
    command += ["--material", document.material, "--name", name, "--out", str(options.out)]
    request = options.request if weights is None else replace(options.request, importance=weights)
    command += request.as_words()
    command += ["--device", options.device] if options.device else []
    command += ["--confined"] if document.confined else []
    for search in document.search:
        command += ["--search", str(search)]
    for live in document.live:
        command += ["--live", live]
    command += [] if options.force else ["--if-changed"]
    return command + list(options.options)


def _result_of(event: Event, name: str) -> BakedResult:
    results = event.get("results") or ()
    if not results:
        raise HostError(f"{name}: the bake ended without a result")
    textures = next(iter(event.get("textures") or ()), {})
    return BakedResult(Path(results[0]), {kind: Path(path) for kind, path in textures.items()})


def _array(painted: Painted) -> bytes:
    """Weights in the format of numpy, as the host has no image library."""
    held = io.BytesIO()
    np.save(held, painted.weights, allow_pickle=False)
    return held.getvalue()
