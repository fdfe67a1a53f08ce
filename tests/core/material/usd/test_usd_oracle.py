"""Documents that USD's own MaterialX reader turned into networks come back as they were.

UsdMtlx comes with usd-exchange, which cannot live beside usd-core, so it gets an environment of its
own. Set VERDIGRIS_USD_ORACLE to a folder for it: it is made there once, and used again.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pxr import Usd, UsdShade

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.material.load.mtlx_document import load_document, parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.material.usd.usdshade import convert_material, list_materials

from ..surfaces import hemisphere

REPOSITORY = Path(__file__).parents[4]
CORPUS = Path(os.environ.get("VERDIGRIS_CORPUS", REPOSITORY.parent / "shared" / "corpus"))
FOLDERS = {"corpus": CORPUS, "examples": REPOSITORY / "examples"}
DOCUMENTS = [(kind, path) for kind, top in FOLDERS.items() for path in sorted(top.rglob("*.mtlx"))]
PACKAGES = ("usd-exchange==3.0.1", "MaterialX==1.39.5")
SAMPLES = 300
SAME = 1e-4

# A surface shader inside a node graph: usdMtlx takes it out and leaves what feeds it behind.
LOST_BY_USDMTLX = {
    "copper_tray": "the closures that feed a surface in a graph",
    "enamel_badge": "the surface shaders that feed a mix in a graph",
    "foil_stamp": "the surface shaders that feed a mix in a graph",
    "painted_wood": "the surface shaders that feed a mix in a graph",
    "pearl_inlay": "the surface shaders that feed a mix in a graph",
}

CONVERT = """
import sys
from pxr import Usd
for source, target in zip(sys.argv[1::2], sys.argv[2::2]):
    Usd.Stage.Open(source).Flatten().Export(target)
"""

pytestmark = pytest.mark.skipif(
    "VERDIGRIS_USD_ORACLE" not in os.environ,
    reason="makes an environment with usd-exchange: set VERDIGRIS_USD_ORACLE to a folder for it",
)


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    """Every document as a flattened stage, by its path."""
    home = Path(os.environ["VERDIGRIS_USD_ORACLE"])
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not python.is_file():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *PACKAGES], check=True)
    import MaterialX as mx

    libraries = Path(mx.getDefaultDataSearchPath().asString()) / "libraries"
    folder = tmp_path_factory.mktemp("stages")
    targets = {path: folder / f"{kind}_{path.stem}.usda" for kind, path in DOCUMENTS}
    pairs = [str(part) for pair in targets.items() for part in pair]
    environment = {**os.environ, "PXR_MTLX_STDLIB_SEARCH_PATHS": str(libraries)}
    subprocess.run([str(python), "-c", CONVERT, *pairs], check=True, env=environment)
    return targets


@pytest.fixture(scope="module")
def samples():
    random = np.random.default_rng(1)
    uv = random.uniform(-1, 2, (SAMPLES, 2))
    directions = (hemisphere(random, SAMPLES, 0.05) for _ in range(2))
    return tuple(part.astype(np.float32) for part in (uv, *directions))


def evaluate_both(path, stage, samples):
    original = load_document(path, [CORPUS / "resources"])
    for place in list_materials(stage):
        found = convert_material(UsdShade.Material(stage.GetPrimAtPath(place)))
        loaded = parse_document(found.text, found.folders, found.name)
        assert loaded.root.validate()[0]
        yield tuple(
            Teacher(each, each.require_material(found.name)).response(*samples)
            for each in (original, loaded)
        )


@pytest.mark.parametrize("path", [path for _, path in DOCUMENTS], ids=lambda path: path.stem)
def test_a_document_survives_the_way_through_usd(path, stages, samples):
    stage = Usd.Stage.Open(str(stages[path]))
    if path.stem in LOST_BY_USDMTLX:
        dangling = [
            port
            for prim in stage.Traverse()
            if UsdShade.Shader(prim)
            for port in UsdShade.Shader(prim).GetInputs()
            if str(port.GetTypeName()) == "token"
            and not UsdShade.Utils.GetValueProducingAttributes(port)
        ]
        assert dangling, "usdMtlx no longer loses " + LOST_BY_USDMTLX[path.stem]
        return
    try:
        pairs = list(evaluate_both(path, stage, samples))
    except VerdigrisError as failure:
        pytest.fail(str(failure))
    assert pairs
    for original, returned in pairs:
        assert original.max() > 0
        assert np.abs(returned - original).max() < SAME
