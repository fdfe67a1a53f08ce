"""Opens bundles, and reads their files.

Files are untrusted: each must be plain, in its folder, with the recorded length and digest. An
error names file and field.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import BundleError, reason
from verdigris.core.base.inputs import require_working_folder_for
from verdigris.core.base.json_fields import find_table, find_whole
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.bundle.files.ktx2 import BC6H, Texels, TextureShape, read_ktx2
from verdigris.core.bundle.files.manifest import LARGEST_MANIFEST, SUFFIX, Manifest, parse_manifest
from verdigris.core.bundle.files.manifest_parts import (
    LARGEST_SIDE,
    FileRecord,
    LatentFacts,
    MapFacts,
    ProxyFacts,
    ReliefFacts,
    require_twice,
    texels_a_proxy,
)
from verdigris.core.bundle.files.reference import (
    Reference,
    Textures,
    parse_reference,
    with_sampler_rows,
)
from verdigris.core.bundle.files.replace_folder import backup_path
from verdigris.core.bundle.files.stored_textures import LatentTexture, emission_of_blocks
from verdigris.core.bundle.files.weights import (
    FILE_ALIGNMENT,
    StoredNumbers,
    check_tensors,
    constant_floats,
    unpack_weights,
)
from verdigris.core.bundle.proxies.proxy_texture import Proxies, TransmittedAlbedo
from verdigris.core.geometry.height_map import HeightMap
from verdigris.core.network.parameters import Parameters, TransmittedSide

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.material.live_inputs.live_input import WantedInput
    from verdigris.core.network.spec import LatentLayout, NetworkSpec

_OTHER_FILE = (
    "the file is damaged, or was replaced while it was read: try again, or write the bundle again"
)


@dataclass(frozen=True)
class Bundle:
    """A bundle with a checked manifest. Its other files are read on demand."""

    folder: Path
    manifest: Manifest
    manifest_digest: str

    @property
    def spec(self) -> NetworkSpec:
        return self.manifest.spec

    @property
    def layout(self) -> LatentLayout:
        return self.manifest.latents.layout

    @property
    def source_name(self) -> str:
        """Name of the material in its document."""
        name = self.manifest.source.get("material")
        return name if isinstance(name, str) else self.manifest.name

    @property
    def nominal_side(self) -> int:
        """Texels per side that errors are measured against: the resolution of the bake, which may
        have chosen a smaller texture, or that of the texture itself."""
        own = max(self.layout.width, self.layout.height)
        settings = find_table(self.manifest.source, "settings")
        stored = find_whole(settings, "resolution") or 0
        is_size = 0 < stored <= LARGEST_SIDE and not stored & (stored - 1)
        return max(own, stored) if is_size else own

    @property
    def advised(self) -> str | None:
        """The advised arithmetic, if known."""
        return self.manifest.arithmetic.advised if self.manifest.arithmetic else None

    @property
    def wanted_live(self) -> tuple[WantedInput, ...]:
        """Requests that open the same live inputs of the document."""
        return tuple(each.wanted for each in self.manifest.live)

    def weights_bytes(self) -> bytes:
        """The bytes of weights.bin."""
        return read_recorded(self.folder, self.manifest.weights)

    def latents(self) -> LatentTexture:
        """The stored latents."""
        return read_latents(self.folder, self.manifest.latents)

    @property
    def transmitted(self) -> Bundle | None:
        """The decoder for light from below, as a bundle of its own with mirrored directions; None
        if the surface is opaque."""
        facts = self.manifest.transmitted
        if facts is None:
            return None
        files = {name: getattr(facts, name) for name in ("weights", "constants", "reference")}
        return replace(self, manifest=replace(self.manifest, transmitted=None, **files))

    def parameters(self) -> Parameters:
        """The values of the stored numbers, in single floats."""
        manifest = self.manifest
        transmitted = None
        if (below := self.transmitted) and manifest.transmitted:
            numbers = below._numbers()
            transmitted = TransmittedSide(numbers.decoder, manifest.transmitted.index, numbers.head)
        stored, latents = self._numbers(), self.latents().values()
        return Parameters(
            manifest.spec,
            self.layout,
            stored.decoder,
            latents,
            stored.head,
            manifest.live_defaults,
            transmitted,
        )

    def _numbers(self) -> StoredNumbers:
        manifest = self.manifest
        file = str(self.folder / manifest.weights.file)
        return unpack_weights(manifest.spec, manifest.tensors, self.weights_bytes(), file)

    def exact_parameters(self) -> Parameters:
        """The same for a decoder in double precision."""
        return replace(self.parameters(), latents=self.latents().exact_values())

    def reference(self) -> Reference:
        """The responses to check a decoder with."""
        record = self.manifest.reference
        data = read_recorded(self.folder, record)
        file = str(self.folder / record.file)
        found = parse_reference(data, self.manifest.reference_count, file, self.spec.live_inputs)
        if self.manifest.has_older_lobes:
            return with_sampler_rows(found, self.exact_parameters())
        return found

    def emission(self) -> list[NDArray[Any]] | None:
        """Mip levels [height, width, 4] in half floats, finest first."""
        facts = self.manifest.emission
        return read_emission(self.folder, facts) if facts else None

    def opacity(self) -> list[NDArray[Any]] | None:
        """Mip levels [height, width, 1] in bytes, finest first."""
        facts = self.manifest.opacity
        return read_texture(self.folder, facts.record, facts.texture) if facts else None

    def relief(self) -> HeightMap | None:
        """The height map, if the material displaces its surface."""
        return read_relief(self.folder, self.manifest.relief)

    def proxies(self) -> Proxies | None:
        """Albedo, normal and roughness as textures, if the bundle has them."""
        return read_proxies(self.folder, self.manifest.proxies, self.manifest.latents)

    def transmitted_albedo(self) -> TransmittedAlbedo | None:
        """The mean share of light from below that passes, if the bundle has it."""
        below = self.manifest.transmitted
        albedo = below.albedo if below else None
        return read_transmitted_albedo(self.folder, albedo, self.manifest.latents)

    def textures(self) -> Textures:
        """The textures that no decoder reads."""
        return Textures(self.proxies(), self.emission(), self.opacity())

    def check_files(self) -> None:
        """Checks length and digest of each file, and reads the textures that no decoder reads."""
        for record in self.manifest.records:
            read_recorded(self.folder, record)
        self.textures()
        self.transmitted_albedo()
        self.relief()

    def check_constants(self) -> None:
        """Requires constants.bin, if there is one, to contain the numbers of the weights."""
        manifest = self.manifest
        if manifest.constants:
            wanted = constant_floats(self.spec, manifest.tensors, self.weights_bytes())
            check_constants(self.folder, manifest.constants, wanted)
        if self.transmitted:
            self.transmitted.check_constants()


def open_bundle(path: Path) -> Bundle:
    """Reads and checks a manifest, and the lengths of the files that it names."""
    folder = _require_folder(Path(path))
    file = str(folder / MANIFEST_FILE)
    data = read_whole(folder, MANIFEST_FILE, LARGEST_MANIFEST)
    manifest = parse_manifest(data, file)
    size = manifest.weights.bytes
    if size % FILE_ALIGNMENT:
        raise BundleError(
            f"{file}: weights.bytes is {size}: it must be a multiple of {FILE_ALIGNMENT}"
        )
    require_twice(manifest.constants, manifest.weights, file)
    if below := manifest.transmitted:
        require_twice(below.constants, below.weights, file)
        if below.weights.bytes != size:
            raise BundleError(
                f"{file}: transmission.weights.bytes is {below.weights.bytes}: it must be {size}, "
                "like weights.bytes"
            )
    check_tensors(manifest.spec, manifest.tensors, size, file)
    for record in manifest.records:
        check_length(folder, record)
    return Bundle(folder, manifest, digest(data))


def find_bundle_folder(path: Path) -> Path | None:
    """The folder of a bundle: the path itself, or the backup that a killed writer left."""
    if (path / MANIFEST_FILE).exists():
        return path
    aside = backup_path(path) if path.name else path
    return aside if not path.exists() and (aside / MANIFEST_FILE).exists() else None


def is_bundle(path: Path) -> bool:
    """Whether a path means a bundle, by its suffix or its content."""
    try:
        return path.suffix == SUFFIX or (path / MANIFEST_FILE).exists()
    except OSError:
        # opening it reports the reason
        return False


def _require_folder(path: Path) -> Path:
    try:
        folder = find_bundle_folder(path)
    except (OSError, ValueError) as failure:
        raise BundleError(f"{path}: cannot be opened ({reason(failure)})") from None
    if folder is not None:
        return folder
    if path.is_dir():
        raise BundleError(f"{path}: is not a bundle: it has no {MANIFEST_FILE}")
    require_working_folder_for(path)
    what = "is a file: a bundle is a folder" if path.exists() else "there is no such bundle"
    raise BundleError(f"{path}: {what}")


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def record_of(name: str, data: bytes) -> FileRecord:
    return FileRecord(name, len(data), digest(data))


def read_whole(folder: Path, name: str, most: int) -> bytes:
    """Reads a file with at most `most` bytes. Checks the length before it reads."""
    path = folder / name
    with os.fdopen(_open_inside(folder, name), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise BundleError(f"{path}: has {size} bytes: the limit is {most}")
        try:
            # one byte more, to notice a file that grows
            data = file.read(most + 1)
        except OSError as failure:
            raise BundleError(f"{path}: cannot be read ({failure.strerror})") from None
    if len(data) > most:
        raise BundleError(f"{path}: grows while it is read: the limit is {most} bytes")
    return data


def read_recorded(folder: Path, record: FileRecord) -> bytes:
    """Reads a file that the manifest records, and checks its length and digest."""
    path = folder / record.file
    check_length(folder, record)
    data = read_whole(folder, record.file, record.bytes)
    if len(data) != record.bytes or digest(data) != record.sha256:
        raise BundleError(
            f"{path}: sha256 is {digest(data)}: the manifest has {record.sha256}: {_OTHER_FILE}"
        )
    return data


def read_texture(folder: Path, record: FileRecord, shape: TextureShape) -> list[Texels]:
    """Reads the mip levels of a recorded texture, finest first."""
    return read_ktx2(read_recorded(folder, record), shape, str(folder / record.file))


def read_latents(folder: Path, facts: LatentFacts) -> LatentTexture:
    """Reads the stored latents."""
    levels = read_texture(folder, facts.record, facts.texture)
    scale, offset = (np.array(each, np.float32) for each in (facts.scale, facts.offset))
    return LatentTexture(facts.format, facts.layout, levels, scale, offset)


def read_emission(folder: Path, facts: MapFacts) -> list[Texels]:
    """The mip levels [height, width, 4] of an emission map, in half floats."""
    levels = read_texture(folder, facts.record, facts.texture)
    if facts.format != BC6H:
        return levels
    return emission_of_blocks(levels, facts.width, facts.height)


def read_relief(folder: Path, facts: ReliefFacts | None) -> HeightMap | None:
    """Reads the stored height map, if there is one."""
    if facts is None:
        return None
    return HeightMap(read_texture(folder, facts.record, facts.texture), facts.scale, facts.midlevel)


def read_proxies(folder: Path, facts: ProxyFacts | None, latents: LatentFacts) -> Proxies | None:
    """Reads the stored proxies, if there are any."""
    if facts is None:
        return None
    levels = read_texture(folder, facts.record, facts.texture)
    return Proxies(levels, texels_a_proxy(latents, facts), facts.curves)


def read_transmitted_albedo(
    folder: Path, facts: MapFacts | None, latents: LatentFacts
) -> TransmittedAlbedo | None:
    """Reads the stored transmitted albedo, if there is one."""
    if facts is None:
        return None
    levels = read_texture(folder, facts.record, facts.texture)
    return TransmittedAlbedo(levels, texels_a_proxy(latents, facts))


def check_constants(folder: Path, record: FileRecord, wanted: bytes) -> None:
    """Requires constants.bin to contain the numbers of the weights."""
    found, needed = (np.frombuffer(data, "<u4") for data in (read_recorded(folder, record), wanted))
    other = np.flatnonzero(found != needed)
    if len(other):
        place = int(other[0])
        values = [float(each[place : place + 1].view("<f4")[0]) for each in (found, needed)]
        raise BundleError(
            f"{folder / record.file}: the number at byte {4 * place} is {values[0]:.6g}, but "
            f"{values[1]:.6g} in the weights: write the bundle again"
        )


def check_length(folder: Path, record: FileRecord) -> None:
    """Refuses a file with another length than the manifest has, without reading it."""
    descriptor = _open_inside(folder, record.file)
    try:
        size = os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)
    if size != record.bytes:
        raise BundleError(
            f"{folder / record.file}: bytes are {size}: the manifest has {record.bytes}: "
            f"{_OTHER_FILE}"
        )


def _open_inside(folder: Path, name: str) -> int:
    """Opens a plain file; refuses a link that leaves the folder."""
    path = folder / name
    descriptor = _open(path, folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BundleError(f"{path}: is not a plain file")
    return descriptor


def _open(path: Path, folder: Path) -> int:
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(folder.resolve(strict=True)):
            raise BundleError(f"{path}: is a link that leads out of the bundle: copy the file")
        # do not follow a second link, and do not wait for a pipe
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        return os.open(real, flags | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        raise BundleError(f"{path}: there is no such file") from None
    except (OSError, RuntimeError, ValueError) as failure:
        raise BundleError(f"{path}: cannot be opened ({reason(failure)})") from None
