"""Pre-trains the laboratory policy on what make-data.ts wrote.

One offline step: noisy demonstrations in, half-precision weights out, with a log and replies to the gate's prompts, which
grade.ts looks at. Needs PyTorch and safetensors; reads nothing from a network. When the weights ship, reference.py makes the
numbers that the engine's tests compare with.

    python3 lab/measure/nano/pretrain.py --data .cache/nano-data --out "$OUT"

Shapes: B sequences, T positions, D width, H heads, V vocabulary.
"""

import argparse
import gzip
import hashlib
import json
import math
import pathlib
import time

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn

PROMPT_WEIGHT = 0.05
COPY_WEIGHT = 2.0
WARM_UP = 200
CHUNK_OF_BATCHES = 64
LONGEST_REPLY = 208
MOST_POSITIONS = 769


# ---------------------------------------------------------------------------------------------------------------- data


def read_numbers(file):
    return np.frombuffer(gzip.open(file).read(), dtype="<u2")


class Lessons:
    """Lines by the key of what they teach."""

    def __init__(self, file):
        numbers = read_numbers(file)
        at = 1
        self.lines = []
        for _ in range(int(numbers[0])):
            count = int(numbers[at])
            at += 1
            lines = []
            for _ in range(count):
                length = int(numbers[at])
                lines.append(numbers[at + 1 : at + 1 + length])
                at += 1 + length
            self.lines.append(lines)
        self.mean = [np.mean([len(line) for line in lines]) + 1 for lines in self.lines]


class Pool:
    """What is filled in where a sample leaves a word or a figure open."""

    def __init__(self, file, first):
        numbers = read_numbers(file)
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
        """The tokens with every open one replaced; `chosen` remembers by what, so that the same is the same."""
        return self.fill_and_mark(tokens, random, chosen)[0]

    def fill_and_mark(self, tokens, random, chosen):
        """Also answers with where what was filled in stands: starts and ends."""
        places = np.nonzero(tokens >= self.first_word)[0]
        if len(places) == 0:
            return tokens, []
        parts, start, shift, spans = [], 0, 0, []
        for place in places:
            token = int(tokens[place])
            if token not in chosen:
                entries = self.figures if token >= self.first_figure else self.words
                chosen[token] = entries[random.integers(len(entries))]
            parts += [tokens[start:place], chosen[token]]
            start = place + 1
            spans.append((place + shift, place + shift + len(chosen[token])))
            shift += len(chosen[token]) - 1
        return np.concatenate([*parts, tokens[start:]]), spans


class Samples:
    """Keys of lessons, a task and a reply each, as one array with places in it."""

    def __init__(self, file, lessons, pool):
        self.lessons = lessons
        self.pool = pool
        self.numbers = read_numbers(file)
        places, sizes = [], []
        at, end = 0, len(self.numbers)
        numbers = self.numbers
        while at < end:
            slots = int(numbers[at])
            task_at = at + 1 + slots
            task = int(numbers[task_at])
            reply_at = task_at + 1 + task
            reply = int(numbers[reply_at])
            places.append((at, task_at, reply_at))
            sizes.append(3 + task + reply + sum(lessons.mean[key] for key in numbers[at + 1 : task_at]))
            at = reply_at + 1 + reply
        self.places = np.array(places, dtype=np.int64)
        self.sizes = np.array(sizes)

    def __len__(self):
        return len(self.places)

    def compose(self, index, random, marks, limits):
        """A prompt with lessons drawn anew and in any order, then the reply. Answers with the tokens and their weights."""
        numbers = self.numbers
        at, task_at, reply_at = self.places[index]
        keys = numbers[at + 1 : task_at].copy()
        random.shuffle(keys)
        task = numbers[task_at + 1 : task_at + 1 + numbers[task_at]]
        reply = numbers[reply_at + 1 : reply_at + 1 + numbers[reply_at]]
        chosen = {}
        task = self.pool.fill(task, random, chosen)
        reply, spans = self.pool.fill_and_mark(reply, random, chosen)
        room = limits["promptTokens"] - 3 - len(task)
        shown = []
        for key in keys:
            lines = self.lessons.lines[key]
            line = self.pool.fill(lines[random.integers(len(lines))], random, {})[: limits["skillTokens"]]
            room -= 1 + len(line)
            # Skills that do not fit are left out, as the template does; the demonstration may then know more than was said.
            if room < 0:
                break
            shown += [[marks["skill"]], line]
        prompt = np.concatenate([[marks["begin"]], *shown, [marks["task"]], task, [marks["reply"]]])
        weights = np.ones(len(prompt) + len(reply), dtype=np.float32)
        weights[: len(prompt)] = PROMPT_WEIGHT
        for first, last in spans:
            # With the token behind it: a word must also end where it ends.
            weights[len(prompt) + first : len(prompt) + last + 1] = COPY_WEIGHT
        weights[0] = 0
        return np.concatenate([prompt, reply]), weights


