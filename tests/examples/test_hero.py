"""The hero example: reproducible, as rich as its README says, and light that adds up."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import MaterialX as mx
import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core import api
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

SCRIPT = Path(__file__).parents[2] / "examples" / "hero" / "make_hero.py"
LAYERS, TEXTURES = 18, 36


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hero")
    done = run("--size", "64", "--out", folder)
    assert done.returncode == 0, done.stderr
    assert f"{TEXTURES}/{TEXTURES}" in done.stdout
    return folder


@pytest.fixture(scope="module")
def document(folder: Path) -> mx.Document:
    document = mx.createDocument()
    mx.readFromXmlFile(document, str(folder / "diving_helmet.mtlx"))
    library = mx.createDocument()
    mx.loadLibraries(mx.getDefaultDataLibraryFolders(), mx.getDefaultDataSearchPath(), library)
    document.setDataLibrary(library)
    return document


def all_nodes(document: mx.Document) -> list[mx.Node]:
    return [each for each in document.traverseTree() if isinstance(each, mx.Node)]


def connected(node: mx.Node, name: str) -> mx.Node:
    found = node.getConnectedNode(name)
    assert found is not None, f"{node.getName()}: nothing feeds {name}"
    return found


def test_a_second_run_writes_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    assert run("--size", "64", "--out", tmp_path).returncode == 0
    assert contents(tmp_path) == contents(folder)


def test_it_replaces_no_files_unless_asked(folder: Path) -> None:
    before = contents(folder)
    done = run("--size", "32", "--out", folder)
    assert done.returncode == 2
    assert "exists: choose another --out, or replace it with --overwrite" in done.stderr
    assert contents(folder) == before


def test_sizes_and_folders_that_cannot_be_are_refused(tmp_path: Path) -> None:
    done = run("--size", "33", "--out", tmp_path / "odd")
    assert done.returncode == 2
    assert "--size is 33: use an even number from 32 to 8192" in done.stderr
    (tmp_path / "file").write_text("not a folder")
    done = run("--size", "32", "--out", tmp_path / "file" / "hero")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


def test_the_document_is_valid_and_every_node_is_used(document: mx.Document) -> None:
    valid, message = document.validate()
    assert valid, message
    (material,) = document.getMaterialNodes()
    assert material.getName() == "diving_helmet"
    used = {
        element.getNamePath()
        for edge in material.traverseGraph()
        for element in (edge.getUpstreamElement(), edge.getDownstreamElement())
        if element is not None
    }
    assert {each.getNamePath() for each in all_nodes(document)} <= used
    assert all(each.getNodeDef() is not None for each in all_nodes(document))


def test_its_layers_lie_on_each_other(document: mx.Document) -> None:
    """Walks down from the surface: each mix and each layer puts one closure on those below."""
    (surface,) = (each for each in all_nodes(document) if each.getCategory() == "surface")
    node, names = connected(surface, "bsdf"), []
    while node.getCategory() in ("mix", "layer", "multiply"):
        if node.getCategory() != "multiply":
            names.append(node.getName())
            # What lies on top reflects by lobes of its own.
            top = connected(node, "top" if node.getCategory() == "layer" else "fg")
            assert top.getType() == "BSDF"
        below = {"mix": "bg", "layer": "base", "multiply": "in1"}[node.getCategory()]
        node = connected(node, below)
    # The last mix is of the two lobes of the copper itself.
    assert node.getCategory() == "conductor_bsdf"
    assert len(set(names)) == LAYERS


def test_its_readme_counts_right(document: mx.Document) -> None:
    text = SCRIPT.with_name("README.md").read_text(encoding="utf-8")
    count = Counter(each.getCategory() for each in all_nodes(document))
    lobes = {name: count[f"{name}_bsdf"] for name in ("conductor", "dielectric", "sheen")}
    diffuse = count["oren_nayar_diffuse_bsdf"]
    assert (
        f"| lobes | {sum(lobes.values()) + diffuse}: {lobes['conductor']} conductors, "
        f"{lobes['dielectric']} dielectrics, {diffuse} diffuse, {lobes['sheen']} sheens |"
    ) in text
    assert f"| nodes | {count.total()} |" in text
    assert f"| layers | {LAYERS} |" in text
    assert f"| textures | {TEXTURES}: " in text


def test_every_texture_exists_and_is_read(document: mx.Document, folder: Path) -> None:
    inputs = [each for each in document.traverseTree() if isinstance(each, mx.Input)]
    files = [each.getValueString() for each in inputs if each.getType() == "filename"]
    assert len(files) == len(set(files)) == TEXTURES
    assert set(files) == {f"textures/{path.name}" for path in (folder / "textures").iterdir()}
    digests = set()
    for file in files:
        image = oiio.ImageBuf(str(folder / file))
        assert (image.spec().width, image.spec().height) == (64, 64), file
        pixels = image.get_pixels(oiio.FLOAT)
        assert pixels.reshape(-1, pixels.shape[-1]).std(axis=0).max() > 0.005, f"{file} is flat"
        digests.add(pixels.tobytes())
    assert len(digests) == TEXTURES


def test_a_bake_drops_and_approximates_nothing(folder: Path) -> None:
    (report,) = describe(api.load(folder / "diving_helmet.mtlx"), probe=False)
    assert {part.fate for part in report.parts} == {"kept"}


def test_the_teacher_returns_finite_light(folder: Path) -> None:
    teacher = Teacher(api.load(folder / "diving_helmet.mtlx"))
    random = np.random.default_rng(1)
    uv = random.random((256, 2), np.float32)
    directions = random.normal(size=(2, 256, 3)).astype(np.float32)
    directions[..., 2] = np.abs(directions[..., 2]) + 0.02
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    response = teacher.response(uv, *directions)
    assert np.isfinite(response).all()
    assert response.min() >= 0.0
    assert 0.01 < response.mean() < 1.0
    # A material of many places: they differ.
    assert response.std(axis=0).min() > 0.02
