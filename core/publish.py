"""The page of `verdigris publish`: one HTML file for a browser without a network, with bundles,
pictures of their source materials and the programs that show them."""

from __future__ import annotations

import base64
import html
import io
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import verdigris.core
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.outputs import MANIFEST_FILE, check_output, write_file
from verdigris.core.base.text import version
from verdigris.core.bundle.files.read import read_recorded
from verdigris.core.lighting.named_environments import make_sky
from verdigris.core.pictures.backdrop import over
from verdigris.core.pictures.compare.verdict import BANDS, judge
from verdigris.core.pictures.environment_render import (
    EnvironmentLighting,
    draw_behind,
    render_under,
)
from verdigris.core.pictures.picture_files import encode_jpeg
from verdigris.core.pictures.render import Lighting, over_backdrop, render
from verdigris.core.pictures.tone import film

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.material.teacher.teacher import Teacher

# Beside `core`, in a checkout and where it is installed.
_WEB_FOLDER = Path(verdigris.core.__file__).parent.parent / "web"
_ENTRY = "verdigris/page/review.js"
_IMPORT = re.compile(r'(\bfrom\s+|\bimport\s+)"([^"]+)"')
_TIME = (1980, 1, 1, 0, 0, 0)
_PREVIEW_COLUMNS = 3
# Fields of the manifest. Neither shaders nor the preview.
_READ_BY_BROWSERS = (
    *("weights", "latents", "emission", "opacity", "proxies", "relief", "reference"),
    *("transmission.weights", "transmission.reference", "transmission.albedo"),
)
# Reference pictures of a material: their number, their samples of light, and the quality of JPEG.
_PICTURES = 3
_STUDIO_SAMPLES, _SKY_SAMPLES = 48, 64
_QUALITY = 95


SUFFIXES = (".html", ".htm")


@dataclass(frozen=True)
class ReferencePicture:
    """A picture of the source material, to compare with. The page draws the same view."""

    title: str
    environment: str
    """A name of `web/page/environments.js`."""
    shape: str
    image: bytes
    media: str
    has_emission: bool = True
    columns: int = 1
    """Number of pictures side by side; the first is the reference."""

    def as_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "environment": self.environment,
            "shape": self.shape,
            "image": f"data:{self.media};base64,{_base64(self.image)}",
            "emission": self.has_emission,
            "columns": self.columns,
        }


@dataclass(frozen=True)
class Published:
    """A bundle with its reference pictures."""

    bundle: Bundle
    references: Sequence[ReferencePicture] = field(default_factory=tuple)


def preview_reference(bundle: Bundle) -> ReferencePicture | None:
    """The sphere in the studio that a bake leaves in the bundle."""
    if bundle.manifest.preview is None:
        return None
    data = read_recorded(bundle.folder, bundle.manifest.preview)
    return ReferencePicture(
        "Studio", "studio", "sphere", data, "image/png", False, _PREVIEW_COLUMNS
    )


def draw_references(
    teacher: Teacher, size: int, on_progress: Callable[[float], None] = lambda _: None
) -> list[ReferencePicture]:
    """A sphere in the studio and under the sky, and the flat square in the studio."""

    def in_studio(shape: str) -> ReferencePicture:
        lighting = Lighting(samples=_STUDIO_SAMPLES)
        picture = over_backdrop(render(teacher, shape, size, lighting=lighting, is_flat=True))
        title = "Studio" if shape == "sphere" else "Studio, flat"
        return ReferencePicture(
            title, "studio", shape, encode_jpeg(picture, _QUALITY), "image/jpeg"
        )

    on_progress(0.01)
    result = [in_studio("sphere")]
    on_progress(1 / _PICTURES)
    sky = make_sky()
    lit = EnvironmentLighting.upload(teacher.device, sky)
    picture = render_under(
        teacher,
        lit,
        "sphere",
        size,
        samples=_SKY_SAMPLES,
        is_flat=True,
        on_progress=lambda part: on_progress((1 + part) / _PICTURES),
    )
    behind = draw_behind(teacher.device, lit, "environment", "sphere", size)
    shown = film(over(picture, behind) * np.float32(2.0**sky.exposure))
    result.append(
        ReferencePicture("Clear sky", "sky", "sphere", encode_jpeg(shown, _QUALITY), "image/jpeg")
    )
    result.append(in_studio("plane"))
    on_progress(1.0)
    return result


def check_page_path(path: Path) -> None:
    """Checks, before any work, that a page can be written to this path."""
    if path.suffix.lower() not in SUFFIXES:
        raise VerdigrisError(f"{path}: pages are written as .html: change the suffix")
    check_output(path, SUFFIXES)


