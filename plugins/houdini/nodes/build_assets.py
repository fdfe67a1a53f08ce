"""The digital asset of the LOP, which is built at its first use, or by `hython build_assets.py OUT`
as a file or in a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hou

from verdigris.core.base.errors import HostError
from verdigris.core.base.files import make_folders, rename_file
from verdigris.plugins.common.version import version
from verdigris.plugins.houdini.nodes import bake_lop
from verdigris.plugins.houdini.result_script import asset_script
from verdigris.plugins.houdini.scene.translator import require_network

TREE_VARIABLE = "VERDIGRIS_TREE"
_FOLDER = "otls"
_COMMERCIAL, _NON_COMMERCIAL = ".hda", ".hdanc"
_ICON = "LOP_pythonscript"
_SCRIPTS = {
    "PythonModule": bake_lop.PYTHON_MODULE,
    "OnLoaded": bake_lop.SETTLE,
    "OnCreated": bake_lop.SETTLE,
}


def build(file: Path) -> Path:
    """Writes the digital asset to a file, or replaces it. The visible networks stay as they were.
    Returns the file, which has the suffix of the license."""
    temporary = file.with_name(f".{file.name}.new.hda")
    made = temporary
    with hou.undos.disabler():
        subnet = require_network().createNode("subnet", "verdigris_building")
        try:
            make_folders(file.parent)
            script = subnet.createNode("pythonscript", bake_lop.INNER_SCRIPT)
            script.setInput(0, subnet.indirectInputs()[0])
            script.parm("python").set(asset_script())
            subnet.node("output0").setInput(0, script)
            asset = subnet.createDigitalAsset(
                name=bake_lop.TYPE_NAME,
                hda_file_name=temporary.as_posix(),
                description=bake_lop.LABEL,
                min_num_inputs=1,
                max_num_inputs=1,
                version=version(),
                ignore_external_references=True,
                create_backup=False,
            )
            subnet = asset
            definition = asset.type().definition()
            made = Path(definition.libraryFilePath())
            _describe(definition)
            definition.save(made.as_posix(), create_backup=False)
        except (hou.OperationFailed, hou.PermissionError, OSError) as failure:
            raise HostError(f"{file}: the node cannot be built: {failure}") from None
        finally:
            subnet.destroy()
            # the type is installed from its final place
            if made.as_posix() in hou.hda.loadedFiles():
                hou.hda.uninstallFile(made.as_posix(), change_oplibraries_file=False)
    final = file.with_suffix(made.suffix)
    rename_file(made, final)
    return final


def _describe(definition: hou.HDADefinition) -> None:
    """Sets the parameters, the scripts and the help."""
    group = hou.ParmTemplateGroup()
    for parameter in bake_lop.PARAMETERS:
        group.append(_template(parameter))
    definition.setParmTemplateGroup(group)
    for name, text in _SCRIPTS.items():
        definition.addSection(name, text)
        definition.setExtraFileOption(f"{name}/IsPython", True)
    definition.addSection("Tools.shelf", bake_lop.TOOLS_SHELF)
    definition.addSection("Help", bake_lop.help_text())
    # shown under the name of the node in the network
    definition.addSection("DescriptiveParmName", bake_lop.STATE)
    definition.setIcon(_ICON)


def _template(parameter: bake_lop.Parameter) -> Any:
    """The template of a parameter."""
    name, label, note = parameter.name, parameter.label, parameter.help
    if parameter.kind == bake_lop.BUTTON:
        return hou.ButtonParmTemplate(
            name,
            label,
            help=note,
            join_with_next=name == bake_lop.BAKE,
            script_callback=bake_lop.CALLBACKS[name],
            script_callback_language=hou.scriptLanguage.Python,
        )
    if parameter.kind == bake_lop.TOGGLE:
        return hou.ToggleParmTemplate(name, label, default_value=False, help=note)
    options: dict[str, Any] = {"default_value": (parameter.default,), "help": note}
    if parameter.kind == bake_lop.FILE_FOLDER:
        options["string_type"] = hou.stringParmType.FileReference
        options["file_type"] = hou.fileType.Directory
    elif parameter.kind == bake_lop.MENU:
        options["menu_items"] = tuple(value for value, _ in parameter.items)
        options["menu_labels"] = tuple(shown for _, shown in parameter.items)
    elif parameter.kind == bake_lop.SHOWN:
        # always disabled: scripts write it, artists read it
        options["disable_when"] = f"{{ {bake_lop.TEXTURES} >= 0 }}"
    elif parameter.kind == bake_lop.HIDDEN:
        options["is_hidden"] = True
    return hou.StringParmTemplate(name, label, 1, **options)


def file_name() -> str:
    """The name of the file of this version. A file of another license would limit the session."""
    license = hou.licenseCategory()
    known = (each for category, each in _suffixes() if category == license)
    return f"{bake_lop.TYPE_NAME}_{version()}{next(known, _NON_COMMERCIAL)}"


def _suffixes() -> tuple[tuple[Any, str], ...]:
    return (
        (hou.licenseCategoryType.Commercial, _COMMERCIAL),
        (hou.licenseCategoryType.Indie, ".hdalc"),
    )


def require_lop() -> None:
    """Installs the type of the LOP in this session. A file of another version is built again."""
    _install(builds=True)


def offer_lop() -> None:
    """Installs the type if its file exists. It is built only where that changes no saved scene."""
    _install(builds=hou.hipFile.isNewFile() or hou.hipFile.hasUnsavedChanges())


def _install(builds: bool) -> None:
    if _is_installed():
        return
    problems = []
    for file in _places():
        try:
            if not file.is_file():
                if not builds:
                    continue
                file = build(file.with_suffix(_COMMERCIAL))
            hou.hda.installFile(file.as_posix(), change_oplibraries_file=False)
        except (HostError, hou.OperationFailed, OSError) as failure:
            problems.append(str(failure))
        else:
            return
    if builds:
        raise HostError("; ".join(problems) or "Houdini names no folder for the file of the node")


def _is_installed() -> bool:
    kind = hou.lopNodeTypeCategory().nodeType(bake_lop.TYPE_NAME)
    definition = kind.definition() if kind is not None else None
    return definition is not None and bool(definition.version() == version())


def _places() -> list[Path]:
    """The files of the asset, the best place first: in the package, which may be read-only, and in
    the preferences. Houdini loads both when it starts."""
    tree = os.environ.get(TREE_VARIABLE)
    folders = (tree, hou.homeHoudiniDirectory())
    return [Path(folder) / _FOLDER / file_name() for folder in folders if folder]


def main(arguments: Sequence[str]) -> None:
    """The command line."""
    if len(arguments) != 1:
        sys.exit(__doc__)
    out = Path(arguments[0])
    file = out if out.suffix.startswith(_COMMERCIAL) else out / file_name()
    try:
        file = build(file.with_suffix(_COMMERCIAL))
    except HostError as failure:
        sys.exit(f"build_assets: {failure}")
    print(f"build_assets: {file}")


if __name__ == "__main__":
    main(sys.argv[1:])