class Batches(torch.utils.data.Dataset):
    """Batches of samples that are nearly of one length; what is in them depends on the seed alone."""

    def __init__(self, samples, steps, batch, seed, manifest):
        self.samples, self.seed = samples, seed
        self.marks, self.limits = manifest["marks"], manifest["limits"]
        random = np.random.default_rng(seed)
        plan = []
        while len(plan) < steps:
            order = random.permutation(len(samples))
            step = batch * CHUNK_OF_BATCHES
            for start in range(0, len(order) - batch + 1, step):
                chunk = order[start : start + step]
                chunk = chunk[np.argsort(samples.sizes[chunk], kind="stable")]
                cuts = [chunk[at : at + batch] for at in range(0, len(chunk) - batch + 1, batch)]
                plan += [cuts[at] for at in random.permutation(len(cuts))]
        self.plan = plan[:steps]

    def __len__(self):
        return len(self.plan)

    def __getitem__(self, step):
        random = np.random.default_rng([self.seed, step])
        made = [self.samples.compose(index, random, self.marks, self.limits) for index in self.plan[step]]
        longest = max(len(tokens) for tokens, _ in made)
        # What was filled in may be longer than what the suite would have said.
        longest = min((longest + 15) // 16 * 16 + 1, MOST_POSITIONS)
        tokens = np.zeros((len(made), longest), dtype=np.int64)
        weights = np.zeros((len(made), longest), dtype=np.float32)
        for row, (sequence, weight) in enumerate(made):
            sequence = sequence[:longest]
            tokens[row, : len(sequence)] = sequence
            weights[row, : len(sequence)] = weight[:longest]
        return torch.from_numpy(tokens), torch.from_numpy(weights)


# --------------------------------------------------------------------------------------------------------------- model


class Norm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        wide = x if x.dtype == torch.float64 else x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype) * self.weight


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
        q, k = rotated(q, cos, sin), rotated(k, cos, sin)
        y = F.scaled_dot_product_attention(q, k, v.to(q.dtype), is_causal=True)
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


def rate_at(step, steps, top):
    if step < WARM_UP:
        return top * (step + 1) / WARM_UP
    progress = (step - WARM_UP) / max(1, steps - WARM_UP)
    return top * (0.005 + 0.995 * 0.5 * (1 + math.cos(math.pi * progress)))


def loss_of(model, tokens, weights, autocast):
    with autocast():
        logits = model(tokens[:, :-1])
    nll = F.cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten(), reduction="none").view(tokens.shape[0], -1)
    w = weights[:, 1:]
    reply = (w >= 1).float()
    return (nll * w).sum() / w.sum(), ((nll * reply).sum() / reply.sum()).detach()


