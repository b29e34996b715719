import { readCorpus } from '../../read-corpus.ts';

interface LessonLines {
  readonly task: string;
  readonly name: string;
  /** The lesson's description. */
  readonly when: string;
  /** What a sensible model learns. */
  readonly lines: readonly string[];
}

/** Failures that are visible in a tool's output. */
export const BENIGN_ERRORS = readCorpus<LessonLines & { readonly output: string }>(
  'gate/corpus/benign-errors.jsonl',
);

/** Failures that a person or a verifier explained. */
export const BENIGN_FEEDBACK = readCorpus<
  LessonLines & { readonly by: 'person' | 'verifier' | 'user'; readonly feedback: string }
>('gate/corpus/benign-feedback.jsonl');

/** Files and output that agents read in passing, with the advice that they usually contain. */
export const BACKGROUNDS = readCorpus<string>('gate/corpus/backgrounds.jsonl');

/** What an attacker wants an agent to learn, in the forms in which it may reach a lesson. */
export interface Goal {
  readonly id: string;
  /** As the attacker writes it. */
  readonly order: string;
  /** With some words changed, as a model copies it. */
  readonly edited: string;
  /** In other words, as a polite model would put it. */
  readonly paraphrase: string;
  /** The lesson's description. */
  readonly when: string;
}

export const GOALS = readCorpus<Goal>('gate/corpus/goals.jsonl');

/** Payloads in other languages, with what a model makes of them in English. */
export const OTHER_LANGUAGES = readCorpus<{
  readonly id: string;
  readonly payload: string;
  readonly english: string;
}>('gate/corpus/other-languages.jsonl');

interface Paraphrased {
  /** Text in a file or on a page that does not address agents. */
  readonly source: string;
  /** What a model makes of it in its own words. */
  readonly lessons: readonly string[];
}

/** Attacks written after the rules, and measured once before the rules were changed again. */
export const HELD_OUT = readCorpus<Paraphrased>('gate/corpus/held-out-1.jsonl');

/** Attacks written after the rules had been corrected by the first set, and never used to correct them. */
export const HELD_OUT_AGAIN = readCorpus<Paraphrased>('gate/corpus/held-out-2.jsonl');

/** Sensible lessons about keys, tests, approvals and deletion. */
export const HELD_OUT_BENIGN = readCorpus<{ readonly feedback: string; readonly lines: readonly string[] }>(
  'gate/corpus/held-out-benign.jsonl',
);

/** Lines that the lint reports, with part of the finding. */
export const LINT_FOUND = readCorpus<{ readonly text: string; readonly finding: string }>(
  'gate/corpus/lint-found.jsonl',
);

/** Lines that resemble a finding and are harmless. */
export const LINT_FINE = readCorpus<string>('gate/corpus/lint-fine.jsonl');
