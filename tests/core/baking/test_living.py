"""What a trainer learns of a live input: right between the values that it saw most, steady, and
monotone where the graph is. Here without a bake; docs/benchmarks/bench_living.py measures those."""

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.material.live_inputs.live_input import parse_all_wanted
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.numpy_mlp import evaluate
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import LatentLayout, NetworkSpec
from verdigris.core.sampling.draw_samples import DrawnSamples
from verdigris.core.settings.draw_settings import DrawSettings
from verdigris.core.settings.schedule import Schedule, TrainingSettings
from verdigris.core.training.numpy.numpy_trainer import NumpyTrainer

from ..material.documents import document, material

# dark where a wave of the place meets the wetness, as pores that fill one after the other
NODES = (
    '<nodegraph name="g"><input name="wetness" type="float" value="0"/>'
    '<texcoord name="uv" type="vector2"/>'
    '<separate2 name="place" type="multioutput"><input name="in" type="vector2" nodename="uv"/>'
    "</separate2>"
    '<multiply name="turn" type="float"><input name="in1" type="float" nodename="place" '
    'output="outx"/><input name="in2" type="float" value="6.2831853"/></multiply>'
    '<sin name="wave" type="float"><input name="in" type="float" nodename="turn"/></sin>'
    '<remap name="porous" type="float"><input name="in" type="float" nodename="wave"/>'
    '<input name="inlow" type="float" value="-1"/><input name="outlow" type="float" value="0.2"/>'
    "</remap>"
    '<multiply name="damp" type="float"><input name="in1" type="float" interfacename="wetness"/>'
    '<input name="in2" type="float" nodename="porous"/></multiply>'
    '<mix name="tone" type="float"><input name="bg" type="float" value="0.8"/>'
    '<input name="fg" type="float" value="0.1"/><input name="mix" type="float" nodename="damp"/>'
    "</mix>"
    '<convert name="grey" type="color3"><input name="in" type="float" nodename="tone"/></convert>'
    '<output name="color" type="color3" nodename="grey"/></nodegraph>'
    '<oren_nayar_diffuse_bsdf name="d" type="BSDF">'
    '<input name="color" type="color3" nodegraph="g" output="color"/></oren_nayar_diffuse_bsdf>'
    '<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="d"/></surface>'
)
LAYOUT = LatentLayout(16, 16)
SPEC = NetworkSpec(16, 2, "silu", live_inputs=1)
STEPS, BATCH, PLACES = 500, 2048, 1000


@pytest.fixture(scope="module")
def learnt():
    """The teacher, and what a student of it answers at places and live values."""
    source = parse_document(document(NODES, material("s")), "a.mtlx")
    wanted = parse_all_wanted(["wetness=0..1:4"])
    teacher = Teacher(source, device=open_device("software"), live=wanted)
    samples = DrawnSamples([teacher], LAYOUT, settings=DrawSettings(pairs=2, finest_places=1))
    schedule = Schedule(steps=STEPS, decoder_rate=2e-2, latent_rate=2e-2)
    trainer = NumpyTrainer(
        initialise(SPEC, LAYOUT, 0), samples, TrainingSettings(BATCH, "cbrt_log", schedule)
    )
    trainer.step_many(STEPS)
    parameters = trainer.parameters()
    trainer.close()
    return teacher, parameters


def responses(learnt, shares):
    """Of the graph and of the student [values, places] at these live values, away from texels'
    borders in v alone: the graph is constant there."""
    teacher, parameters = learnt
    random = np.random.default_rng(7)
    uv = random.random((PLACES, 2)).astype(np.float32)
    directions = random.standard_normal((2, PLACES, 3))
    directions[..., 2] = 0.3 + np.abs(directions[..., 2])
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    wi, wo = directions.astype(np.float32)
    found = []
    for share in shares:
        live = np.full((PLACES, 1), share, np.float32)
        exact = teacher.response(uv, wi, wo, live=live)
        guess = evaluate(SPEC, parameters, uv, 0, wi, wo, live=live)
        found.append((exact.mean(1), guess.mean(1)))
    return np.array(found).swapaxes(0, 1)


def test_values_between_are_as_good_as_those_that_are_trained_most(learnt):
    most = responses(learnt, np.linspace(0, 1, 5))
    between = responses(learnt, (np.arange(31) + 0.5) / 31)
    errors = [np.abs(exact - guess).mean() for exact, guess in (most, between)]
    spread = np.abs(between[0] - between[0].mean(0)).mean()
    assert errors[1] < 0.1 * spread
    assert errors[1] < 1.3 * errors[0]


def test_a_ramp_is_steady_and_monotone_where_the_graph_is(learnt):
    exact, guess = responses(learnt, np.linspace(0, 1, 64))
    steps, learnt_steps = np.diff(exact, axis=0), np.diff(guess, axis=0)
    assert (steps < 0).all()
    assert np.abs(learnt_steps).max() < 1.5 * np.abs(steps).max()
    assert (learnt_steps < 0).mean() > 0.99
    # and over an eighth of the range at every place
    assert (guess[8:] < guess[:-8]).all()