def train(model, args, samples, gate, manifest, device, autocast):
    batches = Batches(samples, args.steps, args.batch, args.seed, manifest)
    loader = torch.utils.data.DataLoader(batches, batch_size=None, num_workers=args.workers, pin_memory=device == "cuda")
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.05}, {"params": vectors, "weight_decay": 0.0}],
        lr=args.rate,
        betas=(0.9, 0.95),
        fused=device == "cuda",
    )
    log, window, start = [], [], time.time()
    for step, (tokens, weights) in enumerate(loader):
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step, args.steps, args.rate)
        tokens, weights = tokens.to(device, non_blocking=True), weights.to(device, non_blocking=True)
        loss, reply = loss_of(model, tokens, weights, autocast)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        window.append(reply)
        if (step + 1) % max(1, args.steps // 50) == 0 or step == 0:
            row = {
                "step": step + 1,
                "replyLoss": float(torch.stack(window).mean()),
                "gateReplyLoss": gate_loss(model, gate, manifest, device, autocast),
                "seconds": round(time.time() - start, 1),
            }
            window = []
            log.append(row)
            print(json.dumps(row), flush=True)
    return log


@torch.no_grad()
def gate_loss(model, gate, manifest, device, autocast):
    """On a fixed part of the gate's samples, whose words and names the policy has never seen."""
    batches = Batches(gate, min(4, len(gate) // 128), 128, 7, manifest)
    losses = [loss_of(model, *(each.to(device) for each in batches[step]), autocast)[1] for step in range(len(batches))]
    return float(torch.stack(losses).mean()) if losses else None


# ---------------------------------------------------------------------------------------------------------- evaluation


@torch.no_grad()
def sample(model, prompts, temperature, seed, end, device, chunk=256):
    """Replies to prompts, in their order."""
    generator = torch.Generator(device=device).manual_seed(seed)
    replies = [None] * len(prompts)
    order = sorted(range(len(prompts)), key=lambda index: len(prompts[index]))
    for start in range(0, len(order), chunk):
        indices = order[start : start + chunk]
        lengths = torch.tensor([len(prompts[index]) for index in indices], device=device)
        tokens = torch.zeros(len(indices), int(lengths.max()) + LONGEST_REPLY, dtype=torch.long, device=device)
        for row, index in enumerate(indices):
            tokens[row, : len(prompts[index])] = torch.tensor(prompts[index], device=device)
        rows = torch.arange(len(indices), device=device)
        alive = torch.ones(len(indices), dtype=torch.bool, device=device)
        count = torch.zeros(len(indices), dtype=torch.long, device=device)
        for step in range(LONGEST_REPLY):
            now = lengths + step
            hidden = model.hidden(tokens[:, : int(now.max())])[rows, now - 1]
            logits = F.linear(hidden, model.embed_tokens.weight).float()
            if temperature == 0:
                drawn = logits.argmax(-1)
            else:
                drawn = torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)[:, 0]
            tokens[rows, now] = torch.where(alive, drawn, torch.zeros_like(drawn))
            count += alive
            alive &= drawn != end
            if not alive.any():
                break
        for row, index in enumerate(indices):
            first = int(lengths[row])
            replies[index] = tokens[row, first : first + int(count[row])].tolist()
    return replies


def evaluate(model, data, marks, device, most):
    """Replies by temperature, in the order of the prompts; the likeliest ones to the first prompts alone."""
    asked = json.loads((data / "evaluation.json").read_text())[:most]
    prompts = [each["prompt"] for each in asked]
    return {
        "1": sample(model, prompts, 1.0, 1, marks["end"], device),
        "0": sample(model, prompts[:200], 0, 1, marks["end"], device),
    }


# ---------------------------------------------------------------------------------------------------------------- main


def sha256(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def write(file, value):
    file.write_text(json.dumps(value) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(".cache/nano-data"))
    parser.add_argument("--tokenizer", type=pathlib.Path, default=pathlib.Path("models/nano/tokenizer.json"))
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--prompts", type=int, default=None, help="how many of the gate's prompts are answered")
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    started = time.time()
    args.out.mkdir(parents=True, exist_ok=True)
    manifest = json.loads((args.data / "manifest.json").read_text())
    if manifest["tokenizer"] != sha256(args.tokenizer):
        raise SystemExit("the data were made with another tokenizer: run make-data again")
    torch.manual_seed(args.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    device = args.device
    autocast = lambda: torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda")
    pool = Pool(args.data / "pool.bin.gz", manifest["open"])
    samples = Samples(args.data / "samples-train.bin.gz", Lessons(args.data / "lessons-train.bin.gz"), pool)
    gate = Samples(args.data / "samples-gate.bin.gz", Lessons(args.data / "lessons-gate.bin.gz"), pool)
    shape = manifest["shape"]
    model = Decoder(shape).to(device)
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{len(samples)} samples, {parameters} parameters, read in {time.time() - started:.0f} s", flush=True)
    log = train(model, args, samples, gate, manifest, device, autocast)

    weights = {f"model.{name}": p.detach().half().contiguous().cpu() for name, p in model.named_parameters()}
    save_file(weights, str(args.out / "weights.safetensors"))
    # What is judged from here on are the weights as they are stored.
    model.load_state_dict({name: weights[f"model.{name}"].float() for name, _ in model.named_parameters()}, strict=True)
    model.eval()
    torch.backends.cuda.matmul.allow_tf32 = False
    write(args.out / "samples.json", evaluate(model, args.data, manifest["marks"], device, args.prompts))
    print(f"sampled after {time.time() - started:.0f} s", flush=True)
    run = {
        "seed": args.seed,
        "steps": args.steps,
        "batch": args.batch,
        "rate": args.rate,
        "samples": len(samples),
        "parameters": parameters,
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "torch": torch.__version__,
        "trainSeconds": log[-1]["seconds"],
        "seconds": round(time.time() - started, 1),
        "replyLoss": log[-1]["replyLoss"],
        "gateReplyLoss": log[-1]["gateReplyLoss"],
    }
    write(args.out / "train-log.json", {"run": run, "data": manifest, "log": log})
    config = {
        "name": "instar-nano",
        "shape": shape,
        "sha256": {"weights.safetensors": sha256(args.out / "weights.safetensors"), "tokenizer.json": sha256(args.tokenizer)},
        "pretraining": run,
    }
    (args.out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    print(json.dumps(run), flush=True)


if __name__ == "__main__":
    main()
