import { createDesk } from './desk/desk.ts';
import { MetaclawDataError } from './metaclaw/data-files.ts';
import { chooseMetaclawSet, mustBeAbleToCheck } from './metaclaw/find-data.ts';
import { loadMetaclaw } from './metaclaw/load-metaclaw.ts';
import type { Suite, SuiteDay, SuiteQuestion } from './suite.ts';
import { isDrawn, rulesOfSeed } from './workdays/rules/draw-rules.ts';
import { openRules } from './workdays/rules/open-rules.ts';
import type { RuleSet } from './workdays/rules/rule-set.ts';
import { createWorkdays } from './workdays/workdays.ts';
import type { Split } from './workdays/world.ts';

/** A benchmark cannot be run with these options. `fix` says what to change. */
export class BenchError extends Error {
  override readonly name = 'BenchError';
  readonly fix: string;

  constructor(message: string, fix: string) {
    super(message);
    this.fix = fix;
  }
}

/**
 * `files`: file tasks. `house`: file tasks and the choices that depend on a house rule. `sample`: these and four questions on
 * documents a day, which show whether lessons disturb work that needs none.
 */
export type QuestionFilter = 'files' | 'house' | 'sample';

const WORDS: Readonly<Record<QuestionFilter, string>> = {
  files: 'file tasks',
  house: 'file tasks and questions on house rules',
  sample: 'file tasks, questions on house rules and four questions on documents a day',
};

/** The same days with some of their questions, and a note about it. */
function filterQuestions(loaded: LoadedSuite, only: QuestionFilter | undefined): LoadedSuite {
  if (only === undefined) return loaded;
  return {
    of: (seed) => {
      const suite = loaded.of(seed);
      return { ...suite, days: suite.days.map((day) => ({ ...day, questions: asked(day, only) })) };
    },
    hasOwnRules: loaded.hasOwnRules,
    notes: [...loaded.notes, `Only ${WORDS[only]} were asked: do not compare with runs of all questions.`],
    options: { ...loaded.options, only },
  };
}

/** Questions on documents that a sample has, spread over the day. */
const SAMPLED = 4;

function asked({ questions }: SuiteDay, only: QuestionFilter): readonly SuiteQuestion[] {
  const onDocuments = questions.filter((one) => one.kind === 'choice' && one.rule === undefined);
  const step = Math.max(1, Math.floor(onDocuments.length / SAMPLED));
  const sampled = new Set(onDocuments.filter((_, at) => at % step === 0).slice(0, SAMPLED));
  return questions.filter(
    (one) =>
      one.kind === 'files' ||
      (only !== 'files' && one.rule !== undefined) ||
      (only === 'sample' && sampled.has(one)),
  );
}

export interface SuiteChoice {
  readonly suite: string;
  /** For workdays: which worlds, which rules. */
  readonly split: Split;
  /** `house`, `other`, `seed:N` (another set for each seed), or a file. */
  readonly rules: string;
  /** Only this many first days. */
  readonly days?: number;
  /** Only some of a day's questions. */
  readonly only?: QuestionFilter;
  /** For desk: whether a day is one conversation, or each file has its own. */
  readonly conversation?: SuiteDay['conversation'];
  /** For metaclaw: the folder of the published data, and which of its sets. */
  readonly data?: string;
  readonly set?: string;
  readonly oracle?: string;
}

export interface LoadedSuite {
  /** The suite of a seed. Published data is the same for every seed. */
  readonly of: (seed: number) => Suite;
  /** Whether each seed has rules of its own. */
  readonly hasOwnRules: boolean;
  /** What a report's reader should know. */
  readonly notes: readonly string[];
  readonly options: Readonly<Record<string, string | number | boolean>>;
}

export const SUITES = [
  {
    name: 'workdays',
    about: 'fourteen days in a small company: 588 questions, five house rules that only feedback reveals',
  },
  {
    name: 'desk',
    about:
      'ten days of small files (code, settings, notes, queries, commit messages) under ten house rules; for real models',
  },
  { name: 'metaclaw', about: 'MetaClaw-Bench, part I, as published (needs its data: --data FOLDER)' },
  { name: 'pipeline', about: 'a research pipeline of 23 stages, run several times' },
] as const;

/** Rejects with a BenchError that says what to change. */
export async function loadSuite(choice: SuiteChoice, env: NodeJS.ProcessEnv): Promise<LoadedSuite> {
  if (choice.suite === 'workdays') return filterQuestions(loadWorkdays(choice), choice.only);
  if (choice.suite === 'desk') return loadDesk(choice);
  if (choice.suite === 'metaclaw') return filterQuestions(await loadPublished(choice, env), choice.only);
  throw new BenchError(
    `No suite named "${choice.suite}".`,
    `use one of ${SUITES.map(({ name }) => name).join(', ')}`,
  );
}

function loadWorkdays({ split, rules, days }: SuiteChoice): LoadedSuite {
  // Read once at the beginning: a wrong name is refused before anything runs.
  const { name } = ruleSetOf(rulesOfSeed(rules, 1));
  const made = new Map<number, Suite>();
  const make = (seed: number): Suite =>
    createWorkdays({
      seed,
      split,
      ...(days === undefined ? {} : { days }),
      rules: withOwnIds(ruleSetOf(rulesOfSeed(rules, seed)), isDrawn(rules) ? seed : undefined),
    });
  return {
    // A world takes half a second to make, and arms share it.
    of: (seed) => {
      const suite = made.get(seed) ?? make(seed);
      made.set(seed, suite);
      return suite;
    },
    hasOwnRules: isDrawn(rules),
    notes: [],
    options: {
      split,
      rules: isDrawn(rules) ? rules : name,
      // Since arms have a version, feedback stays in the conversation of its day.
      feedback: 'in the conversation',
      ...(days === undefined ? {} : { days }),
    },
  };
}

function loadDesk({ split, days, conversation = 'day' }: SuiteChoice): LoadedSuite {
  return {
    of: (seed) => createDesk({ seed, split, conversation, ...(days === undefined ? {} : { days }) }),
    hasOwnRules: true,
    notes: ['Of ten remarks on a rule, one is vague and one is wrong, in every arm.'],
    options: { split, conversation, ...(days === undefined ? {} : { days }) },
  };
}

/** Drawn sets differ from seed to seed: their rules have ids of their own, so that a report does not mix them. */
const withOwnIds = (set: RuleSet, seed: number | undefined): RuleSet =>
  seed === undefined
    ? set
    : { ...set, rules: set.rules.map((rule) => ({ ...rule, id: `s${seed}-${rule.id}` })) };

function ruleSetOf(name: string): RuleSet {
  try {
    return openRules(name);
  } catch (error) {
    throw new BenchError(
      error instanceof Error ? error.message : String(error),
      'see lab/results/benchmark.md',
    );
  }
}

async function loadPublished(
  { data, set, days, oracle }: SuiteChoice,
  env: NodeJS.ProcessEnv,
): Promise<LoadedSuite> {
  try {
    const chosen = await chooseMetaclawSet({ data, fallback: env.INSTAR_BENCH_DATA, set });
    const suite = await loadMetaclaw({
      folder: chosen.folder,
      ...(oracle === undefined ? {} : { oracle }),
      ...(days === undefined ? {} : { days }),
    });
    await mustBeAbleToCheck();
    return {
      of: () => suite,
      hasOwnRules: false,
      notes: suite.notes,
      options: { set: chosen.name, ...(days === undefined ? {} : { days }) },
    };
  } catch (error) {
    if (!(error instanceof MetaclawDataError)) throw error;
    throw new BenchError(error.message, error.fix ?? 'correct the data');
  }
}
