import type { GateOutcome } from '../../core/learn.ts';
import type { IdentityTier, LessonKind } from '../../core/lesson.ts';
import { foldText } from './normalize-text.ts';

export type Autonomy = 'manual' | 'guarded' | 'autonomous';

/** Advice: its effect can be measured on trial, and it can be withdrawn. */
const ADVICE: ReadonlySet<LessonKind> = new Set(['skill', 'experience', 'fix']);

/** Words that grant permissions, or name means to act. */
const LOOSENS =
  /\b(?:may|can|allow\w*|permit\w*|enabl\w*|skip\w*|disabl\w*|ignor\w*|bypass\w*|relax\w*|rais\w*|increas\w*|extend\w*|unlimited|no limit|no longer|without|optional\w*|free(?:ly)?|exempt\w*|waiv\w*|instead of|override\w*|drop\w*|remov\w*|tools?|commands?|shell|network|files? system|execut\w*)\b/;

interface AutonomyRuling {
  readonly outcome: Exclude<GateOutcome, 'refused'>;
  /** Why no further. */
  readonly why: readonly string[];
}

/** What a change without findings becomes under an autonomy setting. */
export function autonomyRule(
  autonomy: Autonomy,
  kind: LessonKind,
  content: string,
  tier: IdentityTier = 'guarded',
): AutonomyRuling {
  if (autonomy === 'manual')
    return { outcome: 'proposed', why: ['autonomy is manual: every change needs approval'] };
  if (kind === 'identity')
    return tier === 'free'
      ? { outcome: 'trial', why: [] }
      : { outcome: 'proposed', why: [`a ${tier} part of an identity needs approval, whatever the autonomy`] };
  if (autonomy === 'autonomous') return { outcome: 'live', why: [] };
  if (ADVICE.has(kind)) return { outcome: 'trial', why: [] };
  if (kind === 'fragment')
    return loosens(content)
      ? { outcome: 'proposed', why: ['it loosens a prompt or mentions means to act: it needs approval'] }
      : { outcome: 'trial', why: [] };
  return { outcome: 'proposed', why: [`every lesson of kind ${kind} needs approval`] };
}

const loosens = (content: string): boolean => LOOSENS.test(foldText(content));
