"""The teacher: a language model that learns the labels and judges messages that nobody labelled.

    python3 teacher.py fit LM LABELS WRITTEN OUT SEED         WRITTEN: a file or `-`; prints how it does on held-out repositories
    python3 teacher.py judge LM TEACHER ROWS OUT              OUT: the rows with the teacher's probabilities (`soft`)
    python3 teacher.py mean OUT JUDGED...                     the same rows, judged by several teachers

LM is a folder that transformers loads (Qwen2.5-Coder-1.5B-Instruct here).
"""

import json
import math
import random
import sys
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

import rows as data
import train

ANSWER_CHARACTERS, MESSAGE_TOKENS, SENTENCE_TOKENS = 400, 150, 100
# All sentences of the second copy together.
COPY_TOKENS = 400
EPOCHS, RATE, HEAD_RATE, BATCH = 3, 1e-5, 1e-3, 32
TOKENS_AT_ONCE = 60_000
# A larger batch is trained with its states computed twice, so that two trainings fit into the memory of one GPU.
MOST_KEPT = 13_000


class Teacher(torch.nn.Module):
    def __init__(self, folder):
        super().__init__()
        self.model = AutoModel.from_pretrained(folder, dtype=torch.float32)
        self.head = torch.nn.Linear(self.model.config.hidden_size, len(train.KINDS))

    def forward(self, ids, mask, spots):
        """`spots`: (row, place) of the last token of every sentence."""
        with torch.autocast(ids.device.type, torch.bfloat16):
            states = self.model(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
        return self.head(states[spots[:, 0], spots[:, 1]].float())


class Form:
    """A message as the teacher reads it: the answer's end, the message whole, then each sentence again, judged at its end."""

    def __init__(self, folder):
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.encoded = {}

    def ids(self, text):
        if text not in self.encoded:
            self.encoded[text] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return self.encoded[text]

    def of(self, row):
        answer = row["answer"][-ANSWER_CHARACTERS:] or "(none)"
        whole = self.ids("\n".join(row["sentences"]))[:MESSAGE_TOKENS]
        ids = [*self.ids("The end of the assistant's answer:\n"), *self.ids(answer), *self.ids("\n\nThe person's message:\n"), *whole]
        ids += self.ids("\n\nIts sentences again:\n")
        ends, most = [], max(8, min(SENTENCE_TOKENS, COPY_TOKENS // len(row["sentences"])))
        for sentence in row["sentences"]:
            ids += [*self.ids(sentence)[:most], *self.ids("\n")]
            ends.append(len(ids) - 1)
        return ids, ends


def padded(lists, device):
    longest = max(len(one) for one in lists)
    ids = torch.zeros(len(lists), longest, dtype=torch.long)
    mask = torch.zeros(len(lists), longest, dtype=torch.long)
    for row, one in enumerate(lists):
        ids[row, : len(one)] = torch.tensor(one)
        mask[row, : len(one)] = 1
    return ids.to(device), mask.to(device)


def inputs_of(forms, device):
    ids, mask = padded([ids for ids, _ in forms], device)
    spots = torch.tensor([(row, end) for row, (_, ends) in enumerate(forms) for end in ends]).to(device)
    return ids, mask, spots


def loss_of(logits, batch):
    targets = [target for row in batch for target in train.targets_of(row)]
    goal = torch.tensor([[0.0 if value is None else value for value in target] for target in targets]).to(logits.device)
    weight = torch.tensor([
        [0.0 if value is None else train.RARE if value == 1 and kind in "RPFVAI" else 1.0 for kind, value in zip(train.KINDS, target)]
        for target in targets
    ]).to(logits.device)
    lost = torch.nn.functional.binary_cross_entropy_with_logits(logits, goal, reduction="none")
    return (lost * weight).sum() / weight.sum().clamp(min=1)


def keep_states(model, whether):
    if whether:
        model.gradient_checkpointing_disable()
    else:
        model.gradient_checkpointing_enable()


def fit(folder, labels, written, out, seed="1", device="cuda"):
    torch.manual_seed(int(seed))
    chance = random.Random(int(seed))
    rows = data.labelled_rows(labels, "train")
    if written != "-":
        rows += data.written_rows(written, [row["answer"] for row in rows if row["answer"]])
    form, teacher = Form(folder), Teacher(folder).to(device).train()
    optimizer = torch.optim.AdamW(
        [{"params": teacher.model.parameters(), "lr": RATE}, {"params": teacher.head.parameters(), "lr": HEAD_RATE}], weight_decay=0.01
    )
    steps, step = math.ceil(len(rows) / BATCH) * EPOCHS, 0
    for epoch in range(EPOCHS):
        chance.shuffle(rows)
        # Batches of like length out of large shuffled parts.
        groups = [
            [part[index] for index in group]
            for part in (rows[at : at + BATCH * 16] for at in range(0, len(rows), BATCH * 16))
            for group in train.batches_of([form.of(row)[0] for row in part], BATCH)
        ]
        chance.shuffle(groups)
        for batch in groups:
            without = [{**row, "answer": ""} if chance.random() < 0.15 else row for row in batch]
            inputs = inputs_of([form.of(row) for row in without], device)
            keep_states(teacher.model, inputs[0].numel() <= MOST_KEPT)
            loss = loss_of(teacher(*inputs), batch)
            factor = min(1.0, (step + 1) / (0.1 * steps)) * max(0.02, 1 - step / steps)
            for entry, base in zip(optimizer.param_groups, (RATE, HEAD_RATE)):
                entry["lr"] = base * factor
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            # One batch in a hundred has a gradient that is not a number; it is left out.
            if torch.isfinite(torch.nn.utils.clip_grad_norm_(teacher.parameters(), 1.0)):
                optimizer.step()
            step += 1
        print(f"teacher: epoch {epoch + 1}, loss {loss.item():.4f}", flush=True)
    teacher = teacher.eval()
    torch.save(teacher.to(torch.bfloat16).state_dict(), out)
    test = data.labelled_rows(labels, "test")
    scores = scores_of(teacher, form, test, device)
    natural = [index for index, row in enumerate(test) if row["natural"]]
    train.report([test[index] for index in natural], [scores[index] for index in natural], "teacher, held-out repositories, natural")
    data.write_scores(f"{out}.test.jsonl", [{"hash": row["hash"]} for row in test], scores)


def scores_of(teacher, form, rows, device):
    """In parts of like length, so that little is padding."""
    forms = [form.of(row) for row in rows]
    order = sorted(range(len(rows)), key=lambda index: len(forms[index][0]))
    scores, at = [None] * len(rows), 0
    teacher.head.float()
    with torch.no_grad():
        while at < len(order):
            count = 1
            while at + count < len(order) and len(forms[order[at + count]][0]) * (count + 1) <= TOKENS_AT_ONCE:
                count += 1
            part = order[at : at + count]
            found = torch.sigmoid(teacher(*inputs_of([forms[index] for index in part], device))).float().cpu().numpy()
            start = 0
            for index in part:
                scores[index] = found[start : start + len(forms[index][1])]
                start += len(forms[index][1])
            at += count
    return scores


def judge(folder, stored, source, out, device="cuda"):
    teacher = Teacher(folder).to(torch.bfloat16)
    teacher.load_state_dict(torch.load(stored, map_location="cpu"))
    rows = train.read_jsonl(source)
    data.write_scores(out, rows, scores_of(teacher.to(device).eval(), Form(folder), rows, device))
    print(f"judged {len(rows)} of {source}", flush=True)


def mean(out, *judged):
    lists = [train.read_jsonl(path) for path in judged]
    data.write_scores(out, lists[0], [np.mean([np.array(row["soft"]) for row in same], axis=0) for same in zip(*lists)])


if __name__ == "__main__":
    {"fit": fit, "judge": judge, "mean": mean}[sys.argv[1]](*sys.argv[2:])
