"""A short run of every target, its checks, and the engine. `bootstrap.py fuzz` does long runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from .campaign import _enclosed
from .mutate import Mutator, change_json, read_dictionary
from .seeds import MAKERS
from .targets import TARGETS

RUN = Path(__file__).parent / "run.py"
# For all targets together about 5 s of CPU time.
INPUTS = 25


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it cannot limit processes there")


def fuzz(*words):
    command = [sys.executable, "-P", RUN, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)


def test_readers_refuse_damage_by_their_own_error_and_touch_nothing_else(tmp_path):
    """The reader in C has its own short run, in test_c_header.py."""
    targets = [*TARGETS]
    if not shutil.which("node"):
        targets.remove("javascript")
    done = fuzz("--inputs", INPUTS, "--findings", tmp_path, *targets)
    found = [each.read_text() for each in sorted(tmp_path.glob("*/finding.txt"))]
    assert done.returncode == 0, "\n".join([done.stdout, done.stderr, *found])
    assert f"{len(targets) * INPUTS:,} inputs, 0 kinds of findings" in done.stdout


def test_every_target_has_seeds():
    assert MAKERS.keys() == TARGETS.keys()


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """A target whose reader fails as its input says, and the place of its folders."""
    folder = tmp_path_factory.mktemp("broken")
    (folder / "broken.py").write_text(f"""
import os, sys, time
sys.path.append({str(RUN.parents[2])!r})
from pathlib import Path
from tests.fuzz import campaign, child, seeds, targets

def read(folder):
    text = (folder / "a.txt").read_bytes()
    kind = sum(text) % 7
    if text == b"whole seed":
        return
    if "HANGS" in os.environ:
        time.sleep(1000)
    if kind == 0:
        raise KeyError("x")
    if kind == 1:
        os._exit(3)
    if kind == 2:
        held = bytearray(400 << 20)
        held[::4096] = b"x" * len(held[::4096])
    if kind == 3:
        (folder.parent / "beside.txt").write_bytes(b"gone")
    if kind == 4:
        Path({str(folder / "outside.txt")!r}).touch()

def make(folder):
    (folder / "one").mkdir()
    (folder / "one" / "a.txt").write_bytes(b"whole seed")

targets.TARGETS["broken"] = targets.Target(read)
seeds.MAKERS["broken"] = make
if sys.argv[1:] == ["--child"]:
    child.main()
else:
    campaign.NAMES = ("broken",)
    if "HANGS" in os.environ:
        campaign._PATIENCE = 8.0
    campaign.RUN = Path(__file__)
    sys.exit(campaign.main(sys.argv[1:]))
""")
    return folder / "broken.py"


@pytest.fixture(scope="module", autouse=True)
def hanging(broken):
    """A campaign of an input that hangs. It waits while other tests run."""
    command = [sys.executable, "-P", broken, "--inputs", "1", "--findings", broken.parent / "hangs"]
    begun = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "HANGS": ""},
    )  # fmt: skip
    yield begun
    begun.communicate(timeout=120)


def test_each_kind_of_fault_is_found_with_its_input(broken, tmp_path):
    command = [
        sys.executable,
        "-P",
        broken,
        "broken",
        "--inputs",
        "40",
        "--findings",
        tmp_path / "f",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 1, done.stderr
    for kind in (
        "KeyError in ",
        "ends the process (3)",
        "takes too much memory",
        "touches other files",
    ):
        assert f"broken: {kind}" in done.stdout, done.stdout + done.stderr
    assert "40 inputs" in done.stdout
    inputs = [each.read_bytes() for each in (tmp_path / "f").glob("*/input/a.txt")]
    assert {sum(each) % 7 for each in inputs} >= {0, 1, 2, 3}
    if _enclosed(tmp_path):
        assert not broken.with_name("outside.txt").exists()


def test_killed_writers_lose_nothing_and_follow_no_link():
    done = fuzz("kills", "restore", "export", "--kills", 2, "--swaps", 2)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 kills, 4 swaps, 0 faults" in done.stdout


def test_a_writer_that_follows_links_or_writes_halves_is_found(tmp_path):
    (tmp_path / "broken.py").write_text(f"""
import sys
sys.path.append({str(RUN.parents[2])!r})
from tests.fuzz import kills, writers

def write(word):
    def act(place):
        (place / "out" / "state.txt").write_text(word)
        with (place / "out" / "result.txt").open("w") as file:
            (place / "out" / "step").touch()
            file.write(word)
        return 0
    return act

def results(out):
    return {{"result.txt": (out / "result.txt").read_text()}}

writers.WRITERS.clear()
writers.WRITERS["broken"] = writers.Writer(write("later"), (write("earlier"),), results)
kills.main(["--kills", "16"])
""")
    command = [sys.executable, "-P", tmp_path / "broken.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    for fault in (" of somebody else", "result.txt holds neither the earlier nor the later result"):
        assert fault in done.stdout, done.stdout + done.stderr


def test_equal_numbers_give_equal_damage():
    seeds = [{"a.json": b'{"a": [1, {"b": "c"}]}', "b.bin": bytes(range(256))}]
    first, second = (
        [Mutator(seeds).damage(Random(number))[1] for number in range(50)] for _ in "ab"
    )
    assert first == second
    assert len({tuple(sorted(each.items())) for each in first}) > 40


def test_manifests_get_the_lengths_and_digests_of_damaged_files():
    from hashlib import sha256

    data = b"weights of a bundle"
    digest = sha256(data).hexdigest()
    manifest = f'{{"w": {{"file": "w.bin", "bytes": {len(data)}, "sha256": "{digest}"}}}}'.encode()
    mutator = Mutator([{"a.vdg/manifest.json": manifest, "a.vdg/w.bin": data}])
    signed = 0
    for number in range(60):
        changed = mutator.damage(Random(number))[1]
        damaged = changed.get("a.vdg/w.bin")
        if damaged is not None and sha256(damaged).hexdigest().encode() in changed.get(
            "a.vdg/manifest.json", b""
        ):
            signed += f'"bytes": {len(damaged)}'.encode() in changed["a.vdg/manifest.json"]
    assert signed > 10


def test_damage_to_json_changes_one_value_and_keeps_its_lines():
    line = b'{"a": [1, {"b": "c"}], "d": 2}'
    changed = [change_json(line, Random(number)) for number in range(200)]
    assert all(b"\n" not in each for each in changed)
    assert len({*changed}) > 60


def test_dictionaries_hold_bytes():
    assert b"\xabKTX 20\xbb\r\n\x1a\n" in read_dictionary("binary")
    assert b'"../../x"' in read_dictionary("json")


def test_a_hang_is_found_with_its_input(hanging, broken):
    output, _ = hanging.communicate(timeout=120)
    assert "broken: hangs (1 inputs)" in output
    assert [each.name for each in (broken.parent / "hangs").glob("*/input/*")] == ["a.txt"]
