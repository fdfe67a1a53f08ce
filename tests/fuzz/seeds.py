"""Undamaged files of each target, small ones, made by the project's own writers."""

from __future__ import annotations

import io
import json
import shutil
import struct
import zipfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np

from verdigris.core.bundle.files.ktx2 import RGBA8, RGBA16F
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.files.reference import Reference, make_reference
from verdigris.core.bundle.files.stored_textures import export_numbers
from verdigris.core.bundle.files.write import Contents, write_bundle
from verdigris.core.bundle.proxies.proxy_texture import Proxies
from verdigris.core.geometry.height_map import make_height_map
from verdigris.core.material.live_inputs.live_input import LiveInput, parse_all_wanted
from verdigris.core.network.parameters import TransmittedSide
from verdigris.core.network.spec import LatentLayout, NetworkSpec

from ..core.bundle.bundles import lively_parameters, random_curves
from .mutate import Files, zip_files

ROOT = Path(__file__).resolve().parents[2]
STAGES = ROOT / "tests" / "core" / "material" / "usd" / "data"
EXAMPLES = ROOT / "examples"
_DONE = "done"
_LIVE = (
    LiveInput("wetness", "float", (0.0,), (2.0,), 0.25),
    LiveInput("tint", "color3", (1.0, 0.5, 0.0), (0.0, 0.0, 1.0), 0.75),
)
_SOURCE = {"material": "copper", "document": "copper.mtlx", "settings": {"resolution": 8},
           "step": 100, "live": ["wetness=0..2"]}  # fmt: skip
_OBJ = """o a
v 0 0 0 1 0.5 0.25
v 1 0 0 0 1 0.5
v 1 1 0.5 0.5 0.5 0.5
v 0 1 0 0.1 0.2 0.3
vt 0 0
vt 1 0
vt 1 1
vt 0 1
vn 0 0 1
f 1/1/1 2/2/1 3/3/1 4/4/1
f 1/1 3/3 4/4
f -4/-4 -3/-3 -2/-2
"""
_REFERENCES = """#usda 1.0
(
    subLayers = [@./enamel_badge.mtlx@]
)
def "tile" (
    references = @./glazed_tile.mtlx@</MaterialX/Materials>
)
{
    over "glazed_tile"
    {
        float inputs:coat = 0.5
    }
}
"""
_MESH = """#usda 1.0
(
    defaultPrim = "a"
    upAxis = "Z"
    metersPerUnit = 0.01
)
def Xform "a"
{
    double3 xformOp:translate = (1, 2, 3)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Mesh "quad"
    {
        int[] faceVertexCounts = [4, 3]
        int[] faceVertexIndices = [0, 1, 2, 3, 0, 2, 3]
        uniform token orientation = "leftHanded"
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0.5)]
        normal3f[] normals = [(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)] (interpolation = "vertex")
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1), (0, 0), (1, 1), (0, 1)] (
            interpolation = "faceVarying"
        )
        int[] primvars:st:indices = [0, 1, 2, 3, 0, 2, 3]
        color3f[] primvars:displayColor = [(1, 0, 0), (0, 1, 0)] (interpolation = "uniform")
        float[] primvars:wear = [0.5] (interpolation = "constant")
    }
}
"""
_SCENE = {
    "scene": 1,
    "search": ["textures"],
    "sources": ["tile.mtlx", "*.mtlx", {"source": "stage.usda", "live": "wetness=0..1"},
                {"source": "parts", "materials": ["brushed*"], "preset": "draft"}],
    "rules": [{"match": "glazed*", "settings": {"iterations": 100}, "importance": "weights.png"},
              {"match": ["standard*"], "skip": True, "target": "good", "time_limit": 60}],
    "packs": {"all.vdg": ["*"], "one.vdg": "glazed_tile"},
    "out": "out",
}  # fmt: skip
_HANDED = {"materials": [
    {"name": "clay", "key": "clay", "status": "handed over", "document": "tile.mtlx",
     "notes": ["is old"], "live": ["wetness=0..1"]},
    {"name": "wood", "key": "w", "status": "failed", "error": "is no MaterialX"},
]}  # fmt: skip
_RULES = {"version": "pathmapping-1.0", "path_mapping_rules": [
    {"source_path_format": "WINDOWS", "source_path": "C:\\a", "destination_path": "/b"},
    {"source_path_format": "POSIX", "source_path": "/a", "destination_path": "/b"},
]}  # fmt: skip
_MEMORY = {
    "choices": {"preset": "draft", "resolution": 256, "network": "2x16", "target": "good"},
    "outcomes": {"bakes": [["a", 1.5, {"steps": 100}]]},
    "live": {"a.mtlx": ["wetness=0..1"]},
    "recent": {"files": ["tile.mtlx", "other.mtlx"]},
    "bundles": {"tile.mtlx": "tile.vdg"},
    "shape": "sphere",
    "light": "studio",
}
_CURVE = {"a": -1.0, "b": 1.5, "c": 0.0}
_LADDER = {
    "format": "verdigris.ladder",
    "name": "clay",
    "uv_set_of_light": "st1",
    "uv_set_of_materials": "st",
    "warnings": ["uv set 'st': 2 of 3 islands overlap"],
    "models": ["clay.usdc", "clay.glb"],
    "lods": [{"rung": "vertex", "below_pixels": 40}],
    "rungs": [
        {"name": "neural", "bytes": 206_000, "flip": 0.021, "switch_pixels": 512,
         "flip_by_screen_size": {"8": 0.01, "512": 0.019}, "nanoseconds": 0.9,
         "picture": "neural_shown.jpg", "bundle": "clay.vdg"},
        {"name": "surface", "title": "Surface", "scene_shader": {
            "category": "standard_surface", "values": {"base": 1.0, "coat_color": [1, 0.5, 0]},
            "textures": {"base_color": {"file": "c.png", "is_colour": True, "is_direction": False,
                                        "low": 0.0, "high": 1.0}}}},
        {"name": "pbr", "scene_textures": {"base_color": "b.png", "emission": "e.png"},
         "emissive_strength": 2.0},
        {"name": "unlit", "files": {"light": "l.png", "shown": "s.png"}, "alpha_mode": "MASK",
         "curve": _CURVE, "mirror_curve": _CURVE, "detail_scale": 2.0},
        {"name": "vertex", "bytes": 8000, "flip": 0.2, "switch_pixels": None,
         "scene_vertices": "vertex_colours.npz", "picture": "vertex_shown.jpg"},
    ],
}  # fmt: skip


