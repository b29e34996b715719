import type { GateOutcome } from '../../core/learn.ts';
import type { LessonKind } from '../../core/lesson.ts';
import { foldText } from './fold-text.ts';

export type Autonomy = 'manual' | 'guarded' | 'autonomous';

/** Advice: it can be measured on trial, and taken back. */
const ADVICE: ReadonlySet<LessonKind> = new Set(['skill', 'experience', 'fix']);

/** Words of more freedom than there was, and of means to act with. */
const LOOSENS =
  /\b(?:may|can|allow\w*|permit\w*|enabl\w*|skip\w*|disabl\w*|ignor\w*|bypass\w*|relax\w*|rais\w*|increas\w*|extend\w*|unlimited|no limit|no longer|without|optional\w*|free(?:ly)?|exempt\w*|waiv\w*|instead of|override\w*|drop\w*|remov\w*|tools?|commands?|shell|network|files? system|execut\w*)\b/;

export interface Reach {
  readonly outcome: Exclude<GateOutcome, 'refused'>;
  /** Why not further. */
  readonly why: readonly string[];
}

/** How far a change may go by itself that nothing speaks against. */
export function howFar(autonomy: Autonomy, kind: LessonKind, content: string): Reach {
  if (autonomy === 'manual') return { outcome: 'proposed', why: ['a person decides on every change'] };
  if (autonomy === 'autonomous') return { outcome: 'live', why: [] };
  if (ADVICE.has(kind)) return { outcome: 'trial', why: [] };
  if (kind === 'fragment')
    return loosens(content)
      ? { outcome: 'proposed', why: ['it loosens a prompt, or speaks of means to act: a person decides'] }
      : { outcome: 'trial', why: [] };
  return { outcome: 'proposed', why: [`a person decides on every lesson of kind ${kind}`] };
}

const loosens = (content: string): boolean => LOOSENS.test(foldText(content));
