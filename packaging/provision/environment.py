"""Makes the virtual environment, installs packages, and repairs a broken environment."""

import importlib.util
import os
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from provision.console import Commands, SetupError, report, step
from provision.rights import require_writable
from provision.stamp import STARTED, Stamp, read_stamp, wanted_stamp, write_stamp

INSTALL_REMEDY = (
    "Check the network, the proxy settings of pip and the free disk space, then try again. "
    "VERDIGRIS_VERBOSE=1 shows all output."
)


@dataclass(frozen=True)
class Environment:
    """The paths of the environment of a repository."""

    root: Path

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    @property
    def stamp(self) -> Path:
        return self.venv / "verdigris-setup.json"

    @property
    def lock(self) -> Path:
        return self.root / ".cache" / "bootstrap.lock"

    @property
    def python(self) -> Path:
        return self.script("python")

    def script(self, name: str) -> Path:
        return script_in(self.venv, name)

    @property
    def pip(self) -> Path:
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        library = self.venv / ("Lib" if os.name == "nt" else f"lib/{version}")
        return library / "site-packages" / "pip"


def script_in(venv: Path, name: str) -> Path:
    """A program of a virtual environment."""
    return venv / "Scripts" / f"{name}.exe" if os.name == "nt" else venv / "bin" / name


def python_in(venv: Path) -> Path:
    """The interpreter of a virtual environment."""
    return script_in(venv, "python")


def is_current(environment: Environment, stamp: Stamp | None, extras: tuple[str, ...]) -> bool:
    return (
        stamp is not None
        and stamp.holds_for(wanted_stamp(environment.root, extras))
        and environment.python.exists()
        and environment.script("verdigris").exists()
    )


def install(environment: Environment, extras: tuple[str, ...], commands: Commands) -> Stamp:
    """Updates the environment and returns its stamp. The caller holds the lock."""
    require_writable(environment.root)
    stamp = read_stamp(environment.stamp)
    wanted = wanted_stamp(environment.root, extras)
    fault = fault_of(environment, stamp, wanted)
    if stamp is not None and not fault:
        wanted = replace(wanted, extras=tuple(sorted({*stamp.extras, *extras})))
    if fault:
        make_venv(environment, fault, wanted, commands)
    else:
        write_stamp(environment.stamp, replace(wanted, state=STARTED))
    install_packages(environment, wanted.extras, commands)
    done = replace(wanted, device=stamp.device) if stamp and not fault else wanted
    write_stamp(environment.stamp, done)
    return done


def fault_of(environment: Environment, stamp: Stamp | None, wanted: Stamp) -> str:
    """The reason to make the environment again. Empty if it can be kept."""
    if not environment.venv.exists():
        return "it does not exist yet"
    if stamp is None:
        return fault_of_foreign(environment)
    if stamp.state == STARTED:
        return "its set-up was interrupted"
    if stamp.root != wanted.root:
        return f"the repository was at {stamp.root}"
    if stamp.python != wanted.python:
        return f"it was made with {stamp.python}"
    if not environment.python.exists():
        return "its Python does not exist"
    return ""


def fault_of_foreign(environment: Environment) -> str:
    """The same for an environment without a stamp, made by another program."""
    config = read_config(environment.venv / "pyvenv.cfg")
    if not config:
        return "it is not a virtual environment"
    version = config.get("version") or config.get("version_info", "")
    if version.split(".")[:2] != [str(part) for part in sys.version_info[:2]]:
        return f"it was made with Python {version or 'of an unknown version'}"
    if not config.get("command", "").endswith(f" {environment.venv}"):
        return "it was made by another program or in another place"
    if not environment.python.exists() or not environment.pip.exists():
        return "it has no Python or no pip"
    return ""


def read_config(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {name.strip(): value.strip() for name, _, value in pairs}


def make_venv(environment: Environment, fault: str, wanted: Stamp, commands: Commands) -> None:
    require_venv_module()
    if environment.venv.exists():
        if Path(sys.prefix).resolve() == environment.venv.resolve():
            raise SetupError(
                f"{environment.venv} must be made again ({fault}), but this Python is part of it. "
                "Run the same command with another Python."
            )
        with step(f"removing {environment.venv}: {fault}"):
            empty(environment.venv)
    environment.venv.mkdir(exist_ok=True)
    # Written first, so that an interruption is noticed.
    write_stamp(environment.stamp, replace(wanted, state=STARTED))
    version = ".".join(str(part) for part in sys.version_info[:3])
    commands.require(
        f"making .venv (Python {version})",
        [sys.executable, "-I", "-m", "venv", str(environment.venv)],
        remedy=f"Check that {environment.venv} is writable, or use another Python.",
    )


def require_venv_module() -> None:
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if missing:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise SetupError(
            f"this Python ({sys.executable}) cannot make a virtual environment: "
            f"{' and '.join(missing)} is missing.\n"
            f"On Debian and Ubuntu: sudo apt-get install python{version}-venv\n"
            "Elsewhere, use a complete installation of Python. Then run the same command again."
        )


def empty(folder: Path) -> None:
    """Empties a folder and keeps the folder, which may be a link to another disk."""
    for child in folder.iterdir():
        is_folder = child.is_dir() and not child.is_symlink()
        try:
            if is_folder:
                shutil.rmtree(child)
            else:
                child.unlink()
        except OSError as failure:
            # the parent folder needs the rights, and rmtree reports the last part of a path only
            refused = child if is_folder else folder
            raise OSError(failure.errno, failure.strerror, str(refused)) from failure


def install_packages(environment: Environment, extras: tuple[str, ...], commands: Commands) -> None:
    report(f"installing into .venv: {', '.join(pinned_packages(environment.root, extras))}")
    commands.require(
        "installing packages (takes minutes the first time)",
        [
            str(environment.python),
            *("-I", "-m", "pip", "install", "--disable-pip-version-check", "--no-input"),
            # Python compiles the few modules that a program imports, pip all of them.
            "--no-compile",
            *("-e", f".[{','.join(extras)}]" if extras else "."),
        ],
        cwd=environment.root,
        remedy=INSTALL_REMEDY,
    )


def pinned_packages(root: Path, extras: tuple[str, ...]) -> list[str]:
    import tomllib  # for a faster start

    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project.get("optional-dependencies", {})
    lines = [*project["dependencies"], *(line for extra in extras for line in optional[extra])]
    # markers say on which systems a package is installed, and contain == themselves
    pins = {line.partition(";")[0].strip().replace("==", " ") for line in lines}
    return sorted(pins, key=str.lower)
