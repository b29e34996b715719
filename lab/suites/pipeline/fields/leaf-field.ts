import { createRandom } from '../../../../src/base/random.ts';
import { READ_INPUT, type ResearchField } from './research-field.ts';

const LEAVES = 120;
/** Means of length, width, stalk and teeth of three species; a dataset differs by how much the leaves vary. */
const SPECIES: Readonly<Record<string, readonly number[]>> = {
  alder: [62, 48, 12, 30],
  beech: [74, 45, 9, 22],
  elm: [68, 40, 10, 36],
};
const SPREADS: Readonly<Record<string, number>> = {
  'Orchard leaves': 0.06,
  'Terrace leaves': 0.1,
  'Valley leaves': 0.15,
  'Greenhouse leaves': 0.21,
};

function leavesOf(name: string): string {
  const random = createRandom(`leaves/${name}`);
  const spread = SPREADS[name] ?? 0;
  const species = Object.entries(SPECIES);
  // Three draws are nearly normal.
  const noise = (): number => (random.next() + random.next() + random.next() - 1.5) * 2;
  const rows = Array.from({ length: LEAVES }, (_, nth) => {
    const [called = '', means = []] = species[random.below(species.length)] ?? [];
    return [String(nth), ...means.map((mean) => (mean * (1 + spread * noise())).toFixed(1)), called].join(
      ',',
    );
  });
  return ['leaf,length,width,stalk,teeth,species', ...rows].join('\n');
}

/** Generated measurements of leaves of three species. */
export const LEAF_FIELD: ResearchField = {
  name: 'species from leaf measurements',
  methods: [
    'nearest centroid',
    'nearest leaf',
    'three nearest leaves',
    'majority species',
    'single split',
    'naive normal model',
  ],
  datasets: Object.keys(SPREADS),
  metric: 'accuracy',
  protocol:
    'data.csv has the columns leaf (its number, from 0), length, width, stalk, teeth and species. For a seed, the leaves whose number times 7 plus the seed is divisible by 5 are held out; the others are known. The species of each row that is held out is predicted from its four measurements. Distances are Euclidean, over the measurements as they are. Of equals, the species that comes first in the alphabet wins. The accuracy is the share of right predictions in percent.',
  definitions: {
    'nearest centroid': 'takes the species whose mean measurements are nearest',
    'nearest leaf': 'takes the species of the nearest known leaf',
    'three nearest leaves': 'takes the most frequent species among the three nearest known leaves',
    'majority species': 'takes the most frequent species of all known leaves',
    'single split':
      'splits by teeth at the mean of all known leaves and takes the most frequent species of the side',
    'naive normal model':
      'takes the species with the highest probability, with normal distributions of each measurement and the frequency of the species',
  },
  data: leavesOf,
  program: `${READ_INPUT}
const leaves = rows.map((row) => ({ x: row.slice(1, 5).map(Number), species: row[5] }));
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const NAMES = [...new Set(leaves.map(({ species }) => species))].sort();
const best = (score) => NAMES.reduce((first, one) => (score(one) > score(first) ? one : first));
const most = (some) => best((name) => some.filter(({ species }) => species === name).length);
const distance = (a, b) => Math.hypot(...a.map((value, at) => value - b[at]));
function predictor(method, known) {
  const of = (name) => known.filter(({ species }) => species === name);
  const nearest = (x, count) =>
    [...known].sort((a, b) => distance(a.x, x) - distance(b.x, x) || (a.species < b.species ? -1 : 1)).slice(0, count);
  if (method === 'majority species') return () => most(known);
  if (method === 'nearest leaf') return (x) => nearest(x, 1)[0].species;
  if (method === 'three nearest leaves') return (x) => most(nearest(x, 3));
  if (method === 'single split') {
    const at = mean(known.map(({ x }) => x[3]));
    return (x) => most(known.filter((leaf) => leaf.x[3] >= at === x[3] >= at));
  }
  const models = new Map(
    NAMES.map((name) => {
      const columns = [0, 1, 2, 3].map((column) => of(name).map(({ x }) => x[column]));
      const centre = columns.map(mean);
      const spread = columns.map((values, at) => Math.max(1e-9, mean(values.map((value) => (value - centre[at]) ** 2))));
      return [name, { centre, spread, share: of(name).length / known.length }];
    }),
  );
  if (method === 'nearest centroid') return (x) => best((name) => -distance(models.get(name).centre, x));
  return (x) =>
    best((name) => {
      const { centre, spread, share } = models.get(name);
      return x.reduce(
        (sum, value, at) => sum - Math.log(spread[at]) / 2 - (value - centre[at]) ** 2 / (2 * spread[at]),
        Math.log(share),
      );
    });
}
report((method, seed) => {
  const isOut = (_, row) => (row * 7 + seed) % 5 === 0;
  const predict = predictor(method, leaves.filter((leaf, row) => !isOut(leaf, row)));
  return mean(leaves.filter(isOut).map(({ x, species }) => Number(predict(x) === species)));
});
`,
};
