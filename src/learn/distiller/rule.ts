/**
 * `do`: something is to be so. `ban`: something must not be. `lack`: something was left out. `value`: something has to
 * be exactly this.
 */
export type RuleKind = 'do' | 'ban' | 'lack' | 'value';

/** One thing that someone demanded, found in what they said. */
export interface Rule {
  readonly kind: RuleKind;
  /** What to do, as a sentence without its full stop, in the words that were used. */
  readonly todo: string;
  /** What was there instead. */
  readonly wrong?: string;
  readonly example?: string;
  /** It was stated and not demanded: only how it is said tells whether it is a custom or a fact. */
  readonly isStated?: true;
}
