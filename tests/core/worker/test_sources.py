"""A worker whose files change while it has them open bakes what they are when it starts."""

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core import api
from verdigris.core.worker.client.client import pixels_of
from verdigris.core.worker.protocol import commands

from .talk import QUICK, Talk

PAINTED = """<materialx version="1.39">
<image name="i" type="color3"><input name="file" type="filename" value="{file}"/></image>
<standard_surface name="s" type="surfaceshader">
<input name="base_color" type="color3" nodename="i"/>
<input name="specular" type="float" value="0"/></standard_surface>
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


@pytest.fixture
def talk(monkeypatch, material):
    monkeypatch.setenv("VERDIGRIS_DEVICE", "software")
    found = Talk()
    found.say(commands.View(size=16), commands.Open(path=str(material)))
    found.hear("state", state="idle", doing="")
    yield found
    found.client.kill()


def colour_of(talk):
    return pixels_of(talk.hear("picture", part="texture")).reshape(-1, 3).mean(0)


def test_an_image_that_has_changed_is_read_again_before_it_is_trained(talk, material, tmp_path):
    red = colour_of(talk)
    assert red[0] > 2 * red[1]
    paint(tmp_path / "paint.png", GREEN)
    talk.say(commands.Start(str(tmp_path), changes=QUICK))
    result = talk.hear("finished").header["results"][0]
    green = colour_of(talk)
    assert green[1] > 2 * green[0]
    # what the result says of its sources is what it has learnt
    bundle = api.open_bundle(result)
    assert api.verify(bundle, source=api.load(material)).holds
    base = np.asarray(oiio.ImageBuf(f"{result}/preview.png").get_pixels("float"))
    middle = base[base.shape[0] // 2, base.shape[1] // 4]
    assert middle[1] > 2 * middle[0]


def test_what_has_not_changed_is_not_read_again(talk, tmp_path):
    talk.say(commands.Start(str(tmp_path), changes=QUICK))
    talk.hear("started")
    assert talk.find("opened") is None


@pytest.mark.parametrize(
    "command", [commands.Start("out", changes=QUICK), commands.Forecast(changes=QUICK)]
)
def test_an_image_that_is_gone_is_named_once(command, talk, tmp_path):
    (tmp_path / "paint.png").unlink()
    talk.say(command)
    text = talk.hear("error").header["text"]
    assert "open a material that can be baked first: " in text and "paint.png" in text
    talk.say(commands.Pause())
    talk.hear("error", command="pause")
    assert len(talk.all("error")) == 2


def test_a_document_that_was_damaged_meanwhile_is_refused_and_read_again_when_it_is_whole(
    talk, material, tmp_path
):
    whole = material.read_text()
    material.write_text(whole[:90])
    talk.say(commands.Start(str(tmp_path / "out"), changes=QUICK))
    assert "not valid XML" in talk.hear("error", command="start").header["text"]
    material.write_text(whole)
    talk.say(
        commands.Open(path=str(material)), commands.Start(str(tmp_path / "out"), changes=QUICK)
    )
    assert talk.hear("started")


def test_there_is_nothing_to_keep_before_the_first_step(talk, tmp_path):
    talk.say(commands.Start(str(tmp_path / "out"), changes=QUICK), commands.Finish())
    text = talk.hear("error", command="finish").header["text"]
    assert "nothing has been learnt yet that could be kept" in text
    assert talk.hear("finished").header["stopped_by"] == "steps"
