"""Jobs for farms in the Open Job Description, version 2023-09.

A scene has a task for each bake, and a last step that writes packs, summary and report. The
materials of a scene of Maya or Houdini are known only to the application, so its tasks are parts of
the scene, or materials by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import SceneError
from verdigris.core.base.json_fields import Fields, fields_of, read_json_file

_SPECIFICATION = "jobtemplate-2023-09"
_MOST_TASKS_OF_A_STEP = 1024
_LONGEST_NAME = 64
_BRACES = ("{{", "}}")
_CANCELATION = {"mode": "NOTIFY_THEN_TERMINATE", "notifyPeriodInSeconds": 60}
_LARGEST_RULES, _LARGEST_LIST = 16 << 20, 64 << 20
_WHAT = {"Scene": "The scene.", "Out": "The folder for the bundles."}


@dataclass(frozen=True)
class JobChoices:
    """Options of a job for a scene."""

    name: str
    """The name of the job."""
    command: str = "verdigris"
    """The verdigris program on the farm's machines."""
    options: tuple[str, ...] = ()
    """Options of `verdigris scene`, such as --set and --shared-decoder, without paths."""
    search: tuple[Path, ...] = ()
    """Folders that files may lie in."""
    needs_gpu: bool = False
    """Whether tasks require a GPU."""
    task_seconds: int = 0
    """Seconds until a task is stopped; 0 sets no limit."""
    retry: int = 1
    """How often a task repeats a bake that crashed."""
    folder: Path | None = None
    """The folder of the job's file. Paths in it become defaults of parameters."""


def job_template(
    scene: Path, out: Path, tasks: Sequence[str], choices: JobChoices
) -> dict[str, Any]:
    """The job template. Paths are parameters, so that farms can map them."""
    if not tasks:
        raise SceneError(f"{scene}: no material of it can be baked")
    _refuse_braces(scene, (*tasks, *choices.options))
    steps = list(_bake_steps(tasks, choices))
    report = {
        "name": "Report",
        "description": "Writes scene packs, summary and report.",
        "dependencies": [{"dependsOn": step["name"]} for step in steps],
        "script": {"actions": {"onRun": _action("finish", [], choices)}},
    }
    return _template(choices.name, _parameters(scene, out, choices), [*steps, report])


def _refuse_braces(scene: Path, texts: Iterable[str]) -> None:
    """Refuses texts that a farm would read as an expression."""
    for text in texts:
        if any(braces in text for braces in _BRACES):
            raise SceneError(
                f"{scene}: {text!r} has two braces, which begin an expression in jobs: leave "
                "them out"
            )


def paths_of(scene: Path, out: Path, choices: JobChoices) -> dict[str, Path]:
    """The path parameters of the job, with their values here."""
    search = {f"Search{number}": each for number, each in enumerate(choices.search, 1)}
    return {name: each.absolute() for name, each in ({"Scene": scene, "Out": out} | search).items()}


def is_known(path: Path, folder: Path | None) -> bool:
    """Whether a path is a default of the job: such paths lie in the folder of the job's file or
    below."""
    return folder is not None and path.is_relative_to(folder.absolute())


def _job_name(name: str) -> str:
    """A valid name for a job: one line without expressions."""
    line = "".join(c if c.isprintable() else " " for c in name)
    line = line.replace("{", "(").replace("}", ")")
    return line[:_LONGEST_NAME].strip() or "Verdigris"


def _path_parameter(name: str, path: Path, what: str, folder: Path | None) -> dict[str, Any]:
    """The definition of a path, which farms map. The path is the default if the job's file is in
    the same folder or above."""
    path = path.absolute()
    is_file = name == "Scene" and not path.is_dir()
    parameter = {
        "name": name,
        "type": "PATH",
        "objectType": "FILE" if is_file else "DIRECTORY",
        "dataFlow": "INOUT" if name == "Out" else "IN",
        "description": what,
    }
    if folder is not None and is_known(path, folder):
        parameter["default"] = path.relative_to(folder.absolute()).as_posix()
    return parameter


