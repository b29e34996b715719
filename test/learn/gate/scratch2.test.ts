import { it } from 'vitest';
import { createDistiller } from '../../../src/learn/distiller/distiller.ts';
import { createGate } from '../../../src/learn/gate/gate.ts';
import { checkText } from '../../../src/library/check-text.ts';
import { loadMiniLm } from '../../../src/library/embed/minilm/load-mini-lm.ts';
import { createMemoryStore } from '../../../src/store/memory-store.ts';
import { openOn } from '../../library/shelf/samples.ts';
import { HOUSE_RULES } from '../distiller/house-rules.ts';
import { BACKGROUNDS } from './corpus/backgrounds.ts';
import { failureOf } from './corpus/cases.ts';

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
it('x', async () => {
  const { library } = await openOn(createMemoryStore());
  for (const use of [false, true]) {
    const gate = createGate({
      ...(use ? { embed } : {}),
      autonomy: 'guarded',
      checkText,
      hasSecret: () => false,
      findSimilar: async () => [],
      voteDay: (at) => String(at),
    });
    let n = 0,
      ok = 0;
    const out: string[] = [];
    for (const [i, rule] of HOUSE_RULES.entries()) {
      const origin = i % 2 ? 'person' : 'verifier';
      const cases = [
        failureOf({
          task: rule.task ?? 'Do the work.',
          passages: [
            { origin: 'tool', text: BACKGROUNDS[i % 8] ?? '' },
            { origin, text: rule.feedback },
          ],
          source: origin,
          number: i + 1,
        }),
      ];
      let k = 0;
      for await (const p of createDistiller({ checkText }).learn({
        material: cases,
        library,
        ask: undefined,
        newId: (x) => `${x}${i}_${k++}`,
        journal: () => {},
        signal: new AbortController().signal,
      })) {
        if ('stuck' in p) continue;
        n++;
        const r = await gate(p, cases, library);
        if (r.outcome === 'trial') ok++;
        else out.push(`${rule.feedback} -> ${r.why.join('; ')}`);
      }
    }
    process.stdout.write(`embed ${use}: ${ok} of ${n} (${HOUSE_RULES.length} rules)\n${out.join('\n')}\n`);
  }
}, 300000);
