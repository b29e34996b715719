"""Trains a low-rank adapter for the sentence model (all-MiniLM-L6-v2) on pairs of make_pairs.py.

  python train_adapter.py MINILM_DIR PAIRS.jsonl OUT.safetensors [--towers query|both] [--rank 32] [--eval RECALL_PAIRS.jsonl]

A request must lie nearer to its rule than to the rules of the rest of the batch (InfoNCE, both directions). With `--towers query`
the rules are embedded by the unchanged model: vectors of lessons, and what compares lessons with each other, stay as they were.
Shapes: B batch, T tokens, H 384.
"""
import argparse, json, math, random, time
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

TARGETS = ('attention.self.query', 'attention.self.key', 'attention.self.value', 'attention.output.dense', 'intermediate.dense', 'output.dense')


class LoRA(torch.nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base, self.on = base, True
        self.a = torch.nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(base.in_features))
        self.b = torch.nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        y = self.base(x)
        return y + F.linear(F.linear(x, self.a), self.b) if self.on else y


def load(folder, rank):
    config = BertConfig(vocab_size=30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536, max_position_embeddings=512)
    model = BertModel(config, add_pooling_layer=False)
    weights = {k.removeprefix('bert.'): v.float() for k, v in load_file(f'{folder}/model.safetensors').items()}
    missing = [k for k in model.load_state_dict(weights, strict=False).missing_keys if 'position_ids' not in k]
    assert not missing, missing
    for p in model.parameters(): p.requires_grad = False
    adapters = {}
    if rank > 0:
        for name, module in list(model.named_modules()):
            if isinstance(module, torch.nn.Linear) and name.endswith(TARGETS):
                parent = model.get_submodule(name.rpartition('.')[0])
                adapters[name] = LoRA(module, rank)
                setattr(parent, name.rpartition('.')[2], adapters[name])
    else:
        for p in model.encoder.parameters(): p.requires_grad = True
    return model.cuda(), adapters


def tokenize(tokenizer, texts, most):
    rows = [tokenizer.encode(text[:1200]).ids[:most] for text in texts]
    for row in rows:
        if row[-1] != 102: row[-1] = 102
    width = max(map(len, rows))
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows]).cuda()
    return ids, (ids != 0)


def embed(model, adapters, batch, on=True):
    ids, mask = batch
    for one in adapters.values(): one.on = on
    with torch.autocast('cuda', dtype=torch.bfloat16):
        hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
    hidden = hidden.float() * mask[..., None]
    return F.normalize(hidden.sum(1), dim=-1)


def as_lesson(item, draw):
    """A rule in the forms in which lessons are indexed."""
    rule, detail, name = item['rule'], item['detail'], item['name'].replace('-', ' ')
    form = draw.random()
    if form < 0.35: return rule
    if form < 0.5: return f'{name}. {rule}'
    if form < 0.65: return f'You said: "{rule}" ({draw.choice(["once", "2 times", "3 times"])})'
    if form < 0.75: return f'{name}. {detail}'
    return f'{name}. {rule} {detail}'


def main():
    args = argparse.ArgumentParser()
    args.add_argument('minilm'); args.add_argument('pairs'); args.add_argument('out')
    args.add_argument('--towers', default='query'); args.add_argument('--rank', type=int, default=32); args.add_argument('--eval')
    args.add_argument('--steps', type=int, default=300); args.add_argument('--batch', type=int, default=1024); args.add_argument('--rate', type=float, default=1e-3)
    args.add_argument('--temperature', type=float, default=0.05); args.add_argument('--keep', type=float, default=0.0); args.add_argument('--seed', type=int, default=19)
    args = args.parse_args()
    torch.manual_seed(args.seed); draw = random.Random(args.seed)
    tokenizer = Tokenizer.from_file(f'{args.minilm}/tokenizer.json'); tokenizer.no_padding(); tokenizer.no_truncation()
    model, adapters = load(args.minilm, args.rank)
    items = [json.loads(line) for line in open(args.pairs)]
    draw.shuffle(items)
    held, items = items[:600], items[600:]
    params = [p for p in model.parameters() if p.requires_grad]
    steps = args.steps
    optimizer = torch.optim.AdamW(params, lr=args.rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1, (s + 1) / 20) * 0.5 * (1 + math.cos(math.pi * s / steps)))
    both = args.towers == 'both'
    report(model, adapters, tokenizer, held, args, 'before', on=False)
    start = time.time(); model.train()
    for step in range(steps):
        chosen = draw.sample(items, min(args.batch, len(items)))
        queries = tokenize(tokenizer, [draw.choice(item['requests']) for item in chosen], 64)
        lessons = tokenize(tokenizer, [as_lesson(item, draw) for item in chosen], 96)
        q = embed(model, adapters, queries)
        if both: d = embed(model, adapters, lessons)
        else:
            with torch.no_grad(): d = embed(model, adapters, lessons, on=args.rank == 0)
        scores = q @ d.T / args.temperature
        labels = torch.arange(len(chosen), device='cuda')
        loss = (F.cross_entropy(scores, labels) + F.cross_entropy(scores.T, labels)) / 2
        if args.keep > 0:
            with torch.no_grad(): base = embed(model, adapters, lessons, on=False)
            now = d if both else embed(model, adapters, lessons)
            loss = loss + args.keep * (1 - (now * base).sum(-1)).mean()
            for one in adapters.values(): one.on = True
        optimizer.zero_grad(); loss.backward(); torch.nn.utils.clip_grad_norm_(params, 1.0); optimizer.step(); schedule.step()
        if step % 50 == 0 or step == steps - 1: print(f'step {step}/{steps} loss {loss.item():.3f} {time.time() - start:.0f} s', flush=True)
    model.eval()
    report(model, adapters, tokenizer, held, args, 'after', on=True)
    if args.rank > 0:
        state = {}
        for name, one in adapters.items():
            state[f'{name}.a'], state[f'{name}.b'] = one.a.detach().half().cpu().contiguous(), one.b.detach().half().cpu().contiguous()
        save_file(state, args.out)


