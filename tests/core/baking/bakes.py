"""Small bakes, and materials that compile in a moment."""

import numpy as np

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.base.device import open_device
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.progress import Checkpointed, Phase, Warning
from verdigris.core.settings.bake_settings import BakeSettings

TINY = BakeSettings(network="2x16", resolution=16, iterations=120, batch=128)
# Runs of as many steps on any machine.
EVEN = {"run_seconds": 1e3}
BLUE = "0.1, 0.2, 0.8"
# Little to compile.
CHALK = """<materialx version="1.39"><oren_nayar_diffuse_bsdf name="d" type="BSDF">
<input name="color" type="color3" value="0.1, 0.2, 0.8"/></oren_nayar_diffuse_bsdf>
<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="d"/></surface>
<surfacematerial name="{name}" type="material"><input name="surfaceshader" type="surfaceshader"
nodename="s"/></surfacematerial></materialx>"""


def chalk_teacher(name="chalk", colour=BLUE):
    """Diffuse blue, or of another colour."""
    document = parse_document(CHALK.format(name=name).replace(BLUE, colour), name=name)
    return Teacher(document, device=open_device("software"))


def plain_teacher(colour="0.7, 0.3, 0.1", name="clay"):
    return chalk_teacher(name, colour)


def run(teachers, folder, settings=TINY, control=None, **options):
    """The events of a bake."""
    options = {"name": "out", "folder": folder, "trainer": "numpy", **options}
    return list(bake(teachers, settings, BakeOptions(**options), control))


def baked(folder, name="out"):
    """The parameters in the bundle that a bake has written there."""
    return open_bundle(folder / f"{name}.vdg").parameters()


def cut_off(teachers, folder, settings=TINY, checkpoints=1, after=0, **options):
    """Ends a bake at a checkpoint, as a killed process would; the last event and the warnings.
    It is the given number of checkpoints after a step."""
    options = {"name": "out", "trainer": "numpy", "checkpoint_seconds": 0.0, **EVEN, **options}
    warned = []
    events = bake(teachers, settings, BakeOptions(folder=folder, **options))
    for event in events:
        if isinstance(event, Warning):
            warned.append(event.text)
        if isinstance(event, Checkpointed) and event.step >= after:
            checkpoints -= 1
            if not checkpoints:
                break
    events.close()
    assert isinstance(event, Checkpointed), "the bake ended before that checkpoint"
    return event, warned


def stop_at(is_time, teachers, folder, settings=TINY, control=None, **options):
    """The events of a bake that is requested to stop at the first event that passes."""
    control = control or BakeControl()
    options = {"name": "out", "trainer": "numpy", **EVEN, **options}
    events = []
    for event in bake(teachers, settings, BakeOptions(folder=folder, **options), control):
        events.append(event)
        if is_time(event):
            control.stop()
    return events


def of_kind(events, kind):
    return [event for event in events if isinstance(event, kind)]


def warnings_of(events):
    return [event.text for event in of_kind(events, Warning)]


def phases_of(events):
    return [event.name for event in of_kind(events, Phase)]


def assert_same(found, wanted):
    """Parameters that are equal to the bit."""
    np.testing.assert_array_equal(found.decoder, wanted.decoder)
    np.testing.assert_array_equal(found.latents, wanted.latents)
