"""Pre-trains the laboratory policy on what make-data.ts wrote.

One offline step: demonstrations in, half-precision weights out, with a log. Needs PyTorch and safetensors; reads nothing from a network.
When the weights ship, reference.py makes the
numbers that the engine's tests compare with, and NANO_SHAPE becomes their shape.

    python3 lab/measure/nano/pretrain.py --data .cache/nano-data --out "$OUT"

A schedule may be cut into parts that run one after the other, each with a limit of time and with data of its own; the folder that a
part wrote is where the next one goes on, with the optimizer as it was. A part that was stopped goes on from its last minute likewise.

    python3 lab/measure/nano/pretrain.py --data A --out ONE --seconds 500 --until 0.5
    python3 lab/measure/nano/pretrain.py --data B --out TWO --seconds 500 --from ONE

Shapes: B sequences, T positions, D width, H heads, V vocabulary.
"""

import argparse
import hashlib
import json
import math
import multiprocessing
import pathlib
import time
from random import Random

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn

# One prompt token in this many is predicted too.
PROMPT_STEP = 8
PROMPT_WEIGHT = 0.3
COPY_WEIGHT = 2.0
WARM_UP = 0.015
COOL_DOWN = 0.55
CLEAN_UNTIL = 0.5
NOISY_FROM = 0.7
CHUNK = 16_384
MOST_POSITIONS = 1025
SAVE_EVERY = 60
# The share of clean replies, which the processes that compose samples read.
SHARED = multiprocessing.Value("d", 1.0)


# ---------------------------------------------------------------------------------------------------------------- data


class Pool:
    """What is filled in where a sample leaves a word or a figure open."""

    def __init__(self, file, first):
        numbers = np.fromfile(file, dtype="<u2")
        at = 0
        lists = []
        for _ in range(2):
            count, at = int(numbers[at]), at + 1
            entries = []
            for _ in range(count):
                length = int(numbers[at])
                entries.append(numbers[at + 1 : at + 1 + length])
                at += 1 + length
            lists.append(entries)
        self.words, self.figures = lists
        self.first_word, self.first_figure = first["words"], first["figures"]

    def fill(self, tokens, random, chosen):
        """The tokens with every open one replaced, and where that stands; `chosen` remembers by what, so that the same is the same."""
        places = np.nonzero(tokens >= self.first_word)[0]
        if len(places) == 0:
            return tokens, []
        parts, start, shift, spans = [], 0, 0, []
        for place in places.tolist():
            token = int(tokens[place])
            if token not in chosen:
                entries = self.figures if token >= self.first_figure else self.words
                chosen[token] = entries[int(random.random() * len(entries))]
            word = chosen[token]
            parts += [tokens[start:place], word]
            start = place + 1
            spans.append((place + shift, place + shift + len(word)))
            shift += len(word) - 1
        return np.concatenate([*parts, tokens[start:]]), spans


