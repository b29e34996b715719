import { readCorpus } from '../read-corpus.ts';

/** A convention of a team, as one of them might say it to an agent that broke it. */
export interface HouseRule {
  readonly feedback: string;
  /** What a lesson must contain verbatim. */
  readonly essentials: readonly string[];
  readonly task?: string;
}

export const HOUSE_RULES = [
  ...readCorpus<HouseRule>('distiller/house-rules.jsonl'),
  ...readCorpus<HouseRule>('distiller/house-rules-held-out.jsonl'),
];

/** Feedback of several trades that applies to all work of a kind. */
export const GENERAL_FEEDBACK = readCorpus<string>('distiller/general-feedback.jsonl');

/** Feedback that applies to one piece of work only. */
export const SINGLE_CASE_FEEDBACK = readCorpus<string>('distiller/single-case-feedback.jsonl');

/** Complaints, thanks and test output that state no rule. */
export const NO_RULE = readCorpus<string>('distiller/no-rule.jsonl');

/** What people type when an agent did it wrong again: curt, ironic, negated, in ten languages. */
export const COMPLAINTS = readCorpus<string>('distiller/complaints.jsonl');

/** A message in which one sentence turns another around: the rule alone would say the opposite of what was meant. */
export interface TurnedAround {
  readonly said: string;
  readonly rule: string;
  /** The words without which the rule may not stand anywhere. */
  readonly turn: string;
}

/** Ironic, quoted, asked back, doubly negated: in eleven languages. */
export const TURNED_AROUND = readCorpus<TurnedAround>('distiller/turned-around.jsonl');
