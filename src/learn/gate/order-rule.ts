/** Something that no lesson may tell its reader to do before a person has looked at it. */
export interface OrderRule {
  /** For people: what the lesson does. */
  readonly why: string;
  /** For one sentence, folded; finds every place. */
  readonly pattern: RegExp;
  /** "Never do it" is fine. */
  readonly mayBeForbidden?: true;
  /** Fine when people or a verifier asked for just this. */
  readonly mayBeAsked?: true;
}

/** What may stand between two words of a pattern, in one sentence. */
export const GAP = '.{0,70}?';
/** The same where several follow each other: what is tried multiplies. */
export const SHORT_GAP = '.{0,40}?';

export const startingAtWord = (pattern: string): RegExp => new RegExp(`\\b${pattern}`, 'g');