class Samples:
    """Lines, a task and replies each, as one array with places in it."""

    def __init__(self, files, pool, manifest):
        self.pool, self.marks, self.limits = pool, manifest["marks"], manifest["limits"]
        self.numbers, self.index = [], []
        for part, file in enumerate(files):
            self.numbers.append(np.fromfile(file, dtype="<u2"))
            index = np.fromfile(file.with_suffix(".idx"), dtype="<u4").reshape(-1, 2)
            self.index.append(np.column_stack([np.full(len(index), part), index]))
        self.index = np.concatenate(self.index).astype(np.int64)
        self.sizes = self.index[:, 2]

    def __len__(self):
        return len(self.index)

    def compose(self, number, random, clean):
        """
        A prompt with its lines in any order and one of several wordings, then the clean reply or that of an imperfect reader. Answers with
        the tokens and their weights.
        """
        part, at, _ = self.index[number].tolist()
        numbers, marks, limits = self.numbers[part], self.marks, self.limits
        chosen = {}
        lines = []
        count, at = int(numbers[at + 1]), at + 2
        for _ in range(count):
            mark, texts = int(numbers[at]), int(numbers[at + 1])
            at += 2
            wanted = int(random.random() * texts)
            for text in range(texts):
                length = int(numbers[at])
                if text == wanted:
                    lines.append((mark, numbers[at + 1 : at + 1 + length]))
                at += 1 + length
        length = int(numbers[at])
        task, _ = self.pool.fill(numbers[at + 1 : at + 1 + length], random, chosen)
        at += 1 + length
        count, at = int(numbers[at]), at + 1
        wanted = 0 if random.random() < clean else 1 + int(random.random() * (count - 1))
        for _ in range(wanted):
            at += 1 + int(numbers[at])
        reply, spans = self.pool.fill(numbers[at + 1 : at + 1 + int(numbers[at])], random, chosen)
        random.shuffle(lines)
        # Lessons come before what was said.
        lines.sort(key=lambda line: line[0] == marks["said"])
        room = limits["promptTokens"] - 3 - len(task)
        shown = []
        for mark, line in lines:
            line = self.pool.fill(line, random, chosen)[0][: limits["skillTokens"]]
            room -= 1 + len(line)
            # What does not fit is left out, as in the template; the demonstration may then know more than was said.
            if room < 0:
                break
            shown += [[mark], line]
        prompt = np.concatenate([[marks["begin"]], *shown, [marks["task"]], task, [marks["reply"]]])
        weights = np.ones(len(prompt) + len(reply), dtype=np.float32)
        weights[: len(prompt)] = 0
        weights[1 + int(random.random() * PROMPT_STEP) : len(prompt) : PROMPT_STEP] = PROMPT_WEIGHT
        for first, last in spans:
            # With the token behind it: a word must also end where it ends.
            weights[len(prompt) + first : len(prompt) + last + 1] = COPY_WEIGHT
        return np.concatenate([prompt, reply]), weights


class Batches(torch.utils.data.Dataset):
    """Batches of samples that are nearly of one length; what is in them depends on the seed alone."""

    def __init__(self, samples, steps, tokens, seed, clean=None):
        self.samples, self.seed, self.clean = samples, seed, clean
        random = np.random.default_rng(seed)
        plan = []
        while len(plan) < steps:
            order = random.permutation(len(samples))
            for start in range(0, len(order), CHUNK):
                chunk = order[start : start + CHUNK]
                chunk = chunk[np.argsort(samples.sizes[chunk], kind="stable")]
                cuts, at = [], 0
                while at < len(chunk):
                    # What was filled in is longer than its placeholder.
                    longest = samples.sizes[chunk[min(len(chunk) - 1, at + tokens // int(1.4 * samples.sizes[chunk[at]] + 64))]] * 1.4 + 48
                    count = max(8, int(tokens / longest) // 8 * 8)
                    if at + count <= len(chunk):
                        cuts.append(chunk[at : at + count])
                    at += count
                plan += [cuts[at] for at in random.permutation(len(cuts))]
        self.plan = plan[:steps]

    def __len__(self):
        return len(self.plan)

    def __getitem__(self, step):
        random = Random(self.seed * 1_000_003 + step)
        clean = SHARED.value if self.clean is None else self.clean
        made = [self.samples.compose(index, random, clean) for index in self.plan[step]]
        longest = min((max(len(tokens) for tokens, _ in made) + 63) // 64 * 64 + 1, MOST_POSITIONS)
        tokens = np.zeros((len(made), longest), dtype=np.int64)
        weights = np.zeros((len(made), longest), dtype=np.float32)
        for row, (sequence, weight) in enumerate(made):
            sequence = sequence[:longest]
            tokens[row, : len(sequence)] = sequence
            weights[row, : len(sequence)] = weight[:longest]
        places = np.nonzero(weights[:, 1:].reshape(-1))[0]
        return (
            torch.from_numpy(tokens[:, :-1].copy()),
            torch.from_numpy(tokens[:, 1:].reshape(-1)[places]),
            torch.from_numpy(places),
            torch.from_numpy(weights[:, 1:].reshape(-1)[places]),
        )


# --------------------------------------------------------------------------------------------------------------- model


class Norm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)


class Projection(nn.Module):
    """A matrix, and what an adapter adds to it."""

    def __init__(self, inputs, outputs, std):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) * std)
        self.lora = None

    def forward(self, x):
        y = F.linear(x, self.weight)
        if self.lora is None:
            return y
        a, b, scale = self.lora
        return y + scale * F.linear(F.linear(x, a), b)


def rotated(x, cos, sin):
    """Turns the pairs (d, d + half) of each head."""
    low, high = x.chunk(2, -1)
    return torch.cat([low * cos - high * sin, high * cos + low * sin], -1)


class Attention(nn.Module):
    def __init__(self, shape):
        super().__init__()
        width = shape["width"]
        self.heads = shape["heads"]
        std = width**-0.5
        self.q_proj = Projection(width, width, std)
        self.k_proj = Projection(width, width, std)
        self.v_proj = Projection(width, width, std)
        self.o_proj = Projection(width, width, std / math.sqrt(2 * shape["layers"]))

    def forward(self, x, cos, sin):
        B, T, D = x.shape
        q, k, v = (
            proj(x).view(B, T, self.heads, D // self.heads).transpose(1, 2)
            for proj in (self.q_proj, self.k_proj, self.v_proj)
        )
        # The rotation is as precise as its table; attention is as precise as the values.
        q, k = rotated(q, cos, sin).to(v.dtype), rotated(k, cos, sin).to(v.dtype)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, D).to(x.dtype))


class Mlp(nn.Module):
    def __init__(self, shape):
        super().__init__()
        width, inner = shape["width"], shape["inner"]
        self.gate_proj = Projection(width, inner, width**-0.5)
        self.up_proj = Projection(width, inner, width**-0.5)
        self.down_proj = Projection(inner, width, inner**-0.5 / math.sqrt(2 * shape["layers"]))

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.input_layernorm = Norm(shape["width"], shape["normEps"])
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = Norm(shape["width"], shape["normEps"])
        self.mlp = Mlp(shape)

    def forward(self, x, cos, sin):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class Embedding(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocabulary, width) * 0.05)


