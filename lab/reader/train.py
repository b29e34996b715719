"""Trains the reader (models/reader): a small multilingual encoder with a head for the kinds of sentences that people write.

Run on a machine with a GPU, from a folder with the data that `lab/reader/README.md` lists:

    python3 train.py vocabulary DATA WORK     pieces of the languages in the data, with a first vector each
    python3 train.py distil DATA WORK         the encoder learns the sentence vectors of all-MiniLM-L6-v2, in every language
    python3 train.py fit DATA WORK            the head and the encoder learn the labels, by repository in folds, then on all
    python3 train.py export WORK OUT          8-bit weights, the vocabulary and the thresholds
"""

import json
import math
import random
import sys
import time
from pathlib import Path

import numpy as np

KINDS = "CRPFVTAIN"
HIDDEN, HEADS, INNER, LAYERS, RANK = 384, 12, 1536, 6, 128
MOST_TOKENS, ANSWER_TOKENS = 256, 40
PIECES = 40_000
# Sentences of rare kinds count more: chats hold few of them.
RARE = 1.5
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
PAD, UNK, CLS, SEP = range(4)


def read_jsonl(path):
    return [json.loads(line) for line in open(path, encoding="utf8") if line.strip()]


def lines_of(path):
    with open(path, encoding="utf8") as file:
        return [line.rstrip("\n") for line in file]


def tokenizer_of(vocabulary=None):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    model = models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100) if vocabulary else models.WordPiece(unk_token="[UNK]")
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=False, lowercase=True)]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def load_tokenizer(work):
    pieces = lines_of(work / "vocabulary.txt")
    return tokenizer_of({piece: index for index, piece in enumerate(pieces)})


def corpus(data):
    """English sentences, sentences of other languages, and sentences that people wrote to agents."""
    pairs = [line.split("\t") for line in lines_of(data / "parallel.tsv")]
    english = lines_of(data / "english.txt")
    other = [pair[1] for pair in pairs if len(pair) >= 3]
    return english, other, lines_of(data / "messages.txt")


def vocabulary(data, work):
    from tokenizers import trainers

    english, other, said = corpus(data)
    tokenizer = tokenizer_of()
    trainer = trainers.WordPieceTrainer(
        vocab_size=PIECES, special_tokens=SPECIAL, continuing_subword_prefix="##", limit_alphabet=6000, min_frequency=3
    )
    tokenizer.train_from_iterator(english + other + said * 5, trainer)
    vocab = tokenizer.get_vocab()
    pieces = sorted(vocab, key=vocab.get)
    (work / "vocabulary.txt").write_text("\n".join(pieces) + "\n", encoding="utf8")
    np.save(work / "first.npy", first_vectors(data, pieces))
    print("vocabulary", len(pieces))


def first_vectors(data, pieces):
    """MiniLM's own vector where it knows the piece; else the static multilingual vector, mapped into MiniLM's space."""
    own_names = lines_of(data / "minilm-vocabulary.txt")
    own_index = {piece: index for index, piece in enumerate(own_names)}
    scale = np.load(data / "minilm-words-scale.npy").astype(np.float32)
    own = np.load(data / "minilm-words.npy").astype(np.float32) * scale[:, None]
    static_names = lines_of(data / "static-pieces.txt")
    static_index = {piece: index for index, piece in enumerate(static_names)}
    static_scale = np.load(data / "static-scale.npy").astype(np.float32)
    static = np.load(data / "static.npy").astype(np.float32) * static_scale[:, None]

    def static_of(piece):
        word = piece[2:] if piece.startswith("##") else "▁" + piece
        for form in (word, word[:1] + word[1:].capitalize(), word.upper(), piece.removeprefix("##")):
            if form in static_index:
                return static[static_index[form]]
        parts = [static[static_index[letter]] for letter in piece.removeprefix("##") if letter in static_index]
        return np.mean(parts, axis=0) if parts else np.zeros(static.shape[1], np.float32)

    statics = np.stack([static_of(piece) for piece in pieces])
    shared = [index for index, piece in enumerate(pieces) if piece in own_index and np.any(statics[index])]
    x = np.concatenate([statics, np.ones((len(pieces), 1), np.float32)], axis=1)
    target = np.stack([own[own_index[pieces[index]]] for index in shared])
    gram = x[shared].T @ x[shared] + 10.0 * np.eye(x.shape[1])
    mapped = x @ np.linalg.solve(gram, x[shared].T @ target)
    for index, piece in enumerate(pieces):
        if piece in own_index:
            mapped[index] = own[own_index[piece]]
    for name, index in (("[CLS]", CLS), ("[SEP]", SEP), ("[PAD]", PAD), ("[UNK]", UNK)):
        mapped[index] = own[own_index[name]]
    print("pieces shared with MiniLM:", len(shared), "of", len(pieces))
    return mapped.astype(np.float32)


