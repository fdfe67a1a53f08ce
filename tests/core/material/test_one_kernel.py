"""One compiled kernel of a material measures, lights pixels and draws samples."""

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.base.kernels import Kernels
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.spec import LatentLayout
from verdigris.core.pictures.gbuffer import make_gbuffer
from verdigris.core.pictures.render import Lighting, render
from verdigris.core.sampling.draw_samples import DrawnSamples

COLOUR = 0.3, 0.5, 0.7
LAMBERT = """<?xml version="1.0"?><materialx version="1.39">
<oren_nayar_diffuse_bsdf name="b" type="BSDF">
  <input name="color" type="color3" value="0.3, 0.5, 0.7"/></oren_nayar_diffuse_bsdf>
<uniform_edf name="e" type="EDF">
  <input name="color" type="color3" value="0.25, 0, 2"/></uniform_edf>
<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="b"/>
  <input name="edf" type="EDF" nodename="e"/>
  <input name="opacity" type="float" value="0.5"/></surface>
<surfacematerial name="m" type="material">
  <input name="surfaceshader" type="surfaceshader" nodename="s"/></surfacematerial></materialx>"""


def test_one_kernel_does_all_jobs_and_jobs_of_before_leave_no_trace(monkeypatch):
    compiled = []
    get = Kernels.get

    def noted(self, sources, entry):
        compiled.append((tuple(each.name for each in sources), entry))
        return get(self, sources, entry)

    monkeypatch.setattr(Kernels, "get", noted)
    teacher = Teacher(parse_document(LAMBERT), device=open_device("software"))
    up = np.float32([[0, 0.6, 0.8], [0.6, 0, 0.8]])
    uv = np.float32([[0.2, 0.3], [0.7, 0.6]])
    # of coverage .5
    response = np.array(COLOUR) / np.pi / 2
    samples = DrawnSamples([teacher], LatentLayout(16, 16, levels=2), seed=3)
    lighting = Lighting(direction=(0, 0, 1), colour=(np.pi,) * 3, environment=0.0, emission=0.0)
    for _ in range(2):
        found = teacher.response(uv, up, up[:, [1, 0, 2]])
        assert found == pytest.approx(np.tile(0.8 * response, (2, 1)), abs=1e-5)
        assert teacher.unlit(uv, up) == pytest.approx(
            np.float32([[0.125, 0, 1, 0.5]] * 2), abs=1e-5
        )
        drawn = samples.draw(0, 512)
        assert drawn["response"] == pytest.approx(drawn["wi"][:, 2:] * response, abs=1e-5)
        view = make_gbuffer("sphere", 24)
        picture = render(teacher, "sphere", 24, lighting=lighting, subpixels=1).reshape(-1, 4)
        light = np.maximum(view.normal[:, 2:], 0) * np.pi * response
        assert picture[view.pixel, :3] == pytest.approx(light, abs=2e-4)
        assert picture[view.pixel, 3] == pytest.approx(0.5, abs=1e-5)
    assert len(set(compiled)) == 1
