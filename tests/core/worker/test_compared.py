"""Several bundles with one camera and one light, in a worker's session without a document."""

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.pictures.canvas import Canvas, PlacedShape, Raster
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.session import session as sessions

from ..bundle.bundles import lively_parameters, make_bundle
from .running_worker import CLAY

VIEW = commands.SetView(size=32, lit_by="studio", number=1)


@pytest.fixture
def session(monkeypatch):
    monkeypatch.setenv("VERDIGRIS_DEVICE", "software")
    posted = []
    made = sessions.Session(posted.append)
    made.posted = posted
    made.handle(commands.Hello(sessions.VERSION))
    return made


def pictures(session, view):
    """The last picture of each bundle in this view."""
    found = {}
    for each in session.posted:
        if getattr(each, "part", "").startswith("compared") and each.view == view:
            found[each.part] = each
    return found


def finish(session):
    for _ in range(2000):
        if not session.has_work:
            return
        session.work()
    raise AssertionError("it does not end")


def test_bundles_are_drawn_alike_as_each_would_be_alone(session, tmp_path):
    bundles = [
        make_bundle(tmp_path / f"{seed}.vdg", lively_parameters(seed=seed)) for seed in (1, 2, 1)
    ]
    session.handle(VIEW)
    session.handle(commands.Compare(tuple(str(tmp_path / f"{n}.vdg") for n in (1, 2, 1))))
    assert not [each for each in session.posted if type(each).__name__ == "Error"]
    # a first picture of all of them at once
    assert [*pictures(session, 1)] == ["compared 0", "compared 1", "compared 2"]
    finish(session)
    first, second, again = pictures(session, 1).values()
    assert {each.refined for each in (first, second, again)} == {1.0}
    assert (first.array == again.array).all() and (first.array != second.array).any()

    # another camera and exposure for all of them
    session.handle(commands.SetView(size=32, lit_by="studio", turn=70.0, exposure=-1.0, number=2))
    finish(session)
    turned = pictures(session, 2)
    assert len(turned) == 3 and all(each.refined == 1 for each in turned.values())
    assert (turned["compared 0"].array == turned["compared 2"].array).all()
    assert (turned["compared 0"].array != first.array).any()

    # by plain lights, the picture is that of the material alone
    plain = commands.SetView(size=32, number=3)
    session.handle(plain)
    finish(session)
    shown = session._compared._renderers[1]
    raster = Raster.of(PlacedShape(plain, None), 32, 1.0)
    alone = Canvas(raster, shown.tone, shown._illumination.behind(plain, raster))
    material = BundleMaterial(bundles[1], open_device("software"))
    gbuffer = raster.gbuffer(raster.whole())
    alone.put(gbuffer.pixel, shown._illumination.quick(material, gbuffer, plain))
    found = pictures(session, 3)["compared 1"].array
    assert np.abs(found.astype(int) - alone.pixels()).max() <= 1


def test_the_open_material_is_drawn_before_the_bundles(session, tmp_path):
    make_bundle(tmp_path / "a.vdg")
    bare = commands.Compare((str(tmp_path / "a.vdg"),), with_source=True)
    session.handle(bare)
    assert "open a material" in session.posted[-1].text
    session.handle(VIEW)
    session.handle(commands.Open(name="clay", payload=CLAY.encode()))
    finish(session)
    alone = [e for e in session.posted if getattr(e, "part", "") == "reference"][-1]
    session.handle(bare)
    finish(session)
    found = pictures(session, 1)
    assert [*found] == ["compared 0", "compared 1"]
    # as the panel draws it, but for grain
    source = found["compared 0"].array.astype(int)
    assert np.abs(source - alone.array[..., :3]).mean() < 2
    assert np.abs(source - found["compared 1"].array).mean() > 5
    with pytest.raises(Exception, match="compare: paths is 4: use 1 to 3"):
        commands.Compare(("a",) * 4, with_source=True)


def test_bundles_are_published_as_a_page(session, tmp_path):
    for name in ("one", "two"):
        make_bundle(tmp_path / f"{name}.vdg")
    paths = tuple(str(tmp_path / f"{name}.vdg") for name in ("one", "two"))
    session.handle(commands.Publish(paths, str(tmp_path / "page.html")))
    assert session.posted[-2].path == str(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert 'id="bundle-0"' in page and 'id="bundle-1"' in page
    session.handle(commands.Publish(paths, str(tmp_path / "page.txt")))
    assert "change the suffix" in session.posted[-1].text


def test_what_cannot_be_compared_is_refused_and_the_session_goes_on(session, tmp_path):
    session.handle(commands.Compare((str(tmp_path / "gone.vdg"),)))
    (error,) = [each for each in session.posted if type(each).__name__ == "Error"]
    assert "gone.vdg" in error.text and error.command == "compare"
    with pytest.raises(Exception, match="compare: paths is 5: use 1 to 4"):
        commands.Compare(("a",) * 5)
    make_bundle(tmp_path / "a.vdg")
    session.handle(commands.Compare((str(tmp_path / "a.vdg"),)))
    assert pictures(session, 0)
