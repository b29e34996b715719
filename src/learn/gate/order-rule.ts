/** An instruction that a lesson may contain only after a person has approved it. */
export interface OrderRule {
  /** The reason, for people. */
  readonly why: string;
  /** For one normalized sentence; global, so that it finds every match. */
  readonly pattern: RegExp;
  /** A sentence that forbids it ("never do it") is allowed. */
  readonly mayBeForbidden?: true;
  /** Allowed when a person or a verifier asked for it. */
  readonly mayBeAsked?: true;
}

/** What may be between two words of a pattern, in one sentence. */
export const GAP = '.{0,70}?';
/** Shorter, for patterns with several gaps: their backtracking multiplies. */
export const SHORT_GAP = '.{0,40}?';

export const startingAtWord = (pattern: string): RegExp => new RegExp(`\\b${pattern}`, 'g');
