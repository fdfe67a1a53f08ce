"""python -m verdigris.core.baking.warm_up [DEVICE]: compiles, once for a version and a device, the
kernels that bakes of all presets share, so that a first bake finds them.

A compiler's output depends on the place of its sources, and a driver's on the driver. So it is made
where it is used: at set-up, after the first bake, or in a resident worker, and kept in the caches
of Verdigris and of the driver. Short bakes of two small materials compile just what bakes need.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.device import cache_folder, open_device
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.files import replace_file
from verdigris.core.base.json_fields import find_json_file
from verdigris.core.base.lock import locked
from verdigris.core.base.process.worker_environment import require_worker_command, start_process
from verdigris.core.base.text import version

if TYPE_CHECKING:
    from verdigris.core.base.device import Device

_MODULE = "verdigris.core.baking.warm_up"
_FILE = "warm_up.json"
_STEPS = 64
_LEAST_PRIORITY = 15
_SURFACE = """<?xml version="1.0"?>
<materialx version="1.39">
  {nodes}
  <standard_surface name="surface" type="surfaceshader">
    <input name="base_color" type="color3" {colour}/>
    <input name="specular_roughness" type="float" value="0.3"/>
  </standard_surface>
  <surfacematerial name="{name}" type="material">
    <input name="surfaceshader" type="surfaceshader" nodename="surface"/>
  </surfacematerial>
</materialx>
"""
_NODES = """<texcoord name="uv" type="vector2"/>
  <multiply name="places" type="vector2">
    <input name="in1" type="vector2" nodename="uv"/><input name="in2" type="float" value="100"/>
  </multiply>
  <noise2d name="noise" type="color3">
    <input name="texcoord" type="vector2" nodename="places"/>
    <input name="amplitude" type="vector3" value="0.3, 0.3, 0.3"/>
    <input name="pivot" type="float" value="0.5"/>
  </noise2d>"""
_DOCUMENTS = {
    "detailed": _SURFACE.format(name="detailed", nodes=_NODES, colour='nodename="noise"'),
    "constant": _SURFACE.format(name="constant", nodes="", colour='value="0.5, 0.3, 0.2"'),
}


def is_warm(device: Device, presets: Sequence[str]) -> bool:
    """Whether the kernels of these presets were compiled on this machine."""
    return {*presets} <= {*_done().get(_key(device), ())}


def warm_up(device: Device, presets: Sequence[str], is_always: bool = False) -> Iterator[None]:
    """Compiles the kernels of presets in parts, after each of which the caller may do something
    else or leave. With `is_always` they are loaded into this process, even if they are kept."""
    from verdigris.core.baking.bake_request import BakeRequest
    from verdigris.core.baking.prepare import prepare
    from verdigris.core.baking.state.trainers import choose_trainer
    from verdigris.core.bundle.files.arithmetic import WAYS
    from verdigris.core.bundle.runtime.runtime_files import runtime_files
    from verdigris.core.material.load.mtlx_document import parse_document

    for preset in presets:
        if is_warm(device, [preset]) and not is_always:
            continue
        request = BakeRequest(preset=preset, changes={"iterations": _STEPS})
        with tempfile.TemporaryDirectory(prefix="verdigris-") as folder:
            for name, text in _DOCUMENTS.items():
                document = parse_document(text, (), name)
                chosen = [(document, document.require_material(None))]
                yield
                prepared = prepare(request, chosen, device, Path(folder))
                # with events during its end
                events = prepared.with_options(writes_first=True).bake()
                # a caller that leaves ends the bake
                with contextlib.closing(events):
                    for _ in events:
                        yield
        # those of bundles depend on how exact the trained numbers must be decoded
        recipe = request.recipe(choose_trainer(device), 1)
        for spec in {settings.spec for settings in recipe.by_kind.values()}:
            for way in WAYS:
                runtime_files(spec, way)
                yield
        if not is_warm(device, [preset]):
            _note(device, preset)


def begin_warm_up(device: Device) -> subprocess.Popen[bytes] | None:
    """Compiles in the background, with the least priority. The caller may end the process: what is
    compiled is kept. A CPU compiles what it needs in a bake: there, little is shared."""
    from verdigris.core.settings.presets import PRESETS

    if device.is_software or is_warm(device, [*PRESETS["tensor"]]) or cache_folder() is None:
        return None
    command = [*require_worker_command(), "-m", _MODULE]
    with contextlib.suppress(OSError):
        return start_process(command, is_apart=True)
    return None


def _key(device: Device) -> str:
    return f"{version()} on {device}"


def _done() -> dict[str, Any]:
    folder = cache_folder()
    found = find_json_file(folder / _FILE) if folder else None
    return found if isinstance(found, dict) else {}


def _note(device: Device, preset: str) -> None:
    folder = cache_folder()
    if folder is not None:
        done = _done()
        done[_key(device)] = [*done.get(_key(device), ()), preset]
        with contextlib.suppress(OSError):
            replace_file(folder / _FILE, json.dumps(done).encode())


def main() -> None:
    """Compiles for a GPU, unless another process does."""
    from verdigris.core.baking.state.trainers import choose_trainer
    from verdigris.core.settings.presets import PRESETS

    # a panel that bakes ends it, and its folders are removed
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    if hasattr(os, "nice"):
        os.nice(_LEAST_PRIORITY)
    device, folder = open_device(sys.argv[1] if len(sys.argv) > 1 else None), cache_folder()
    if folder is None or device.is_software:
        return
    with contextlib.suppress(VerdigrisError), locked(folder, "warm_up"):
        for _ in warm_up(device, [*PRESETS[choose_trainer(device)]]):
            pass


if __name__ == "__main__":
    main()
