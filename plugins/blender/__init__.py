# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The add-on for Blender. It registers, and nothing else."""


def register() -> None:
    """Called by Blender when the add-on is enabled."""
    from . import registration

    registration.register()


def unregister() -> None:
    """Called by Blender when the add-on is disabled."""
    from . import registration

    registration.unregister()
