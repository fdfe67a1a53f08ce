"""Uploads the images of a material to a device, where they stay for the next materials: those of a
scene share many images."""

from __future__ import annotations

import hashlib
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from verdigris.core.base.errors import TextureError
from verdigris.core.material.files.image_headers import FORMATS, check_size, read_info
from verdigris.core.material.files.image_texels import Image, build_levels, read_image
from verdigris.core.material.files.paths import FileMark, file_mark
from verdigris.core.material.graph.colour_spaces import colours_to_linear_rec709, is_linear_rec709

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import slangpy
    from numpy.typing import NDArray

    from verdigris.core.base.device import Device
    from verdigris.core.material.codegen.generate_teacher import TextureSlot
    from verdigris.core.material.files.image_headers import ImageInfo, Tile
    from verdigris.core.material.files.paths import SearchPath

MOST_TEXTURE_BYTES = 8 << 30
# Threads that decode images, and the most images that are decoded but not yet uploaded.
DECODERS, MOST_DECODED = 8, 16
# Bytes of images that stay on a device, beside those of the open materials.
MOST_KEPT_BYTES = 1 << 30
# Whether the name has a token for tiles, the files, and the colour space from which they are
# converted.
_Key = tuple[bool, "tuple[Tile, ...]", str]


@dataclass
class BoundTexture:
    """An image on the device, with the other fields of the shader's SamplerTexture2D."""

    texture: slangpy.Texture
    tiles: tuple[float, float, float, float]
    present: tuple[int, int, int, int]
    size: tuple[float, float]

    def uniform(self) -> dict[str, Any]:
        import slangpy

        return {
            "tex": self.texture,
            "tiles": slangpy.float4(*self.tiles),
            "present": slangpy.uint4(*self.present),
            "size": slangpy.float2(*self.size),
        }


class TexturePool:
    """The images of one material on one device. Each file is uploaded once."""

    def __init__(self, device: Device, search: SearchPath) -> None:
        self._device = device
        self._search = search
        self._checked: dict[_Key, tuple[ImageInfo, str]] = {}
        """Images that can be loaded, each with what reads it."""
        self._bound: dict[_Key, BoundTexture] = {}
        self._bytes = 0
        self._marks: dict[Path, FileMark | None] = {}
        self.non_finite: dict[Path, int] = {}

    def bind(self, slots: Sequence[TextureSlot]) -> dict[str, BoundTexture]:
        """Uploads the images of slots and returns them by uniform. Threads decode them."""
        keys = {slot.uniform: self._check(slot) for slot in slots}
        missing = [key for key in dict.fromkeys(keys.values()) if key and key not in self._bound]
        wanted = [key for key in missing if not self._find_kept(key)]
        with ThreadPoolExecutor(DECODERS, "decode") as threads:
            decoded: deque[tuple[_Key, Future[Image]]] = deque()
            try:
                for key in wanted:
                    if len(decoded) == MOST_DECODED:
                        self._upload_image(*decoded.popleft())
                    decoded.append((key, threads.submit(_read, *self._checked[key], key[2])))
                while decoded:
                    self._upload_image(*decoded.popleft())
            finally:
                for _, image in decoded:
                    image.cancel()
        return {
            uniform: self._bound[key] if key else self._blank() for uniform, key in keys.items()
        }

    def _check(self, slot: TextureSlot) -> _Key | None:
        """The key of a slot's image; None without one. Refuses images that cannot be loaded."""
        if not slot.file:
            return None
        info = read_info(slot.file, slot.asker, self._search)
        space = "" if is_linear_rec709(slot.colour_space) else slot.colour_space
        key = info.is_udim, info.tiles, space
        if key in self._checked:
            return key
        check_size(info, slot.asker, self._device.gpu.info.limits.max_texture_dimension_2d)
        self._bytes += info.bytes_on_device
        if self._bytes > MOST_TEXTURE_BYTES:
            raise TextureError(
                f"{slot.asker}: with {info.tiles[0].path} the textures of the material need "
                f"{self._bytes / 1e9:.1f} GB; at most {MOST_TEXTURE_BYTES / 1e9:.1f} GB are "
                "loaded: scale them down"
            )
        self._marks.update({tile.path: file_mark(tile.path) for tile in info.tiles})
        self._checked[key] = info, slot.asker
        return key

    def _find_kept(self, key: _Key) -> bool:
        """Uses an image that another material has left on the device. Returns whether there is
        one."""
        found = KeptTextures.on(self._device).find(self._mark_of(key))
        if found is not None:
            self._bound[key], non_finite = found
            self.non_finite.update(non_finite)
        return found is not None

    def _mark_of(self, key: _Key) -> tuple[_Key, tuple[FileMark | None, ...]]:
        """The key with the state of its files: files that have changed are read again."""
        return key, tuple(self._marks[tile.path] for tile in key[1])

    def _upload_image(self, key: _Key, decoded: Future[Image]) -> None:
        image = decoded.result()
        info = image.info
        self.non_finite.update(image.non_finite)
        tiles = (0.0, 0.0, 0.0, 0.0)
        if info.is_udim:
            tiles = (info.columns, info.rows, info.first_column, info.first_row)
        kind = FORMATS[info.kind][1]
        self._bound[key] = self._upload(image.levels, kind, tiles, _present_tiles(info))
        kept, size = KeptTextures.on(self._device), info.bytes_on_device
        kept.keep(self._mark_of(key), self._bound[key], size, image.non_finite)

    def changed_files(self) -> list[Path]:
        """Files that changed after they were read."""
        return [path for path, mark in self._marks.items() if file_mark(path) != mark]

    def digest(self) -> str:
        """The digest of the contents of all loaded files, in the order of their slots."""
        digest = hashlib.sha256()
        for _, tiles, _ in self._checked:
            for tile in tiles:
                with tile.path.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()

    def _blank(self) -> BoundTexture:
        """An image without tiles, for a missing file name: the node returns its default. In a
        shader file it is white."""
        texels = np.full((1, 1, 4), 255, np.uint8)
        return self._upload((texels,), "rgba8_unorm", (1.0, 1.0, -1e6, -1e6))

    def _upload(
        self,
        levels: tuple[NDArray[Any], ...],
        format_name: str,
        tiles: tuple[float, float, float, float],
        present: tuple[int, int, int, int] = (0, 0, 0, 0),
    ) -> BoundTexture:
        import slangpy

        height, width = levels[0].shape[:2]
        texture = self._device.gpu.create_texture(
            format=getattr(slangpy.Format, format_name),
            width=width,
            height=height,
            mip_count=len(levels),
            usage=slangpy.TextureUsage.shader_resource,
        )
        for level, texels in enumerate(levels):
            texture.copy_from_numpy(np.ascontiguousarray(texels), mip=level)
        size = float(width), float(height)
        return BoundTexture(texture, tiles, present, size)


