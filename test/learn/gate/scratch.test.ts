import { it } from 'vitest';
import { createGate } from '../../../src/learn/gate/gate.ts';
import { checkText } from '../../../src/library/check-text.ts';
import { loadMiniLm } from '../../../src/library/embed/minilm/load-mini-lm.ts';
import { createMemoryStore } from '../../../src/store/memory-store.ts';
import { openOn } from '../../library/shelf/samples.ts';
import { BACKGROUNDS } from './corpus/backgrounds.ts';
import { lessonOf } from './corpus/benign-steps.ts';
import { failureOf, proposalOf } from './corpus/cases.ts';
import { CHANNELS } from './corpus/channels.ts';
import { HELD_OUT, HELD_OUT_BENIGN } from './corpus/held-out.ts';
import { HELD_OUT_AGAIN } from './corpus/held-out-again.ts';

const dot = (a: Float32Array, b: Float32Array) => {
  let s = 0;
  for (let i = 0; i < a.length; i++) s += (a[i] ?? 0) * (b[i] ?? 0);
  return s;
};
const model = await loadMiniLm(128);
const cache = new Map<string, Float32Array>();
const embed = async (t: readonly string[]) =>
  t.map((x) => {
    let e = cache.get(x);
    if (!e) {
      e = model.embed([x])[0] as Float32Array;
      cache.set(x, e);
    }
    return e;
  });
const USE = process.env.EMBED === '1';
const gate = createGate({
  ...(USE ? { embed } : {}),
  autonomy: 'guarded',
  checkText,
  hasSecret: () => false,
  findSimilar: async () => [],
  voteDay: (at) => String(Math.floor(at / 86_400_000)),
});
it('x', async () => {
  const { library } = await openOn(createMemoryStore());
  const m = model;
  const v = (t: string) => m.embed([t])[0] as Float32Array;
  const out: string[] = [];
  let n = 0,
    through = 0;
  for (const [i, { source, lessons }] of [...HELD_OUT_AGAIN].entries())
    for (const [j, lesson] of lessons.entries()) {
      const channel = CHANNELS[(i * 2 + j) % CHANNELS.length];
      if (!channel) continue;
      const cases = [1, 2].map((number) =>
        failureOf({ task: channel.task, passages: channel.carry(source), number }),
      );
      const r = await gate(
        proposalOf(
          { name: 'a-lesson', description: 'When such a task comes.', content: lessonOf(lesson) },
          cases,
        ),
        cases,
        library,
      );
      n++;
      if (r.outcome !== 'proposed') through++;
      out.push(
        `${r.outcome} ${dot(v(source), v(lesson)).toFixed(2)} ${channel.name} | ${lesson} | ${r.why.join(' ; ').slice(0, 150)}`,
      );
    }
  out.push(`HELD OUT through ${through} of ${n}`);
  let b = 0;
  for (const [i, { said, lines }] of HELD_OUT_BENIGN.entries()) {
    const cases = [
      failureOf({
        task: 'Do the work.',
        passages: [
          { origin: 'tool', text: BACKGROUNDS[i % BACKGROUNDS.length] ?? '' },
          { origin: 'person', text: said },
        ],
        source: 'person',
      }),
    ];
    const r = await gate(
      proposalOf(
        { name: 'a-lesson', description: 'When such a task comes.', content: lines.join('\n') },
        cases,
      ),
      cases,
      library,
    );
    if (r.outcome === 'trial') b++;
    else out.push(`${r.outcome} ${said} | ${r.why.join(' ; ')}`);
  }
  out.push(`BENIGN ${b} of ${HELD_OUT_BENIGN.length}`);
  const { BENIGN } = await import('./corpus/benign.ts');
  const { ATTACKS } = await import('./corpus/attacks.ts');
  let t = 0;
  const t0 = performance.now();
  for (const one of BENIGN) {
    const r = await gate(proposalOf(one, one.cases), one.cases, library);
    if (r.outcome === 'trial') t++;
    else out.push(`${one.id} ${r.why.join(';').slice(0, 160)}`);
  }
  out.push(
    `MAIN BENIGN ${t} of ${BENIGN.length} ${((performance.now() - t0) / BENIGN.length).toFixed(0)} ms`,
  );
  for (const many of [1, 3, 8]) {
    let q = 0;
    for (const [i, one] of BENIGN.entries()) {
      const cases = one.cases.map((c) => ({
        ...c,
        passages: [
          ...c.passages,
          ...Array.from({ length: many }, (_, k) => ({
            origin: 'tool' as const,
            text: BACKGROUNDS[(i + k) % BACKGROUNDS.length] ?? '',
          })),
        ],
      }));
      const r = await gate(proposalOf(one, cases), cases, library);
      if (r.outcome === 'trial') q++;
    }
    out.push(`STRESS ${many}: ${q} of ${BENIGN.length}`);
  }
  if (process.env.ATT) {
    let a = 0;
    for (const one of ATTACKS) {
      const r = await gate(proposalOf(one, one.cases), one.cases, library);
      if (r.outcome === 'trial') {
        a++;
        out.push(`THROUGH ${one.id}`);
      }
    }
    out.push(`ATTACKS ${a} of ${ATTACKS.length}`);
  }
  process.stdout.write(`${out.join('\n')}\n`);
}, 200000);
