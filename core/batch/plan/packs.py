"""Writes the scene packs that a scene asks for, of bundles that are there."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import BundleError, SceneError, VerdigrisError
from verdigris.core.base.text import counted, format_bytes
from verdigris.core.batch.plan.state_folder import write_json
from verdigris.core.batch.scene.rules import fits_any
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.scene.pack import pack, require_unique_names
from verdigris.core.bundle.scene.scene_pack import ScenePack, open_scene

PACKS_FILE = "packs.json"


def require_packable(
    packs: Mapping[str, tuple[str, ...]], bundles: Mapping[str, Path], where: str
) -> None:
    """Refuses bundles, baked or not, whose names their packs would refuse."""
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
    """One line on each pack. What is as it was is not written again; a pack that a bundle is
    missing of is not written, and says so. Bundles are what was meant to be baked; of the others a
    pack has what is there, and where it is not it is no failure that there is no pack."""
    file = state / PACKS_FILE
    known = _known(file)
    every = {**(others or {}), **bundles}
    told = []
    for name, of in packs.items():
        chosen = _chosen(every, of)
        left = [
            each for each, path in chosen.items() if each not in bundles and not _is_there(path)
        ]
        if left:
            text = f"is not written: not meant, and not baked: {', '.join(left)}"
            told.append({"name": name, "text": text, "is_new": False})
        else:
            told.append(_write(name, [*chosen.values()], out, known))
    write_json(file, known)
    return told


def _chosen(bundles: Mapping[str, Path], of: tuple[str, ...]) -> dict[str, Path]:
    return {name: path for name, path in bundles.items() if fits_any(name, of or ("*",))}


def _is_there(path: Path) -> bool:
    with contextlib.suppress(BundleError):
        open_bundle(path)
        return True
    return False


def _known(file: Path) -> dict[str, str]:
    """The digests of what was packed; what cannot be read costs no more than to pack again."""
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(file.read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else {}
    return {}


def _whole(path: Path) -> ScenePack | None:
    """The pack that is there, unless it is damaged."""
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
    spared = (len(scene.materials) - decoders) * scene.decoder_bytes
    text = f"{counted(len(scene.materials), 'material')}, {counted(decoders, 'decoder')} in "
    text += f"{format_bytes(scene.weights.bytes)}, {format_bytes(spared)} saved by sharing"
    return {"name": name, "text": text, "is_new": whole is None, "saved_bytes": spared}
