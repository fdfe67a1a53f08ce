"""Jobs for farms in the Open Job Description, of version 2023-09: a task for each bake of a scene,
and a last step that writes packs, summary and report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import SceneError
from verdigris.core.base.json_fields import Fields, fields_of, read_json_file

SPECIFICATION = "jobtemplate-2023-09"
MOST_TASKS_OF_A_STEP = 1024
_LONGEST_NAME = 64
_BRACES = ("{{", "}}")
_NOTICE_SECONDS = 60
_LARGEST_RULES = 16 << 20
_WHAT = {"Scene": "The scene.", "Out": "Folder of the bundles."}


@dataclass(frozen=True)
class JobChoices:
    """What goes into a job beside the scene."""

    name: str
    """Of the job."""
    command: str = "verdigris"
    """That the farm's machines have."""
    options: tuple[str, ...] = ()
    """Of `verdigris scene`, such as --set and --shared-decoder; no paths."""
    search: tuple[Path, ...] = ()
    """Folders that files may lie in."""
    needs_gpu: bool = False
    """Whether only machines with a graphics card take tasks."""
    task_seconds: int = 0
    """After which a task is given up; never by default."""
    retry: int = 1
    """How often a task tries a bake again that has crashed, before the farm is told."""
    folder: Path | None = None
    """Where the job's file goes. What lies there or below needs not be named at submission."""


def job_template(
    scene: Path, out: Path, tasks: Sequence[str], choices: JobChoices
) -> dict[str, Any]:
    """The job: paths are parameters, so that farms map them to those of their machines."""
    if not tasks:
        raise SceneError(f"{scene}: nothing of it can be baked")
    for text in (*tasks, *choices.options):
        if any(braces in text for braces in _BRACES):
            raise SceneError(
                f"{scene}: {text!r} has two braces in it, where jobs expect an expression: leave "
                "them out"
            )
    steps = list(_bake_steps(tasks, choices))
    report = {
        "name": "Report",
        "description": "Writes scene packs, summary and report.",
        "dependencies": [{"dependsOn": step["name"]} for step in steps],
        "script": {"actions": {"onRun": _action("finish", [], choices)}},
    }
    return {
        "specificationVersion": SPECIFICATION,
        "name": _job_name(choices.name),
        "parameterDefinitions": list(_parameters(scene, out, choices)),
        "steps": [*steps, report],
    }


def paths_of(scene: Path, out: Path, choices: JobChoices) -> dict[str, Path]:
    """The job's parameters that are paths, with what they are here."""
    search = {f"Search{number}": each for number, each in enumerate(choices.search, 1)}
    return {name: each.absolute() for name, each in ({"Scene": scene, "Out": out} | search).items()}


def is_known(path: Path, choices: JobChoices) -> bool:
    """Whether the job finds a path by itself: defaults lie where the job's file is, or below."""
    return choices.folder is not None and path.is_relative_to(choices.folder.absolute())


def _job_name(name: str) -> str:
    """A name as jobs can have it: one line, no expression."""
    line = "".join(c if c.isprintable() else " " for c in name)
    line = line.replace("{", "(").replace("}", ")")
    return line[:_LONGEST_NAME].strip() or "Verdigris"


def _parameters(scene: Path, out: Path, choices: JobChoices) -> Iterator[dict[str, Any]]:
    for name, path in paths_of(scene, out, choices).items():
        is_file = name == "Scene" and not scene.is_dir()
        parameter = {
            "name": name,
            "type": "PATH",
            "objectType": "FILE" if is_file else "DIRECTORY",
            "dataFlow": "INOUT" if name == "Out" else "IN",
            "description": _WHAT.get(name, "A folder that textures may lie in."),
        }
        if is_known(path, choices):
            assert choices.folder is not None
            parameter["default"] = path.relative_to(choices.folder.absolute()).as_posix()
        yield parameter
    yield {
        "name": "Verdigris",
        "type": "STRING",
        "default": choices.command,
        "description": "The command, as the farm's machines have it.",
    }


def _bake_steps(tasks: Sequence[str], choices: JobChoices) -> Iterator[dict[str, Any]]:
    firsts = range(0, len(tasks), MOST_TASKS_OF_A_STEP)
    for number, first in enumerate(firsts, 1):
        names = list(tasks[first : first + MOST_TASKS_OF_A_STEP])
        arguments = ["--task", "{{Task.Param.Material}}", "--retry", str(choices.retry)]
        step: dict[str, Any] = {
            "name": "Bake" if len(firsts) == 1 else f"Bake{number}",
            "parameterSpace": {
                "taskParameterDefinitions": [{"name": "Material", "type": "STRING", "range": names}]
            },
            "script": {"actions": {"onRun": _action("task", arguments, choices)}},
        }
        if choices.needs_gpu:
            step["hostRequirements"] = {"amounts": [{"name": "amount.worker.gpu", "min": 1}]}
        yield step


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
        # a bake that is told to end keeps its checkpoint
        "cancelation": {
            "mode": "NOTIFY_THEN_TERMINATE",
            "notifyPeriodInSeconds": _NOTICE_SECONDS,
        },
    }
    if what == "task" and choices.task_seconds:
        action["timeout"] = choices.task_seconds
    return action


@dataclass(frozen=True)
class PathRule:
    """Where a folder of the submitting machine is on this one."""

    source: str
    is_windows: bool
    destination: str

    def map(self, path: str) -> str | None:
        """The path on this machine; None for one that does not lie there."""
        source, asked = self._plain(self.source).rstrip("/"), self._plain(path)
        same = asked.lower() if self.is_windows else asked
        start = source.lower() if self.is_windows else source
        if same != start and not same.startswith(f"{start}/"):
            return None
        return self.destination.rstrip("/") + asked[len(source) :]

    def _plain(self, path: str) -> str:
        return path.replace("\\", "/") if self.is_windows else path


def read_path_rules(path: Path | None) -> tuple[PathRule, ...]:
    """The rules that a session has written for its tasks."""
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
    """A path of the scene as it is on this machine: the longest rule that fits counts."""
    for rule in sorted(rules, key=lambda each: -len(each.source)):
        mapped = rule.map(path)
        if mapped is not None:
            return mapped
    return path


def progress(percent: float) -> str:
    """A line that tells a farm how far a task is."""
    return f"openjd_progress: {min(max(percent, 0.0), 100.0):.1f}"


def status(text: str) -> str:
    """A line that tells a farm what a task is doing."""
    return f"openjd_status: {' '.join(text.split())}"


def failure(text: str) -> str:
    """A line that tells a farm why a task has failed."""
    return f"openjd_fail: {' '.join(text.split())}"
