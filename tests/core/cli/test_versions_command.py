"""`verdigris versions`, and the bakes that keep them."""

import json

import pytest

from verdigris.core.bundle.files.write import Contents, write_bundle
from verdigris.core.bundle.history import keeper

from ..bundle.bundles import lively_parameters
from ..in_process import run_command


@pytest.fixture(autouse=True)
def settings(tmp_path, monkeypatch):
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "settings"))


@pytest.fixture
def bundle(tmp_path):
    """A draft after a final."""
    path = tmp_path / "clay.vdg"
    for preset, flip in (("final", 0.004), ("draft", 0.03)):
        errors = {"sphere": {"ldr_flip": flip, "psnr": 50.0}}
        contents = Contents(name="clay", source={"preset": preset, "seconds": 9.0}, errors=errors)
        write_bundle(path, lively_parameters(), contents, keeper(path))
    return path


def listed(bundle, *options):
    code, printed, errors = run_command(["versions", bundle, "--json", *options])
    assert not code, errors
    return json.loads(printed)


def test_versions_are_listed_with_their_verdicts_and_brought_back(bundle):
    code, printed, _ = run_command(["versions", bundle])
    present, before = printed.splitlines()
    assert not code and present.startswith("* clay  ●●○○○ Good for layout and distance; not for")
    assert "_final  ●●●●● Indistinguishable  (final, " in before and "9 s" in before
    name = listed(bundle)[1]["name"]
    found = listed(bundle, "--restore", name, "--pin", "clay")
    assert [(each["preset"], each["is_pinned"]) for each in found] == [
        ("final", True),
        ("draft", False),
    ]
    draft = found[1]["name"]
    assert len(listed(bundle, "--delete", draft)) == 1
    assert [each["preset"] for each in listed(bundle, "--undelete")] == ["final", "draft"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--restore", "gone"), "has no version 'gone': use one of clay, "),
        (("--delete", "clay"), "is the present bundle: restore another version"),
        (("--undelete",), "the trash is empty"),
        (("--keep", "0"), "is not in the range 1 to 1000"),
    ],
)
def test_what_cannot_be_done_is_told(bundle, options, problem):
    code, _, errors = run_command(["versions", bundle, *options])
    assert code and problem in " ".join(errors.split()), errors
