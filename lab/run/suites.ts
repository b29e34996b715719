import { findMetaclawData, loadMetaclaw } from '../metaclaw/load-metaclaw.ts';
import type { Suite, SuiteQuestion } from '../suite/suite.ts';
import { openRules } from '../workdays/rules/open-rules.ts';
import type { RuleSet } from '../workdays/rules/rule-set.ts';
import { createWorkdays } from '../workdays/workdays.ts';
import type { Form, Split } from '../workdays/world.ts';

/** A benchmark cannot be run with these options. `fix` says what to change. */
export class BenchError extends Error {
  override readonly name = 'BenchError';
  readonly fix: string;

  constructor(message: string, fix: string) {
    super(message);
    this.fix = fix;
  }
}

/** `files`: file tasks. `house`: file tasks and the choices that depend on a house rule. */
export type QuestionFilter = 'files' | 'house';

const WORDS: Readonly<Record<QuestionFilter, string>> = {
  files: 'file tasks',
  house: 'file tasks and questions on house rules',
};

/** The same days with some of their questions, and a note about it. */
function filterQuestions(loaded: LoadedSuite, only: QuestionFilter | undefined): LoadedSuite {
  if (only === undefined) return loaded;
  return {
    of: (seed) => {
      const suite = loaded.of(seed);
      const days = suite.days.map((day) => ({ ...day, questions: day.questions.filter(isAsked(only)) }));
      return { ...suite, days };
    },
    notes: [...loaded.notes, `Only ${WORDS[only]} were asked: do not compare with runs of all questions.`],
    options: { ...loaded.options, only },
  };
}

const isAsked =
  (only: QuestionFilter) =>
  (question: SuiteQuestion): boolean =>
    question.kind === 'files' || (only === 'house' && question.rule !== undefined);

export interface SuiteChoice {
  readonly suite: string;
  /** For workdays: which worlds, which form of the questions, which rules. */
  readonly split: Split;
  readonly form: Form;
  /** `house`, `other`, `seed:N[:unseen-forms]`, or a file. */
  readonly rules: string;
  /** Only this many first days. */
  readonly days?: number;
  /** Only some of a day's questions. */
  readonly only?: QuestionFilter;
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
  if (choice.suite === 'workdays') return filterQuestions(loadWorkdays(choice), choice.only);
  if (choice.suite === 'metaclaw') return filterQuestions(await loadPublished(choice, env), choice.only);
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
  try {
    return openRules(name);
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
