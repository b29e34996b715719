import type { SplitWordings } from '../files/scene.ts';
import type { ValueDraw } from './split-values.ts';

/** A rule form that rules are drawn from: its subject, a wide generator of its parameters, and how people speak of it. */
export interface DrawnForm {
  /** The name of the rule form. */
  readonly name: string;
  /** Its subject, without stating the rule: `how a ticket is written`. */
  readonly about: string;
  /**
   * Held out from pre-training. `new pair`: pre-training sees this operation on other targets, and other operations on this target.
   * `new operation`: pre-training sees nothing like it.
   */
  readonly heldOut?: 'new pair' | 'new operation';
  /** What it decides; two rules that decide the same may contradict each other. */
  readonly claims: readonly string[];
  draw(values: ValueDraw): unknown;
  /** Feedback; `{…}` are the words of the form. Some show only an example, some only describe. */
  readonly wordings: SplitWordings;
}