class Decoder(nn.Module):
    """Tied embeddings, rotary positions, root-mean-square norms, gated MLP; parameters named as in a Llama checkpoint."""

    def __init__(self, shape):
        super().__init__()
        self.embed_tokens = Embedding(shape["vocabulary"], shape["width"])
        self.layers = nn.ModuleList([Layer(shape) for _ in range(shape["layers"])])
        self.norm = Norm(shape["width"], shape["normEps"])
        half = shape["width"] // shape["heads"] // 2
        angles = torch.outer(
            torch.arange(shape["contextLength"], dtype=torch.float64),
            shape["ropeBase"] ** (-torch.arange(half, dtype=torch.float64) / half),
        )
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)

    def hidden(self, tokens):
        T = tokens.shape[1]
        x = F.embedding(tokens, self.embed_tokens.weight)
        for layer in self.layers:
            x = layer(x, self.cos[:T], self.sin[:T])
        return self.norm(x)

    def forward(self, tokens):
        return F.linear(self.hidden(tokens), self.embed_tokens.weight)


def projections(model):
    """All matrices that an adapter changes, in the order of the engine, by name."""
    found = []
    for number, layer in enumerate(model.layers):
        for owner, names in (("self_attn", "qkvo"), ("mlp", ("gate", "up", "down"))):
            for name in names:
                found.append((f"model.layers.{number}.{owner}.{name}_proj", getattr(getattr(layer, owner), f"{name}_proj")))
    return found


# ------------------------------------------------------------------------------------------------------------ training


def rate_at(progress):
    """A share of the top rate: it rises, stays, and falls to nothing in the last part."""
    if progress < WARM_UP:
        return progress / WARM_UP
    return 1.0 if progress < COOL_DOWN else max(0.0, (1 - progress) / (1 - COOL_DOWN))


def clean_share(progress):
    """First to read, from demonstrations that obey; in the last part to be as imperfect as the demonstrations."""
    return float(np.clip((NOISY_FROM - progress) / (NOISY_FROM - CLEAN_UNTIL), 0, 1))


