# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes that Blender's MaterialX export leaves out, as tests/plugins/blender measures it."""

# In their place, the export uses the value of the socket that they feed.
DROPPED = frozenset({})