def make_seeds(work: Path, name: str) -> Path:
    """The folder with a folder for each seed of a target. The first call makes it."""
    folder = work / "seeds" / name
    if not (folder / _DONE).exists():
        folder.mkdir(parents=True, exist_ok=True)
        MAKERS[name](folder)
        (folder / _DONE).touch()
    return folder


def load_seeds(folder: Path) -> list[Files]:
    """The files of each seed, in the same order everywhere."""
    return [
        {
            each.relative_to(seed).as_posix(): each.read_bytes()
            for each in sorted(seed.rglob("*"))
            if each.is_file()
        }
        for seed in sorted(folder.iterdir())
        if seed.is_dir()
    ]


def _bundles(folder: Path) -> None:
    preview = (EXAMPLES / "importance").glob("*.png")
    emission = [np.full((1, 1, 4), 0.5, np.float16)]
    opacity = [np.full((2, 2, 1), 200, np.uint8), np.full((1, 1, 1), 200, np.uint8)]
    proxies = Proxies([np.full((5, 1, 1, 4), 99, np.uint8)], 8, random_curves())
    four = NetworkSpec(8, activation="silu", latent_channels=4, frame_count=1)
    odd = NetworkSpec(5, 3, "leaky_smelu", frame_count=3, lobes=3, output_limit=9.0)
    living = NetworkSpec(6, 2, "silu", frame_count=1, live_inputs=2)
    small = NetworkSpec(5, 2, "relu", frame_count=1, lobes=1)
    runtime = {"decode.slang": b"// nothing\n", "decode.h": b"/* nothing */\n"}
    _bundle(folder / "blocks", four, source=_SOURCE, errors={"samples": {"log_mae": 0.004}})
    _bundle(folder / "halves", odd, RGBA16F, emission=emission, opacity=opacity)
    _bundle(folder / "live", living, RGBA8, live=_LIVE, runtime=runtime)
    small_preview = next(iter(sorted(preview)), None)
    data = small_preview.read_bytes()[:2000] if small_preview else b""
    _bundle(folder / "proxies", small, RGBA8, proxies=proxies, preview=data or None)
    with zipfile.ZipFile(ROOT / "tests/core/bundle/data/bundle_4_0.zip") as older:
        older.extractall(folder / "older")
    (folder / "older" / "pearl_inlay.vdg").rename(folder / "older" / "a.vdg")


