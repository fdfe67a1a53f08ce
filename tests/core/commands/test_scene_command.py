"""`scene` as its user meets it: what is wrong with an option is told once, and nothing is done."""

import pytest

from ..batch.scenes import write_documents
from ..in_process import run_command


@pytest.fixture
def docs(tmp_path):
    return write_documents(tmp_path / "docs", "clay", "oak")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--preset", "drift"), "--preset: preset 'drift' is not known: use one of draft"),
        (("--set", "resolution"), "--set: 'resolution': use NAME=VALUE"),
        (("--set", "resolutoin=64"), "--set: setting resolutoin is not known: use one of"),
        (("--set", "resolution=big"), "--set: resolution is 'big': use a value such as"),
        (("--set", "draw.pears=2"), "--set: setting draw.pears is not known: use one of draw."),
        (("--device", "vulcan"), "--device: device 'vulcan' is not known: choose one of auto"),
        (("--checkpoint-seconds", "nan"), "--checkpoint-seconds: nan is not 0 or more"),
        (("--pack", "set"), "'set' is no file: use NAME.vdg"),
        (("--pack", "../set.vdg"), "'../set.vdg' is no file: use NAME.vdg"),
        (("--pack", "OAK.vdg"), "'OAK.vdg' is the bundle of the material oak: choose another"),
    ],
)
def test_a_wrong_option_is_wrong_usage_and_bakes_nothing(options, message, docs, tmp_path):
    command = ("scene", "run", docs, "--out", tmp_path / "out", *options)
    code, _, errors = run_command(command)
    assert code == 2
    assert message in " ".join(errors.split())
    assert not (tmp_path / "out").exists()
