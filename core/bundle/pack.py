"""Joins bundles of one decoder architecture to a scene."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from verdigris.core.bundle.arithmetic import judge, most_careful
from verdigris.core.bundle.device_materials import stored_of
from verdigris.core.bundle.fields import LONGEST_FILE_NAME, is_plain_file_name
from verdigris.core.bundle.files import read_recorded, record_of
from verdigris.core.bundle.manifest import SCENE_FORMAT
from verdigris.core.bundle.manifest_parts import (
    RUNTIME_FOLDER,
    FileRecord,
    MapFacts,
)
from verdigris.core.bundle.runtime import runtime_files
from verdigris.core.bundle.scene import Scene, SceneMaterial, open_scene, parse_scene
from verdigris.core.bundle.weights import plan_tensors
from verdigris.core.bundle.write import WEIGHTS_FILE, put_folder
from verdigris.core.errors import BundleError
from verdigris.core.network.spec import NetworkSpec
from verdigris.core.outputs import MANIFEST_FILE

if TYPE_CHECKING:
    from pathlib import Path

    from verdigris.core.bundle.read import Bundle

_PLAIN = re.compile(r"[^A-Za-z0-9_.-]+")
# The file of a material whose name is longest.
_REFERENCE = "reference.json"
_LONGEST_NAME = LONGEST_FILE_NAME - len(_REFERENCE) - 1


def pack(bundles: Sequence[Bundle], path: Path) -> Scene:
    """Writes a scene of these bundles, whole or not at all."""
    spec = require_one_architecture(bundles)
    names = _require_names(bundles)
    places: dict[bytes, int] = {}
    files: dict[str, bytes] = {}
    materials = []
    for name, bundle in zip(names, bundles, strict=True):
        bundle.check_files()
        # copied as it is, and so read first
        reference = bundle.reference()
        weights = stored_of(bundle).weights
        place = places.setdefault(weights, sum(map(len, places)))
        manifest = bundle.manifest

        def take(
            record: FileRecord, what: str, name: str = name, bundle: Bundle = bundle
        ) -> FileRecord:
            file = f"{name}.{what}"
            files[file] = read_recorded(bundle.folder, record)
            return record._replace(file=file)

        maps: dict[str, MapFacts] = {}
        for what in ("emission", "opacity"):
            facts: MapFacts | None = getattr(manifest, what)
            if facts:
                record = take(facts.record, f"{what}.ktx2")
                maps[what] = replace(facts, record=record)
        latents = take(manifest.latents.record, "latents.ktx2")
        materials.append(
            SceneMaterial(
                name,
                place,
                replace(manifest.latents, record=latents),
                take(manifest.reference, _REFERENCE),
                manifest.reference_count,
                bounds=manifest.bounds,
                # unknown, where another writer did not look
                arithmetic=manifest.arithmetic
                or judge(bundle.exact_parameters(), reference, manifest.bounds),
                **maps,
            )
        )
    files[WEIGHTS_FILE] = b"".join(places)
    advised = most_careful(each.arithmetic.advised for each in materials if each.arithmetic)
    shaders = runtime_files(spec, advised, len(places))
    files |= {f"{RUNTIME_FOLDER}{name}": data for name, data in shaders.items()}
    tensors, size = plan_tensors(spec)
    scene = Scene(
        path,
        spec,
        record_of(WEIGHTS_FILE, files[WEIGHTS_FILE]),
        tensors,
        size,
        tuple(materials),
        tuple(record_of(f"{RUNTIME_FOLDER}{name}", data) for name, data in shaders.items()),
        advised,
    )
    files[MANIFEST_FILE] = scene.encode()
    # what would not be read back is not written
    parse_scene(files[MANIFEST_FILE], MANIFEST_FILE, path)
    return open_scene(put_folder(path, files, SCENE_FORMAT))


def require_one_architecture(bundles: Sequence[Bundle]) -> NetworkSpec:
    """One shader is compiled for one network; anything else is listed."""
    if not bundles:
        raise BundleError("there is no bundle to pack: name some")
    spec = bundles[0].spec
    if any(bundle.spec != spec for bundle in bundles):
        listed = "; ".join(f"{bundle.folder}: {describe(bundle.spec)}" for bundle in bundles)
        raise BundleError(
            f"these bundles have several decoder architectures: {listed}: pack those of one, or "
            "bake them again with one network and activation"
        )
    return spec


def describe(spec: NetworkSpec) -> str:
    """An architecture in a few words."""
    text = f"{spec.name} {spec.activation}, {spec.frame_count} frames, {spec.lobes} lobes"
    plain = NetworkSpec()
    if (spec.output_shift, spec.output_limit) != (plain.output_shift, plain.output_limit):
        text += f", exp(min(raw - {spec.output_shift:g}, {spec.output_limit:g}))"
    return text


def _require_names(bundles: Sequence[Bundle]) -> list[str]:
    """A plain name for each: that of its folder."""
    names = [_PLAIN.sub("_", bundle.folder.resolve().stem).strip("._-") for bundle in bundles]
    for index, name in enumerate(names):
        folder = bundles[index].folder
        if len(name) > _LONGEST_NAME:
            raise BundleError(
                f"{folder}: its name has {len(name)} letters: rename it to {_LONGEST_NAME} or "
                "less, which its files in a scene are called by"
            )
        if not is_plain_file_name(f"{name}.{_REFERENCE}"):
            raise BundleError(f"{folder}: has no name that every file system takes: rename it")
        same = [other.lower() for other in names].index(name.lower())
        if same != index:
            raise BundleError(
                f"{folder} and {bundles[same].folder} are both called {name}: rename one"
            )
    return names
