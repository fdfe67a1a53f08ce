"""No message of the panel names an option of the command: an artist has no command line."""

import ast
import re
from pathlib import Path

import verdigris.core

CORE = Path(verdigris.core.__file__).parent
# An option, and no rule of a line or a CSS variable.
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
# Code of the command alone; `install/program.py` and `set_up.py` have the options of programs.
_OF_THE_COMMAND = (
    *("cli", "batch", "publish", "compress", "bundle/verify"),
    *("baking/bake_request.py", "bundle/export.py", "ladder/output/page.py"),
    *("worker/install/program.py", "worker/client/set_up.py"),
)
# Texts that the panel does not ask for: with `has_options` or `has_option`, which are off there,
# and those of `verdigris cost` and of a mesh that was named.
_APART = {
    "material/files/paths.py": ("add its folder with --search",),
    "material/files/missing_files.py": ("--search ", " or add their folder with --search"),
    "ladder/mesh/baked_mesh.py": ("name it with --mesh", "leave out --mesh "),
    "bundle/cost/cost.py": ("use --source FILE to compare with the graph",),
}


def messages_in(path):
    """The texts in a module, without the docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    notes = {
        id(each.value)
        for each in ast.walk(tree)
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
    }
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in notes:
            yield each.value


def test_no_message_that_reaches_the_panel_names_an_option_of_the_command():
    named = []
    for root in (CORE, CORE.parent / "ui"):
        for path in root.rglob("*.py"):
            name = path.relative_to(root).as_posix()
            if root == CORE and name.startswith(_OF_THE_COMMAND):
                continue
            apart = _APART.get(name, ()) if root == CORE else ()
            found = [each for each in messages_in(path) if _OPTION.search(each)]
            named += [(name, each) for each in found if not any(text in each for text in apart)]
    assert named == []


def test_a_file_that_is_missing_is_searched_without_an_option(tmp_path):
    from verdigris.core.base.errors import VerdigrisError
    from verdigris.core.hosts.file_host import FilesHost

    file = tmp_path / "shot.mtlx"
    file.write_text(
        '<materialx version="1.39" xmlns:xi="http://www.w3.org/2001/XInclude">'
        '<xi:include href="gone.mtlx"/></materialx>'
    )
    try:
        FilesHost(file).materials()
    except VerdigrisError as failure:
        assert "gone.mtlx" in str(failure) and "--" not in str(failure)
    else:
        raise AssertionError("a missing document was not named")
