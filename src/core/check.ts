/** The part of an agent's work that a check looks at; `work`: the reply, every file and every command. */
export const CHECKED_PARTS = ['reply', 'files', 'commands', 'work'] as const;
export type CheckedPart = (typeof CHECKED_PARTS)[number];

/**
 * Where a test looks: the person's request, or the checked part, whole or a piece of it. Files and commands are looked at one by one;
 * `all` is all of them together. `fences` are the lines that open code blocks and the ending of a code file's name (`.ts`), `subject` is the first line of a commit message; `path` is a written file's.
 */
export const TEST_PLACES = [
  'request',
  'whole',
  'all',
  'first-line',
  'last-line',
  'headings',
  'code',
  'fences',
  'prose',
  'subject',
  'path',
] as const;
export type TestPlace = (typeof TEST_PLACES)[number];

export const LENGTH_UNITS = ['characters', 'words', 'sentences', 'lines', 'paragraphs', 'bullets'] as const;
export type LengthUnit = (typeof LENGTH_UNITS)[number];

/**
 * One question about a text, answered without a model and in time linear in the text. Patterns are RE2's. Absent `in`: the whole of the
 * checked part. Plain data.
 */
export type CheckTest =
  /** At least `min` (default 1) and at most `max` matches. `max: 0` forbids it. */
  | {
      readonly is: 'pattern';
      readonly pattern: string;
      readonly flags?: string;
      readonly min?: number;
      readonly max?: number;
      readonly in?: TestPlace;
      /** What the pattern stands for, for people: "a date that is not like 2026-11-18". */
      readonly means?: string;
    }
  /**
   * This program is run, `git push` with its subcommand, `rm -r` with an option, or one of several: `npm|pnpm`; `with`: and its arguments
   * match. By a command, or by a line of code that is one.
   */
  | {
      readonly is: 'program';
      readonly run: string;
      readonly with?: string;
      readonly min?: number;
      readonly max?: number;
      readonly in?: TestPlace;
    }
  /** The first comes up, and before the first match of the second. */
  | {
      readonly is: 'order';
      readonly first: string;
      readonly second: string;
      readonly flags?: string;
      readonly in?: TestPlace;
    }
  | {
      readonly is: 'length';
      readonly unit: LengthUnit;
      readonly min?: number;
      readonly max?: number;
      readonly in?: TestPlace;
    }
  /** The text is JSON, with a value at the pointer; `pattern`: and the value matches. */
  | {
      readonly is: 'json';
      readonly pointer?: string;
      readonly pattern?: string;
      readonly in?: TestPlace;
    }
  /** An ISO 639-1 code. */
  | { readonly is: 'language'; readonly language: string; readonly in?: TestPlace }
  | SlowTest;

/** Not answered behind an answer: it needs a process or a model, and is asked once the turn is over. */
export type SlowTest =
  /** A line for `sh` in a sandbox with the files that the agent wrote or edited, and nothing else: it exits with 0 where the rule is kept. Only a person's is run. */
  | { readonly is: 'command'; readonly command: string; readonly timeoutMs?: number; readonly in?: never }
  /** A model is asked whether the work keeps to these words. It must quote the passage that shows it. */
  | { readonly is: 'judge'; readonly asks: string; readonly in?: never };

export const isSlowTest = (test: CheckTest): test is SlowTest => test.is === 'command' || test.is === 'judge';

/**
 * A rule as a question that can be asked of any piece of work. It applies when all of `appliesWhen` hold, and then the rule was kept when all
 * of `holdsWhen` do. Plain data: it is recorded with its lesson.
 */
export type RuleCheck = {
  readonly looksAt: CheckedPart;
  /** Empty: to all work in the rule's scope that has the checked part. */
  readonly appliesWhen: readonly CheckTest[];
  readonly holdsWhen: readonly CheckTest[];
  /**
   * `accepted`: it failed on the corrected answer and passed on the revised one, or a person confirmed it. `provisional`: it comes from the
   * words of the rule alone, and only measures adherence.
   */
  readonly standing: 'accepted' | 'provisional';
  readonly by: 'words' | 'model' | 'person';
  /** What it was tested on, in one sentence for people. */
  readonly proof: string;
};

/** Whether a program of this machine has to be run for it. */
export const hasCommand = ({ holdsWhen }: Pick<RuleCheck, 'holdsWhen'>): boolean =>
  holdsWhen.some(({ is }) => is === 'command');

export interface WrittenFile {
  readonly path: string;
  readonly text: string;
}

/** What an agent did in answer to one message of a person. */
export interface CheckedWork {
  /** What the person asked for. */
  readonly request: string;
  readonly reply: string;
  /** Text that was written, by file; of an edit only what is new. */
  readonly files: readonly WrittenFile[];
  /** The same files whole, as they were in the end; absent where the record does not tell of each what it held. */
  readonly held?: readonly WrittenFile[];
  /** Shell commands, in order. */
  readonly commands: readonly string[];
}

/** `quote`: the passage that breaks the rule, where there is one. */
export type CheckResult =
  | { readonly outcome: 'does-not-apply' }
  | { readonly outcome: 'kept' }
  | { readonly outcome: 'broken'; readonly quote?: string };
