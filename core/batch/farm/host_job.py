"""Jobs that bake scenes of Maya and Houdini on farms, in the Open Job Description. Their materials
are known only to the application, so tasks are parts of the scene, or materials by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import SceneError
from verdigris.core.base.json_fields import fields_of, read_json_file
from verdigris.core.batch.farm.openjd import (
    CANCELATION,
    MOST_TASKS_OF_A_STEP,
    SPECIFICATION,
    host_requirements,
    job_name,
    path_parameter,
    refuse_braces,
    steps_of,
)

_LARGEST_LIST = 64 << 20


@dataclass(frozen=True)
class HostJobChoices:
    """Options of a job."""

    name: str
    """The name of the job."""
    interpreter: str
    """mayapy or hython on the farm's machines."""
    launcher: str
    """batch.py on the farm's machines."""
    preset: str = ""
    parts: int = 1
    """Number of tasks, where no materials are named."""
    options: tuple[str, ...] = ()
    """Further options of batch.py, without paths."""
    needs_gpu: bool = False
    """Whether tasks require a graphics card."""
    task_seconds: int = 0
    """Seconds until a task is stopped; 0 for never."""
    folder: Path | None = None
    """The folder of the job's file. Paths in it become defaults of parameters."""


def host_job_template(
    scene: Path, out: Path, materials: Sequence[str], choices: HostJobChoices
) -> dict[str, Any]:
    """The job template: a task for each of these materials, or for each part of the scene."""
    refuse_braces(scene, (*materials, *choices.options))
    if not materials and not 1 <= choices.parts <= MOST_TASKS_OF_A_STEP:
        raise SceneError(
            f"{choices.parts} parts: a job has 1 to {MOST_TASKS_OF_A_STEP}: choose another number"
        )
    return {
        "specificationVersion": SPECIFICATION,
        "name": job_name(choices.name),
        "parameterDefinitions": list(_parameters(scene, out, not materials, choices)),
        "steps": list(_steps(materials, choices)),
    }


def read_material_list(file: Path) -> list[str]:
    """The keys of the materials in a summary, such as that of `batch.py --list`."""
    found = fields_of(read_json_file(file, SceneError, _LARGEST_LIST), str(file), "", SceneError)
    keys = [
        fields_of(each, str(file), f"materials[{number}]", SceneError).typed("key", str)
        for number, each in enumerate(found.typed("materials", list))
    ]
    if not keys:
        raise SceneError(f"{file}: lists no material: write it with batch.py --list --summary")
    return keys


def _parameters(
    scene: Path, out: Path, has_parts: bool, choices: HostJobChoices
) -> Iterator[dict[str, Any]]:
    yield path_parameter("Scene", scene, "The scene.", choices.folder)
    yield path_parameter("Out", out, "The folder for the bundles.", choices.folder)
    for name, value, what in (
        ("Interpreter", choices.interpreter, "mayapy or hython on the farm's machines."),
        ("Launcher", choices.launcher, "batch.py of the plug-in on the farm's machines."),
        ("Preset", choices.preset, "draft, standard or final. Empty: that of the device."),
    ):
        yield {"name": name, "type": "STRING", "default": value, "description": what}
    if has_parts:
        yield {
            "name": "Parts",
            "type": "INT",
            "default": choices.parts,
            "minValue": 1,
            "maxValue": MOST_TASKS_OF_A_STEP,
            "description": "Number of tasks. Each opens the scene and bakes its part of it.",
        }


def _steps(materials: Sequence[str], choices: HostJobChoices) -> Iterator[dict[str, Any]]:
    if materials:
        for name, some in steps_of(materials):
            range_ = {"name": "Material", "type": "STRING", "range": some}
            # with =, as a key may begin with a dash
            yield _step(name, range_, ["--material={{Task.Param.Material}}"], choices)
    else:
        range_ = {"name": "Part", "type": "INT", "range": "1-{{Param.Parts}}"}
        yield _step("Bake", range_, ["--part", "{{Task.Param.Part}}/{{Param.Parts}}"], choices)


def _step(
    name: str, range_: dict[str, Any], chosen: list[str], choices: HostJobChoices
) -> dict[str, Any]:
    action: dict[str, Any] = {
        "command": "{{Param.Interpreter}}",
        "args": [
            *("{{Param.Launcher}}", "{{Param.Scene}}", "--out", "{{Param.Out}}"),
            *("--preset={{Param.Preset}}", "--farm", *chosen, *choices.options),
        ],
        # a task that is stopped keeps the result of its running bake
        "cancelation": CANCELATION,
    }
    if choices.task_seconds:
        action["timeout"] = choices.task_seconds
    return {
        "name": name,
        "parameterSpace": {"taskParameterDefinitions": [range_]},
        "script": {"actions": {"onRun": action}},
        **host_requirements(choices.needs_gpu),
    }