def _bundles_and_zips(folder: Path) -> None:
    _bundles(folder)
    for name, method in (("live", zipfile.ZIP_STORED), ("proxies", zipfile.ZIP_DEFLATED)):
        bundle = folder / name / "a.vdg"
        files = [each for each in sorted(bundle.rglob("*")) if each.is_file()]
        entries = [(each.relative_to(bundle).as_posix(), each.read_bytes()) for each in files]
        _write(folder / f"zip_{name}" / "a.zip", zip_files(entries, method))


_ROWS = "reference", "transmitted_reference"


def _bundle(
    path: Path, spec: NetworkSpec, kind: str = "", index: float = 0.0, **contents: object
) -> Path:
    layout = LatentLayout(8, 4, 4)
    parameters = lively_parameters(spec, layout)
    if index:
        below = lively_parameters(spec, layout, seed=4)
        parameters.transmitted = TransmittedSide(below.decoder, index, below.head)
    exported = export_numbers(parameters, **({"format_name": kind} if kind else {}))
    for name, side in zip(_ROWS, exported.parameters.sides, strict=False):
        whole = make_reference(side)
        # fewer rows than a bake writes, which would be most of the work
        rows = {name: None if value is None or hasattr(value, "_fields") else value[:256]
                for name, value in vars(whole).items() if name in ("uv", "lod", "wi", "wo", "live",
                                                                   "exported")}  # fmt: skip
        contents.setdefault(name, Reference(**rows))
    path.mkdir(parents=True, exist_ok=True)
    return write_bundle(path / "a.vdg", exported, Contents(**contents))


def _packs(folder: Path) -> None:
    from unittest.mock import patch

    from verdigris.core.bundle.runtime import runtime_files
    from verdigris.core.bundle.scene.pack import pack

    spec = NetworkSpec(5, 2, "leaky_smelu", frame_count=1)
    made = folder / "made"
    opacity = [np.full((1, 1, 1), 7, np.uint8)]
    heights = make_height_map(np.eye(4, dtype=np.float32))
    bundles = [
        _bundle(made / "copper", spec),
        _bundle(made / "lace", spec, RGBA8, opacity=opacity),
        _bundle(made / "leaf", spec, RGBA8, index=1.5, relief=heights),
    ]
    renamed = [each.rename(made / f"{each.parent.name}.vdg") for each in bundles]
    (folder / "pack").mkdir()
    with patch.multiple(runtime_files, TARGETS={}, RELIEF_TARGETS={}):
        pack([open_bundle(each) for each in renamed], folder / "pack" / "a.vdg")
    shutil.rmtree(made)


