import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createMiniLmEmbed } from '../../../src/embed/minilm-embed.ts';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import { MOST_IN_USE } from '../../../src/learn/memory/wake-archived.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { writeSection } from '../markdown.ts';
import { createEngineCounts, requireEngine, requireSome } from '../measured.ts';
import { withVectorMap } from '../memory/vector-map.ts';
import { USUAL_TOP_K } from './open-probes.ts';
import { reportYears } from './report-years.ts';
import { type SimulatedYear, simulateYear } from './simulate-year.ts';

/*
 * A year of use on a virtual clock, with and without weekly consolidation.
 *
 *   npm run bench:memory-year [-- --write] [--sessions 10000] [--seeds 3] [--most-in-use 1000] [--letters] [--top-k 6] [--misses]
 */
const { values } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    sessions: { type: 'string', default: '10000' },
    seeds: { type: 'string', default: '3' },
    /** The bound of the product, or another: 300 shows the bound within a year. */
    'most-in-use': { type: 'string', default: String(MOST_IN_USE) },
    /** Compare by n-grams instead of the sentence model: for a quick look. */
    letters: { type: 'boolean', default: false },
    /** Lessons with their bodies in a block. With fewer than usual there are no lines, as in a message. */
    'top-k': { type: 'string', default: String(USUAL_TOP_K) },
    /** Say which rules were lost, by which step, and which contradictions were not seen. */
    misses: { type: 'boolean', default: false },
  },
});

const sessions = Number(values.sessions);
const mostInUse = Number(values['most-in-use']);
const model = values.letters ? createNgramEmbed() : createMiniLmEmbed();
const embed = withVectorMap(model);
const engines = createEngineCounts();
const years: { readonly with: SimulatedYear; readonly without: SimulatedYear }[] = [];
for (let seed = 1; seed <= Number(values.seeds); seed++) {
  const simulate = async (isConsolidated: boolean): Promise<SimulatedYear> => {
    const folder = mkdtempSync(path.join(tmpdir(), 'instar-year-'));
    const store = openSqliteStore({ file: path.join(folder, 'store.db') });
    try {
      return await simulateYear({
        seed,
        sessions,
        isConsolidated,
        mostInUse,
        store,
        embed,
        isByLetters: values.letters,
        topK: Number(values['top-k']),
        engines,
      });
    } finally {
      store.close();
      rmSync(folder, { recursive: true, force: true });
    }
  };
  years.push({ with: await simulate(true), without: await simulate(false) });
  process.stderr.write(`seed ${seed} done\n`);
  if (values.misses) process.stderr.write(`${years.at(-1)?.with.misses.join('\n')}\n`);
}
await model.close();
requireSome(
  'question of a year',
  [...engines.byEngine.values()].reduce((sum, count) => sum + count, 0),
);
requireEngine(model.id, engines);
const text = reportYears(years, { sessions, mostInUse, engine: values.letters ? 'n-grams' : model.id });
process.stdout.write(`${text}\n`);
if (values.write) writeSection('lab/results/memory-year.md', `bench:memory-year ${mostInUse}`, text);
