import type { LearningRecord } from '../../core/adapt.ts';
import { isOwnerId } from '../../core/caller.ts';
import type { Judgement, ProposedChange } from '../../core/learn.ts';
import type { Library } from '../../core/library.ts';
import type { LimitOverlay } from '../../core/overlay.ts';
import { whyNotOfKind } from '../../lessons/check-overlay.ts';
import type { Autonomy } from '../gate/autonomy-rule.ts';
import { lintSkillText } from '../gate/lint-lesson.ts';

export interface JudgeOverlayOptions {
  readonly autonomy: Autonomy;
  readonly checkText: (text: unknown) => string | undefined;
  readonly hasSecret: (text: string) => boolean;
}

/** What Instar saw itself. */
export const OBSERVER = 'instar';
/** Whether the owner's key reported it; what neither the owner nor Instar reported was said by a program. */
export const isByOwner = ({ by }: { readonly by?: string | undefined }): boolean => isOwnerId(by);
const isForeign = (record: LearningRecord): boolean => record.by !== OBSERVER && !isByOwner(record);

/** What it was drafted from. */
interface JudgedOverlay {
  readonly records: readonly LearningRecord[];
  readonly hasWords: boolean;
  /** Why it would reach further than those who reported it. */
  readonly doubt?: string | undefined;
}

/**
 * How far a corroborated candidate may go. Corroboration says that something happens again and again; it does not say who wrote the
 * words. So:
 * - `manual`: everything waits for a person.
 * - Words that a program reported wait for a person, under every setting. So does what one key alone reported about agents of others.
 * - `guarded`: the owner's words go on trial, and so do hints and limits, which have no words: a hint is bounded, a limit only
 *   tightens. Words that Instar saw itself (a repair, a sequence of calls) wait for a person.
 * - `autonomous`: those go on trial as well.
 * Nothing goes further than trial: the measurement decides the rest.
 */
export function judgeOverlay(
  change: Extract<ProposedChange, { readonly op: 'add' }>,
  { records, hasWords, doubt }: JudgedOverlay,
  library: Pick<Library, 'lesson' | 'lessons'>,
  options: JudgeOverlayOptions,
): Judgement {
  const { text, kind } = change;
  const wrong = options.checkText(text) ?? whyNotOfKind(kind, text);
  if (wrong !== undefined) return { outcome: 'refused', why: [wrong] };
  if (options.hasSecret(JSON.stringify(text))) return { outcome: 'refused', why: ['it contains a secret'] };
  if (library.lesson(change.id) !== undefined)
    return { outcome: 'refused', why: [`lesson ${change.id} exists already`], isKnown: true };
  const doubts = [
    ...(options.autonomy === 'manual' ? ['autonomy is manual: every change needs approval'] : []),
    ...(doubt === undefined ? [] : [doubt]),
    ...(hasWords ? wordDoubts(records, options.autonomy) : []),
    ...(hasWords ? lintSkillText(`${text.description}\n${text.content}`) : []),
    ...(text.overlay?.payload.type === 'validator_policy_tweak' ? looseningDoubts(text.overlay.payload) : []),
  ];
  const outcome = doubts.length > 0 ? 'proposed' : 'trial';
  const taint = hasWords && records.some(isForeign) ? (['tool'] as const) : text.taint;
  return { outcome, why: doubts, change: { ...change, state: outcome, text: { ...text, taint } } };
}

function wordDoubts(records: readonly LearningRecord[], autonomy: Autonomy): readonly string[] {
  if (records.some(isForeign)) return ['a program reported its words: a person has to read them first'];
  return autonomy === 'guarded' && records.some(({ by }) => by === OBSERVER)
    ? ['its words are those of an agent: under guarded a person has to read them first']
    : [];
}

/** What the settings are unless somebody changed them. Where they are tighter, a limit has no effect (`limitsOfOverlays`). */
const USUAL_LIMITS = { retries: 2, headersMs: 600_000, idleMs: 600_000 } as const;

/** Only what tightens takes effect without a person. */
function looseningDoubts(limit: LimitOverlay): readonly string[] {
  return (['retries', 'headersMs', 'idleMs'] as const).flatMap((field) => {
    const value = limit[field];
    return value !== undefined && value > USUAL_LIMITS[field]
      ? [`it loosens ${field} from ${USUAL_LIMITS[field]} to ${value}`]
      : [];
  });
}