def write_page(
    path: Path,
    materials: Sequence[Published],
    title: str = "",
    mesh: Mesh | None = None,
    mesh_name: str = "",
) -> int:
    """Writes the page, by default with the materials' names as its title. Returns its bytes."""
    heading = title or ", ".join(each.bundle.manifest.name for each in materials)
    made = f"verdigris {version()}, {datetime.now(UTC).date().isoformat()}"
    page = make_page(materials, heading, made, mesh, mesh_name)
    write_file(path, page)
    return len(page)


def make_page(
    materials: Sequence[Published],
    title: str,
    made: str,
    mesh: Mesh | None = None,
    mesh_name: str = "Mesh",
    is_link: bool = False,
) -> bytes:
    """The page's bytes. `made` is a line on who made it when. With `is_link` it shows the live link
    of the server that it comes from, in place of materials."""
    data: dict[str, Any] = {
        "materials": [
            {
                "name": each.bundle.manifest.name,
                "references": [picture.as_json() for picture in each.references],
                "verdict": _verdict(each.bundle),
            }
            for each in materials
        ],
        "aims": {f"{band.table}.{band.name}": band.equal for band in BANDS},
        "made": made,
        **({"link": True} if is_link else {}),
    }
    blocks = [
        _block(f"bundle-{index}", "application/zip", _base64(_pack_bundle(each.bundle)))
        for index, each in enumerate(materials)
    ]
    if mesh is not None:
        packed, radius = _pack_mesh(mesh)
        data["mesh"] = {"name": mesh_name, "radius": radius}
        blocks.append(_block("mesh", "application/zip", _base64(packed)))
    # a name cannot end the element
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    blocks.append(_block("review", "application/json", text))
    values = {
        "generator": f"Verdigris {html.escape(made, quote=True)}",
        "title": html.escape(title),
        "style": _read("page/review.css"),
        "importmap": json.dumps({"imports": _modules()}, separators=(",", ":")),
        "data": "\n".join(blocks),
    }
    page = _read("page/review.html")
    # one pass: a value may hold another's placeholder
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), page).encode()


def _verdict(bundle: Bundle) -> dict[str, Any] | None:
    """The same as `measure` prints."""
    found = judge(bundle.manifest.errors, str(bundle.manifest.source.get("preset", "")))
    return None if found is None else {"dots": found.dots, "text": found.text}


def _pack_bundle(bundle: Bundle) -> bytes:
    """A zip of the files that a browser reads."""
    records = bundle.manifest.named_records
    names = [records[each].file for each in _READ_BY_BROWSERS if each in records]
    return _zip({name: (bundle.folder / name).read_bytes() for name in (MANIFEST_FILE, *names)})


def _pack_mesh(mesh: Mesh) -> tuple[bytes, float]:
    """Position within the unit sphere, normal and uv of each corner, in single floats; and the
    radius, which heights need."""
    low, high = mesh.position.min((0, 1)), mesh.position.max((0, 1))
    position = mesh.position - (low + high) / 2
    radius = float(np.linalg.norm(position, axis=-1).max()) or 1.0
    corners = np.concatenate([position / radius, mesh.normal, mesh.uv], axis=-1)
    # bits that no picture shows, so that the zip is small
    rounded = np.round(corners.astype(np.float32) * 16384) / 16384
    return _zip({"mesh.bin": np.ascontiguousarray(rounded, "<f4").tobytes()}), radius


def _zip(files: dict[str, bytes]) -> bytes:
    result = io.BytesIO()
    with zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return result.getvalue()


def _modules() -> dict[str, str]:
    """The addresses of all modules that the page imports: the sources themselves."""
    found: dict[str, str] = {}
    waiting = [_ENTRY]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        folder = name.rsplit("/", 1)[0]

        def absolute(match: re.Match[str], folder: str = folder) -> str:
            target = match[2].replace("./", f"{folder}/") if match[2][0] == "." else match[2]
            waiting.append(target)
            return f'{match[1]}"{target}"'

        # addresses of data have no folder that a relative import could start from
        text = _IMPORT.sub(absolute, _read(_file_of(name)))
        found[name] = f"data:text/javascript;base64,{_base64(text.encode())}"
    return found


def _file_of(module: str) -> str:
    name = module.removeprefix("verdigris/")
    return name if name.startswith("page/") else f"src/{name}"


def _read(name: str) -> str:
    try:
        return (_WEB_FOLDER / name).read_text(encoding="utf-8")
    except OSError:
        raise VerdigrisError(
            f"{_WEB_FOLDER / name}: is missing, so no page can be made: install Verdigris again"
        ) from None


def _block(name: str, media: str, text: str) -> str:
    return f'<script type="{media}" id="{name}">{text}</script>'


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
