"""The shaders of two networks, compiled once, and the compilers that read them."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from verdigris.core.base.device import cache_folder
from verdigris.core.bundle.runtime import runtime_files as runtime
from verdigris.core.bundle.runtime.runtime_files import TARGETS, runtime_files
from verdigris.core.bundle.runtime.slang_compiler import compile_entry_point
from verdigris.core.network.spec import PRESETS, NetworkSpec

NETWORKS = {
    "2x32 silu": replace(PRESETS["2x32"], activation="silu"),
    "2x5 leaky_smelu": NetworkSpec(5, 2, "leaky_smelu", latent_channels=4, frame_count=1),
}


def compile_strictly(arguments):
    return compile_entry_point([*arguments, "-warnings-as-errors", "all"])


def strict_folder():
    """The cache of what has compiled without warnings: of sources, options and a compiler."""
    kept = cache_folder()
    return kept and kept / "strict"


class StrictFiles(dict):
    """Compiled as they are asked for, with warnings as errors: an engine's build may take them
    so. Processes share what they have compiled."""

    def __init__(self, spec, **given):
        super().__init__()
        self.spec, self.given = spec, given

    def __missing__(self, name):
        target = name.replace(".comp", ".glsl")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(runtime, "cache_folder", strict_folder)
            patch.setattr(runtime, "compile_entry_point", compile_strictly)
            patch.setattr(runtime, "TARGETS", {target: TARGETS[target]})
            self |= runtime_files(self.spec, **self.given)
        return self[name]


def require_tool(name):
    # those of packages lie beside python
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
