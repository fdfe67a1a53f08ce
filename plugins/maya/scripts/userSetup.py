"""Maya runs this file when it starts. It loads the plug-in when Maya is idle."""


def _load_verdigris():
    from maya import cmds

    try:
        if not cmds.pluginInfo("verdigris_maya", query=True, loaded=True):
            cmds.loadPlugin("verdigris_maya", quiet=True)
    except RuntimeError as failure:
        cmds.warning(f"Verdigris: the plug-in cannot be loaded: {failure}")


def _load_when_idle():
    from maya import cmds

    # without a window there is no idle time, and batches need no plug-in
    if not cmds.about(batch=True):
        cmds.evalDeferred(_load_verdigris, lowestPriority=True)


_load_when_idle()
