"""The live link in a browser: web/tests/link.test.mjs against the real server."""

import threading
from itertools import cycle

import pytest

from verdigris.core.link.snapshot import SnapshotMaker, snapshot_of_bundle
from verdigris.core.network.spec import NetworkSpec

from ..core.bundle.bundles import lively_parameters, make_bundle
from .conftest import run_node
from .test_package import wrong_in

pytest.importorskip("websockets", reason="websockets is missing: pip install verdigris[link]")

SPEC = NetworkSpec(8, 2, "leaky_relu", frame_count=1, lobes=1)


@pytest.fixture
def address(tmp_path):
    """A server that shows a training and two bundles in turn."""
    from verdigris.core.link.server import LinkServer

    bundles = [
        make_bundle(tmp_path / f"{seed}.vdg", lively_parameters(SPEC, seed=seed), name="copper")
        for seed in (1, 2)
    ]
    training = SnapshotMaker("copper").make(lively_parameters(SPEC, seed=3), facts={"step": 7})
    shown = [training, *(snapshot_of_bundle(each.folder, "copper") for each in bundles)]
    is_over = threading.Event()
    with LinkServer(port=0) as server:

        def show():
            for each in cycle(shown):
                server.publish(each)
                if is_over.wait(0.4):
                    return

        thread = threading.Thread(target=show)
        thread.start()
        yield server.address
        is_over.set()
        thread.join()


def test_a_browser_shows_what_the_snapshots_hold(node, chromium, address):
    results = run_node(node, "link.test.mjs", VERDIGRIS_LINK=address, VERDIGRIS_CHROMIUM=chromium)
    assert wrong_in(results) == {}
    assert len(results) == 9
    skipped = {why for why in results.values() if why}
    if skipped:
        pytest.skip("; ".join(sorted(skipped)))
