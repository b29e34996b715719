import { readCorpus } from '../read-corpus.ts';

/** A convention of a team, as one of them might say it to an agent that broke it. */
export interface HouseRule {
  readonly feedback: string;
  /** What the steps must contain verbatim. */
  readonly essentials: readonly string[];
  /** Whether the steps must forbid something. */
  readonly forbids?: true;
  readonly task?: string;
}

export const HOUSE_RULES = readCorpus<HouseRule>('distiller/house-rules.jsonl');

/** Written after the distiller was finished, in wordings that it was not built for. */
export const HELD_OUT_HOUSE_RULES = readCorpus<HouseRule>('distiller/house-rules-held-out.jsonl');

/** Feedback of several trades that applies to all work of a kind. */
export const GENERAL_FEEDBACK = readCorpus<string>('distiller/general-feedback.jsonl');

/** Feedback that applies to one piece of work only. */
export const SINGLE_CASE_FEEDBACK = readCorpus<string>('distiller/single-case-feedback.jsonl');

/** Complaints, thanks and test output that state no rule. */
export const NO_RULE = readCorpus<string>('distiller/no-rule.jsonl');

/** Feedback that contains a negation. */
export const NEGATIONS = readCorpus<string>('distiller/negations.jsonl');
