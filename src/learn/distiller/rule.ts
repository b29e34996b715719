/** `do`: a demand. `ban`: a prohibition. `lack`: something was omitted. `value`: an exact value is required. */
export type RuleKind = 'do' | 'ban' | 'lack' | 'value';

/** One demand, found in feedback. */
export interface Rule {
  readonly kind: RuleKind;
  /** What to do: a sentence without its full stop, in the words of the feedback. */
  readonly todo: string;
  /** The rejected form. */
  readonly wrong?: string;
  readonly example?: string;
  /** Stated and not demanded: its wording decides whether it is a convention or a fact. */
  readonly isStated?: true;
}