def _read(info: ImageInfo, asker: str, space: str) -> Image:
    """Decodes an image; with a colour space, its colours become linear Rec.709."""
    image = read_image(info, asker)
    if not space:
        return image
    texels = image.levels[0]
    scale = np.iinfo(texels.dtype).max if texels.dtype.kind == "u" else 1
    linear = texels.astype(np.float32) / np.float32(scale)
    linear[..., :3] = colours_to_linear_rec709(linear[..., :3], space)
    kind = "float" if info.kind == "float" else "half"
    levels = build_levels(linear.astype(FORMATS[kind][0]))
    return Image(replace(info, kind=kind), levels, image.non_finite)


def _present_tiles(info: ImageInfo) -> tuple[int, int, int, int]:
    """One bit for each cell of a UDIM atlas, row by row: whether the cell has a file."""
    bits = 0
    for tile in info.tiles:
        bits |= 1 << (tile.row - info.first_row) * info.columns + tile.column - info.first_column
    first, second, third, fourth = (bits >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96))
    return first, second, third, fourth


@dataclass
class KeptTextures:
    """The textures of a device that were used most recently."""

    most: int = MOST_KEPT_BYTES
    _kept: dict[Any, _Kept] = field(default_factory=dict)

    @classmethod
    def on(cls, device: Device) -> KeptTextures:
        """The kept textures of this device. A software device keeps none: they would take the
        machine's memory."""
        found = device.memo.get(cls)
        if found is None:
            found = device.memo[cls] = cls(0 if device.is_software else MOST_KEPT_BYTES)
        assert isinstance(found, KeptTextures)
        return found

    def find(self, key: Any) -> tuple[Any, Mapping[Path, int]] | None:
        """The texture, and its numbers of texels that are not finite."""
        found = self._kept.pop(key, None)
        if found is None:
            return None
        # becomes the most recent
        self._kept[key] = found
        return found.texture, found.non_finite

    def keep(self, key: Any, texture: Any, size: int, non_finite: Mapping[Path, int]) -> None:
        """Keeps a texture with this size, and releases the least recently used ones."""
        self._kept[key] = _Kept(texture, size, non_finite)
        total = sum(each.size for each in self._kept.values())
        while total > self.most:
            total -= self._kept.pop(next(iter(self._kept))).size


class _Kept(NamedTuple):
    texture: Any
    size: int
    non_finite: Mapping[Path, int]
