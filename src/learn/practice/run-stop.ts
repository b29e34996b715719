import type { PracticeEnd } from '../../core/practice-fact.ts';

/** A run ends before its work is done. What was journaled stays, and it can be continued. */
export class RunStop extends Error {
  override readonly name = 'RunStop';
  readonly end: Exclude<PracticeEnd, 'done'>;
  readonly retryAfterMs: number | undefined;

  constructor(end: Exclude<PracticeEnd, 'done'>, why = '', retryAfterMs?: number) {
    super(why);
    this.end = end;
    this.retryAfterMs = retryAfterMs;
  }
}