def _parameters(scene: Path, out: Path, choices: JobChoices) -> Iterator[dict[str, Any]]:
    for name, path in paths_of(scene, out, choices).items():
        what = _WHAT.get(name, "A folder that textures may lie in.")
        yield _path_parameter(name, path, what, choices.folder)
    yield {
        "name": "Verdigris",
        "type": "STRING",
        "default": choices.command,
        "description": "The verdigris program on the farm's machines.",
    }


def _bake_steps(tasks: Sequence[str], choices: JobChoices) -> Iterator[dict[str, Any]]:
    for name, names in _steps_of(tasks):
        arguments = ["--task", "{{Task.Param.Material}}", "--retry", str(choices.retry)]
        parameter = {"name": "Material", "type": "STRING", "range": names}
        yield _step(name, parameter, _action("task", arguments, choices), choices.needs_gpu)


def _steps_of(tasks: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The names of steps with their tasks. The number of tasks in a step is limited."""
    firsts = range(0, len(tasks), _MOST_TASKS_OF_A_STEP)
    for number, first in enumerate(firsts, 1):
        name = "Bake" if len(firsts) == 1 else f"Bake{number}"
        yield name, list(tasks[first : first + _MOST_TASKS_OF_A_STEP])


def _template(
    name: str, parameters: Iterable[dict[str, Any]], steps: Iterable[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "specificationVersion": _SPECIFICATION,
        "name": _job_name(name),
        "parameterDefinitions": list(parameters),
        "steps": list(steps),
    }


def _step(
    name: str, parameter: dict[str, Any], action: dict[str, Any], needs_gpu: bool
) -> dict[str, Any]:
    """A step with a task for each value of a parameter."""
    step: dict[str, Any] = {
        "name": name,
        "parameterSpace": {"taskParameterDefinitions": [parameter]},
        "script": {"actions": {"onRun": action}},
    }
    if needs_gpu:
        step["hostRequirements"] = {"amounts": [{"name": "amount.worker.gpu", "min": 1}]}
    return step


def _action(what: str, arguments: list[str], choices: JobChoices) -> dict[str, Any]:
    search = [f"{{{{Param.Search{number}}}}}" for number in range(1, len(choices.search) + 1)]
    action: dict[str, Any] = {
        "command": "{{Param.Verdigris}}",
        "args": [
            *("farm", what, "{{Param.Scene}}", "--out", "{{Param.Out}}"),
            *("--path-mapping", "{{Session.PathMappingRulesFile}}"),
            *(part for folder in search for part in ("--search", folder)),
            *choices.options,
            *arguments,
        ],
        # a task that is stopped keeps its checkpoint
        "cancelation": _CANCELATION,
    }
    if what == "task" and choices.task_seconds:
        action["timeout"] = choices.task_seconds
    return action


@dataclass(frozen=True)
class HostJobChoices:
    """Options of a job for a scene of an application."""

    name: str
    """The name of the job."""
    interpreter: str
    """mayapy or hython on the farm's machines."""
    launcher: str
    """batch.py on the farm's machines."""
    preset: str = ""
    parts: int = 1
    """The number of tasks if no materials are named."""
    options: tuple[str, ...] = ()
    """Further options of batch.py, without paths."""
    needs_gpu: bool = False
    """Whether tasks require a GPU."""
    task_seconds: int = 0
    """Seconds until a task is stopped; 0 sets no limit."""
    folder: Path | None = None
    """The folder of the job's file. Paths in it become defaults of parameters."""


def host_job_template(
    scene: Path, out: Path, materials: Sequence[str], choices: HostJobChoices
) -> dict[str, Any]:
    """The job template, with a task for each material, or for each part of the scene."""
    _refuse_braces(scene, (*materials, *choices.options))
    if not materials and not 1 <= choices.parts <= _MOST_TASKS_OF_A_STEP:
        raise SceneError(
            f"{choices.parts} parts: a job has 1 to {_MOST_TASKS_OF_A_STEP}: choose another number"
        )
    parameters = _host_parameters(scene, out, not materials, choices)
    return _template(choices.name, parameters, _host_steps(materials, choices))


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


def _host_parameters(
    scene: Path, out: Path, has_parts: bool, choices: HostJobChoices
) -> Iterator[dict[str, Any]]:
    yield _path_parameter("Scene", scene, "The scene.", choices.folder)
    yield _path_parameter("Out", out, "The folder for the bundles.", choices.folder)
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
            "maxValue": _MOST_TASKS_OF_A_STEP,
            "description": "Number of tasks. Each opens the scene and bakes its part of it.",
        }


