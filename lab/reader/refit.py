"""The reader learns from labels and from what the teacher thinks of messages that nobody labelled.

    python3 refit.py MODEL LABELS WRITTEN OUT OPTIONS JUDGED...     MODEL: models/reader; LABELS: files with commas; WRITTEN: a file or `-`;
                                                                    JUDGED: rows with `soft`, or messages without labels: MODEL judges them

OPTIONS: {"epochs", "rate", "batch", "soft": the weight of a judged message beside a labelled one, "composed": how many messages of two
writers for each labelled one, "heads": letters whose heads alone are fitted, "silent": how often the answer is left out, "stock": how many
messages with a letter stand behind a stock answer besides, "layers": of six, "few": the weight of judged rules and tastes, "seed"}.
"""

import json
import math
import random
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file

import rows as data
import train

HEAD_RATE = 1e-3
# What an agent says that tells nothing: the message behind it means what it means alone.
STOCK = [
    "Done.", "All done.", "I've updated the file.", "Here you go.", "The changes are in place.", "I have finished the task you gave me.", "Here is what I came up with.",
    "Done. Let me know if you need anything else.", "I made the edit and everything runs.", "Here's the text you asked for.", "The work is complete.", "OK, that's finished.",
    "I've written it up below.", "Ready. What next?", "Finished; the tests pass.", "I sent it.", "Here is a first version.", "Everything is saved.", "Sure, here it is.", "Updated.",
]


def load_reader(model, layers):
    stored = load_file(model / "weights.safetensors")
    reader = train.make_model(model, None, layers)
    own = reader.state_dict()
    whole = {
        name: torch.from_numpy(value.astype(np.float32) * (stored[name + ".scale"][:, None] if value.dtype == np.int8 else 1))
        for name, value in stored.items()
        if not name.endswith(".scale")
    }
    for name, value in train.fewer_layers(whole, layers).items():
        own[name][: value.shape[0]] = value
    reader.load_state_dict(own)
    return reader.cuda()


def goals_of(row, soft, few):
    """Per sentence: a goal and a weight for every kind."""
    if "soft" in row:
        return [(sentence, [soft * (few if kind in "RP" else 1) for kind in train.KINDS]) for sentence in row["soft"]]
    goals = []
    for target in train.targets_of(row):
        weight = [
            0.0 if value is None else row.get("weight", 1.0) * (train.RARE if value == 1 and kind in "RPFVAI" else 1.0)
            for kind, value in zip(train.KINDS, target)
        ]
        goals.append(([0.5 if value is None else value * 0.98 + 0.01 for value in target], weight))
    return goals


def behind_stock(rows, count, chance):
    """Messages that say something, behind an answer that says nothing."""
    said = [row for row in rows if any(set(letters) - {"N"} for letters in row["letters"])]
    return [{**chance.choice(said), "answer": chance.choice(STOCK), "weight": 0.5} for _ in range(count if said else 0)]


def loss_of(reader, part, rows, goals, chance, silent):
    lists, spans, wanted, weights = [], [], [], []
    for at, (index, ids, own) in enumerate(part):
        # Sometimes without the answer: many clients give none.
        cut = ids.index(train.SEP) if rows[index]["answer"] and chance.random() < (silent if "soft" not in rows[index] else 0) else 1
        lists.append([train.CLS, *ids[cut:]])
        for number, start, end in own:
            spans.append((at, start - cut + 1, end - cut + 1))
            goal, weight = goals[index][number]
            wanted.append(goal)
            weights.append(weight)
    ids, mask = train.padded(lists)
    with torch.autocast("cuda", torch.bfloat16):
        logits = reader.kinds(ids, mask, torch.tensor(spans).cuda())
    goal, weight = torch.tensor(wanted).cuda(), torch.tensor(weights).cuda()
    return (torch.nn.functional.binary_cross_entropy_with_logits(logits, goal, reduction="none") * weight).sum() / weight.sum()


