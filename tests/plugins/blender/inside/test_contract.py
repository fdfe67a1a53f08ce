"""The tests that all hosts share, on a real Blender."""

from ...contract import *  # noqa: F403
