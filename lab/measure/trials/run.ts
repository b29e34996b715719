import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readSection } from '../markdown.ts';
import { requireSome } from '../measured.ts';
import { measureHoldoutAlone } from './holdout-alone.ts';
import { drawLibrary, MIXED, USELESS } from './known-effects.ts';
import { peekAtCheckpoints, peekAtLibraries, peekAtUseless } from './peeking.ts';
import { renderStatistics, type TrialFigures } from './render-statistics.ts';
import { runLibrary, type TrialResult } from './run-library.ts';
import { summariseErrors, summariseKinds } from './summarise.ts';

/*
 * What the gate's measurements promise, checked on lessons whose effect is known: a scripted policy attempts tasks with and without
 * them, through the code that a daemon runs. Seeds are fixed: the same commit gives the same numbers.
 *
 *   npm run bench:trials [-- --write] [--libraries 40] [--json]
 *
 * `--write` replaces docs/statistics.md.
 */
const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    libraries: { type: 'string', default: '40' },
  },
});
const libraries = Number(values.libraries);
requireSome('library to try lessons in', libraries);
const note = (text: string) => process.stderr.write(`${text}\n`);
const world = { roots: 8, faults: 0.02 };

async function runAll(
  name: string,
  count: number,
  mix: typeof MIXED,
  noise: 'independent' | 'same',
): Promise<readonly (readonly TrialResult[])[]> {
  const all: (readonly TrialResult[])[] = [];
  for (let at = 0; at < count; at++) {
    all.push(await runLibrary({ ...world, seed: `${name}/${at}`, candidates: drawLibrary(mix), noise }));
    note(`${name}: ${at + 1} of ${count} libraries`);
  }
  return all;
}

const mixed = await runAll('mixed', libraries, MIXED, 'independent');
const useless = await runAll('useless', Math.ceil(libraries / 4), USELESS, 'independent');
const same = await runAll('same-noise', Math.ceil(libraries / 8), MIXED, 'same');
requireSome(
  'pair of attempts',
  [...mixed, ...useless, ...same].flat().reduce((sum, { pairs }) => sum + pairs, 0),
);
note('looking after every pair');
const peeks = { candidates: 10 * libraries * 50, pairs: 300 };
const peekLibraries = { count: 25 * libraries, size: 50, pairs: 160 };
const homes = { count: 10 * libraries, nights: 30, pairs: 300 };
const figures: TrialFigures = {
  mixed: { kinds: summariseKinds(mixed.flat()), errors: summariseErrors(mixed) },
  useless: { kinds: summariseKinds(useless.flat()), errors: summariseErrors(useless) },
  same: { kinds: summariseKinds(same.flat()), errors: summariseErrors(same) },
  peeks: [0.05, 0.01].map((alpha) => ({
    ...peeks,
    alpha,
    passed: peekAtUseless(peeks.candidates, peeks.pairs, alpha),
  })),
  libraries: {
    ...peekLibraries,
    ...peekAtLibraries(peekLibraries.count, peekLibraries.size, peekLibraries.pairs),
  },
  checkpoints: {
    ...homes,
    withFalse: peekAtCheckpoints(homes.count, homes.nights, homes.pairs),
  },
  holdout: [0.5, 0.3, 0.2].map((effect) => measureHoldoutAlone(effect, 201, 5000)),
};
if (values.json) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
else process.stdout.write(renderStatistics(figures));
if (values.write) {
  // What bench:gate wrote stays.
  const gate = readSection('docs/statistics.md', 'gate');
  writeFileSync('docs/statistics.md', `${renderStatistics(figures)}${gate === '' ? '' : `\n${gate}\n`}`);
}
