"""Rows of the reader's data: `labels.jsonl` with texts, messages written for training, and messages that the teacher judged."""

import json
import random

import train


def with_unjudged(row):
    """Letters that nobody judged count neither for nor against."""
    left = "".join(kind for kind in train.KINDS if kind not in row.get("judged", train.KINDS))
    return {**row, "unsure": [unsure + left for unsure in row["unsure"]]}


def labelled_rows(path, use):
    return [with_unjudged(row) for row in train.read_jsonl(path) if row["use"] == use]


def written_rows(path, answers):
    """Messages that were written for training: `LETTERS:sentence | LETTERS:sentence`, behind the answers of other messages."""
    chance = random.Random(3)
    rows = []
    for line in train.lines_of(path):
        parts = [part.split(":", 1) for part in line.split(" | ")]
        rows.append({
            "answer": chance.choice(answers) if chance.random() < 0.7 else "",
            "sentences": [text.strip() for _, text in parts],
            "letters": [letters.replace("-", "") for letters, _ in parts],
            "unsure": [""] * len(parts),
        })
    return rows


def write_scores(path, rows, scores):
    """Every row again, with the teacher's probabilities of the kinds of every sentence."""
    with open(path, "w", encoding="utf8") as file:
        for row, score in zip(rows, scores):
            soft = [[round(float(value), 3) for value in sentence] for sentence in score]
            file.write(json.dumps({**row, "soft": soft}, ensure_ascii=False) + "\n")
