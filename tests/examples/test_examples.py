"""The shipped examples: documents that resolve, textures that tile, a mesh that is sound."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import MaterialX as mx
import numpy as np
import OpenImageIO as oiio
import pytest
from MaterialX import PyMaterialXGenShader as Gen
from MaterialX import PyMaterialXGenSlang as GenSlang

EXAMPLES = Path(__file__).parents[2] / "examples"
DOCUMENTS = sorted(EXAMPLES.glob("*.mtlx"))
TEXTURES = sorted(p for p in (EXAMPLES / "textures").iterdir() if p.is_file())
BUDGET = 10_000_000

each_document = pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.stem)
each_texture = pytest.mark.parametrize("path", TEXTURES, ids=lambda p: p.name)


@cache
def library() -> mx.Document:
    document = mx.createDocument()
    mx.loadLibraries(mx.getDefaultDataLibraryFolders(), mx.getDefaultDataSearchPath(), document)
    return document


def read_document(path: Path) -> mx.Document:
    document = mx.createDocument()
    mx.readFromXmlFile(document, str(path))
    document.setDataLibrary(library())
    return document


def texture_files(document: mx.Document) -> set[str]:
    inputs = [e for e in document.traverseTree() if isinstance(e, mx.Input)]
    return {i.getValueString() for i in inputs if i.getType() == "filename"}


def read_pixels(path: Path) -> np.ndarray:
    image = oiio.ImageBuf(str(path))
    assert not image.has_error, image.geterror()
    return image.get_pixels(oiio.FLOAT)


def slang_of(document: mx.Document) -> str:
    generator = GenSlang.SlangShaderGenerator.create()
    context = Gen.GenContext(generator)
    context.registerSourceCodeSearchPath(mx.getDefaultDataSearchPath())
    colours = Gen.DefaultColorManagementSystem.create(generator.getTarget())
    colours.loadLibrary(library())
    generator.setColorManagementSystem(colours)
    (material,) = Gen.findRenderableElements(document)
    return generator.generate("example", material, context).getSourceCode("pixel")


def test_the_examples_stay_small() -> None:
    files = [p for p in EXAMPLES.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    assert sum(p.stat().st_size for p in files) < BUDGET


@each_document
def test_a_document_is_valid_and_every_node_of_it_resolves(path: Path) -> None:
    document = read_document(path)
    valid, message = document.validate()
    assert valid, message
    nodes = [e for e in document.traverseTree() if isinstance(e, mx.Node)]
    unresolved = [n.getNamePath() for n in nodes if n.getNodeDef() is None]
    assert not unresolved
    assert [m.getName() for m in document.getMaterialNodes()] == [path.stem]
    assert document.getVersionString() == "1.39"
    assert document.getColorSpace() == "lin_rec709"


@each_document
def test_every_node_of_a_document_is_used(path: Path) -> None:
    document = read_document(path)
    used = {
        element.getNamePath()
        for material in document.getMaterialNodes()
        for edge in material.traverseGraph()
        for element in (edge.getUpstreamElement(), edge.getDownstreamElement())
        if element is not None
    }
    nodes = {e.getNamePath() for e in document.traverseTree() if isinstance(e, mx.Node)}
    assert nodes <= used


@each_document
def test_a_document_generates_slang(path: Path) -> None:
    assert "fragmentMain" in slang_of(read_document(path))


def test_textures_and_documents_ask_for_each_other() -> None:
    asked = set().union(*(texture_files(read_document(path)) for path in DOCUMENTS))
    assert asked == {f"textures/{path.name}" for path in TEXTURES}


def test_colour_images_and_only_those_are_srgb() -> None:
    for path in DOCUMENTS:
        for element in read_document(path).traverseTree():
            if isinstance(element, mx.Input) and element.getType() == "filename":
                is_colour = element.getParent().getType() == "color3"
                assert (element.getColorSpace() == "srgb_texture") == is_colour


@each_texture
def test_a_texture_tiles(path: Path) -> None:
    pixels = read_pixels(path)
    for image in (pixels, pixels.swapaxes(0, 1)):
        steps = np.abs(np.diff(image, axis=1)).mean(axis=(0, 2))
        seam = np.abs(image[:, 0] - image[:, -1]).mean()
        assert pixels.std() > 0.005, "a flat image tiles, but shows nothing"
        assert seam <= 1.5 * np.percentile(steps, 95) + 0.5 / 255


def test_normal_maps_are_unit_and_face_up() -> None:
    for path in TEXTURES:
        if "normal" in path.name:
            normal = read_pixels(path)[..., :3] * 2.0 - 1.0
            assert np.abs(np.linalg.norm(normal, axis=-1) - 1.0).max() < 0.02, path.name
            assert normal[..., 2].min() > 0.1, path.name
            assert np.abs(normal[..., :2].mean(axis=(0, 1))).max() < 0.02, path.name


def test_the_reading_of_many_formats_is_exercised() -> None:
    assert {p.suffix for p in TEXTURES} == {".png", ".jpg", ".exr"}
    depths = {str(oiio.ImageBuf(str(p)).spec().format) for p in TEXTURES}
    assert depths == {"uint8", "uint16", "half"}


def test_painted_maps_are_of_examples_and_paint_a_small_part() -> None:
    maps = sorted((EXAMPLES / "importance").iterdir())
    assert {path.stem for path in maps} == {"copper_tray", "foil_stamp", "pearl_inlay"}
    for path in maps:
        weights = read_pixels(path)[..., 0]
        assert (EXAMPLES / f"{path.stem}.mtlx").is_file()
        assert (weights.min(), weights.max()) == (1, 8)
        assert 0.03 < (weights > 4).mean() < 0.1


@pytest.mark.parametrize("name", ["brushed_steel", "two_tone_velvet"])
def test_making_a_texture_again_gives_the_committed_pixels(name: str, tmp_path: Path) -> None:
    script = EXAMPLES / "make_examples.py"
    arguments = [sys.executable, "-B", str(script), "--only", name, "--out", str(tmp_path)]
    subprocess.run(arguments, check=True, capture_output=True)
    made = sorted((tmp_path / "textures").glob("*.png"))
    assert made
    for path in made:
        committed = read_pixels(EXAMPLES / "textures" / path.name)
        # Libraries of other platforms may round a last bit the other way.
        assert np.abs(read_pixels(path) - committed).max() <= 1.001 / 255
