"""The wheel: what `pip install` gives someone who has no checkout."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from provision.environment import python_in, script_in

from ..core.brisk import BRISK_COMMAND

ROOT = Path(__file__).resolve().parents[2]
NOT_BUILT = (".*", "build", "node_modules", "__pycache__", "tests", "docs", "*.egg-info")
SHIPPED = ("shaders/**/*.slang", "shaders/**/*.h", "shaders/bundle/examples/*", "web/src/*.js")


def run(*command: object, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    print(done.stdout[-4000:], done.stderr[-4000:], sep="\n")
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # setuptools builds in the folder of the sources, and leaves its work there
    sources = shutil.copytree(ROOT, folder / "sources", ignore=shutil.ignore_patterns(*NOT_BUILT))
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps")
    done = run(*pip, "--wheel-dir", folder, sources, folder=folder)
    if done.returncode and "setuptools" in done.stderr and "No matching" in done.stderr:
        pytest.skip("pip cannot download setuptools, which builds the wheel")
    assert done.returncode == 0
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The program in an environment that holds the wheel alone. Its dependencies are those of the
    tests, whose folder is no site folder there: the checkout is not found through it."""
    place = tmp_path_factory.mktemp("empty") / "venv"
    venv.create(place, with_pip=False)
    python = python_in(place)
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps")
    assert run(*pip, wheel, folder=place).returncode == 0
    (site,) = place.glob("lib/python3*/site-packages") if os.name != "nt" else [place / "Lib"]
    (site / "of_the_tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return script_in(place, "verdigris")


def test_the_wheel_has_every_shader_the_header_and_both_licences(wheel):
    names = {*zipfile.ZipFile(wheel).namelist()}
    files = {path for pattern in SHIPPED for path in ROOT.glob(pattern) if path.is_file()}
    assert len(files) > 100
    assert {f"verdigris/{path.relative_to(ROOT).as_posix()}" for path in files} <= names
    metadata = message_from_bytes(
        zipfile.ZipFile(wheel).read(next(name for name in names if name.endswith("/METADATA")))
    )
    assert metadata["License-Expression"] == "Apache-2.0 AND GPL-3.0-or-later"
    assert {*metadata.get_all("License-File")} == {"LICENSE", "NOTICE", "plugins/blender/LICENSE"}


def test_an_installed_wheel_bakes_far_from_the_checkout(installed, tmp_path):
    assert run(installed, "--version", folder=tmp_path).returncode == 0
    python = python_in(installed.parents[1])
    example = ROOT / "examples" / "glowing_panel.mtlx"
    small = ("--preset", "draft", "--resolution", 16, "--iterations", 20, "-q", "-o", ".")
    small += ("--set", "network=2x16", "--set", "batch=256")
    # what the script runs, with a small ending
    done = run(python, *BRISK_COMMAND[1:], "bake", example, *small, folder=tmp_path)
    assert done.returncode == 0
    bundle = tmp_path / "glowing_panel.vdg"
    assert (bundle / "runtime" / "verdigris.h").is_file()
    found = run(python, "-c", "import verdigris.core as c; print(c.__file__)", folder=tmp_path)
    assert Path(found.stdout.strip()).is_relative_to(installed.parents[1])
