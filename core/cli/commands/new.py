"""`verdigris new`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from verdigris.core.base.errors import DocumentError, reason
from verdigris.core.base.files import Folder
from verdigris.core.cli.shared.options import CommandApp, path_argument
from verdigris.core.material.shader.expand import SUFFIXES, is_shader
from verdigris.shaders import SHADER_FOLDER

app = CommandApp()

TEMPLATE = SHADER_FOLDER / "material" / "new_shader.slang"


@app.add("new paint.slang")
def new(
    file: Annotated[Path, path_argument("FILE", "The shader to write (.slang or .hlsl).")],
) -> None:
    """Writes a shader file that can be baked at once."""
    if not is_shader(file):
        raise DocumentError(f"{file}: name a file that ends in {' or '.join(SUFFIXES)}")
    try:
        with Folder.at(file.parent) as folder, folder.make(file.name) as written:
            written.write(TEMPLATE.read_bytes())
    except FileExistsError:
        raise DocumentError(f"{file}: exists already: choose another name") from None
    except OSError as failure:
        raise DocumentError(f"{file}: cannot be written: {reason(failure)}") from None
    print(f"{file}: bake it with 'verdigris bake {file}', or see 'verdigris inspect {file}'")
