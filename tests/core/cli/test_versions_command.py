"""`verdigris versions`, and the bakes that keep them."""

import json
import struct

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


def stored_size(bundle):
    """Width and height in the header of the texture's KTX 2.0 file."""
    return struct.unpack_from("<2I", (bundle / "latents.ktx2").read_bytes(), 20)


def test_a_version_has_the_size_of_its_texture_its_live_inputs_and_limits(bundle):
    manifest = json.loads((bundle / "manifest.json").read_text())
    manifest["source"] |= {
        "settings": {"resolution": 512, "size": {"most_bytes": 1_400_000}},
        "live": ["wetness=0..1"],
        "stopped_by": "time limit",
    }
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    _, printed, _ = run_command(["versions", bundle])
    width, height = stored_size(bundle)
    assert (width, height) != (512, 512)
    line = printed.splitlines()[0]
    assert f"{width} x {height}" in line and "512" not in line
    assert "live wetness, at most 1.4 MB, ended by a time limit" in line


def listed(bundle, *options):
    code, printed, errors = run_command(["versions", bundle, "--json", *options])
    assert not code, errors
    return json.loads(printed)


def test_versions_are_listed_with_their_verdicts_and_brought_back(bundle):
    code, printed, _ = run_command(["versions", bundle])
    present, before = printed.splitlines()
    assert not code and present.startswith("* clay  ●●○○○ Good for layout and distance; not for")
    assert "_final  ●●●●● Indistinguishable  (final, " in before and "9 s" in before
    assert listed(bundle)[0]["size"] == [*stored_size(bundle)]
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
