"""The self-test: calls every function of an adapter in a new scene, and writes a report.

It runs inside a real mayapy or hython, which the automatic tests cannot do.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.files import replace_file
from verdigris.core.hosts.host import (
    BASE_COLOR,
    EMISSION,
    METALNESS,
    NORMAL_MAP,
    OPACITY,
    ROUGHNESS,
    WEIGHT_SET,
    BakedResult,
    Host,
    HostMaterial,
)

EXIT_PASSED, EXIT_FAILED = 0, 1
PASSED, REFUSED, FAILED = "passed", "refused", "failed"
_LONGEST = 2000


@dataclass
class Step:
    """A call and its outcome."""

    name: str
    outcome: str
    detail: str = ""
    seconds: float = 0.0


@dataclass
class Report:
    """The host, the versions and the steps."""

    host: str = ""
    python: str = sys.version.split()[0]
    system: str = platform.platform()
    modules: dict[str, str] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether no step failed. A refusal with a reason is not a failure."""
        return all(step.outcome != FAILED for step in self.steps)

    def run(self, name: str, call: Callable[[], Any]) -> Any:
        """Runs a step and records it. A step that fails returns None."""
        began = time.monotonic()
        step = Step(name, PASSED)
        self.steps.append(step)
        result = None
        try:
            result = call()
            step.detail = _short(result)
        except VerdigrisError as failure:
            step.outcome, step.detail = REFUSED, str(failure)
        except Exception:  # noqa: BLE001 - the report covers all steps
            step.outcome, step.detail = FAILED, traceback.format_exc()[-_LONGEST:]
        step.seconds = round(time.monotonic() - began, 3)
        return result


def run_selftest(start: Callable[[], Host], make_scene: Callable[[], None]) -> Report:
    """Makes a scene and calls every function of the host on it."""
    report = Report(modules=_versions())
    host = report.run("start", start)
    if host is None:
        return report
    report.host = host.name
    report.run("make the scratch scene", make_scene)
    report.run("scene_file", host.scene_file)
    report.run("scene_warnings", host.scene_warnings)
    materials = report.run("materials", host.materials) or ()
    report.run("selected_materials", host.selected_materials)
    if not materials:
        report.steps.append(Step("a material is found", FAILED, "the scratch scene has one"))
    for material in materials:
        _test_material(report, host, material)
    return report


def _test_material(report: Report, host: Host, material: HostMaterial) -> None:
    def named(call: str) -> str:
        return f"{call} ({material.name}, {material.source})"

    report.run(named("identity"), lambda: host.identity(material))
    document = report.run(named("document"), lambda: host.document(material))
    if document is not None:
        report.run(named("document has the material"), lambda: _check_document(document))
    for mesh in report.run(named("meshes"), lambda: host.meshes(material)) or ():
        report.run(f"mesh ({mesh})", lambda mesh=mesh: _describe_mesh(host.mesh(mesh, material)))
        report.run(f"weight_sets ({mesh})", lambda mesh=mesh: host.weight_sets(mesh))
        report.run(f"start_painting ({mesh})", lambda mesh=mesh: host.start_painting(mesh))
        report.run(f"weights ({mesh})", lambda mesh=mesh: _describe_weights(host, mesh))
    with tempfile.TemporaryDirectory(prefix="verdigris_") as folder:
        bundle = Path(folder) / "scratch.vdg"
        report.run(named("attach"), lambda: host.attach(material, BakedResult(bundle)))
        report.run(named("attached"), lambda: _check_result(host, material, bundle))
        kinds = (BASE_COLOR, ROUGHNESS, METALNESS, NORMAL_MAP, EMISSION, OPACITY)
        result = BakedResult(bundle, {kind: bundle.with_name(f"{kind}.png") for kind in kinds})
        report.run(named("attach with textures"), lambda: host.attach(material, result))
        for name, call in _more_calls(host, material).items():
            report.run(named(name), call)
        # a stage runs the attached script only when it cooks
        report.run(named("materials with a result"), host.materials)


def _more_calls(host: Host, material: HostMaterial) -> dict[str, Callable[[], Any]]:
    """Calls of an adapter that are not in the interface."""
    offered = getattr(host, "calls_for_selftest", None)
    return offered(material) if offered else {}


def _check_document(document: Any) -> str:
    if f'name="{document.material}"' not in document.text:
        raise AssertionError(f"{document.material!r} is not in the text")
    return f"{len(document.text)} characters, {len(document.search)} folders"


def _describe_mesh(mesh: Any) -> str:
    return f"{len(mesh.position)} triangles, uv {mesh.uv.min():.3f} to {mesh.uv.max():.3f}"


def _describe_weights(host: Host, mesh: str) -> str:
    weights = host.mesh(mesh, None, WEIGHT_SET).weights
    return "none" if weights is None else f"{weights.min():.3f} to {weights.max():.3f}"


def _check_result(host: Host, material: HostMaterial, bundle: Path) -> str:
    found = host.attached(material)
    if found != bundle:
        raise AssertionError(f"{found} is noted, not {bundle}")
    return str(found)


def _versions() -> dict[str, str]:
    found = {}
    for name in ("numpy", "pxr", "PySide6", "MaterialX"):
        module = sys.modules.get(name)
        if module is None:
            try:
                module = __import__(name)
            except ImportError:
                found[name] = "absent"
                continue
        found[name] = str(getattr(module, "__version__", "present"))
    return found


def _short(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def finish(report: Report, file: Path) -> int:
    """Writes the report and prints a summary. Returns the exit code."""
    values = {**asdict(report), "passed": report.passed}
    replace_file(file, (json.dumps(values, indent=2) + "\n").encode())
    failed = [step.name for step in report.steps if step.outcome == FAILED]
    outcome = "passed" if report.passed else f"failed at: {', '.join(failed)}"
    print(f"verdigris selftest: {report.host or 'no host'}: {outcome}; report in {file}")
    return EXIT_PASSED if report.passed else EXIT_FAILED


def run_program(
    name: str, start: Callable[[], Host], make_scene: Callable[[], None], arguments: Sequence[str]
) -> int:
    """Runs the self-test as a program. Wrong usage exits with 2."""
    parser = argparse.ArgumentParser(prog=name, description="Tests the plug-in in a new scene.")
    parser.add_argument("report", type=Path, help="the file for the report (.json)")
    given = parser.parse_args(arguments)
    return finish(run_selftest(start, make_scene), given.report)
