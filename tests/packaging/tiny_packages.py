"""The folder of a plug-in with make_worker.py and tiny wheels in the real format."""

import base64
import hashlib
import shutil
import zipfile

from entries import TEMPLATES
from hosts import this_system
from stage import ROOT, project
from worker_wheels import write_list

from verdigris.core.base.process.unpacked_worker import python_tag

VERSION = project(ROOT)["version"]
PYTHON = f"{python_tag()[2]}.{python_tag()[3:]}"
_PLATFORMDIRS = """
import os
def user_data_dir(name, author):
    return os.path.join(os.environ["HOME"], "data", name)
"""


def write_tiny_wheel(folder, name, files, tags="py3-none-any"):
    """A wheel as PEP 427 describes it, with its RECORD."""
    info = f"{name}-1.0.dist-info"
    files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nTag: {tags}\n",
    }
    lines = []
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        lines.append(f"{path},sha256={digest.decode()},{len(text.encode())}")
    record = f"{info}/RECORD"
    files[record] = "\n".join([*lines, f"{record},,", ""])
    wheel = folder / f"{name}-1.0-{tags}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return wheel


def lay_out(tree, verdigris):
    """Fills a folder. The worker's packages say where they come from, and do nothing."""
    wheels = tree / "wheels"
    wheels.mkdir(parents=True)
    shutil.copyfile(TEMPLATES / "make_worker.py", tree / "make_worker.py")
    shutil.copyfile(verdigris, wheels / verdigris.name)
    for name in ("slangpy", "MaterialX"):
        write_tiny_wheel(wheels, name, {f"{name}.py": ""})
    write_tiny_wheel(wheels, "platformdirs", {"platformdirs.py": _PLATFORMDIRS})
    # PEP 427: files of other places are in NAME.data
    data = "OpenImageIO-1.0.data"
    files = {f"{data}/platlib/OpenImageIO/__init__.py": "", f"{data}/scripts/oiiotool": "#!python"}
    write_tiny_wheel(wheels, "OpenImageIO", files)
    relist(tree)
    return tree


def relist(tree, version=VERSION):
    """Writes the list of packages anew."""
    return write_list(tree / "wheels", PYTHON, this_system(), version)