def orthogonal(matrices):
    """Newton-Schulz iterations towards the nearest orthogonal matrices (Jordan et al., Muon)."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = matrices.bfloat16()
    is_tall = x.shape[-2] > x.shape[-1]
    if is_tall:
        x = x.mT
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        y = x @ x.mT
        x = a * x + (b * y + c * (y @ y)) @ x
    return x.mT if is_tall else x


class Muon:
    """Momentum whose directions are orthogonal, for all matrices of the layers; those of one shape together."""

    def __init__(self, matrices):
        groups = {}
        for matrix in matrices:
            groups.setdefault(tuple(matrix.shape), []).append(matrix)
        self.groups = [(group, torch.zeros(len(group), *shape, device=group[0].device)) for shape, group in groups.items()]

    @torch.no_grad()
    def step(self, rate, decay):
        for group, momentum in self.groups:
            gradient = torch.stack([p.grad for p in group])
            momentum.lerp_(gradient, 0.05)
            update = orthogonal(gradient.lerp(momentum, 0.95)).float()
            scale = max(1.0, update.shape[-2] / update.shape[-1]) ** 0.5
            torch._foreach_mul_(group, 1 - rate * decay)
            torch._foreach_add_(group, list(update.unbind(0)), alpha=-rate * scale)


def optimizer_tensors(muon, adam):
    """What the optimizers remember, by name. Half of the digits are enough for a momentum whose directions alone count."""
    tensors = {f"muon.{number}": momentum.bfloat16() for number, (_, momentum) in enumerate(muon.groups)}
    for number, parameter in enumerate(adam.param_groups[0]["params"]):
        for name, tensor in adam.state.get(parameter, {}).items():
            tensors[f"adam.{number}.{name}"] = tensor.reshape(-1) if tensor.dim() == 0 else tensor
    return {name: tensor.detach().contiguous().cpu() for name, tensor in tensors.items()}


def restore_optimizers(tensors, muon, adam):
    for number, (_, momentum) in enumerate(muon.groups):
        momentum.copy_(tensors[f"muon.{number}"].float())
    for number, parameter in enumerate(adam.param_groups[0]["params"]):
        state = {
            name.split(".", 2)[2]: tensor for name, tensor in tensors.items() if name.startswith(f"adam.{number}.")
        }
        if state:
            on = parameter.device
            adam.state[parameter] = {
                name: (tensor.reshape(()) if name == "step" else tensor).to(on) for name, tensor in state.items()
            }


def loss_of(model, batch, autocast):
    tokens, targets, places, weights = batch
    with autocast():
        hidden = model.hidden(tokens).flatten(0, 1)[places]
        logits = F.linear(hidden, model.embed_tokens.weight)
    nll = F.cross_entropy(logits.float(), targets, reduction="none")
    reply = (weights >= 1).float()
    right = ((logits.argmax(-1) == targets).float() * reply).sum() / reply.sum()
    return (nll * weights).sum() / weights.sum(), ((nll * reply).sum() / reply.sum()).detach(), right.detach()


def to_device(batch, device):
    return tuple(each.to(device, non_blocking=True) for each in batch)


def train(model, args, read, valid, device, autocast, save, before):
    """Trains from where `before` ended to the part of the schedule that is asked for. Answers with the log."""

    def load(samples, seed):
        batches = Batches(samples, args.steps, args.tokens, seed)
        workers = {"num_workers": args.workers, "prefetch_factor": 8 if args.workers else None}
        return iter(torch.utils.data.DataLoader(batches, batch_size=None, pin_memory=device == "cuda", **workers))

    samples = read([args.data])
    print(f"{len(samples)} samples", flush=True)
    loader = load(samples, args.seed)
    is_whole = args.more is None
    matrices = [p for p in model.layers.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if not any(p is matrix for matrix in matrices)]
    muon = Muon(matrices)
    adam = torch.optim.AdamW(others, lr=0, betas=(0.9, 0.95), weight_decay=0.0, fused=device == "cuda")
    if before.get("optimizer") is not None:
        restore_optimizers(before["optimizer"], muon, adam)
    begin = before.get("progress", 0.0)
    if begin >= args.until:
        raise SystemExit(f"these weights are at {begin:.2f} of the schedule: ask for more with --until")
    done = before.get("log", [])[-1:] or [{"step": 0, "tokens": 0, "seconds": 0.0}]
    log, window, start, seen, made, saved = list(before.get("log", [])), [], time.time(), 0, 0, time.time()

    def report(progress):
        # The last row's means stay where the clock left no step after it.
        last = (log[-1]["replyLoss"], log[-1]["right"]) if log else (0.0, 0.0)
        loss, accuracy = torch.stack(window).mean(0).tolist() if window else last
        row = {
            "step": done[0]["step"] + made,
            "progress": round(progress, 4),
            "tokens": done[0]["tokens"] + seen,
            "samples": len(samples),
            "replyLoss": loss,
            "right": accuracy,
            "clean": SHARED.value,
            **valid_losses(model, valid, device, autocast, min(32_768, args.tokens)),
            "seconds": round(done[0]["seconds"] + time.time() - start, 1),
        }
        log.append(row)
        print(json.dumps(row), flush=True)
        save(log, optimizer_tensors(muon, adam))

    progress = begin
    for step in range(args.steps):
        # By the clock where there is a limit: the schedule then ends with the time.
        share = step / args.steps if args.seconds == 0 else max(step / args.steps, (time.time() - start) / args.seconds)
        if share >= 1:
            break
        progress = begin + (args.until - begin) * share
        if not is_whole and step % 50 == 0 and (args.more / "manifest.json").exists():
            is_whole = True
            samples = read([args.data, args.more])
            print(f"{len(samples)} samples", flush=True)
            loader = load(samples, args.seed + 1)
        SHARED.value = clean_share(progress)
        batch = to_device(next(loader), device)
        seen += batch[0].numel()
        made += 1
        loss, reply, right = loss_of(model, batch, autocast)
        model.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        rate = rate_at(progress)
        muon.step(args.rate * rate, 0.05)
        for group in adam.param_groups:
            group["lr"] = args.adam * rate
        adam.step()
        window.append(torch.stack([reply, right]))
        if step == 0 or time.time() - saved >= args.save:
            report(progress)
            saved = time.time()
            if step == 0:
                # The first step compiles: without it the clock would pass the rise of the rate.
                start = saved
            # A mean of what is new.
            window.clear()
    report(args.until)
    return log


@torch.no_grad()
def valid_losses(model, valid, device, autocast, tokens):
    """On samples of other days, with rules of the same forms that were drawn anew; clean replies."""
    batches = Batches(valid, 8, tokens, 7, 1.0)
    found = [loss_of(model, to_device(batches[step], device), autocast)[1:] for step in range(len(batches))]
    loss, right = torch.tensor(found).mean(0).tolist()
    return {"validLoss": loss, "validRight": right}


def sha256(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def write_text(file, text):
    """Whoever stops this while it writes finds the file as it was before."""
    beside = file.with_name(f"{file.name}.new")
    beside.write_text(text)
    beside.replace(file)


def write_tensors(tensors, file):
    beside = file.with_name(f"{file.name}.new")
    save_file(tensors, str(beside))
    beside.replace(file)


def read_part(folder, device):
    """What an earlier part left: weights in full precision, the optimizer, and how far the schedule came."""
    file = folder / "weights.safetensors" if folder.is_dir() else folder
    master, optimizer, log = (file.parent / name for name in ("master.safetensors", "optimizer.safetensors", "train-log.json"))
    before = {"weights": load_file(str(master if master.exists() else file))}
    if optimizer.exists() and log.exists():
        before["optimizer"] = load_file(str(optimizer), device=device)
        before["log"] = json.loads(log.read_text())["log"]
        before["progress"] = before["log"][-1]["progress"]
    return before


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(".cache/nano-data"))
    parser.add_argument("--tokenizer", type=pathlib.Path, default=pathlib.Path("models/nano/tokenizer.json"))
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--from", dest="start", type=pathlib.Path, default=None, help="the folder of an earlier part, or weights alone")
    parser.add_argument("--until", type=float, default=1.0, help="ends at this share of the schedule, for another part to go on from")
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--width", type=int, default=160)
    parser.add_argument("--heads", type=int, default=5)
    parser.add_argument("--inner", type=int, default=512)
    parser.add_argument("--steps", type=int, default=40_000, help="of this part, at most")
    parser.add_argument("--seconds", type=float, default=0, help="ends this part after this time, if that comes first")
    parser.add_argument("--tokens", type=int, default=131_072, help="of a batch, padding included")
    parser.add_argument("--rate", type=float, default=0.02)
    parser.add_argument("--adam", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", type=float, default=SAVE_EVERY, help="seconds between two records of the weights")
    parser.add_argument("--workers", type=int, default=14)
    parser.add_argument("--more", type=pathlib.Path, default=None, help="further data that are still being made, used once they are there")
    parser.add_argument("--compile", action="store_true", help="fuses the operations of a layer, which takes up to a minute at the start")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    started = time.time()
    args.out.mkdir(parents=True, exist_ok=True)
    manifest = json.loads((args.data / "manifest.json").read_text())
    if manifest["tokenizer"] != sha256(args.tokenizer):
        raise SystemExit("the data were made with another tokenizer: run make-data again, or name it with --tokenizer")
    torch.manual_seed(args.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    device = args.device
    autocast = lambda: torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda")
    pool = Pool(args.data / "pool.bin", manifest["open"])

    def read(folders):
        parts = [(folder, part) for folder in folders for part in json.loads((folder / "manifest.json").read_text())["parts"]]
        return Samples([folder / f"samples-{part}.bin" for folder, part in parts], pool, manifest)

    valid = Samples([args.data / "samples-valid.bin"], pool, manifest)
    sides = {"layers": args.layers, "width": args.width, "heads": args.heads, "inner": args.inner}
    shape = {**manifest["shape"], **sides}
    if args.width % args.heads or (args.width // args.heads) % 2:
        raise SystemExit("--width must be an even multiple of --heads")
    model = Decoder(shape).to(device)
    before = {} if args.start is None else read_part(args.start, device)
    if "weights" in before:
        stored = {name.removeprefix("model."): tensor.float() for name, tensor in before["weights"].items()}
        model.load_state_dict(stored, strict=True)
    if args.compile:
        # Where the compiler fails, a layer runs as it is.
        torch._dynamo.config.suppress_errors = True
        for layer in model.layers:
            layer.forward = torch.compile(layer.forward, dynamic=True)
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{parameters} parameters, from {before.get('progress', 0):.2f}, read in {time.time() - started:.0f} s", flush=True)

    def save(log, optimizer):
        weights = {f"model.{name}": p.detach().contiguous().cpu() for name, p in model.named_parameters()}
        write_tensors(weights, args.out / "master.safetensors")
        write_tensors({name: tensor.half() for name, tensor in weights.items()}, args.out / "weights.safetensors")
        write_tensors(optimizer, args.out / "optimizer.safetensors")
        run = {
            "seed": args.seed,
            "until": args.until,
            "steps": log[-1]["step"],
            "tokens": log[-1]["tokens"],
            "batchTokens": args.tokens,
            "rate": args.rate,
            "samples": log[-1]["samples"],
            "parameters": parameters,
            "replyLoss": log[-1]["replyLoss"],
            "validLoss": log[-1]["validLoss"],
        }
        # For the log alone: the shipped configuration says what was trained, not where.
        environment = {
            "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
            "torch": torch.__version__,
            "trainSeconds": log[-1]["seconds"],
        }
        config = {
            "name": "instar-nano",
            "shape": shape,
            "sha256": {"weights.safetensors": sha256(args.out / "weights.safetensors"), "tokenizer.json": sha256(args.tokenizer)},
            "pretraining": run,
        }
        write_text(args.out / "config.json", json.dumps(config, indent=2) + "\n")
        write_text(args.out / "train-log.json", json.dumps({"run": run, "environment": environment, "data": manifest, "log": log}) + "\n")

    train(model, args, read, valid, device, autocast, save, before)


if __name__ == "__main__":
    main()
