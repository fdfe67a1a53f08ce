"""Bakes that take a moment."""

from dataclasses import replace

from verdigris.core.baking.bake import BakeOptions, bake
from verdigris.core.base.device import open_device
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.progress.events import Checkpointed
from verdigris.core.settings.bake_settings import BakeSettings

TINY = BakeSettings(network="2x16", resolution=16, iterations=120, batch=512)
# For the kernels of graphics cards on a processor.
LIGHT = replace(TINY, batch=64)
TEXT = """<materialx version="1.39"><standard_surface name="s" type="surfaceshader">
<input name="base_color" type="color3" value="{colour}"/>
<input name="specular_roughness" type="float" value="0.5"/></standard_surface>
<surfacematerial name="{name}" type="material"><input name="surfaceshader" type="surfaceshader"
nodename="s"/></surfacematerial></materialx>"""


def plain_teacher(colour="0.7, 0.3, 0.1", name="clay"):
    document = parse_document(TEXT.format(colour=colour, name=name), name=name)
    return Teacher(document, device=open_device("software"))


def run(teachers, folder, settings=TINY, control=None, **options):
    options = {"name": "out", "folder": folder, "trainer": "numpy", **options}
    return list(bake(teachers, settings, BakeOptions(**options), control))


def baked(folder):
    """The parameters in the bundle that `run` has written there."""
    return open_bundle(folder / "out.vdg").parameters()


def cut_off_and_resumed(teacher, folder, settings, after):
    """Those of a bake that is cut off behind a part of its steps, and gone on with."""
    options = BakeOptions("out", folder, "numpy", checkpoint_seconds=0, run_seconds=1e-6)
    events = bake([teacher], settings, options)
    for event in events:
        if isinstance(event, Checkpointed) and event.step >= after * settings.iterations:
            break
    events.close()
    run([teacher], folder, settings, resume=True)
    return baked(folder)
