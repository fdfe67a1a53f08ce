"""A worker whose files change while it has them open bakes what they are when it starts."""

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.material.load.provenance import file_facts
from verdigris.core.worker.client.client import pixels_of
from verdigris.core.worker.protocol import commands

from .running_worker import QUICK, RunningWorker

PAINTED = """<materialx version="1.39">
<image name="i" type="color3"><input name="file" type="filename" value="{file}"/></image>
<oren_nayar_diffuse_bsdf name="d" type="BSDF">
<input name="color" type="color3" nodename="i"/></oren_nayar_diffuse_bsdf>
<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="d"/></surface>
<surfacematerial name="paint" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="s"/></surfacematerial></materialx>"""
RED, GREEN = (0.8, 0.05, 0.05), (0.05, 0.8, 0.05)


def paint(path, colour):
    image = oiio.ImageBuf(oiio.ImageSpec(8, 8, 3, "uint8"))
    oiio.ImageBufAlgo.fill(image, colour)
    assert image.write(str(path))


@pytest.fixture
def material(tmp_path):
    paint(tmp_path / "paint.png", RED)
    path = tmp_path / "paint.mtlx"
    path.write_text(PAINTED.format(file="paint.png"))
    return path


@pytest.fixture(scope="module")
def worker():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VERDIGRIS_DEVICE", "software")
        found = RunningWorker()
    yield found
    found.client.kill()


@pytest.fixture
def running(worker, material):
    worker.send(commands.Cancel())
    worker.wait_for("state", state="idle")
    worker.messages.clear()
    worker.send(commands.SetView(size=16), commands.Open(path=str(material)))
    worker.wait_for("opened")
    worker.wait_for("state", state="idle", doing="")
    return worker


def colour_of(running):
    return pixels_of(running.wait_for("picture", part="texture")).reshape(-1, 3).mean(0)


def test_an_image_that_has_changed_is_read_again_before_it_is_trained(running, tmp_path):
    red = colour_of(running)
    assert red[0] > 2 * red[1]
    paint(tmp_path / "paint.png", GREEN)
    running.send(commands.Start(str(tmp_path), request=BakeRequest(changes=QUICK)))
    result = running.wait_for("finished").header["results"][0]
    green = colour_of(running)
    assert green[1] > 2 * green[0]
    # what the result says of its sources is what it has learnt
    noted = open_bundle(result).manifest.source["textures"]
    assert noted == [file_facts(tmp_path / "paint.png")]
    base = np.asarray(oiio.ImageBuf(f"{result}/preview.png").get_pixels("float"))
    middle = base[base.shape[0] // 2, base.shape[1] // 4]
    assert middle[1] > 2 * middle[0]


def test_what_has_not_changed_is_not_read_again(running, tmp_path):
    running.send(commands.Start(str(tmp_path), request=BakeRequest(changes=QUICK)))
    running.wait_for("started")
    assert running.find("opened") is None


@pytest.mark.parametrize(
    "command",
    [
        commands.Start("out", request=BakeRequest(changes=QUICK)),
        commands.Forecast(request=BakeRequest(changes=QUICK)),
    ],
)
def test_an_image_that_is_gone_is_named_once(command, running, tmp_path):
    (tmp_path / "paint.png").unlink()
    running.send(command)
    text = running.wait_for("error").header["text"]
    assert "open a material that can be baked first: " in text and "paint.png" in text
    running.send(commands.Pause())
    running.wait_for("error", command="pause")
    assert len(running.all("error")) == 2


def test_a_document_that_was_damaged_meanwhile_is_refused_and_read_again_when_it_is_whole(
    running, material, tmp_path
):
    whole = material.read_text()
    material.write_text(whole[:90])
    running.send(commands.Start(str(tmp_path / "out"), request=BakeRequest(changes=QUICK)))
    assert "not valid XML" in running.wait_for("error", command="start").header["text"]
    material.write_text(whole)
    running.send(
        commands.Open(path=str(material)),
        commands.Start(str(tmp_path / "out"), request=BakeRequest(changes=QUICK)),
    )
    assert running.wait_for("started")
