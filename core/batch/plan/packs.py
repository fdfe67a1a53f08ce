"""Writes the scene packs of a scene from its bundles."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import BundleError, SceneError, VerdigrisError
from verdigris.core.base.json_fields import find_json_file
from verdigris.core.base.text import counted, format_bytes
from verdigris.core.batch.plan.state_folder import write_json
from verdigris.core.batch.scene.entry import fits_any
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.scene.pack import pack, require_unique_names
from verdigris.core.bundle.scene.scene_pack import ScenePack, open_scene

PACKS_FILE = "packs.json"


def require_packable(
    packs: Mapping[str, tuple[str, ...]], bundles: Mapping[str, Path], where: str
) -> None:
    """Refuses names of bundles that a scene pack does not allow, before anything is baked."""
    for name, of in packs.items():
        try:
            require_unique_names([*_chosen(bundles, of).values()])
        except BundleError as failure:
            raise SceneError(f"{where}: {name}: {failure}") from None


def write_packs(
    packs: Mapping[str, tuple[str, ...]],
    bundles: Mapping[str, Path],
    out: Path,
    state: Path,
    others: Mapping[str, Path] | None = None,
) -> list[dict[str, Any]]:
    """Writes packs that are out of date, and reports each. If a bundle is missing, the pack is an
    error if the bundle was to be baked; otherwise the pack is left out."""
    file = state / PACKS_FILE
    known = _known(file)
    every = {**(others or {}), **bundles}
    reports = []
    for name, of in packs.items():
        chosen = _chosen(every, of)
        left = [
            each for each, path in chosen.items() if each not in bundles and not _is_there(path)
        ]
        if left:
            text = f"not written: not selected, and not baked: {', '.join(left)}"
            reports.append({"name": name, "text": text, "is_new": False})
        else:
            reports.append(_write(name, [*chosen.values()], out, known))
    write_json(file, known)
    return reports


def _chosen(bundles: Mapping[str, Path], of: tuple[str, ...]) -> dict[str, Path]:
    return {name: path for name, path in bundles.items() if fits_any(name, of or ("*",))}


def _is_there(path: Path) -> bool:
    with contextlib.suppress(BundleError):
        open_bundle(path)
        return True
    return False


def _known(file: Path) -> dict[str, str]:
    """Digests of the existing packs. Without them, all packs are written again."""
    found = find_json_file(file)
    return found if isinstance(found, dict) else {}


def _whole(path: Path) -> ScenePack | None:
    """The existing pack; None if it is missing or damaged."""
    with contextlib.suppress(BundleError):
        return open_scene(path)
    return None


def _write(name: str, bundles: Sequence[Path], out: Path, known: dict[str, str]) -> dict[str, Any]:
    path = out / name
    try:
        opened = [open_bundle(each) for each in bundles]
        digest = sha256("".join(each.manifest_digest for each in opened).encode()).hexdigest()
        whole = _whole(path) if known.get(name) == digest else None
        scene = whole or pack(opened, path)
        known[name] = digest
    except VerdigrisError as failure:
        known.pop(name, None)
        return {"name": name, "error": str(failure), "is_new": False}
    decoders = scene.weights.bytes // scene.decoder_bytes
    spared = (scene.decoders - decoders) * scene.decoder_bytes
    text = f"{counted(len(scene.materials), 'material')}, {counted(decoders, 'decoder')} in "
    text += f"{format_bytes(scene.weights.bytes)}, {format_bytes(spared)} saved by sharing"
    return {"name": name, "text": text, "is_new": whole is None, "saved_bytes": spared}
