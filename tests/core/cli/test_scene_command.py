"""`scene` as its user meets it: what is wrong with an option is told once, and nothing is done."""

import json

import pytest

from verdigris.core.batch.plan.plan import make_plan

from ..batch.scenes import read, write_baked, write_documents, write_scene
from ..in_process import run_command


@pytest.fixture
def docs(tmp_path):
    return write_documents(tmp_path / "docs", "clay", "oak")


def test_a_plan_has_one_bake_for_materials_that_share_a_decoder(docs, tmp_path):
    options = ("--out", tmp_path / "out", "--device", "software", "--json")
    for more, bakes in ((("--shared-decoder",), 1), ((), 2)):
        code, text, _ = run_command(("scene", "plan", docs, *options, *more))
        assert (code, len(json.loads(text)["bakes"])) == (0, bakes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--preset", "drift"), "--preset: preset 'drift' is not known: use one of draft"),
        (("--set", "resolution"), "--set: 'resolution': use NAME=VALUE"),
        (("--set", "resolutoin=64"), "--set: settings: 'resolutoin' is not known: use one of"),
        (("--set", "resolution=big"), "--set: settings: resolution is 'big': use a value such as"),
        (("--set", "resolution=100"), "--set: resolution is 100: use a power of two from 4"),
        (("--set", "draw.pears=2"), "--set: settings: 'draw.pears' is not known: use one of draw."),
        (("--device", "vulcan"), "--device: device 'vulcan' is not known: choose one of auto"),
        (("--checkpoint-seconds", "nan"), "--checkpoint-seconds: nan is not 0 or more"),
        (("--pack", "set"), "'set' is not a valid file name: use NAME.vdg"),
        (("--pack", "../set.vdg"), "'../set.vdg' is not a valid file name: use NAME.vdg"),
        (("--pack", "OAK.vdg"), "'OAK.vdg' is the bundle of the material oak: choose another"),
    ],
)
def test_a_wrong_option_is_wrong_usage_and_bakes_nothing(options, message, docs, tmp_path):
    command = ("scene", "run", docs, "--out", tmp_path / "out", *options)
    code, _, errors = run_command(command)
    assert code == 2
    assert message in " ".join(errors.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("clay", "\u6728"), "\u6728.vdg: its name is not valid on every file"),
        (("_aux",), "_aux.vdg: its name is not valid on every file"),
        (("n" * 120,), "its name has 120 letters: rename it to 113 or less"),
        (("clay", "clay!"), "are both called clay: rename one"),
    ],
)
def test_names_that_a_scene_pack_refuses_are_told_before_anything_is_baked(
    names, message, tmp_path
):
    write_documents(tmp_path / "docs", "clay")
    sources = [{"source": "docs/clay.mtlx", "name": name} for name in names]
    scene = write_scene(tmp_path / "plain.json", sources)
    packed = write_scene(tmp_path / "packed.json", sources, packs={"set.vdg": []})
    for code, *command in (
        (2, "run", scene, "--pack", "set.vdg"),
        (1, "run", packed),
        (1, "plan", packed),
    ):
        found, _, errors = run_command(("scene", *command, "--out", tmp_path / "out"))
        assert (found, [*tmp_path.glob("out/*.vdg")]) == (code, [])
        assert message in " ".join(errors.split())
    assert run_command(("scene", "plan", scene, "--out", tmp_path / "out"))[0] == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [("aux", "is reserved by Windows"), ("clay ", "ends with a dot or a space")],
)
def test_names_that_no_bundle_can_have_are_refused_with_and_without_a_scene_pack(
    name, message, tmp_path
):
    write_documents(tmp_path / "docs", "clay")
    scene = write_scene(tmp_path / "s.json", [{"source": "docs/clay.mtlx", "name": name}])
    for command in (("plan",), ("run",), ("run", "--pack", "set.vdg")):
        word, *more = command
        code, _, errors = run_command(("scene", word, scene, *more, "--out", tmp_path / "out"))
        assert (code, (tmp_path / "out").exists()) == (1, False)
        assert f"the name {name!r} {message}" in " ".join(errors.split())


@pytest.mark.parametrize("command", [("scene", "run"), ("farm", "task", "--task", "oak")])
def test_nothing_is_baked_into_a_bundle(command, docs, tmp_path):
    planned = make_plan(read(docs, out=tmp_path / "out")).materials[0]
    bundle = write_baked(planned)
    before = sorted(bundle.rglob("*"))
    code, _, errors = run_command((*command, docs, "--out", bundle))
    assert code == 1
    assert f"lies in the bundle {bundle}, whose next bake would remove it: choose another" in errors
    assert sorted(bundle.rglob("*")) == before


def test_a_run_tells_its_events_of_what_cannot_be_baked_too(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "bad.mtlx").write_text("<materialx")
    out = ("--out", tmp_path / "out", "--device", "software")
    code, text, _ = run_command(("scene", "run", tmp_path / "docs", *out, "--json"))
    ended, summary = map(json.loads, text.splitlines())
    assert code == 3
    assert (ended["event"], ended["material"], ended["status"]) == ("ended", "bad", "failed")
    assert "bad.mtlx: not valid XML" in ended["text"]
    assert (summary["event"], summary["failed"]) == ("summary", 1)
