"""A report of trouble has all parts, and on request no name of a person, machine or project."""

import json
import zipfile
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import quote

import pytest

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.hosts.probe import probe
from verdigris.core.hosts.redaction import Redactor
from verdigris.core.hosts.trouble_report import write_selftest, write_trouble_report

HOME = PureWindowsPath(r"C:\Users\Ana Schmidt")
SHOW = PureWindowsPath(r"P:\secret show")
# As messages, tracebacks (repr), URLs, JSON and USD write them.
TEXT = (
    r"C:\Users\Ana Schmidt\scene.ma 'c:\\users\\ana schmidt\\x' C:/Users/Ana%20Schmidt/y "
    r"\\nas07\jobs\show //NAS07/jobs/z \\\\nas07\\jobs \\other\jobs "
    r"P:\secret show\tex\wood.png p:/Secret%20Show/wood.png 'P:\\secret show' "
    "Ana Schmidt aschmidt ASchmidt@ws-ana.studio.example WS-ANA banana /home/aschmidt/a"
)


@pytest.fixture
def redact():
    return Redactor([SHOW], [HOME], ["aschmidt", "Ana Schmidt", "Ana"], ["ws-ana.studio.example"])


def test_names_have_the_same_pseudonym_wherever_they_are(redact):
    found = redact(TEXT)
    for name in ("schmidt", "ws-ana", "studio", "nas07", "secret", "other"):
        assert name not in found.lower().replace("%20", " "), found
    # a name that is a part of a word is none
    assert "banana" in found
    assert found.startswith(r"<home>\scene.ma '<home>\\x' <home>/y ")
    assert found.count("<server1>") == 3 and found.count("<server2>") == 1
    assert r"<project1>\tex\wood.png <project1>/wood.png '<project1>'" in found


def test_folders_that_only_begin_alike_are_kept():
    redact = Redactor([PurePosixPath("/jobs/a")], [PurePosixPath("/home/al")], ["al"], [])
    assert redact("/jobs/a/x /jobs/ab /home/al/y /home/alba al final") == (
        "<project1>/x /jobs/ab <home>/y /home/alba <user> final"
    )


def test_roots_and_accounts_of_every_machine_are_no_names():
    redact = Redactor([PurePosixPath("/"), PureWindowsPath("C:\\")], [], ["root"], ["localhost"])
    assert redact("/usr/bin C:\\x root localhost 3 / 4") == "/usr/bin C:\\x root localhost 3 / 4"


def test_a_selftest_keeps_its_form_as_json_and_is_taken_apart_as_zip(tmp_path):
    values = {"host": "Maya 2026", "passed": True, "steps": [], "documents": {"gold": "<a/>"}}
    values |= {"probe": {"host": "Maya 2026", "interpreter": str(tmp_path / "mayapy")}}
    write_selftest(tmp_path / "a.json", values, "log")
    assert json.loads((tmp_path / "a.json").read_text()) == values
    write_selftest(tmp_path / "b.json", values, "log", [tmp_path])
    redacted = json.loads((tmp_path / "b.json").read_text())
    assert redacted["probe"]["interpreter"] == "<project1>/mayapy" and redacted["steps"] == []
    with zipfile.ZipFile(write_selftest(tmp_path / "c.zip", values, "a line")) as archive:
        assert archive.namelist() == [
            *("probe.json", "selftest.json", "log.txt", "documents/1_gold.mtlx")
        ]
        assert archive.read("log.txt") == b"a line"


@pytest.mark.parametrize("suffix", [".zip", ".json"])
def test_nothing_of_the_name_remains_in_a_whole_report(tmp_path, monkeypatch, suffix):
    home = tmp_path / "Ana Schmidt"
    home.mkdir()
    for name, value in {"HOME": home, "USERNAME": "aschmidt", "HOSTNAME": "ws-ana"}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("OCIO", str(home / "config.ocio"))
    found = probe(FilesHost(), {"device": "GPU of aschmidt", "log": home / "log.txt"})
    parts = {
        "probe": found,
        "traceback": f'File "{home}/x.py"\nOSError: {str(home)!r} {quote(str(home))}',
        "selftest": {"steps": [{"detail": ["aschmidt", {str(home): home / "a"}]}]},
        "log": "",
    }
    documents = {"aschmidt": f'<input value="{home}/wood.png"/>'}
    file = write_trouble_report(tmp_path / f"report{suffix}", parts, documents, [home / "show"])
    texts = [file.read_text()] if suffix == ".json" else []
    if suffix == ".zip":
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            texts = [*names, *(archive.read(each).decode() for each in names)]
        assert names == [
            *("probe.json", "traceback.txt", "selftest.json", "documents/1__user_.mtlx")
        ]
    whole = "\n".join(texts).lower()
    assert "schmidt" not in whole and "ws-ana" not in whole and "<home>" in whole
    # and without the request, everything is as it is
    file = write_trouble_report(tmp_path / "whole.json", parts, documents)
    written = json.loads(file.read_text())
    assert written["documents"] == documents and written["selftest"]["steps"]
    assert written["probe"]["worker"]["device"] == "GPU of aschmidt"


def test_a_report_has_a_suffix_and_a_place(tmp_path):
    with pytest.raises(HostError, match=r"is a \.zip or a \.json"):
        write_trouble_report(tmp_path / "report.txt", {})
    with pytest.raises(HostError, match="cannot be written"):
        write_trouble_report(tmp_path / "gone" / "report.zip", {})
