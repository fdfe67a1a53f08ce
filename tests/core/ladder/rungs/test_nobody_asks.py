"""Nobody outside of the package of rungs asks which rung it has: each answers for itself."""

import ast
from pathlib import Path

import pytest

from verdigris.core.ladder.rungs.registry import RUNGS

ROOT = Path(__file__).resolve().parents[4]
PACKAGE = ROOT / "core/ladder/rungs"
NAMES = {kind.name for kind in RUNGS}
CLASSES = {kind.__name__ for kind in RUNGS}
# The base class, the list, and the bundle that a bake makes.
OPEN = {"rung", "registry", "neural"}


def questions_in(source):
    """The places of a module that ask which rung it has, as lines of code."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            package, _, module = node.module.rpartition(".")
            if package == "verdigris.core.ladder.rungs" and module not in OPEN:
                yield ast.unparse(node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            if any(name in ast.unparse(node.args[1]) for name in CLASSES):
                yield ast.unparse(node)
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(map(is_a_name_of, sides)) and any(map(is_rung, sides)):
                yield ast.unparse(node)
        elif isinstance(node, ast.match_case) and is_a_name_of(
            getattr(node.pattern, "value", None)
        ):
            yield ast.unparse(node.pattern)


def is_a_name_of(node):
    """Whether code is the name or the class of a certain rung, or a set of them."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(map(is_a_name_of, node.elts))
    if isinstance(node, ast.Constant):
        return node.value in NAMES
    return node is not None and any(ast.unparse(node) in (name, f"{name}.name") for name in CLASSES)


def is_rung(node):
    """Whether code may stand for a rung or its name."""
    text = ast.unparse(node).lower()
    return "rung" in text or "kind" in text or "name" in text


@pytest.mark.parametrize("top", ["core", "ui", "plugins", "docs/benchmarks"])
def test_no_module_asks_for_a_rung(top):
    found = [
        f"{file.relative_to(ROOT)}: {line}"
        for file in sorted((ROOT / top).rglob("*.py"))
        if PACKAGE not in file.parents
        for line in questions_in(file.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "from verdigris.core.ladder.rungs.pbr import PbrRung",
        "isinstance(rung, NeuralRung)",
        "rung.name == 'pbr'",
        "if entry['name'] in ('unlit', 'detail'): pass",
        "'surface' not in request.rungs",
        "kind is NeuralRung",
        "rung.name != NeuralRung.name",
        "match rung.name:\n    case 'vertex': pass",
    ],
)
def test_a_question_is_found(line):
    assert list(questions_in(line))


def test_what_a_rung_answers_is_no_question():
    assert not list(questions_in("if rung.is_lit and 'detail' in files: pass"))
