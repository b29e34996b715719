"""Writes the sentences that the static table is fitted to, a line each, from checkouts of public repositories.

    python3 lab/static/corpus.py CHECKOUTS > .cache/static/corpus.txt

CHECKOUTS has a folder for each: tldr-pages+tldr (CC BY 4.0), docker+docs (Apache-2.0), kubernetes+website (CC BY 4.0),
rust-lang+rust-clippy (MIT or Apache-2.0), clinc+oos-eval (CC BY 3.0), google-research-datasets+Taskmaster (CC BY 4.0).
"""

import json
import random
import re
import subprocess
import sys

ROOT = sys.argv[1]
DOCS = {
    "docker+docs": r"^content/.*\.md$",
    "kubernetes+website": r"^content/en/docs/.*\.md$",
    "rust-lang+rust-clippy": r"\.md$",
}
MOST_DIALOGUE = 30_000
random.seed(3)
found = {}


def files(repository, pattern):
    git = ["git", "-C", f"{ROOT}/{repository}"]
    names = subprocess.run([*git, "ls-tree", "-r", "--name-only", "HEAD"], capture_output=True, text=True).stdout
    for name in names.splitlines():
        if re.search(pattern, name):
            yield subprocess.run([*git, "show", f"HEAD:{name}"], capture_output=True).stdout.decode("utf8", "ignore")


def add(text):
    text = " ".join(text.split())
    if 12 < len(text) < 600:
        found.setdefault(text)


def sentences(page):
    """The sentences of each paragraph, without code, links and marks."""
    page = re.sub(r"^---.*?^---", "", page, count=1, flags=re.S | re.M)
    page = re.sub(r"```.*?```", "\n", page, flags=re.S)
    page = re.sub(r"\{\{.*?\}\}|<[^>]+>", "", page, flags=re.S)
    page = re.sub(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", page)
    for paragraph in re.split(r"\n\s*\n|\n\s*[-*] |\n\s*\d+\. ", page):
        text = re.sub(r"^#+\s*", "", " ".join(paragraph.split())).replace("**", "").replace("__", "")
        if not text.startswith("|"):
            yield [one for one in re.split(r"(?<=[.!?])\s+(?=[A-Z`\"])", text) if 3 <= len(one.split()) <= 60]


for page in files("tldr-pages+tldr", r"^pages/.*\.md$"):
    lines = page.splitlines()
    name = lines[0][2:] if lines else ""
    for line in lines:
        if line.startswith("- "):
            add(line[2:].rstrip(":") + (f" with {name}" if random.random() < 0.5 else ""))
    add(f"{name}: " + " ".join(line[2:] for line in lines if line.startswith("> ") and "More information" not in line))
for repository, pattern in DOCS.items():
    for page in files(repository, pattern):
        for paragraph in sentences(page):
            at = 0
            while at < len(paragraph):
                several = random.choice([1, 1, 1, 2, 3])
                add(" ".join(paragraph[at : at + several]))
                at += several
for rows in json.loads(next(files("clinc+oos-eval", r"^data/data_full\.json$"))).values():
    for text, _ in rows:
        add(text)
dialogue = []
for page in files("google-research-datasets+Taskmaster", r"TM-[1234].*\.json$"):
    try:
        conversations = json.loads(page)
    except ValueError:
        continue
    for one in conversations if isinstance(conversations, list) else []:
        turns = one.get("utterances", []) if isinstance(one, dict) else []
        dialogue += [turn["text"] for turn in turns if 25 < len(turn.get("text", "")) < 400]
random.shuffle(dialogue)
for text in dialogue[:MOST_DIALOGUE]:
    add(text)
texts = list(found)
random.shuffle(texts)
print("\n".join(texts))
