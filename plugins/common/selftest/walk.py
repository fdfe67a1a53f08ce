"""Calls every function of an adapter in a scratch scene, and compares the results with the scene.

It runs inside a real mayapy, hython or Blender, which the automatic tests of Maya and Houdini
cannot do.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.errors import HostError
from verdigris.core.base.files import make_folders
from verdigris.core.base.json_fields import find_json_file
from verdigris.core.hosts.host import (
    WEIGHT_SET,
    BakedResult,
    Host,
    HostDocument,
    HostMaterial,
    log_beside,
)
from verdigris.core.hosts.probe import probe
from verdigris.core.hosts.trouble_report import read_tail, require_suffix, write_selftest
from verdigris.plugins.common.selftest.read_back import check_document
from verdigris.plugins.common.selftest.report import FAILED, DifferenceError, Report
from verdigris.plugins.common.selftest.scratch import Expected, Scratch, write_images
from verdigris.plugins.common.selftest.short_bake import SECONDS, Baked, bake_briefly

EXIT_PASSED, EXIT_FAILED = 0, 1
Bake = Callable[[HostDocument, Path], Baked]


def run_selftest(
    start: Callable[[], Host], make_scene: Callable[[Path], Scratch], bake: Bake | None
) -> Report:
    """Makes a scene in a folder, calls every function of the host on it, and bakes its first
    material. Without `bake`, nothing is baked."""
    report = Report()
    host = report.run("start", start)
    if host is None:
        return report
    report.host = host.name
    # Windows deletes no file that the application has open
    with tempfile.TemporaryDirectory(prefix="verdigris_", ignore_cleanup_errors=True) as folder:
        scratch = report.run("make the scratch scene", lambda: make_scene(Path(folder)))
        if scratch is not None:
            _Walk(report, host, scratch, Path(folder)).run(bake)
    # at the end, as the scene has loaded plug-ins and the worker has reported its device
    report.probe = report.run("probe", lambda: probe(host, report.baked))
    return report


class _Walk:
    """The steps in one scratch scene."""

    def __init__(self, report: Report, host: Host, scratch: Scratch, folder: Path) -> None:
        self._report, self._host, self._scratch, self._folder = report, host, scratch, folder

    def run(self, bake: Bake | None) -> None:
        report, host = self._report, self._host
        for name, why in self._scratch.left_out.items():
            report.leave_out(name, why)
        for name, check in self._scratch.checks.items():
            report.run(name, check)
        self._call("scene_file", host.scene_file)
        self._call("scene_warnings", host.scene_warnings)
        materials = self._call("materials", host.materials) or ()
        self._call("selected_materials", host.selected_materials)
        first: tuple[HostMaterial, HostDocument] | None = None
        for expected in self._scratch.materials:
            step = f"the list has the material {expected.name}"
            material = report.run(step, lambda wanted=expected: _find(materials, wanted))
            if material is not None:
                document = self._test_material(material, expected)
                first = first or ((material, document) if document is not None else None)
        if bake is None:
            report.leave_out("bake", "--no-bake")
        elif first is not None:
            self._bake(*first, bake)

    def _call(
        self, name: str, call: Callable[[], Any], of: str = "", expected: Expected | None = None
    ) -> Any:
        refused = {**self._scratch.refused, **(expected.refused if expected else {})}
        return self._report.run(f"{name} ({of})" if of else name, call, refused.get(name, ""))

    def _test_material(self, material: HostMaterial, expected: Expected) -> HostDocument | None:
        report, host = self._report, self._host
        of = f"{material.name}, {material.source}"
        self._call("identity", lambda: host.identity(material), of)
        document = self._call("document", lambda: host.document(material), of, expected)
        if document is not None:
            report.documents[material.name] = document.text
            step = f"document has the material ({of})"
            report.run(step, lambda: check_document(document, expected))
        for mesh in self._call("meshes", lambda: host.meshes(material), of) or ():
            self._test_mesh(mesh, material)
        textures = write_images(self._folder).textures
        for number, given in enumerate(({}, textures)):
            bundle = self._folder / f"scratch{number}.vdg"
            make_folders(bundle)
            self._attach(BakedResult(bundle, given), material, of, expected)
        for name, call in _more_calls(host, material).items():
            self._call(name, call, of)
        # a stage runs the attached script only when it cooks
        self._call("materials with a result", host.materials, of)
        return document

    def _test_mesh(self, mesh: str, material: HostMaterial) -> None:
        host = self._host
        self._call("mesh", lambda: _describe_mesh(host.mesh(mesh, material)), mesh)
        self._call("weight_sets", lambda: host.weight_sets(mesh), mesh)
        self._call("start_painting", lambda: host.start_painting(mesh), mesh)
        self._call("weights", lambda: _describe_weights(host, mesh), mesh)

    def _attach(
        self, result: BakedResult, material: HostMaterial, of: str, expected: Expected | None = None
    ) -> None:
        host = self._host
        before = host.attached(material)
        with_textures = ", with textures" if result.textures else ""
        self._call(
            "attach", lambda: host.attach(material, result), f"{of}{with_textures}", expected
        )
        noted = before if expected and "attach" in expected.refused else result.bundle
        step = f"attached ({of}{with_textures})"
        self._report.run(step, lambda: _check_result(host, material, noted))

    def _bake(self, material: HostMaterial, document: HostDocument, bake: Bake) -> None:
        report = self._report
        baked = report.run(f"bake ({material.name})", lambda: bake(document, self._folder))
        if baked is None:
            return
        report.baked = {name: str(value) for name, value in asdict(baked).items()}
        result = BakedResult(baked.bundle)
        self._attach(result, material, f"{material.name}, the bake")
        report.run("the bundle is complete", lambda: _check_bundle(baked.bundle))


def _find(materials: Sequence[HostMaterial], expected: Expected) -> HostMaterial:
    for each in materials:
        if each.name == expected.name and expected.source in ("", each.source):
            return each
    names = ", ".join(f"{each.name} ({each.source})" for each in materials)
    raise DifferenceError(f"{expected.name} is not listed: {names or 'the list is empty'}")


def _more_calls(host: Host, material: HostMaterial) -> dict[str, Callable[[], Any]]:
    """Calls of an adapter that are not in the interface."""
    offered = getattr(host, "calls_for_selftest", None)
    return offered(material) if offered else {}


def _describe_mesh(mesh: Any) -> str:
    return f"{len(mesh.position)} triangles, uv {mesh.uv.min():.3f} to {mesh.uv.max():.3f}"


def _describe_weights(host: Host, mesh: str) -> str:
    weights = host.mesh(mesh, None, WEIGHT_SET).weights
    return "none" if weights is None else f"{weights.min():.3f} to {weights.max():.3f}"


def _check_result(host: Host, material: HostMaterial, bundle: Path | None) -> str:
    found = host.attached(material)
    if found != bundle:
        raise DifferenceError(f"{found} is noted, not {bundle}")
    return str(found)


def _check_bundle(bundle: Path) -> str:
    if not find_json_file(bundle / "manifest.json"):
        raise DifferenceError(f"{bundle}: its manifest is empty")
    return f"{len(list(bundle.iterdir()))} files"


def finish(report: Report, file: Path, is_redacted: bool = False) -> int:
    """Writes the report and prints a summary. Returns the exit code."""
    values = {**asdict(report), "passed": report.passed}
    projects = [Path.cwd(), file.parent] if is_redacted else None
    write_selftest(file, values, read_tail(log_beside(file)), projects)
    failed = [step.name for step in report.steps if step.outcome == FAILED]
    outcome = "passed" if report.passed else f"failed at: {', '.join(failed)}"
    print(f"verdigris selftest: {report.host or 'no host'}: {outcome}; report in {file}")
    return EXIT_PASSED if report.passed else EXIT_FAILED


def run_program(
    name: str,
    start: Callable[[], Host],
    make_scene: Callable[[Path], Scratch],
    arguments: Sequence[str],
) -> int:
    """Runs the self-test as a program. Wrong usage exits with 2."""
    parser = argparse.ArgumentParser(prog=name, description="Tests the plug-in in a new scene.")
    parser.add_argument("report", type=Path, help="the file for the report (.json or .zip)")
    parser.add_argument("--no-bake", action="store_true", help="reads and attaches only")
    parser.add_argument(
        "--redact", action="store_true", help="leaves names of people, machines and folders out"
    )
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="seconds of training (default: 10)"
    )
    given = parser.parse_args(arguments)
    try:
        require_suffix(given.report)
    except HostError as failure:
        parser.error(str(failure))

    def bake(document: HostDocument, folder: Path) -> Baked:
        request = BakeRequest(preset="draft", time_limit=given.seconds)
        return bake_briefly(document, folder, request)

    found = run_selftest(start, make_scene, None if given.no_bake else bake)
    return finish(found, given.report.absolute(), given.redact)