@torch.no_grad()
def report(model, adapters, tokenizer, held, args, title, on):
    model.eval()
    def vectors(texts, most, on):
        return torch.cat([embed(model, adapters, tokenize(tokenizer, texts[i:i + 256], most), on) for i in range(0, len(texts), 256)])
    lesson_on = on and args.towers == 'both'
    draw = random.Random(1)
    d = vectors([f"{item['name'].replace('-', ' ')}. {item['rule']} {item['detail']}" for item in held], 128, lesson_on)
    for kind, name in enumerate(['plain', 'symptom', 'everyday', 'curt', 'language', 'long']):
        rows = [i for i, item in enumerate(held) if len(item['requests']) > kind]
        q = vectors([held[i]['requests'][kind] for i in rows], 64, on)
        rank = (q @ d.T).argsort(-1, descending=True)
        right = torch.tensor(rows, device=rank.device)[:, None]
        at = lambda k: (rank[:, :k] == right).any(-1).float().mean().item()
        print(f'{title} held-out {name}: @1 {at(1):.3f} @6 {at(6):.3f} of {len(held)}')
    if not args.eval: return
    rows = [json.loads(line) for line in open(args.eval)]
    lessons, tasks = rows[0]['lessons'], [row for row in rows[1:] if row.get('split') == 'dev']
    # The held-out rules are distractors: recall must hold in a library of hundreds.
    extra = held[:200]
    heads = [f"{l['name'].replace('-', ' ')}. {l['description']}" for l in lessons] + [item['rule'] for item in extra]
    wholes = [f"{l['name'].replace('-', ' ')}. {l['description']} {l['content']}" for l in lessons] + [f"{item['name'].replace('-', ' ')}. {item['rule']} {item['detail']}" for item in extra]
    ids = [l['id'] for l in lessons] + ['' for _ in extra]
    h, w = vectors(heads, 128, lesson_on), vectors(wholes, 128, lesson_on)
    q = vectors([task['query'] for task in tasks], 128, on)
    scores = torch.maximum(q @ h.T, q @ w.T)
    rank = scores.argsort(-1, descending=True).tolist(); best = scores.max(-1).values.tolist()
    for style in sorted({task.get('style') for task in tasks if task['right']}):
        own = [i for i, task in enumerate(tasks) if task['right'] and task.get('style') == style]
        at = lambda k: sum(any(ids[j] in tasks[i]['right'] for j in rank[i][:k]) for i in own) / len(own)
        print(f'{title} pairs {style} ({len(own)}): @1 {at(1):.3f} @3 {at(3):.3f} @6 {at(6):.3f} of {len(ids)}')
    yes = [best[i] for i, task in enumerate(tasks) if task['right'] and any(ids[j] in task['right'] for j in rank[i][:1])]
    no = [best[i] for i, task in enumerate(tasks) if not task['right']]
    auc = sum((y > n) + 0.5 * (y == n) for y in yes for n in no) / max(1, len(yes) * len(no))
    print(f'{title} best score, right at 1 against tasks without a lesson: AUC {auc:.3f}')
    model.train()


if __name__ == '__main__': main()
