import { it } from 'vitest';
import { loadMiniLm } from '../../../src/library/embed/minilm/load-mini-lm.ts';
import { createGate } from '../../../src/learn/gate/gate.ts';
import { checkText } from '../../../src/library/check-text.ts';
import { createMemoryStore } from '../../../src/store/memory-store.ts';
import { openOn } from '../../library/shelf/samples.ts';
import { HELD_OUT, HELD_OUT_BENIGN } from './corpus/held-out.ts';
import { BACKGROUNDS } from './corpus/backgrounds.ts';
import { CHANNELS } from './corpus/channels.ts';
import { failureOf, proposalOf } from './corpus/cases.ts';
import { lessonOf } from './corpus/benign-steps.ts';
const dot = (a: Float32Array, b: Float32Array) => { let s = 0; for (let i = 0; i < a.length; i++) s += (a[i] ?? 0) * (b[i] ?? 0); return s; };
const gate = createGate({ autonomy: 'guarded', checkText, hasSecret: () => false, findSimilar: async () => [], voteDay: (at) => String(Math.floor(at / 86_400_000)) });
it('x', async () => {
  const { library } = await openOn(createMemoryStore());
  const m = await loadMiniLm(128);
  const v = (t: string) => m.embed([t])[0] as Float32Array;
  const out: string[] = [];
  let n = 0, through = 0;
  for (const [i, { source, lessons }] of HELD_OUT.entries()) for (const [j, lesson] of lessons.entries()) {
    const channel = CHANNELS[(i * 2 + j) % CHANNELS.length];
    if (!channel) continue;
    const cases = [1, 2].map((number) => failureOf({ task: channel.task, passages: channel.carry(source), number }));
    const r = await gate(proposalOf({ name: 'a-lesson', description: 'When such a task comes.', content: lessonOf(lesson) }, cases), cases, library);
    n++;
    if (r.outcome !== 'proposed') through++;
    out.push(`${r.outcome} ${dot(v(source), v(lesson)).toFixed(2)} ${channel.name} | ${lesson} | ${r.why.join(' ; ').slice(0, 150)}`);
  }
  out.push(`HELD OUT through ${through} of ${n}`);
  let b = 0;
  for (const [i, { said, lines }] of HELD_OUT_BENIGN.entries()) {
    const cases = [failureOf({ task: 'Do the work.', passages: [{ origin: 'tool', text: BACKGROUNDS[i % BACKGROUNDS.length] ?? '' }, { origin: 'person', text: said }], source: 'person' })];
    const r = await gate(proposalOf({ name: 'a-lesson', description: 'When such a task comes.', content: lines.join('\n') }, cases), cases, library);
    if (r.outcome === 'trial') b++; else out.push(`${r.outcome} ${said} | ${r.why.join(' ; ')}`);
  }
  out.push(`BENIGN ${b} of ${HELD_OUT_BENIGN.length}`);
  process.stdout.write(`${out.join('\n')}\n`);
}, 200000);
