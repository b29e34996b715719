import { hash } from 'node:crypto';
import { createLruMap } from '../../base/lru-map.ts';
import type { Fact } from '../../core/fact.ts';
import type { Change, Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { LimitOverlay } from '../../core/overlay.ts';
import { isRetirable } from '../../lessons/effect/judge-effect.ts';
import { decidedLearner } from '../cycle.ts';
import type { FactFold } from '../learning-state.ts';
import { decidedPiece, type LearnerRow } from '../runner.ts';

/** A learned limit is taken back when this many of the last requests under it ended by it. */
const MOST_CUT = 3;
const LAST_TURNS = 5;
const MOST_OPEN = 5_000;
const MOST_LIMITS = 500;
const BY = { kind: 'instar', name: 'limits' } as const;

/** Ends that say nothing about a limit: the client left, the process died, or nothing was sent to a model. */
const UNTOLD: ReadonlySet<string> = new Set(['client-abort', 'crashed', 'refused']);

type TurnEnded = Fact & { readonly type: 'turn-end' };

/**
 * A measurement over sessions takes hundreds of them; a limit that cuts an agent off from its model is taken back within a few
 * requests. A person who brings it back decides: it then stays. After a restart it counts anew.
 */
export function createLimitWatch(
  library: Pick<Library, 'lesson' | 'lessons' | 'history'>,
): LearnerRow & FactFold {
  const open = createLruMap<string, readonly string[]>(MOST_OPEN);
  let ended: { readonly lessons: readonly string[]; readonly end: TurnEnded }[] = [];
  /** By lesson and revision: which of the last turns it cut, and that turn. */
  const windows = createLruMap<string, readonly (string | undefined)[]>(MOST_LIMITS);
  const windowOf = ({ id, revision }: Lesson): string => `${id} ${revision}`;
  const count = (): ReadonlySet<Lesson> => {
    const touched = new Set<Lesson>();
    for (const { lessons, end } of ended) {
      for (const lesson of lessons.flatMap((id) => library.lesson(id) ?? [])) {
        const payload = limitOf(lesson);
        if (payload === undefined || lesson.text.overlay?.from === undefined) continue;
        const cut = isCutBy(payload, end.failure) ? end.turn : undefined;
        windows.set(windowOf(lesson), [...(windows.get(windowOf(lesson)) ?? []), cut].slice(-LAST_TURNS));
        touched.add(lesson);
      }
    }
    ended = [];
    return touched;
  };
  /** Limits whose withdrawal could not be written yet. */
  let due = new Map<string, readonly string[]>();
  return {
    name: BY.name,
    isAlways: true,
    learn: decidedLearner(BY.name),
    due: () => ended.length > 0 || due.size > 0,
    add: ({ fact }) => {
      if (fact.type === 'turn-start' && fact.lessons.length > 0) open.set(fact.turn, fact.lessons);
      const lessons = fact.type === 'turn-end' ? open.get(fact.turn) : undefined;
      if (fact.type !== 'turn-end' || lessons === undefined || UNTOLD.has(fact.status)) return;
      ended.push({ lessons, end: fact });
      if (ended.length > MOST_OPEN) ended.shift();
    },
    /** The turns that were added since the last run. The library must have caught up with them. */
    material: async function* () {
      for (const lesson of count()) {
        const cut = (windows.get(windowOf(lesson)) ?? []).flatMap((turn) => turn ?? []);
        if (cut.length >= MOST_CUT) due.set(lesson.id, cut);
      }
      const changes = [...due].flatMap(([id, cut]): readonly Change[] => {
        const lesson = library.lesson(id);
        return lesson !== undefined && isRetirable(lesson, library, BY)
          ? [{ op: 'retire', id, reason: reasonOf(lesson, cut.length) }]
          : [];
      });
      if (changes.length > 0) {
        const mark = hash('sha256', JSON.stringify([...due]), 'hex').slice(0, 24);
        yield decidedPiece({
          id: `limits-${mark}`,
          by: BY,
          reason: 'requests ended by a learned limit',
          changes,
        });
      }
      due = new Map();
    },
  };
}

function reasonOf({ text }: Lesson, cut: number): string {
  const of = text.scope.agent === undefined ? '' : ` of the agent ${text.scope.agent}`;
  return `It cut requests off: ${cut} of the last ${LAST_TURNS} requests${of} under it ended in a time-out or an error that a looser limit would have waited for.`;
}

/** The limits that a lesson sets; undefined for other lessons. */
export function limitOf({ text }: Pick<Lesson, 'text'>): LimitOverlay | undefined {
  const payload = text.overlay?.payload;
  return payload?.type === 'validator_policy_tweak' ? payload : undefined;
}

/** What another try may cure. */
const WORTH_A_TRY = /^(?:rate-limited|overloaded|upstream-error|unreachable|truncated)\b/;

/** Whether a turn with this failure (`kind: message`) ended by the limit: it waited too briefly, or tried too rarely. */
export const isCutBy = ({ headersMs, idleMs, retries }: LimitOverlay, failure = ''): boolean =>
  (/^timeout\b/.test(failure) && (headersMs !== undefined || idleMs !== undefined)) ||
  (WORTH_A_TRY.test(failure) && retries !== undefined);
