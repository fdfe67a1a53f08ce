"""Joins bundles with one architecture into a scene pack."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import BundleError
from verdigris.core.base.json_fields import LONGEST_FILE_NAME, is_plain_file_name
from verdigris.core.base.outputs import MANIFEST_FILE, WEIGHTS_FILE
from verdigris.core.bundle.files.arithmetic import slowest_arithmetic
from verdigris.core.bundle.files.ktx2 import TextureShape, read_ktx2
from verdigris.core.bundle.files.manifest import MAPS, SCENE_FORMAT
from verdigris.core.bundle.files.manifest_parts import RUNTIME_FOLDER, FileRecord, MapFacts
from verdigris.core.bundle.files.read import read_recorded, record_of
from verdigris.core.bundle.files.reference import encode_reference
from verdigris.core.bundle.files.replace_folder import Content, bundle_name, replace_folder
from verdigris.core.bundle.files.weights import constant_floats, plan_tensors
from verdigris.core.bundle.files.write import CONSTANTS_FILE
from verdigris.core.bundle.half_floats import judge
from verdigris.core.bundle.runtime.device_materials import shader_weights
from verdigris.core.bundle.runtime.runtime_files import runtime_files
from verdigris.core.bundle.scene.scene_material import SceneMaterial, SceneTransmission
from verdigris.core.bundle.scene.scene_pack import ScenePack, open_scene, parse_scene
from verdigris.core.network.spec import NetworkSpec

if TYPE_CHECKING:
    from pathlib import Path

    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.bundle.files.reference import Reference

_PLAIN = re.compile(r"[^A-Za-z0-9_.-]+")
# The longest ending among the names of a material's files.
_REFERENCE = "reference.json"
_LONGEST_NAME = LONGEST_FILE_NAME - len(_REFERENCE) - 1


def pack(bundles: Sequence[Bundle], path: Path) -> ScenePack:
    """Writes a scene pack of these bundles."""
    spec = require_one_architecture(bundles)
    names = require_unique_names([bundle.folder for bundle in bundles])
    places: dict[bytes, int] = {}
    # textures are read while they are written: together they can exceed memory
    files: dict[str, Content] = {}
    materials = [
        _material(name, bundle, places, files) for name, bundle in zip(names, bundles, strict=True)
    ]
    weights = files[WEIGHTS_FILE] = b"".join(places)
    transmits, has_relief = (
        any(getattr(each, field) for each in materials) for field in ("transmitted", "relief")
    )
    plan = plan_tensors(spec)[0]
    constants = files[CONSTANTS_FILE] = b"".join(
        constant_floats(spec, plan, each) for each in places
    )
    advised = slowest_arithmetic(each.arithmetic.advised for each in materials if each.arithmetic)
    shaders = runtime_files(spec, advised, len(places), transmits, has_relief, is_pack=True)
    files |= {f"{RUNTIME_FOLDER}{name}": data for name, data in shaders.items()}
    # a sampler for some materials only would be a trap for shaders
    tensors, size = plan_tensors(spec, all(each.manifest.has_sampler for each in bundles))
    scene = ScenePack(
        path,
        spec,
        record_of(WEIGHTS_FILE, weights),
        tensors,
        size,
        tuple(materials),
        tuple(record_of(f"{RUNTIME_FOLDER}{name}", data) for name, data in shaders.items()),
        advised,
        record_of(CONSTANTS_FILE, constants),
    )
    # never write a scene pack that cannot be read back
    manifest_file = files[MANIFEST_FILE] = scene.encode()
    parse_scene(manifest_file, MANIFEST_FILE, path)
    return open_scene(replace_folder(path, files, SCENE_FORMAT))


def _material(
    name: str, bundle: Bundle, places: dict[bytes, int], files: dict[str, Content]
) -> SceneMaterial:
    """The entry of a bundle's material. Adds its decoders to `places`, and its files to `files`."""
    manifest = bundle.manifest
    place, reference, record = _add_side(f"{name}.{_REFERENCE}", bundle, places, files)
    # these are not copied, but a bundle with a damaged file is refused
    for other in (manifest.preview, *manifest.runtime):
        if other:
            read_recorded(bundle.folder, other)

    def copy_texture(facts: MapFacts, what: str) -> FileRecord:
        file = f"{name}.{what}.ktx2"
        files[file] = partial(_checked_texture, bundle.folder, facts.record, facts.texture)
        return facts.record._replace(file=file)

    maps: dict[str, Any] = {}
    for what in MAPS:
        facts: MapFacts | None = getattr(manifest, what)
        if facts:
            maps[what] = replace(facts, record=copy_texture(facts, what))
    transmitted = None
    if (below := bundle.transmitted) and manifest.transmitted:
        second, _, rows = _add_side(f"{name}.below.json", below, places, files)
        albedo = manifest.transmitted.albedo
        if albedo:
            albedo = replace(albedo, record=copy_texture(albedo, "below"))
        transmitted = SceneTransmission(manifest.transmitted.index, second, rows, albedo)
    return SceneMaterial(
        name,
        place,
        replace(manifest.latents, record=copy_texture(manifest.latents, "latents")),
        record,
        manifest.reference_count,
        live=manifest.live,
        transmitted=transmitted,
        bounds=manifest.bounds,
        # other writers may omit it
        arithmetic=manifest.arithmetic
        or judge(bundle.exact_parameters().sides[0], reference, manifest.bounds),
        **maps,
    )


