"""Messages for the teacher to judge, where real ones are few: a copy of the language model learns to write as people write to agents, and
real messages are translated.

    python3 imitate.py write LM LABELS POOL COUNT OUT         messages in the manner of the training rows, rare kinds more often
    python3 imitate.py translate LM LABELS COUNT OUT          training rows with rare kinds, in eight languages
"""

import json
import random
import sys
import time
from collections import Counter

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import rows as data
import train

LANGUAGES = ["German", "French", "Spanish", "Portuguese", "Italian", "Russian", "Chinese", "Japanese"]
ANSWER_CHARACTERS, MOST_TOKENS = 300, 80
EPOCHS, RATE, BATCH, WRITTEN_AT_ONCE, MOST_SECONDS = 3, 1e-5, 32, 1024, 220
# How often each kind is asked for, of those that are rare in chats.
ASKED = {"R": 0.35, "P": 0.1, "F": 0.1, "C": 0.2, "V": 0.03, "A": 0.05, "I": 0.05, "T": 0.05}


def prompt_of(kinds, answer):
    return f"Kinds: {' '.join(kinds) or 'none'}\nAnswer: {answer[-ANSWER_CHARACTERS:] or '(none)'}\nMessage:\n"


def left_padded(tokenizer, prompts):
    tokenizer.padding_side = "left"
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    return tokenizer(prompts, return_tensors="pt", padding=True).to("cuda" if torch.cuda.is_available() else "cpu")


def generate(model, tokenizer, prompts, **options):
    """The completions, prompts of like length together; those that no time was left for stay empty."""
    found, started = [""] * len(prompts), time.time()
    groups = list(train.batches_of(prompts, WRITTEN_AT_ONCE))
    random.Random(4).shuffle(groups)
    for part in groups:
        if time.time() - started > MOST_SECONDS:
            break
        inputs = left_padded(tokenizer, [prompts[index] for index in part])
        with torch.no_grad():
            ids = model.generate(**inputs, max_new_tokens=MOST_TOKENS, pad_token_id=tokenizer.pad_token_id, **options)
        for index, text in zip(part, tokenizer.batch_decode(ids[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)):
            found[index] = text
    return found


def learn_manner(model, tokenizer, rows):
    """The loss is on the message alone."""
    chance, device = random.Random(1), next(model.parameters()).device
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    end = tokenizer.eos_token_id
    examples = []
    for row in rows:
        kinds = sorted(set("".join(row["letters"])), key=train.KINDS.index)
        prompt = tokenizer(prompt_of(kinds, row["answer"]), add_special_tokens=False)["input_ids"]
        message = tokenizer("\n".join(row["sentences"]), add_special_tokens=False)["input_ids"][:200] + [end]
        examples.append((prompt, message))
    for epoch in range(EPOCHS):
        chance.shuffle(examples)
        groups = list(train.batches_of([prompt + message for prompt, message in examples], BATCH))
        chance.shuffle(groups)
        for group in groups:
            part = [examples[index] for index in group]
            longest = max(len(prompt) + len(message) for prompt, message in part)
            ids = torch.full((len(part), longest), end)
            labels = torch.full((len(part), longest), -100)
            mask = torch.zeros(len(part), longest, dtype=torch.long)
            for row, (prompt, message) in enumerate(part):
                size = len(prompt) + len(message)
                ids[row, :size] = torch.tensor(prompt + message)
                labels[row, len(prompt) : size] = torch.tensor(message)
                mask[row, :size] = 1
            with torch.autocast(device.type, torch.bfloat16):
                loss = model(input_ids=ids.to(device), attention_mask=mask.to(device), labels=labels.to(device), use_cache=False).loss
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        print(f"imitate: epoch {epoch + 1}, loss {loss.item():.3f}", flush=True)


def asked_kinds(chance):
    kinds = {kind for kind, often in ASKED.items() if chance.random() < often}
    if not kinds or chance.random() < 0.4:
        kinds.add("N")
    return sorted(kinds, key=train.KINDS.index)


def rows_of(texts, answers):
    """Distinct messages of whole sentences; what was cut at the limit has no end and goes."""
    seen, rows = set(), []
    for text, answer in zip(texts, answers):
        sentences = [line.strip() for line in text.split("\n") if line.strip()]
        key = "\n".join(sentences)
        if sentences and len(sentences) <= 12 and key not in seen:
            seen.add(key)
            rows.append({"answer": answer, "sentences": sentences})
    return rows


def write(folder, labels, pool, count, out):
    torch.manual_seed(2)
    chance = random.Random(2)
    rows = data.labelled_rows(labels, "train")
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).to("cuda" if torch.cuda.is_available() else "cpu")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model.train()
    model.gradient_checkpointing_enable()
    learn_manner(model, tokenizer, rows)
    model.gradient_checkpointing_disable()
    model = model.to(torch.bfloat16).eval()
    behind = [row["answer"] for row in [*rows, *train.read_jsonl(pool)] if row["answer"]]
    answers = [chance.choice(behind) if chance.random() < 0.75 else "" for _ in range(int(count))]
    prompts = [prompt_of(asked_kinds(chance), answer) for answer in answers]
    made = rows_of(generate(model, tokenizer, prompts, do_sample=True, temperature=1.0, top_p=0.97), answers)
    save(made, out)


def translate(folder, labels, count, out):
    torch.manual_seed(3)
    chance = random.Random(3)
    rows = [row for row in data.labelled_rows(labels, "train") if set("".join(row["letters"])) & set("RPFVCTAI") and len(row["sentences"]) <= 4]
    chance.shuffle(rows)
    rare = [row for row in rows if set("".join(row["letters"])) & set("RPFV")]
    chosen = [*rare, *[row for row in rows if row not in rare]][: int(count)]
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).to("cuda" if torch.cuda.is_available() else "cpu").eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    asked = [(row, language) for row in chosen for language in LANGUAGES]
    prompts = [
        tokenizer.apply_chat_template(
            [{"role": "user", "content": f"Translate this message into {language}, casually, line by line. Write the translation alone.\n\n" + "\n".join(row["sentences"])}],
            tokenize=False, add_generation_prompt=True,
        )
        for row, language in asked
    ]
    texts = generate(model, tokenizer, prompts, do_sample=False)
    kept = [(text, row) for text, (row, _) in zip(texts, asked) if "\n".join(row["sentences"]).lower() != text.strip().lower()]
    save(rows_of([text for text, _ in kept], [row["answer"] for _, row in kept]), out)


def save(rows, out):
    with open(out, "w", encoding="utf8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(f"made {len(rows)}, sentences each: {Counter(len(row['sentences']) for row in rows).most_common(5)}", flush=True)


if __name__ == "__main__":
    {"write": write, "translate": translate}[sys.argv[1]](*sys.argv[2:])
