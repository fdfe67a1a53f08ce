"""The Slang sources, installed as package data."""

from pathlib import Path

SHADER_FOLDER = Path(__file__).parent
