"""The path tracer of examples/engine: neural materials and their graphs give the same picture."""

from __future__ import annotations

import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core import api
from verdigris.core.baking.finish import fit_sampler
from verdigris.core.base.device import open_device
from verdigris.core.bundle.scene.pack import pack
from verdigris.core.pictures.compare.metrics import ldr_flip

from ..core.small_endings import SMALL_ENDINGS

ENGINE = Path(__file__).parents[2] / "examples" / "engine"
SIZE = (96, 54)
# Little to compile, and learned in a few steps.
DIFFUSE = """<materialx version="1.39"><oren_nayar_diffuse_bsdf name="d" type="BSDF">
<input name="color" type="color3" value="{colour}"/></oren_nayar_diffuse_bsdf>
<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="d"/></surface>
<surfacematerial name="{name}" type="material"><input name="surfaceshader" type="surfaceshader"
nodename="s"/></surfacematerial></materialx>"""
COLOURS = {"chalk": "0.7, 0.66, 0.6", "brick": "0.5, 0.12, 0.06"}


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    for name, colour in COLOURS.items():
        text = DIFFUSE.format(name=name, colour=colour)
        (folder / f"{name}.mtlx").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def scene(documents: Path) -> Path:
    """A scene pack of both, which a short bake has trained together."""
    both = [api.load(documents / f"{name}.mtlx") for name in COLOURS]
    small = {"network": "2x16", "resolution": 8, "iterations": 150, "batch": 256}
    small["latent_format"] = "bc7"
    with pytest.MonkeyPatch.context() as patch:
        # but for the sampler, whose noise is in the pictures
        for module, name, value in SMALL_ENDINGS:
            if module is not fit_sampler:
                patch.setattr(module, name, value)
        *_, finished = api.bake(both, documents, preset="draft", device="software", **small)
    return pack([api.open_bundle(each) for each in finished.results], documents / "two.vdg").folder


def draw(scene: Path, out: Path, *options: str) -> np.ndarray:
    sizes = ["--size", *map(str, SIZE), "--samples", "1", "--bounces", "2"]
    words = [str(scene), "-o", str(out), "--device", "software", *sizes, *options]
    if options:
        run_here(words)
    else:
        # once as its user does
        command = [sys.executable, str(ENGINE / "render.py"), *words]
        subprocess.run(command, check=True, capture_output=True, text=True)
    image = oiio.ImageBuf(str(out))
    assert not image.has_error, image.geterror()
    return image.get_pixels(oiio.FLOAT)[..., :3]


def test_the_room_looks_the_same_with_neural_materials_and_with_their_graphs(
    scene: Path, documents: Path, tmp_path: Path
) -> None:
    neural = draw(scene, tmp_path / "neural.exr")
    graphs = draw(scene, tmp_path / "graphs.exr", "--graphs", str(documents))
    # by hit shaders, where the graphs' directions are drawn by queues
    hits = draw(scene, tmp_path / "hits.exr", "--hits")

    np.testing.assert_allclose(hits, neural, rtol=1e-4, atol=1e-5)
    assert neural.shape == (*SIZE[::-1], 3)
    # light falls into the room, and its materials differ
    lit = (graphs.max(-1) > 0.0).mean()
    assert lit > 0.5
    reddish = (graphs[..., 0] > 2.5 * graphs[..., 2])[graphs.max(-1) > 0.05].mean()
    assert 0.1 < reddish < 0.9
    assert ldr_flip(neural, graphs)[0] < 0.03
    assert neural.mean() == pytest.approx(graphs.mean(), rel=0.03)


def test_a_second_decoder_is_read_from_its_place_into_its_constant_buffer(
    scene: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "two.vdg"
    shutil.copytree(scene, folder)
    manifest = json.loads((folder / "manifest.json").read_bytes())
    first = np.fromfile(folder / "weights.bin", np.float16)
    second = np.arange(len(first)).astype(np.float16)
    np.concatenate([first, second]).tofile(folder / "weights.bin")
    manifest["materials"][1]["weights_offset"] = first.nbytes
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    monkeypatch.syspath_prepend(ENGINE)
    from neural_pack import NeuralPack

    loaded = NeuralPack(open_device("software").gpu, folder)
    loaded.has_constants = True  # on a software device one shader would evaluate both

    quads = loaded.constants(1, "numbers")["numbers"]["quads"]
    assert f"ENGINE_WEIGHTS {first.nbytes}" in loaded.definitions(1, "numbers")
    # the first hidden matrix as it is, the second one by columns
    tensors = {tensor["name"]: tensor for tensor in manifest["weights"]["tensors"]}
    for name, is_transposed in (("layer0.weights", False), ("layer1.weights", True)):
        place, stride = (tensors[name][key] // 2 for key in ("offset", "row_stride"))
        row, column = (3, 2) if is_transposed else (2, 3)
        assert np.ravel(quads)[place + 2 * stride + 3] == second[place + row * stride + column]


def run_here(words: list[str]) -> None:
    """The program in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ENGINE)
        patch.setattr(sys, "argv", ["render.py", *words])
        runpy.run_path(str(ENGINE / "render.py"), run_name="__main__")


def refusal(folder: Path) -> str:
    """What the program ends with."""
    with pytest.raises(SystemExit) as end:
        run_here([str(folder), "--device", "software"])
    return str(end.value)


def test_a_folder_that_is_no_scene_pack_is_refused(documents: Path) -> None:
    assert "scene pack" in refusal(documents)


def test_a_scene_pack_without_a_sampler_is_refused(scene: Path, tmp_path: Path) -> None:
    manifest = json.loads((scene / "manifest.json").read_bytes())
    del manifest["sampler"]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert "have no sampler: bake" in refusal(tmp_path)
