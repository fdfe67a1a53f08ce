"""Every kind of example can be trained, and so can documents of MaterialX.

The latter are no part of the project: tests skip where they are not beside the repository, in
../shared/corpus, or where VERDIGRIS_CORPUS says.
"""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.baking.finish import notices as notices_of_bakes
from verdigris.core.baking.finish.notices import notices
from verdigris.core.baking.state.trainers import make_trainer
from verdigris.core.base.device import open_device
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher import probe
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import initialise
from verdigris.core.sampling.draw_samples import DrawnSamples
from verdigris.core.settings.presets import PRESETS

from ..small_endings import every_direction

REPOSITORY = Path(__file__).parents[3]
CORPUS = Path(os.environ.get("VERDIGRIS_CORPUS", REPOSITORY.parent / "shared" / "corpus"))
DOCUMENTS = sorted(CORPUS.rglob("*.mtlx"))
EXAMPLES = sorted((REPOSITORY / "examples").glob("*.mtlx"))
# The default preset where there is no GPU, but small: mips are left to their own tests.
DEFAULT = PRESETS["numpy"]["draft"].largest
SMALL = replace(
    DEFAULT,
    resolution=32,
    iterations=150,
    batch=256,
    draw=replace(DEFAULT.draw, coarse_places=2, finest_places=1),
)
_DISPERSION = "dispersion is dropped"
_OCCLUSION = "occlusion is dropped"
_SUBSURFACE = "subsurface is approximated"
_HIGHLIGHT = "highlight is approximated"
# What is to be told of each; of all others nothing.
TOLD = {
    "gltf_pbr_boombox": [_OCCLUSION],
    "gltf_pbr_carpaint": [f"clearcoat's {_HIGHLIGHT}"],
    "gltf_pbr_default": [_OCCLUSION],
    "open_pbr_carpaint": [f"coat's {_HIGHLIGHT}"],
    "open_pbr_glass": [_HIGHLIGHT, _DISPERSION],
    "open_pbr_ketchup": [_SUBSURFACE, _HIGHLIGHT],
    "open_pbr_soapbubble": [_HIGHLIGHT],
    "standard_surface_carpaint": [f"coat's {_HIGHLIGHT}"],
    "standard_surface_glass": [_HIGHLIGHT],
    "standard_surface_marble_solid": [_SUBSURFACE, "place in space is approximated"],
    "standard_surface_thin_film": [_HIGHLIGHT],
    "usd_preview_surface_gold": [_HIGHLIGHT],
}
# Black but for a highlight that so short a training does not find.
NARROW = (
    "open_pbr_glass",
    "open_pbr_soapbubble",
    "standard_surface_glass",
    "standard_surface_thin_film",
)


# Those whose albedo is estimated: the least light, and each surface model. Responses of all are in
# teacher/test_corpus.py.
LIT = (
    *NARROW,
    "disney_principled_carpaint",
    "gltf_pbr_default",
    "open_pbr_default",
    "standard_surface_default",
)
# Examples that are trained: one surface model, and a mix of several. Training sees responses alone,
# which teacher/test_devices.py compares for all.
TRAINED = ("copper_tray", "enamel_badge")
# The surface model that no example has.
TRAINED_DOCUMENT = "usd_preview_surface_gold"


def load(path):
    document = load_document(path, [CORPUS / "resources"])
    return [Teacher(document, each, open_device("software")) for each in document.materials]


def train(teacher):
    """The loss of the first steps and of the last, and what it would be of a black student."""
    source = DrawnSamples([teacher], SMALL.layout(), SMALL.seed, SMALL.draw)
    parameters = initialise(SMALL.spec, SMALL.layout(), SMALL.seed)
    trainer = make_trainer("numpy", parameters, source, SMALL.training(), teacher.device)
    try:
        reports = [trainer.step_many(steps) for steps in (5, SMALL.iterations - 15, 10)]
        result = trainer.parameters()
    finally:
        trainer.close()
    assert sum(report.skipped + report.rejected for report in reports) == 0
    assert np.isfinite(result.decoder).all() and np.isfinite(result.latents).all()
    batch = source.draw(SMALL.iterations, SMALL.batch)
    black = float(3 * np.cbrt(batch["response"]).mean())
    return reports[0].loss, reports[-1].loss, black


def check_notices(teachers, path):
    """Approximated and dropped parts are reported, and nothing else."""
    for teacher in teachers:
        found = [warning.text.partition(": ")[2] for warning in notices(teacher, "it")]
        for text, start in zip(found, TOLD.get(path.stem, []), strict=True):
            assert text.startswith(start)


def leave_albedo_out(monkeypatch):
    """Of what is reported: it compiles a kernel of its own."""
    monkeypatch.setattr(notices_of_bakes, "mean_albedo", lambda _: (0.5, 0.5, 0.5))
    monkeypatch.setattr(notices_of_bakes, "mean_transmitted", lambda _: (0.0, 0.0, 0.0))


def check_training(teachers, path, monkeypatch):
    """And the report on parts. That a material is not black is seen in training."""
    leave_albedo_out(monkeypatch)
    check_notices(teachers, path)
    for teacher in teachers:
        check_losses(teacher, path.stem)


def check_losses(teacher, name):
    first, last, black = train(teacher)
    assert last < 0.7 * first
    if name not in NARROW:
        assert last < 0.8 * black


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_trained_and_their_losses_are_reported(path, monkeypatch):
    if path.stem not in TRAINED:
        leave_albedo_out(monkeypatch)
        check_notices(load(path), path)
        return
    check_training(load(path), path, monkeypatch)


@pytest.mark.skipif(not DOCUMENTS, reason=f"no MaterialX documents in {CORPUS}")
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_what_a_document_of_materialx_loses_is_reported(path, monkeypatch):
    """Training compiles for seconds."""
    if path.stem == TRAINED_DOCUMENT:
        check_training(load(path), path, monkeypatch)
        return
    if path.stem not in LIT:
        leave_albedo_out(monkeypatch)
    # few directions find 105% of the light in glass
    monkeypatch.setattr(probe, "_draw", every_direction)
    check_notices(load(path), path)
