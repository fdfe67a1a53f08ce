"""The plug-in that Maya loads: it registers the command and builds shelf and menus."""

from maya import cmds
from maya.api import OpenMaya as om

COMMAND = "verdigris"
VENDOR = "Verdigris"


def maya_useNewAPI():  # noqa: N802 - Maya looks for this name
    """Marks this plug-in as one of Maya's Python API 2.0."""


class OpenPanel(om.MPxCommand):
    """The command `verdigris` opens the panel."""

    def doIt(self, _arguments):  # noqa: N802 - Maya calls this name
        from verdigris.plugins.maya import docked_panel

        docked_panel.show()


def make_command():
    return OpenPanel()


def initializePlugin(plugin):  # noqa: N802 - Maya calls this name
    try:
        start(plugin)
    except ImportError as failure:
        from verdigris.core.base.process.worker_environment import package_folder
        from verdigris.plugins.common.quarantine import find_remedy

        raise RuntimeError(find_remedy(package_folder().parents[1]) or str(failure)) from failure


def start(plugin):
    """Registers the command, and adds shelf and menus."""
    from verdigris.plugins.common.version import version

    om.MFnPlugin(plugin, VENDOR, version()).registerCommand(COMMAND, make_command)
    if not cmds.about(batch=True):
        from verdigris.plugins.maya import menus
        from verdigris.plugins.maya.menus import SHELF_OF_MAYA
        from verdigris.plugins.maya.scene.painting import BRUSH

        SHELF_OF_MAYA.build()
        menus.build()
        BRUSH.guard()


def uninitializePlugin(plugin):  # noqa: N802 - Maya calls this name
    from verdigris.plugins.maya.scene.changes import CHANGES

    om.MFnPlugin(plugin).deregisterCommand(COMMAND)
    CHANGES.forget()
    if not cmds.about(batch=True):
        from verdigris.plugins.maya import docked_panel, menus
        from verdigris.plugins.maya.menus import SHELF_OF_MAYA
        from verdigris.plugins.maya.scene.painting import BRUSH

        BRUSH.unguard()
        docked_panel.close()
        menus.remove()
        SHELF_OF_MAYA.remove()
