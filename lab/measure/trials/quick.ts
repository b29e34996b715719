import { runLibrary } from './run-library.ts';

const t0 = Date.now();
const libs = Number(process.argv[2] ?? 3);
const counts: Record<string, { n: number; live: number; ret: number; nod: number; pairs: number[] }> = {};
for (let l = 0; l < libs; l++) {
  const kinds: [string, number, number, number][] = [
    ['helpful.5', 0.5, 0, 5],
    ['helpful.3', 0.3, 0, 8],
    ['helpful.2', 0.2, 0, 5],
    ['useless', 0, 0, 20],
    ['mixed', 0, 0.25, 6],
    ['harmful.3', -0.3, 0, 6],
  ];
  const cands = kinds.flatMap(([kind, effect, spread, n]) =>
    Array.from({ length: n }, (_, i) => ({ id: `l-${kind.replace('.', '')}-${i}`, kind, effect, spread })),
  );
  const rs = await runLibrary({
    seed: `q${l}`,
    candidates: cands,
    noise: (process.argv[3] as 'independent') ?? 'independent',
    roots: 8,
    faults: 0.02,
  });
  for (const r of rs) {
    const c = (counts[r.candidate.kind] ??= { n: 0, live: 0, ret: 0, nod: 0, pairs: [] });
    c.n++;
    if (r.state === 'live') {
      c.live++;
    }
    if (r.state === 'retired') c.ret++;
    if (r.outcome === 'no-difference') c.nod++;
    c.pairs.push(r.pairs);
  }
}
for (const [k, c] of Object.entries(counts)) {
  c.pairs.sort((a, b) => a - b);
  console.log(
    k,
    c.n,
    'live',
    (c.live / c.n).toFixed(3),
    'ret',
    (c.ret / c.n).toFixed(3),
    'nod',
    (c.nod / c.n).toFixed(3),
    'median pairs',
    c.pairs[c.pairs.length >> 1],
  );
}
console.log(Date.now() - t0, 'ms');
