"""Shader files of studios (.slang, .hlsl) as materials: their text, parameters and document."""
