"""Install what emitted modules are raced against, by name, into environments under benchmarks/.rivals.

    python benchmarks/setup.py

The C compiler comes from the system's packages (apt, as root), all else from PyPI. NumPyro and nutpie, whose NUTS
`benchmarks/models/panel.py` compares with, have an environment of their own. A race says which rivals are not
installed. Some 2 GB.
"""

import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
RIVALS = HERE / ".rivals"
COMPILER = "clang-19"
PEERS = (("jax", "blackjax"), ("matplotlib",))
NUTS = ("numpyro", "jax", "nutpie")


def install(environment: Path, *what: str) -> bool:
    """Install packages into an environment, making it first; return whether that went well."""
    if not (environment / "bin" / "python").is_file():
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    command = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", *what]
    well = subprocess.run(command, check=False).returncode == 0
    print(f"{environment.name}: {' '.join(what)}: {'installed' if well else 'NOT installed'}", flush=True)
    return well


def install_compiler() -> bool:
    """Install clang, unless one as new is there."""
    if shutil.which(COMPILER):
        return True
    well = False
    if shutil.which("apt-get"):
        well = subprocess.run(["apt-get", "install", "-y", "-q", COMPILER], check=False).returncode == 0
    print(f"{COMPILER}: {'installed' if well else 'NOT installed: the newest clang on the path is used'}", flush=True)
    return well


def main() -> int:
    """Install everything that can be had; exit code 1 where something could not."""
    RIVALS.mkdir(exist_ok=True)
    (RIVALS / ".gitignore").write_text("*\n", encoding="utf-8")
    same = [f"{name}=={version(name)}" for name in ("numba", "llvmlite", "numpy", "scipy", "sympy")]
    done = [install_compiler(), install(RIVALS / "peers", "-e", str(HERE.parent), *same)]
    done += [install(RIVALS / "peers", *some, *same) for some in PEERS]
    done.append(install(RIVALS / "nuts", *NUTS))
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
