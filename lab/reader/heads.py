"""Fits heads of the reader again with more labels, the encoder as it is, and writes them into models/reader. Run where `train.py` runs:

    python3 heads.py LABELS WRITTEN MODEL OUT KINDS     KINDS: the letters whose heads are replaced, others stay as they are

LABELS is `labels.jsonl` with texts (see README.md); `judged` names the letters that were judged, where not all were. WRITTEN is `written.txt`.
"""

import random
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file, save_file

import train

STEPS, RATE, HOLD = 400, 1e-3, 1e-3


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


def with_unjudged(row):
    left = "".join(kind for kind in train.KINDS if kind not in row.get("judged", train.KINDS))
    return {**row, "unsure": [unsure + left for unsure in row["unsure"]]}


def load_reader(model):
    stored = load_file(model / "weights.safetensors")
    state = {
        name: torch.from_numpy(value.astype(np.float32) * (stored[name + ".scale"][:, None] if value.dtype == np.int8 else 1))
        for name, value in stored.items() if not name.endswith(".scale")
    }
    reader = train.make_model(model, None, train.LAYERS)
    own = reader.state_dict()
    for name, value in state.items():
        own[name][: value.shape[0]] = value
    reader.load_state_dict(own)
    return stored, reader.cuda().eval()


def features_of(reader, tokenizer, rows):
    """Per sentence: the mean of its states beside the first token's state."""
    examples, found = train.examples_of(rows, tokenizer), {}
    with torch.no_grad():
        for batch in train.batches_of([ids for _, ids, _ in examples], 256):
            states = reader(*train.padded([examples[index][1] for index in batch])).float()
            for row, index in enumerate(batch):
                message, _, spans = examples[index]
                for number, start, end in spans:
                    found[message, number] = torch.cat([states[row, start:end].mean(0), states[row, 0]])
    return torch.stack([found[message, number] for message, row in enumerate(rows) for number in range(len(row["sentences"]))])


def fit(features, rows, weight, bias):
    targets = [target for row in rows for target in train.targets_of(row)]
    goal = torch.tensor([[0.0 if value is None else value * 0.98 + 0.01 for value in target] for target in targets]).cuda()
    counts = torch.tensor([[0.0 if value is None else 1 + (train.RARE - 1) * value for value in target] for target in targets]).cuda()
    first = weight.clone()
    weight, bias = weight.clone().requires_grad_(True), bias.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([weight, bias], lr=RATE)
    for _ in range(STEPS):
        logits = torch.nn.functional.dropout(features, 0.1) @ weight.T + bias
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, goal, weight=counts, reduction="sum") / counts.sum()
        loss = loss + HOLD * ((weight - first) ** 2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return weight.detach().cpu().numpy(), bias.detach().cpu().numpy()


if __name__ == "__main__":
    labels, written, model, out, kinds = sys.argv[1:]
    rows = [with_unjudged(row) for row in train.read_jsonl(labels) if row["use"] == "train"]
    rows += written_rows(written, [row["answer"] for row in rows if row["answer"]])
    stored, reader = load_reader(Path(model))
    features = features_of(reader, train.load_tokenizer(Path(model)), rows)
    weight, bias = fit(features, rows, reader.head.weight.data, reader.head.bias.data)
    for kind in kinds:
        at = train.KINDS.index(kind)
        stored["head.weight"][at], stored["head.bias"][at] = weight[at], bias[at]
    save_file(stored, str(Path(out) / "weights.safetensors"), metadata={"kinds": train.KINDS, "layers": str(train.LAYERS)})
