"""Maya loads this file: it registers the command and builds the shelf, and nothing else."""

from maya import cmds
from maya.api import OpenMaya as om

COMMAND = "verdigris"
VENDOR = "Verdigris"


def maya_useNewAPI():  # noqa: N802 - Maya looks for this name
    """Tells Maya that this plug-in speaks the second version of its API."""


class OpenPanel(om.MPxCommand):
    """The command `verdigris` opens the panel."""

    def doIt(self, _arguments):  # noqa: N802 - Maya calls this name
        from verdigris.plugins.maya import panel

        panel.show()


def make_command():
    return OpenPanel()


def initializePlugin(plugin):  # noqa: N802 - Maya calls this name
    from verdigris.plugins.common.version import version

    om.MFnPlugin(plugin, VENDOR, version()).registerCommand(COMMAND, make_command)
    if not cmds.about(batch=True):
        from verdigris.plugins.maya import shelf

        shelf.build()


def uninitializePlugin(plugin):  # noqa: N802 - Maya calls this name
    om.MFnPlugin(plugin).deregisterCommand(COMMAND)
    if not cmds.about(batch=True):
        from verdigris.plugins.maya import panel, shelf

        panel.close()
        shelf.remove()
