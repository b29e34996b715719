import { readFileSync } from 'node:fs';
import { findMetaclawData } from '../../bench/metaclaw/find-metaclaw-data.ts';
import { loadMetaclaw } from '../../bench/metaclaw/load-metaclaw.ts';
import type { Suite } from '../../bench/suite.ts';
import { HOUSE_RULES } from '../../bench/workdays/rules/house-rules.ts';
import { OTHER_RULES } from '../../bench/workdays/rules/other-rules.ts';
import { readRuleSet } from '../../bench/workdays/rules/read-rule-set.ts';
import type { RuleSet } from '../../bench/workdays/rules/rule-set.ts';
import { createWorkdays } from '../../bench/workdays/workdays.ts';
import type { Form, Split } from '../../bench/workdays/world.ts';
import { askOnly, type Only } from './ask-only.ts';
import { BenchError } from './bench-error.ts';

export interface SuiteChoice {
  readonly suite: string;
  /** For workdays: which worlds, which form of the questions, which rules. */
  readonly split: Split;
  readonly form: Form;
  /** `house`, `other`, or a file. */
  readonly rules: string;
  /** Only this many first days. */
  readonly days?: number;
  /** Only some of a day's questions. */
  readonly only?: Only;
  /** For metaclaw: the folder of the published data, and which of its sets. */
  readonly data?: string;
  readonly set: string;
  readonly oracle?: string;
}

export interface LoadedSuite {
  /** The suite of a seed; published data is the same for every seed. */
  readonly of: (seed: number) => Suite;
  /** What a report's reader should know. */
  readonly notes: readonly string[];
  readonly options: Readonly<Record<string, string | number | boolean>>;
}

export const SUITES = [
  {
    name: 'workdays',
    about: 'fourteen days in a small company: 588 questions, five house rules that only feedback reveals',
  },
  { name: 'metaclaw', about: 'MetaClaw-Bench, part I, as published (needs its data: --data FOLDER)' },
  { name: 'pipeline', about: 'a research pipeline of 23 stages, run several times' },
] as const;

/** Rejects with a BenchError that says what to change. */
export async function loadSuite(choice: SuiteChoice, env: NodeJS.ProcessEnv): Promise<LoadedSuite> {
  if (choice.suite === 'workdays') return askOnly(loadWorkdays(choice), choice.only);
  if (choice.suite === 'metaclaw') return askOnly(await loadPublished(choice, env), choice.only);
  throw new BenchError(
    `No suite named "${choice.suite}".`,
    `use one of ${SUITES.map(({ name }) => name).join(', ')}`,
  );
}

function loadWorkdays({ split, form, rules, days }: SuiteChoice): LoadedSuite {
  const set = ruleSetOf(rules);
  return {
    of: (seed) => createWorkdays({ seed, split, form, rules: set, ...(days === undefined ? {} : { days }) }),
    notes: [],
    options: { split, form, rules: set.name, ...(days === undefined ? {} : { days }) },
  };
}

function ruleSetOf(name: string): RuleSet {
  if (name === 'house') return HOUSE_RULES;
  if (name === 'other') return OTHER_RULES;
  let text: string;
  try {
    text = readFileSync(name, 'utf8');
  } catch {
    throw new BenchError(`The rules "${name}" cannot be read.`, 'use house, other, or the path of a file');
  }
  try {
    return readRuleSet(text, name);
  } catch (error) {
    throw new BenchError(error instanceof Error ? error.message : String(error), 'see docs/benchmark.md');
  }
}

async function loadPublished(choice: SuiteChoice, env: NodeJS.ProcessEnv): Promise<LoadedSuite> {
  const { data, set, days, oracle } = choice;
  const found = await findMetaclawData([data, env.INSTAR_BENCH_DATA]);
  const chosen = found.find(({ name }) => name === set) ?? (found.length === 1 ? found[0] : undefined);
  if (chosen === undefined) {
    const sets = found.map(({ name }) => name).join(', ');
    throw new BenchError(
      found.length === 0
        ? 'The data of MetaClaw-Bench was not found.'
        : `No set named "${set}". Available: ${sets}.`,
      found.length === 0
        ? 'give its folder with --data FOLDER or INSTAR_BENCH_DATA'
        : 'choose one with --set',
    );
  }
  const loaded = await loadMetaclaw({
    folder: chosen.folder,
    ...(oracle === undefined ? {} : { oracle }),
  }).catch((error: unknown) => {
    throw new BenchError(error instanceof Error ? error.message : String(error), 'correct the data');
  });
  const suite = days === undefined ? loaded : { ...loaded, days: loaded.days.slice(0, days) };
  return {
    of: () => suite,
    notes: loaded.notes,
    options: { set: chosen.name, ...(days === undefined ? {} : { days }) },
  };
}