def fit(reader, tokenizer, rows, options):
    torch.manual_seed(options.get("seed", 1))
    chance = random.Random(options.get("seed", 1))
    alone, before = options.get("heads", ""), {name: value.detach().clone() for name, value in reader.head.named_parameters()}
    for name, parameter in reader.named_parameters():
        is_below = name.startswith(("widen", "words", "bert.embeddings"))
        parameter.requires_grad_(name.startswith("head") if alone else not is_below)
    heads = list(reader.head.parameters())
    rest = [parameter for name, parameter in reader.named_parameters() if not name.startswith("head") and parameter.requires_grad]
    optimizer = torch.optim.AdamW([{"params": heads, "lr": HEAD_RATE}, {"params": rest, "lr": options["rate"]}], weight_decay=0.01)
    examples, goals = train.examples_of(rows, tokenizer), [goals_of(row, options["soft"], options.get("few", 1)) for row in rows]
    steps, step = math.ceil(len(examples) / options["batch"]) * options["epochs"], 0
    reader.train()
    for epoch in range(options["epochs"]):
        chance.shuffle(examples)
        groups = [
            [part[index] for index in group]
            for part in (examples[at : at + options["batch"] * 16] for at in range(0, len(examples), options["batch"] * 16))
            for group in train.batches_of([ids for _, ids, _ in part], options["batch"])
        ]
        chance.shuffle(groups)
        for part in groups:
            loss = loss_of(reader, part, rows, goals, chance, options.get("silent", 0.15))
            factor = min(1.0, (step + 1) / (0.06 * steps)) * max(0.0, 1 - step / steps)
            for entry, base in zip(optimizer.param_groups, (HEAD_RATE, options["rate"])):
                entry["lr"] = base * factor
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimizer.step()
            step += 1
        print(f"refit: epoch {epoch + 1} of {options['epochs']}, loss {loss.item():.4f}", flush=True)
    for name, value in reader.head.named_parameters():
        for kind, first in zip(train.KINDS, before[name]):
            if alone and kind not in alone:
                value.data[train.KINDS.index(kind)] = first
    return reader.eval()


def judged_rows(paths, reader, tokenizer):
    """Messages with the probabilities of a teacher, or of the reader as it was."""
    rows = [row for path in paths for row in train.read_jsonl(path)]
    open_rows = [row for row in rows if "soft" not in row]
    for row, score in zip(open_rows, train.scores_of(reader, tokenizer, open_rows)):
        row["soft"] = score.tolist()
    return rows


def main(model, labels, written, out, options, *judged):
    options, out = json.loads(options), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    chance, layers = random.Random(options.get("seed", 1)), options.get("layers", train.LAYERS)
    rows, test = ([row for path in labels.split(",") for row in data.labelled_rows(path, use)] for use in ("train", "test"))
    rows += behind_stock(rows, options.get("stock", 0), chance)
    if written != "-":
        rows += data.written_rows(written, [row["answer"] for row in rows if row["answer"]])
    rows += train.composed(rows, int(options.get("composed", 0) * len(rows)), chance)
    tokenizer = train.load_tokenizer(Path(model))
    before = load_reader(Path(model), train.LAYERS).eval()
    rows += judged_rows(judged, before, tokenizer)
    print(f"{len(rows)} messages, of which {sum('soft' in row for row in rows)} judged", flush=True)
    natural = [row for row in test if row["natural"]]
    train.report(natural, train.scores_of(before, tokenizer, natural), "before, held-out repositories, natural")
    reader = fit(load_reader(Path(model), layers), tokenizer, rows, options)
    train.report(natural, train.scores_of(reader, tokenizer, natural), f"after {options}, held-out repositories, natural")
    data.write_scores(out / "test.jsonl", [{"hash": row["hash"]} for row in test], train.scores_of(reader, tokenizer, test))
    torch.save(reader.state_dict(), out / "reader.pt")
    (out / "vocabulary.txt").write_text((Path(model) / "vocabulary.txt").read_text(encoding="utf8"), encoding="utf8")
    train.export(out, out, layers)


if __name__ == "__main__":
    main(*sys.argv[1:])