def _sets(folder: Path) -> None:
    from verdigris.core.compress.compressed_set import INPUTS, CompressedSet, Latents, level_sizes
    from verdigris.core.compress.mlp import Layer
    from verdigris.core.compress.set_files import write_set
    from verdigris.core.compress.texture_set import Channel, SetTexture, TextureSet

    random = np.random.default_rng(1)
    latents = []
    for side in (16, 8):
        sizes = level_sizes(side, side)
        blocks = [
            random.integers(0, 256, (-(-rows // 4), -(-columns // 4), 16), np.uint8)
            for rows, columns in sizes
        ]
        for each in blocks:
            # mode 6, the only one that is written
            each[..., 0] = each[..., 0] & 0x80 | 0x40
        latents.append(Latents(side, side, blocks))
    widths = [INPUTS, 8, 8, 3]
    layers = [
        Layer(
            random.standard_normal((outputs, inputs)).astype(np.float16).astype(np.float32),
            np.zeros(outputs, np.float32),
        )
        for inputs, outputs in pairwise(widths)
    ]
    channels = (Channel(0), Channel(1, 2.0, -1.0), Channel(2), Channel(None, 0.0, 1.0))
    texture = SetTexture("color", ("color",), ("base_color",), "c.png", "srgb_texture", 32, 32,
                         channels)  # fmt: skip
    compressed = CompressedSet((32, 32), len(level_sizes(32, 32)), latents, layers)
    (folder / "set").mkdir()
    runtime = {"wall.slang": b"// nothing\n"}
    errors = {"color": {"psnr": 40.0}}
    textures = TextureSet((texture,), [])
    write_set(folder / "set" / "a.vdt", "wall", compressed, textures, runtime, {"document": "a"},
              errors)  # fmt: skip


def _checkpoints(folder: Path) -> None:
    from verdigris.core.baking.state import checkpoint
    from verdigris.core.settings.presets import require_recipe

    settings = require_recipe("draft", "numpy").largest
    spec = NetworkSpec(5, 2, "leaky_smelu", frame_count=1)
    parameters = lively_parameters(spec, LatentLayout(8, 4, 4))
    facts = {
        "materials": ["copper"], "sources": ["copper"], "documents": ["a.mtlx"], "source": "ab12",
        "made_of": [{"document": "a.mtlx"}], "live": [["wetness"]], "settings": settings.to_json(),
        "trainer": "numpy", "preset": "draft", "step": 10, "stage": 0, "stage_begun": 0,
        "seconds": 3.5, "rounding": {}, "time_limit": None,
        "early": {"checked_step": 5, "good_checks": 1, "steps_saved": 0, "stopped_by": ""},
        "size": {"tried": [[8, 4, 8, 0.5]], "width": 8, "height": 4, "channels": 8, "target": 0.1},
        "start_choice": {"number": 0, "loss": 0.5},
    }  # fmt: skip
    state = {"moments": np.ones(40, np.float32), "step": np.array(10)}
    (folder / "state").mkdir()
    checkpoint.save(folder / "state" / "a.bake.npz", parameters, facts, state)


def _ladders(folder: Path) -> None:
    colours = io.BytesIO()
    random = np.random.default_rng(2)
    position = random.random((6, 3), np.float32)
    np.savez(colours, position=position, colour=random.random((6, 4), np.float32))
    _write(folder / "ladder" / "ladder.json", json.dumps(_LADDER, indent=1).encode())
    _write(folder / "ladder" / "vertex_colours.npz", colours.getvalue())


def _images(folder: Path, names: dict[str, str], size: tuple[int, int] = (16, 8)) -> None:
    """Images of these names, each with the type of its numbers, and options behind it."""
    import OpenImageIO as oiio

    width, height = size
    random = np.random.default_rng(3)
    for name, kind in names.items():
        count = 4 if "alpha" in name else 1 if "grey" in name else 3
        spec = oiio.ImageSpec(width, height, count, kind)
        if "tiled" in name:
            spec.tile_width = spec.tile_height = 16
        if name.endswith(".exr"):
            spec.attribute("compression", name.split("_")[0])
        texels = oiio.ImageBuf(spec)
        texels.set_pixels(oiio.ROI(), random.random((height, width, count), np.float32))
        path = folder / name.replace(".", "_") / f"a{Path(name).suffix}"
        path.parent.mkdir(parents=True)
        if not texels.write(str(path)):
            raise OSError(texels.geterror())


def _importance(folder: Path) -> None:
    _images(folder, {"zip_grey.exr": "float", "piz_colour.exr": "half", "none_tiled_alpha.exr":
                     "float", "grey.png": "uint8", "alpha.png": "uint16", "grey.tif": "float",
                     "colour.jpg": "uint8"})  # fmt: skip
    for kind in ("f4", "f8", "u1", "i2"):
        data = io.BytesIO()
        np.save(data, np.arange(1, 33).reshape(4, 8).astype(kind))
        _write(folder / kind / "a.npy", data.getvalue())


def _hdris(folder: Path) -> None:
    _images(folder, {"colour.hdr": "float", "zips_colour.exr": "float", "pxr24_colour.exr": "half",
                     "zip_tiled.exr": "float", "rle_grey.exr": "float"})  # fmt: skip


def _textures(folder: Path) -> None:
    _images(folder, {"colour.png": "uint8", "alpha.png": "uint8", "grey.png": "uint16",
                     "colour.jpg": "uint8", "colour.tif": "uint8", "alpha.tif": "float",
                     "colour.tga": "uint8", "colour.bmp": "uint8", "colour.gif": "uint8",
                     "colour.hdr": "float", "zip_alpha.exr": "half", "b44_colour.exr": "half",
                     "dwaa_colour.exr": "half"})  # fmt: skip


def _meshes(folder: Path) -> None:
    from pxr import Sdf

    _write(folder / "obj" / "a.obj", _OBJ.encode())
    _write(folder / "usda" / "a.usda", _MESH.encode())
    (folder / "usdc").mkdir()
    Sdf.Layer.FindOrOpen(str(folder / "usda" / "a.usda")).Export(str(folder / "usdc" / "a.usdc"))
    _package(folder / "usdz" / "a.usdz", [folder / "usdc" / "a.usdc"])


def _package(path: Path, files: list[Path]) -> None:
    entries = [(file.name, file.read_bytes()) for file in files]
    _write(path, zip_files(entries, zipfile.ZIP_STORED))


def _documents(folder: Path) -> None:
    for name in ("glazed_tile", "car_paint", "glowing_panel", "foil_stamp", "pearl_inlay"):
        _write(folder / name / "a.mtlx", (EXAMPLES / f"{name}.mtlx").read_bytes())
    inner = EXAMPLES / "brushed_steel.mtlx"
    text = '<?xml version="1.0"?>\n<materialx version="1.38">\n<xi:include href="inner.mtlx" ' \
           'xmlns:xi="http://www.w3.org/2001/XInclude" />\n</materialx>\n'  # fmt: skip
    _write(folder / "includes" / "a.mtlx", text.encode())
    _write(folder / "includes" / "inner.mtlx", inner.read_bytes())


_SHADER = b"""#include "b.hlsli"
import c;
cbuffer Look : register(b0) { float3 tint = { 0.8, 0.4, 0.2 }; float gain : packoffset(c1) = 1; }
[VerdigrisRange(0, 1)] [VerdigrisLabel("Map")] Texture2D<float4> map : register(t0, space1);
[VerdigrisResponse] [VerdigrisTransmission(1.5)]
float3 shade(float2 uv, float3 wi, float3 wo) { return map.Sample(s, uv).rgb * square(wi.z); }
"""
_HEADER = b"""#ifndef B
#define B
#ifdef __cplusplus
#include "gone.h"
#elif defined(X)
#endif
enum Slot { ONE, COUNT };
template<typename T> T square(T a) { return a * a; }
struct Lobe { float a; void set() { a = 1; } float operator[](uint at) { return a; } };
float Lobe::Inner::open() { return 1; }
static const Lobe none;
#endif
"""


def _shaders(folder: Path) -> None:
    own = folder / "engine"
    _write(own / "a.slang", _SHADER)
    _write(own / "b.hlsli", _HEADER)
    _write(own / "c.slang", b"module c; public float one() { return 1; }\n")


def _measured(folder: Path) -> None:
    random = np.random.default_rng(4)
    arrays = {
        "phi_i": np.zeros(1), "theta_i": np.linspace(0, 1, 3), "ndf": random.random((4, 4)),
        "sigma": random.random((4, 4)), "vndf": random.random((1, 3, 4, 4)),
        "rgb": random.random((1, 3, 3, 4, 4)),
    }  # fmt: skip
    at = 18 + sum(13 + len(name) + 8 * each.ndim for name, each in arrays.items())
    parts, rows = [b"tensor_file\0", struct.pack("<BBI", 1, 0, len(arrays))], []
    for name, each in arrays.items():
        parts += [struct.pack("<H", len(name)), name.encode()]
        parts.append(struct.pack(f"<HBQ{each.ndim}Q", each.ndim, 10, at, *each.shape))
        rows.append(each.astype("<f4").tobytes())
        at += len(rows[-1])
    _write(folder / "rgl" / "a.bsdf", b"".join([*parts, *rows]))
    _images(folder / "stack", {"colour.png": "uint8"}, (2, 2))
    lights = [{"file": "a.png", "light": [x, 0, 1], "view": [0, 0, 1]} for x in (0, 1)]
    text = json.dumps({"lights": lights, "colour_space": "srgb_texture"})
    _write(folder / "stack" / "colour_png" / "lights.json", text.encode())
    (folder / "stack" / "colour_png").rename(folder / "lights")
    (folder / "stack").rmdir()


def _stages(folder: Path) -> None:
    from pxr import Sdf

    for file in sorted(STAGES.glob("*.usda")):
        _write(folder / file.stem / "a.usda", file.read_bytes())
    (folder / "binary").mkdir()
    layer = folder / "binary" / "a.usdc"
    Sdf.Layer.FindOrOpen(str(STAGES / "maya_usd.usda")).Export(str(layer))
    _package(folder / "package" / "a.usdz", [layer])
    _write(folder / "referenced" / "a.usda", _REFERENCES.encode())
    for name in ("glazed_tile", "enamel_badge"):
        _write(folder / "referenced" / f"{name}.mtlx", (EXAMPLES / f"{name}.mtlx").read_bytes())


def _scenes(folder: Path) -> None:
    tile, stage = EXAMPLES / "glazed_tile.mtlx", STAGES / "maya_usd.usda"
    for name, content in (("scene", _SCENE), ("handed", _HANDED)):
        _write(folder / name / "a.json", json.dumps(content, indent=1).encode())
        _write(folder / name / "tile.mtlx", tile.read_bytes())
        _write(folder / name / "stage.usda", stage.read_bytes())
        _write(folder / name / "textures" / "empty.txt", b"")
        _write(folder / name / "parts" / "a1.mtlx", (EXAMPLES / "brushed_steel.mtlx").read_bytes())


def _farms(folder: Path) -> None:
    for name, content in (("materials", _HANDED), ("rules", _RULES), ("template", {
        "name": "a", "tasks": ["a", "b {c}"], "options": ["--preset=draft"],
    })):  # fmt: skip
        _write(folder / name / f"{name}.json", json.dumps(content, indent=1).encode())


def _presets(folder: Path) -> None:
    from verdigris.ui.model.parts.choices import BakeChoices
    from verdigris.ui.model.parts.own_presets import OwnPreset, OwnPresets

    choices = BakeChoices().with_values({"preset": "draft", "resolution": 256, "network": "2x16"})
    (folder / "preset").mkdir()
    path = folder / "preset" / "a.vdpreset"
    OwnPresets(path.parent).export(OwnPreset("mine", choices), path)


def _memory(folder: Path) -> None:
    _write(folder / "memory" / "memory.json", json.dumps(_MEMORY, indent=1).encode())


def _lines(folder: Path) -> None:
    from verdigris.core.baking.bake_request import BakeRequest
    from verdigris.core.worker.protocol import commands
    from verdigris.core.worker.protocol.messages import encode

    request = BakeRequest(preset="draft", live=parse_all_wanted(["wetness=0..1"]))
    sent = [
        commands.Hello(2),
        commands.Open("a.mtlx", "a", ("textures",), True, "copper", "software", ("wetness=0..1",)),
        commands.Start("out", "copper", request),
        commands.Show("a.vdg", "b.vdg"),
        commands.Forecast(request),
        commands.Ladder("out", "a.usda", ("neural", "pbr")),
        commands.Focus(strength=2.0),
        commands.SetView(),
        commands.Range(),
        commands.SetMesh("a.usda", 1, bytes(commands.BYTES_A_TRIANGLE)),
        commands.ReadMap("a.exr"),
        commands.Cancel(),
    ]
    lines = [encode(*commands.command_line(each)) for each in sent]
    for number, line in enumerate(lines):
        # alone, to be changed by its structure
        _write(folder / f"line_{number}" / "line.json", line)
    painted = commands.SetImportance.of(np.ones((2, 3), np.float32))
    lines.append(encode(*commands.command_line(painted)))
    _write(folder / "stream" / "stream.bin", b"".join(lines))


def _tables(folder: Path) -> None:
    data = io.BytesIO()
    table = np.arange(1, 17).reshape(4, 4)
    np.save(data, table.astype(np.float64))
    _write(folder / "json" / "a.json", json.dumps(table.tolist(), indent=1).encode())
    _write(folder / "npy" / "a.npy", data.getvalue())


def _cameras(folder: Path) -> None:
    matrix = np.eye(4).tolist()
    placed = {"eye": [0, 1, 5], "target": [0, 0, 0], "up": [0, 1, 0], "fov": 40, "near": 0.1}
    for name, values in (("placed", placed), ("matrix", {"matrix": matrix, "fov": 50.5})):
        values = {**values, "resolution": [640, 480]}
        _write(folder / name / "a.json", json.dumps(values, indent=1).encode())


def _notes(folder: Path) -> None:
    own = folder / "notes"
    _bundle(own, NetworkSpec(5, 2, "relu", frame_count=1, lobes=1), source=_SOURCE)
    (own / "a.vdg" / "reference.json").write_bytes(b"{}")
    kept = own / "a.versions" / "2026-11-28_10-00-00.vdg"
    _write(kept / "manifest.json", (own / "a.vdg" / "manifest.json").read_bytes())
    document = EXAMPLES / "brushed_steel.mtlx"
    _write(own / "a.mtlx", document.read_bytes())
    texts = {
        "a.mtlx.verdigris.json": {
            name: {"bundle": "a.vdg", "textures": {"normal": "n.png"}}
            for name in ("/brushed_steel", "brushed_steel")
        },
        "file_digests.json": {str(own / "a.mtlx"): [1, 2, 3, "ab12"]},
        "summary.json": {
            "materials": [{"name": "a", "status": "baked", "seconds": 1.5, "warnings": ["odd"]}]
        },
        "run.json": {"process": 7, "host": "here", "since": "10:00"},
        "a.versions/notes.json": {"ab": {"label": "first", "is_pinned": True}},
    }
    for name, values in texts.items():
        _write(own / name, json.dumps(values, indent=1).encode())


def _messages(folder: Path) -> None:
    from verdigris.core.link.protocol import encode_head, encode_snapshot
    from verdigris.core.link.snapshot import SnapshotMaker

    living = NetworkSpec(6, 2, "silu", frame_count=1, live_inputs=2)
    snapshot = SnapshotMaker("a", _LIVE).make(lively_parameters(living, LatentLayout(8, 4, 4)))
    _write(folder / "snapshot" / "a.link", b"".join(encode_snapshot(snapshot, 1, {})))
    _write(folder / "state" / "a.link", encode_head("state", {"live": {"wetness": 0.5}}))


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


MAKERS: dict[str, Callable[[Path], None]] = {
    "bundle": _bundles,
    "pack": _packs,
    "set": _sets,
    "checkpoint": _checkpoints,
    "ladder": _ladders,
    "importance": _importance,
    "hdri": _hdris,
    "texture": _textures,
    "mesh": _meshes,
    "shader": _shaders,
    "measured": _measured,
    "document": _documents,
    "stage": _stages,
    "scene": _scenes,
    "farm": _farms,
    "preset": _presets,
    "memory": _memory,
    "protocol": _lines,
    "directions": _tables,
    "camera": _cameras,
    "notes": _notes,
    "link": _messages,
    "javascript": _bundles_and_zips,
}
