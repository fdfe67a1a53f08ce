"""Opens bundles. Files are not trusted; every error names file and field."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import BundleError, reason
from verdigris.core.base.inputs import require_working_folder_for
from verdigris.core.base.json_fields import find_table, find_whole
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.bundle.files.checked_files import (
    check_constants,
    check_length,
    digest,
    read_emission,
    read_latents,
    read_proxies,
    read_recorded,
    read_texture,
    read_whole,
)
from verdigris.core.bundle.files.manifest import LARGEST_MANIFEST, SUFFIX, Manifest, parse_manifest
from verdigris.core.bundle.files.manifest_parts import LARGEST_SIDE, MapFacts, require_twice
from verdigris.core.bundle.files.reference import Reference, parse_reference
from verdigris.core.bundle.files.replace_folder import backup_path
from verdigris.core.bundle.files.stored_textures import LatentTexture
from verdigris.core.bundle.files.weights import (
    FILE_ALIGNMENT,
    check_tensors,
    constant_floats,
    unpack_weights,
)
from verdigris.core.network.parameters import Parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.bundle.proxies.proxy_texture import Proxies
    from verdigris.core.material.live_inputs.live_input import WantedInput
    from verdigris.core.network.spec import LatentLayout, NetworkSpec


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
        """Texels per side that errors are measured against: the resolution of the bake, of which it
        may have chosen a part, or the texture's own."""
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
        """Requests that keep the same inputs of the document open."""
        return tuple(each.wanted for each in self.manifest.live)

    def weights_bytes(self) -> bytes:
        """The bytes of weights.bin."""
        return read_recorded(self.folder, self.manifest.weights)

    def latents(self) -> LatentTexture:
        """The stored latents."""
        return read_latents(self.folder, self.manifest.latents)

    def parameters(self) -> Parameters:
        """The values of the stored numbers, in single floats."""
        manifest = self.manifest
        file = str(self.folder / manifest.weights.file)
        stored = unpack_weights(manifest.spec, manifest.tensors, self.weights_bytes(), file)
        latents = self.latents().values()
        return Parameters(
            manifest.spec,
            self.layout,
            stored.decoder,
            latents,
            stored.head,
            manifest.live_defaults,
        )

    def exact_parameters(self) -> Parameters:
        """The same for a decoder in double precision."""
        return replace(self.parameters(), latents=self.latents().exact_values())

    def reference(self) -> Reference:
        """The responses to check a decoder with."""
        record = self.manifest.reference
        data = read_recorded(self.folder, record)
        file = str(self.folder / record.file)
        return parse_reference(data, self.manifest.reference_count, file, self.spec.live_inputs)

    def emission(self) -> list[NDArray[Any]] | None:
        """Mip levels [height, width, 4] in half floats, finest first."""
        facts = self.manifest.emission
        return read_emission(self.folder, facts) if facts else None

    def opacity(self) -> list[NDArray[Any]] | None:
        """Mip levels [height, width, 1] in bytes, finest first."""
        return self._map(self.manifest.opacity)

    def proxies(self) -> Proxies | None:
        """Albedo, normal and roughness as textures; None in bundles without."""
        return read_proxies(self.folder, self.manifest.proxies, self.manifest.latents)

    def check_files(self) -> None:
        """Checks length and digest of every file, and reads the maps, which no decoder reads."""
        for record in self.manifest.records:
            read_recorded(self.folder, record)
        self.emission()
        self.opacity()
        self.proxies()

    def check_constants(self) -> None:
        """Requires constants.bin, if there is one, to hold the numbers of the weights."""
        manifest = self.manifest
        if manifest.constants:
            wanted = constant_floats(self.spec, manifest.tensors, self.weights_bytes())
            check_constants(self.folder, manifest.constants, wanted)

    def _map(self, facts: MapFacts | None) -> list[NDArray[Any]] | None:
        return read_texture(self.folder, facts.record, facts.texture) if facts else None


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
