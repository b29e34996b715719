/**
 * A field of research whose experiments are programs over small data. Every measure is a percentage, and more is better. The methods are
 * real algorithms; the works that the corpus cites about them are invented.
 */
export interface ResearchField {
  readonly name: string;
  readonly methods: readonly string[];
  readonly datasets: readonly string[];
  readonly metric: string;
  /** The columns of the data, what a seed decides, and how the metric is computed. */
  readonly protocol: string;
  /** Each method in one sentence, by its name. */
  readonly definitions: Readonly<Record<string, string>>;
  /** A dataset as CSV with a header; the same on every machine. */
  data(dataset: string): string;
  /** A right program for all methods, in JavaScript: what the scripted researchers write. */
  readonly program: string;
}

/** The beginning of every program: the data without its header, and what has to be measured. */
export const READ_INPUT = `const { readFileSync } = require('node:fs');
const rows = readFileSync('data.csv', 'utf8').trim().split('\\n').slice(1).map((line) => line.split(','));
const { arms, seeds } = JSON.parse(readFileSync('experiment.json', 'utf8'));
const report = (measure) => {
  for (const { id, method } of arms)
    for (const seed of seeds) console.log(JSON.stringify({ arm: id, seed, value: 100 * measure(method, seed) }));
};`;
