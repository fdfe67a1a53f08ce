"""Limits of untrusted JSON: size, depth and the number of values."""

import ast
import json
import tracemalloc
from pathlib import Path

import pytest

from verdigris.core.base import json_fields
from verdigris.core.base.errors import BundleError, SceneError
from verdigris.core.base.json_fields import find_json, find_json_file, load_json, read_json_file

ROOT = Path(__file__).resolve().parents[3]
# Other calls of json.loads and json.load, each with the reason why its text is not from outside.
OWN_TEXT = {
    "core/base/json_fields.py": "the home of untrusted JSON",
    "core/base/process/worker_environment.py": "the user's own settings",
    "core/baking/bake_request.py": "a key of a cache, written in the same process",
    "core/batch/run/bake_task.py": "a task from the process that started this one",
    "core/batch/scene/untrusted_stage.py": "a question from the process that started this one",
    "core/batch/scene/scene.py": "a key of a table, written in the same function",
    "core/cli/commands/selftest.py": "the report of a process that this one started",
    "core/material/trial/answer.py": "a question from the process that started this one",
    "core/material/usd/signatures.py": "a table of the package",
    "core/settings/bake_settings.py": "settings, written in the same line",
    "core/settings/changes.py": "the user's own command line",
    "core/worker/client/set_up.py": "the answer of the Python that is about to be run",
}
WIDE = b"[" + b"[]," * 5_000_000 + b"[]]"
DEEP = b"[" * 200_000 + b"]" * 200_000


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b" " * (65 << 20), "is larger than 64 MB: split it"),
        (WIDE, "has more than 4,000,000 values: split it"),
        (DEEP, "is nested too deeply"),
        (b"[" * 101 + b"]" * 101, "is nested too deeply"),
        (b"1" * 5000, "a number with too many digits: 5000"),
    ],
)
def test_what_would_take_too_much_is_refused_by_name_before_it_takes_it(data, said):
    tracemalloc.start()
    try:
        with pytest.raises(SceneError, match=f"scene.json: .*{said}"):
            load_json(data, "scene.json", SceneError)
        assert find_json(data) is None
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


def test_a_file_is_not_read_beyond_its_limit(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b'{"a": 1}' + b" " * 100)
    assert read_json_file(path, BundleError, 108) == find_json_file(path, 108) == {"a": 1}
    assert find_json_file(path, 107) is None
    with pytest.raises(BundleError, match=r"a\.json: is larger than .* MB: split it"):
        read_json_file(path, BundleError, 107)


@pytest.mark.parametrize("data", [b"", b"\xff", b"{", b"[1,]", b'"', "{'a': 1}"])
def test_what_a_program_wrote_and_is_damaged_is_nothing(tmp_path, data):
    assert find_json(data) is None
    path = tmp_path / "a.json"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    assert find_json_file(path) is None
    assert find_json_file(tmp_path) is find_json_file(tmp_path / "none") is None


def test_what_a_program_wrote_may_hold_numbers_that_json_does_not_have():
    assert find_json(json.dumps({"psnr": float("inf"), "é": [None]})) == {
        "psnr": float("inf"),
        "é": [None],
    }


def test_a_text_with_as_many_values_as_allowed_is_read(monkeypatch):
    monkeypatch.setattr(json_fields, "_MOST_VALUES", 40)
    many = json.dumps(list(range(40)), separators=(",", ":")).encode()
    assert find_json(many) == list(range(40))
    assert find_json(many.replace(b"39", b"39,40")) is None


def calls(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            named = node.func.value
            if isinstance(named, ast.Name) and (named.id, node.func.attr) in (
                ("json", "loads"),
                ("json", "load"),
            ):
                yield node


def test_json_is_parsed_in_one_module():
    texts = {
        file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8")
        for top in ("core", "ui", "plugins")
        for file in (ROOT / top).rglob("*.py")
    }
    found = {
        name for name, text in texts.items() if "json.load" in text and any(calls(ast.parse(text)))
    }
    assert found == set(OWN_TEXT)
    assert not [name for name, text in texts.items() if "from json import" in text]