def make_model(work=None, first=None, layers=LAYERS):
    import torch
    from torch import nn
    from transformers import BertConfig, BertModel

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            count = len(lines_of(work / "vocabulary.txt"))
            self.words = nn.Embedding(count, RANK)
            self.widen = nn.Linear(RANK, HIDDEN, bias=False)
            config = BertConfig(
                vocab_size=8, hidden_size=HIDDEN, num_hidden_layers=layers, num_attention_heads=HEADS, intermediate_size=INNER,
                max_position_embeddings=512, hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1,
            )
            self.bert = BertModel(config, add_pooling_layer=False)
            self.head = nn.Linear(2 * HIDDEN, len(KINDS))
            if first is not None:
                mean = first.mean(axis=0)
                u, s, vt = np.linalg.svd(first - mean, full_matrices=False)
                self.words.weight.data.copy_(torch.from_numpy(u[:, :RANK] * s[:RANK]))
                self.widen.weight.data.copy_(torch.from_numpy(vt[:RANK].T.copy()))
                self.mean = torch.from_numpy(mean)

        def forward(self, ids, mask):
            states = self.bert(inputs_embeds=self.widen(self.words(ids)), attention_mask=mask).last_hidden_state
            return states

        def sentence_vector(self, ids, mask):
            states = self.forward(ids, mask).float()
            pooled = (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
            return torch.nn.functional.normalize(pooled, dim=-1)

        def kinds(self, ids, mask, spans):
            """`spans`: (row, from, to) of every sentence."""
            states = self.forward(ids, mask).float()
            row, start, end = spans.T
            total = torch.cat([torch.zeros_like(states[:, :1]), states.cumsum(1)], dim=1)
            mean = (total[row, end] - total[row, start]) / (end - start)[:, None]
            return self.head(torch.cat([mean, states[row, 0]], dim=-1))

    return Reader()


def load_minilm(data, reader):
    """The layers of all-MiniLM-L6-v2."""
    import torch
    from safetensors.torch import load_file

    state = load_file(data / "minilm-layers.safetensors")
    renamed = {name: value.float() for name, value in state.items() if "word" not in name and "position_ids" not in name}
    missing, unexpected = reader.bert.load_state_dict(renamed, strict=False)
    print("minilm: missing", [name for name in missing if "word_embeddings" not in name], "unexpected", unexpected)
    with torch.no_grad():
        reader.bert.embeddings.token_type_embeddings.weight[0] += reader.mean


KEPT = {6: [0, 1, 2, 3, 4, 5], 4: [0, 1, 3, 5], 3: [0, 2, 5]}


def fewer_layers(state, layers):
    """The state of a distilled encoder with some of its layers."""
    kept, found = KEPT[layers], {}
    for name, value in state.items():
        if not name.startswith("bert.encoder.layer."):
            found[name] = value.float()
            continue
        _, _, _, number, rest = name.split(".", 4)
        if int(number) in kept:
            found[f"bert.encoder.layer.{kept.index(int(number))}.{rest}"] = value.float()
    return found


def teacher_of(data):
    import torch
    from safetensors.torch import load_file
    from tokenizers import Tokenizer
    from transformers import BertConfig, BertModel

    scale = np.load(data / "minilm-words-scale.npy").astype(np.float32)
    words = np.load(data / "minilm-words.npy").astype(np.float32) * scale[:, None]
    config = BertConfig(vocab_size=30522, hidden_size=HIDDEN, num_hidden_layers=6, num_attention_heads=HEADS, intermediate_size=INNER)
    model = BertModel(config, add_pooling_layer=False)
    state = {name: value.float() for name, value in load_file(data / "minilm-layers.safetensors").items() if "position_ids" not in name}
    state["embeddings.word_embeddings.weight"] = torch.from_numpy(words)
    model.load_state_dict(state, strict=False)
    tokenizer = Tokenizer.from_file(str(data / "minilm-tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(128)
    return model.eval().cuda().half(), tokenizer


def batches_of(lists, size):
    """Batches of like length."""
    order = sorted(range(len(lists)), key=lambda index: len(lists[index]))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def padded(lists):
    import torch

    longest = max(len(one) for one in lists)
    ids = torch.zeros(len(lists), longest, dtype=torch.long)
    for row, one in enumerate(lists):
        ids[row, : len(one)] = torch.tensor(one)
    mask = (torch.arange(longest)[None] < torch.tensor([len(one) for one in lists])[:, None]).long()
    return ids.cuda(), mask.cuda()


def distil(data, work, layers=LAYERS, minutes=3.0):
    import torch

    torch.manual_seed(1)
    random.seed(1)
    pairs = [line.split("\t")[:3] for line in lines_of(data / "parallel.tsv") if line.count("\t") >= 2]
    english = list(dict.fromkeys(lines_of(data / "english.txt") + [line for line in lines_of(data / "messages.txt") if line.isascii()] + [pair[0] for pair in pairs]))
    number = {sentence: index for index, sentence in enumerate(english)}
    teacher, own = teacher_of(data)
    encoded = [one.ids for one in own.encode_batch(english)]
    targets = torch.zeros(len(english), HIDDEN, dtype=torch.half, device="cuda")
    with torch.no_grad():
        for batch in batches_of(encoded, 1024):
            ids, mask = padded([encoded[index] for index in batch])
            states = teacher(ids, attention_mask=mask).last_hidden_state.float()
            pooled = (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
            targets[torch.tensor(batch).cuda()] = torch.nn.functional.normalize(pooled, dim=-1).half()
    print("teacher read", len(english))
    tokenizer = load_tokenizer(work)
    wrap = lambda ids: [CLS, *ids[:100], SEP]
    texts = [(sentence, number[sentence]) for sentence in english] + [(pair[1], number[pair[0]]) for pair in pairs]
    ids = [wrap(one.ids) for one in tokenizer.encode_batch([text for text, _ in texts])]
    goal = [target for _, target in texts]
    held = set(random.Random(2).sample(range(len(texts)), 4000))
    train = [index for index in range(len(texts)) if index not in held]
    if layers == LAYERS:
        model = make_model(work, np.load(work / "first.npy"), layers)
        load_minilm(data, model)
    else:
        model = make_model(work, None, layers)
        model.load_state_dict(fewer_layers(torch.load(work / f"distilled-{LAYERS}.pt"), layers), strict=False)
    model = model.cuda()
    table = [parameter for name, parameter in model.named_parameters() if name.startswith(("words", "widen"))]
    rest = [parameter for name, parameter in model.named_parameters() if not name.startswith(("words", "widen", "head"))]
    optimizer = torch.optim.AdamW([{"params": table, "lr": 3e-3}, {"params": rest, "lr": 3e-4}], weight_decay=0.01)
    started, step, epoch = time.time(), 0, 0
    while time.time() - started < minutes * 60:
        random.shuffle(train)
        for start in range(0, len(train), 65_536):
            part = train[start : start + 65_536]
            groups = [[part[index] for index in group] for group in batches_of([ids[index] for index in part], 512)]
            random.shuffle(groups)
            for group in groups:
                elapsed = (time.time() - started) / (minutes * 60)
                factor = min(1.0, (step + 1) / 300) * max(0.02, 1 - elapsed)
                for entry, base in zip(optimizer.param_groups, (3e-3, 3e-4)):
                    entry["lr"] = base * factor
                inputs, mask = padded([ids[index] for index in group])
                with torch.autocast("cuda", torch.bfloat16):
                    vector = model.sentence_vector(inputs, mask)
                wanted = targets[torch.tensor([goal[index] for index in group]).cuda()].float()
                similarity = vector @ wanted.T * 20
                labels = torch.tensor([goal[index] for index in group]).cuda()
                same = labels[:, None] == labels[None]
                similarity = similarity.masked_fill(same & ~torch.eye(len(group), dtype=torch.bool, device="cuda"), -1e4)
                loss = (1 - (vector * wanted).sum(-1)).mean() * 10 + 0.3 * torch.nn.functional.cross_entropy(
                    similarity, torch.arange(len(group), device="cuda")
                )
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                step += 1
                if time.time() - started >= minutes * 60:
                    break
            if time.time() - started >= minutes * 60:
                break
        epoch += 1
        print(f"epoch {epoch} step {step} loss {loss.item():.3f} {time.time() - started:.0f} s", flush=True)
    torch.save(model.state_dict(), work / f"distilled-{layers}.pt")
    report_distilled(model.eval(), [index for index in held], ids, goal, targets, len(english))


def report_distilled(model, held, ids, goal, targets, english):
    import torch

    vectors = torch.zeros(len(held), HIDDEN, device="cuda")
    with torch.no_grad():
        for batch in batches_of([ids[index] for index in held], 512):
            inputs, mask = padded([ids[held[index]] for index in batch])
            vectors[torch.tensor(batch).cuda()] = model.sentence_vector(inputs, mask)
    wanted = targets[torch.tensor([goal[index] for index in held]).cuda()].float()
    cosine = (vectors * wanted).sum(-1)
    nearest = (vectors @ wanted.T).argmax(-1).cpu()
    is_english = torch.tensor([index < english for index in held])
    for name, chosen in (("english", is_english), ("translations", ~is_english)):
        hit = (torch.tensor(goal)[torch.tensor(held)][nearest] == torch.tensor(goal)[torch.tensor(held)])[chosen].float().mean()
        print(f"held-out {name}: {int(chosen.sum())}, cosine {cosine.cpu()[chosen].mean():.3f}, nearest of all is its own {hit:.3f}")


ENCODED = {}


def ids_of(text, tokenizer):
    if text not in ENCODED:
        ENCODED[text] = tokenizer.encode(text).ids
    return ENCODED[text]


def windows_of(row, tokenizer):
    """The token ids of a message with the end of the answer before it; long messages in several windows, each with the answer's end."""
    answer = ids_of(row["answer"][-600:], tokenizer)[-ANSWER_TOKENS:] if row["answer"] else []
    head = [CLS, *answer, SEP]
    windows, ids, spans = [], list(head), []
    for number, sentence in enumerate(row["sentences"]):
        own = ids_of(sentence, tokenizer)[:120] or [UNK]
        if len(ids) + len(own) + 1 > MOST_TOKENS:
            windows.append((ids, spans))
            ids, spans = list(head), []
        spans.append((number, len(ids), len(ids) + len(own) + 1))
        ids += [*own, SEP]
    windows.append((ids, spans))
    return windows


def examples_of(rows, tokenizer):
    found = []
    for index, row in enumerate(rows):
        for ids, spans in windows_of(row, tokenizer):
            found.append((index, ids, spans))
    return found


def targets_of(row):
    """Per sentence and kind: 1, 0, or nothing where the annotators disagreed."""
    return [[None if kind in unsure else float(kind in letters) for kind in KINDS] for letters, unsure in zip(row["letters"], row["unsure"])]


def composed(rows, count, chance):
    """Messages of two writers: what one said for later stands in the message of another. Chats hold few rules, files of rules many."""
    said = [(sentence, letters) for row in rows for sentence, letters, unsure in zip(row["sentences"], row["letters"], row["unsure"])
            if set(letters) & set("RPFV") and not unsure and "N" not in letters]
    hosts = [row for row in rows if row["answer"] and len(row["sentences"]) < 10]
    made = []
    for _ in range(count):
        host, (sentence, letters) = chance.choice(hosts), chance.choice(said)
        at = chance.choice([0, len(host["sentences"]), chance.randrange(len(host["sentences"]) + 1)])
        if chance.random() < 0.3:
            sentence = sentence.rstrip(".!")
        made.append({
            **host,
            "sentences": [*host["sentences"][:at], sentence, *host["sentences"][at:]],
            "letters": [*host["letters"][:at], letters, *host["letters"][at:]],
            "unsure": [*host["unsure"][:at], "", *host["unsure"][at:]],
            "weight": 0.5,
        })
    return made


def train_reader(rows, work, options):
    import torch

    torch.manual_seed(options["seed"])
    chance = random.Random(options["seed"])
    tokenizer = load_tokenizer(work)
    rows = rows + composed(rows, int(options.get("composed", 0) * len(rows)), chance)
    model = make_model(work, None, options["layers"])
    model.load_state_dict(torch.load(work / f"distilled-{options['layers']}.pt"), strict=False)
    model = model.cuda().train()
    # The pieces' vectors and the lower layers stay those of the sentence vectors: both models share them.
    for name, parameter in model.named_parameters():
        layer = int(name.split(".")[3]) if name.startswith("bert.encoder.layer.") else -1
        is_below = name.startswith(("words", "widen", "bert.embeddings")) or 0 <= layer < options["frozen"]
        parameter.requires_grad_(not is_below)
    heads = list(model.head.parameters())
    rest = [parameter for name, parameter in model.named_parameters() if not name.startswith("head") and parameter.requires_grad]
    optimizer = torch.optim.AdamW([{"params": heads, "lr": 1e-3}, {"params": rest, "lr": options["rate"]}], weight_decay=0.01)
    examples = examples_of(rows, tokenizer)
    targets = [targets_of(row) for row in rows]
    size, epochs = options["batch"], options["epochs"]
    steps = math.ceil(len(examples) / size) * epochs
    step = 0
    for _ in range(epochs):
        chance.shuffle(examples)
        for start in range(0, len(examples), size):
            part = examples[start : start + size]
            loss = loss_of(model, part, rows, targets, chance)
            factor = min(1.0, (step + 1) / (0.1 * steps)) * max(0.0, 1 - step / steps)
            for entry, base in zip(optimizer.param_groups, (1e-3, options["rate"])):
                entry["lr"] = base * factor
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step += 1
    return model.eval(), tokenizer


def loss_of(model, part, rows, targets, chance):
    import torch

    lists, spans, wanted, weights = [], [], [], []
    for row, (index, ids, own) in enumerate(part):
        # Sometimes without the answer: many clients give none.
        cut = ids.index(SEP) if rows[index]["answer"] and chance.random() < 0.15 else 1
        lists.append([CLS, *ids[cut:]])
        for number, start, end in own:
            spans.append((row, start - cut + 1, end - cut + 1))
            wanted.append([0.0 if value is None else value for value in targets[index][number]])
            weights.append([
                0.0 if value is None else rows[index].get("weight", 1.0) * (RARE if value == 1 and kind in "RPFVAI" else 1.0)
                for kind, value in zip(KINDS, targets[index][number])
            ])
    ids, mask = padded(lists)
    with torch.autocast("cuda", torch.bfloat16):
        logits = model.kinds(ids, mask, torch.tensor(spans).cuda())
    goal, weight = torch.tensor(wanted).cuda(), torch.tensor(weights).cuda()
    goal = goal * 0.98 + 0.01
    return (torch.nn.functional.binary_cross_entropy_with_logits(logits, goal, reduction="none") * weight).sum() / weight.sum()


def scores_of(model, tokenizer, rows):
    """Probabilities per row, sentence and kind."""
    import torch

    examples = examples_of(rows, tokenizer)
    scores = [np.zeros((len(row["sentences"]), len(KINDS)), np.float32) for row in rows]
    with torch.no_grad():
        for batch in batches_of([ids for _, ids, _ in examples], 256):
            ids, mask = padded([examples[index][1] for index in batch])
            spans = [(row, start, end) for row, index in enumerate(batch) for _, start, end in examples[index][2]]
            found = torch.sigmoid(model.kinds(ids, mask, torch.tensor(spans).cuda())).cpu().numpy()
            at = 0
            for index in batch:
                row, _, own = examples[index]
                for number, _, _ in own:
                    scores[row][number] = found[at]
                    at += 1
    return scores


def folds_of(rows, count=4):
    """Whole repositories (writers) in one fold each, of about equal size."""
    sizes = {}
    for row in rows:
        sizes[row["repo"]] = sizes.get(row["repo"], 0) + 1
    load, fold = [0] * count, {}
    for repo in sorted(sizes, key=lambda name: (-sizes[name], name)):
        fold[repo] = load.index(min(load))
        load[fold[repo]] += sizes[repo]
    return [fold[row["repo"]] for row in rows]


def report(rows, scores, name):
    """Per kind: average precision and recall at fixed numbers of false alarms, over sentences; and the thresholds."""
    print(f"== {name}: {len(rows)} messages")
    for column, kind in enumerate(KINDS):
        pairs = []
        for row, score in zip(rows, scores):
            for letters, unsure, values in zip(row["letters"], row["unsure"], score):
                if kind not in unsure:
                    pairs.append((float(values[column]), kind in letters))
        positives = sum(1 for _, is_true in pairs if is_true)
        if positives == 0:
            continue
        pairs.sort(reverse=True)
        hits, false, precision, at = 0, 0, 0.0, {}
        for value, is_true in pairs:
            hits, false = hits + is_true, false + (not is_true)
            if is_true:
                precision += hits / (hits + false)
            for limit in (0.005, 0.01, 0.02, 0.05, 0.1):
                if false <= limit * len(rows):
                    at[limit] = (hits / positives, value, hits / (hits + false))
        told = " ".join(f"{limit}: {recall:.2f} (p {prec:.2f}, t {value:.2f})" for limit, (recall, value, prec) in at.items())
        print(f"{kind} n {positives} AP {precision / positives:.3f} | {told}")


def fit(data, work, options):
    rows = read_jsonl(data / "labels.jsonl")
    train = [row for row in rows if row["use"] == "train"]
    test = [row for row in rows if row["use"] == "test"]
    fold = folds_of(train)
    held = [None] * len(train)
    for number in range(max(fold) + 1):
        inside = [row for row, one in zip(train, fold) if one != number]
        outside = [index for index, one in enumerate(fold) if one == number]
        model, tokenizer = train_reader(inside, work, options)
        for index, score in zip(outside, scores_of(model, tokenizer, [train[index] for index in outside])):
            held[index] = score
    report(train, held, f"out of fold {options}")
    natural = [index for index, row in enumerate(train) if row.get("natural")]
    report([train[index] for index in natural], [held[index] for index in natural], "out of fold, natural sample")
    import torch

    model, tokenizer = train_reader(train, work, options)
    torch.save(model.state_dict(), work / "reader.pt")
    if test:
        report(test, scores_of(model, tokenizer, test), "held-out repositories")
    return train, held


def export(work, out, layers):
    """One safetensors file: 8-bit rows with a scale each, the rest in half precision."""
    import torch
    from safetensors.torch import save_file

    state = torch.load(work / "reader.pt", map_location="cpu")
    tensors = {}
    for name, value in state.items():
        if value.ndim == 2 and not name.startswith(("head", "bert.embeddings")):
            scale = value.abs().amax(dim=1).clamp(min=1e-8) / 127
            tensors[name] = torch.round(value / scale[:, None]).to(torch.int8)
            tensors[name + ".scale"] = scale.float()
        elif name.startswith("bert.embeddings.word") or "position_ids" in name:
            continue
        elif name.startswith("bert.embeddings.position"):
            tensors[name] = value[:MOST_TOKENS].half().contiguous()
        else:
            tensors[name] = value.float().contiguous() if name.startswith("head") else value.half().contiguous()
    save_file(tensors, str(out / "weights.safetensors"), metadata={"kinds": KINDS, "layers": str(layers)})
    (out / "vocabulary.txt").write_text((work / "vocabulary.txt").read_text(encoding="utf8"), encoding="utf8")


if __name__ == "__main__":
    step, *rest = sys.argv[1:]
    if step == "vocabulary":
        vocabulary(Path(rest[0]), Path(rest[1]))
    elif step == "distil":
        distil(Path(rest[0]), Path(rest[1]), int(rest[2]), float(rest[3]))
    elif step == "fit":
        fit(Path(rest[0]), Path(rest[1]), json.loads(rest[2]))
    elif step == "export":
        export(Path(rest[0]), Path(rest[1]), int(rest[2]))
