"""What `verdigris export` writes for engines on the web, in their own renderers."""

import numpy as np
import pytest

from verdigris.core.network.spec import NetworkSpec

from ..core.bundle.bundles import made_up, make_bundle
from ..core.in_process import run_command
from .conftest import LIVE_INPUTS, run_node
from .test_package import wrong_in


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports")
    living = NetworkSpec(6, 2, "silu", frame_count=1, live_inputs=2)
    source = tmp_path_factory.mktemp("source") / "brass.vdg"
    emission = [np.full((1, 1, 4), (0.5, 0.25, 0.125, 1), np.float16)]
    opacity = [np.full((1, 1, 1), 200, np.uint8)]
    # a picture of 16 pixels sees levels 1 and 2 of the texture
    exported = made_up(living, 64, 32)
    make_bundle(source, exported, live=LIVE_INPUTS, emission=emission, opacity=opacity)
    for target in ("react", "babylon"):
        code, _, errors = run_command(
            ["export", source, "-t", target, "-o", folder / f"brass_{target}"]
        )
        assert code == 0, errors
    return folder


def test_react_and_babylon_draw_what_the_decoder_computes(node, chromium, exports):
    results = run_node(
        node, "engines.test.mjs", VERDIGRIS_EXPORTS=exports, VERDIGRIS_CHROMIUM=chromium
    )
    assert wrong_in(results) == {}
    skipped = {why for why in results.values() if why}
    if skipped:
        pytest.skip("; ".join(sorted(skipped)))