def _add_side(
    file: str, bundle: Bundle, places: dict[bytes, int], files: dict[str, Content]
) -> tuple[int, Reference, FileRecord]:
    """The place of the decoder of a bundle or of its other side, and its reference."""
    # it is copied unchanged, so it is parsed first
    reference, record = bundle.reference(), bundle.manifest.reference
    place = places.setdefault(shader_weights(bundle), sum(map(len, places)))
    rows = partial(read_recorded, bundle.folder, record)
    if bundle.manifest.has_older_lobes:
        rows = partial(encode_reference, reference)
        record = record_of(record.file, rows())
    files[file] = rows
    return place, reference, record._replace(file=file)


def _checked_texture(folder: Path, record: FileRecord, shape: TextureShape) -> bytes:
    """The bytes of a file, which must contain such a texture."""
    data = read_recorded(folder, record)
    read_ktx2(data, shape, str(folder / record.file))
    return data


def require_one_architecture(bundles: Sequence[Bundle]) -> NetworkSpec:
    """Requires one architecture, for which one shader is compiled."""
    if not bundles:
        raise BundleError("there is no bundle to pack: name at least one")
    spec = bundles[0].spec
    if any(bundle.spec != spec for bundle in bundles):
        listed = "; ".join(f"{bundle.folder}: {describe(bundle.spec)}" for bundle in bundles)
        raise BundleError(
            f"these bundles have several architectures: {listed}: pack those with one, "
            "or bake all with one network, activation, number of latents and number of live inputs"
        )
    return spec


def describe(spec: NetworkSpec) -> str:
    """An architecture in a few words."""
    text = (
        f"{spec.name} {spec.activation}, {spec.latent_channels} latents, "
        f"{spec.frame_count} frames, {spec.lobes} lobes"
    )
    if spec.live_inputs:
        text += f", {spec.live_inputs} live input{'s' * (spec.live_inputs > 1)}"
    plain = NetworkSpec()
    if (spec.output_shift, spec.output_limit) != (plain.output_shift, plain.output_limit):
        text += f", exp(min(raw - {spec.output_shift:g}, {spec.output_limit:g}))"
    return text


def require_unique_names(folders: Sequence[Path]) -> list[str]:
    """A plain, unique name for each bundle, from its folder, which need not exist yet."""
    names = [_PLAIN.sub("_", bundle_name(folder)).strip("._-") for folder in folders]
    for index, name in enumerate(names):
        folder = folders[index]
        if len(name) > _LONGEST_NAME:
            raise BundleError(
                f"{folder}: its name has {len(name)} letters: rename it to {_LONGEST_NAME} or "
                "less, because names of files in a scene pack start with it"
            )
        if not is_plain_file_name(f"{name}.{_REFERENCE}"):
            remedy = "it is a device on Windows" if name else "use letters from A to Z, or digits"
            raise BundleError(f"{folder}: its name is not valid on every file system: {remedy}")
        same = [other.lower() for other in names].index(name.lower())
        if same != index:
            other = folders[same]
            if folder.resolve() == other.resolve():
                raise BundleError(f"{folder}: is named twice: leave one out")
            raise BundleError(f"{folder} and {other} are both called {name}: rename one")
    return names