def _host_steps(materials: Sequence[str], choices: HostJobChoices) -> Iterator[dict[str, Any]]:
    if materials:
        for name, some in _steps_of(materials):
            range_ = {"name": "Material", "type": "STRING", "range": some}
            # with =, as a key may begin with a dash
            yield _host_step(name, range_, ["--material={{Task.Param.Material}}"], choices)
    else:
        range_ = {"name": "Part", "type": "INT", "range": "1-{{Param.Parts}}"}
        yield _host_step("Bake", range_, ["--part", "{{Task.Param.Part}}/{{Param.Parts}}"], choices)


def _host_step(
    name: str, range_: dict[str, Any], chosen: list[str], choices: HostJobChoices
) -> dict[str, Any]:
    action: dict[str, Any] = {
        "command": "{{Param.Interpreter}}",
        "args": [
            *("{{Param.Launcher}}", "{{Param.Scene}}", "--out", "{{Param.Out}}"),
            *("--preset={{Param.Preset}}", "--farm", *chosen, *choices.options),
        ],
        # a task that is stopped keeps the result of its running bake
        "cancelation": _CANCELATION,
    }
    if choices.task_seconds:
        action["timeout"] = choices.task_seconds
    return _step(name, range_, action, choices.needs_gpu)


@dataclass(frozen=True)
class PathRule:
    """Maps a folder of the submitting machine to this one."""

    source: str
    is_windows: bool
    destination: str

    def map(self, path: str) -> str | None:
        """The path on this machine; None if the rule does not apply."""
        source, wanted = self._plain(self.source).rstrip("/"), self._plain(path)
        same = wanted.lower() if self.is_windows else wanted
        start = source.lower() if self.is_windows else source
        if same != start and not same.startswith(f"{start}/"):
            return None
        return self.destination.rstrip("/") + wanted[len(source) :]

    def _plain(self, path: str) -> str:
        return path.replace("\\", "/") if self.is_windows else path


def read_path_rules(path: Path | None) -> tuple[PathRule, ...]:
    """The rules that a session wrote for its tasks."""
    if path is None:
        return ()
    found = fields_of(read_json_file(path, SceneError, _LARGEST_RULES), str(path), "", SceneError)
    return tuple(
        _parse_path_rule(fields_of(rule, str(path), f"path_mapping_rules[{number}]", SceneError))
        for number, rule in enumerate(found.typed("path_mapping_rules", list, []))
    )


def _parse_path_rule(rule: Fields) -> PathRule:
    return PathRule(
        rule.typed("source_path", str),
        rule.typed("source_path_format", str).upper() == "WINDOWS",
        rule.typed("destination_path", str),
    )


def map_path(path: str, rules: Sequence[PathRule]) -> str:
    """The path of the scene on this machine, by the longest rule that applies."""
    for rule in sorted(rules, key=lambda each: -len(each.source)):
        mapped = rule.map(path)
        if mapped is not None:
            return mapped
    return path


def progress(percent: float) -> str:
    """The progress of a task as a line for the farm."""
    return f"openjd_progress: {min(max(percent, 0.0), 100.0):.1f}"


def status(text: str) -> str:
    """The status of a task as a line for the farm."""
    return f"openjd_status: {' '.join(text.split())}"


def failure(text: str) -> str:
    """The failure of a task as a line for the farm."""
    return f"openjd_fail: {' '.join(text.split())}"
