import type { Lesson } from '../../core/lesson.ts';
import type { NewFact, TurnView } from '../../core/store.ts';
import type { AppraisedTurn } from '../../evidence/evidence-reader.ts';
import { type EventScope, errorLabel, observedEvent, shortHash } from './observed-event.ts';
import { readSessionErrors } from './session-errors.ts';

/** A session that has ended. */
interface ObservedSession {
  readonly session: string;
  /** Its first turn. */
  readonly view: Pick<TurnView, 'agent' | 'runKind' | 'caller'>;
  readonly turns: readonly AppraisedTurn[];
  /** What else was written at its end: its score, with the lessons that people spoke about. */
  readonly ended: readonly NewFact[];
}

interface SessionLibrary {
  readonly lessonOf: (id: string) => Lesson | undefined;
  /** When a lesson was last shown in a session that went well. */
  readonly lastUse: (id: string) => number | undefined;
}

/** Of one session. */
export const MOST_EVENTS = 20;
const MOST_OF_A_KIND = 4;
const MOST_HEALED = 6;
/** Below what a candidate needs: nothing names the error, so nothing could be repaired by it. */
const VAGUE_SCORE = 50;
/** A session that went well, and one of which a person or a check said so. */
const WELL = 0.7;
const CONFIRMED_SCORE = 60;
/** Half-lives without a use. */
const STALE = 3;
const DAY_MS = 86_400_000;

/** What a session teaches about its agent, as events; at most twenty, those that propose something first. */
export function observeSession(
  ended: ObservedSession,
  library: SessionLibrary,
  now: number,
): readonly NewFact[] {
  const { session, view } = ended;
  const scope: EventScope = { session, agent: view.agent, runKind: view.runKind, caller: view.caller };
  return [...errorEvents(ended, scope, now), ...guidanceEvents(ended, scope, library, now)]
    .toSorted((a, b) => rankOf(a) - rankOf(b))
    .slice(0, MOST_EVENTS);
}

/** Calls whose arguments did not fit their tool: a check of the reply would have asked the model again. */
const BAD_ARGUMENTS =
  /InputValidation|invalid (?:tool )?(?:arguments?|input|parameters?)|unexpected (?:keyword )?argument|missing (?:a )?required (?:argument|parameter|propert|field)/i;

const LAST: ReadonlySet<string> = new Set(['agent_error', 'guidance_applied']);
const rankOf = ({ fact }: NewFact): number => (fact.type === 'event-reported' && LAST.has(fact.kind) ? 1 : 0);

function errorEvents({ turns }: ObservedSession, scope: EventScope, now: number): readonly NewFact[] {
  const { healed, open, repeated, faults } = readSessionErrors(turns);
  const firstOfEach = new Map(faults.map((one) => [`${one.tool} ${one.error}`, one]));
  return [
    ...healed.slice(0, MOST_HEALED).map(({ error, repair, turns: ids }) =>
      observedEvent(
        'successful_heal',
        scope,
        {
          mark: error,
          label: errorLabel('error', error),
          data: { error, repair: [...repair], turns: [...ids] },
        },
        now,
      ),
    ),
    ...open.slice(0, MOST_OF_A_KIND).map(({ error, turns: ids }) =>
      observedEvent(
        'failed_tdd',
        scope,
        {
          mark: error ?? '',
          label: error === undefined ? undefined : errorLabel('error', error),
          ...(error === undefined ? { score: VAGUE_SCORE } : {}),
          data: { error, turns: [...ids] },
        },
        now,
      ),
    ),
    ...repeated.slice(0, MOST_OF_A_KIND).map(({ error, times, turns: ids }) =>
      observedEvent(
        'repeated_retry',
        scope,
        {
          mark: error,
          label: errorLabel('retry', error),
          data: {
            error,
            times,
            turns: [...ids],
            ...(BAD_ARGUMENTS.test(error) ? { checks: ['tool-arguments'] } : {}),
          },
        },
        now,
      ),
    ),
    ...[...firstOfEach]
      .slice(0, MOST_OF_A_KIND)
      .map(([mark, { tool, error, turn }]) =>
        observedEvent('agent_error', scope, { mark, data: { tool, error, turns: [turn] } }, now),
      ),
  ];
}

function guidanceEvents(
  { turns, ended }: ObservedSession,
  scope: EventScope,
  { lessonOf, lastUse }: SessionLibrary,
  now: number,
): readonly NewFact[] {
  const scored = ended.flatMap(({ fact }) =>
    fact.type === 'session-scored' && fact.score !== undefined ? [fact] : [],
  )[0];
  const { score = 0, lessons = [], ignored = [], contradicted = [] } = scored ?? {};
  const about = (kind: 'guidance_noisy' | 'stale_guidance', id: string, why: string): NewFact =>
    observedEvent(kind, scope, { mark: id, label: lessonLabel(id), data: { lesson: id, why } }, now);
  const noisy = new Map([
    ...ignored.map((id) => [id, 'ignored'] as const),
    ...contradicted.map((id) => [id, 'contradicted'] as const),
  ]);
  const isConfirmed = turns.some(
    ({ appraisal: { source, reward = 0 } }) =>
      (source === 'person' || source === 'verifier') && reward >= WELL,
  );
  const shown = [...new Set(turns.flatMap(({ shown: ids = [] }) => ids))];
  return [
    ...[...noisy].slice(0, MOST_OF_A_KIND).map(([id, why]) => about('guidance_noisy', id, why)),
    ...shown
      .filter((id) => isStale(lessonOf(id), lastUse(id), now))
      .slice(0, MOST_OF_A_KIND)
      .map((id) => about('stale_guidance', id, 'unused')),
    ...(score >= WELL && lessons.length > 0 && noisy.size === 0
      ? [
          observedEvent(
            'guidance_applied',
            scope,
            {
              mark: '',
              ...(isConfirmed ? { score: CONFIRMED_SCORE } : {}),
              data: { lessons: lessons.slice(0, MOST_EVENTS), went: Number(score.toFixed(2)) },
            },
            now,
          ),
        ]
      : []),
  ];
}

/** A lesson that prompts contain, and no session that went well contained for three half-lives. A pinned one stays as it is. */
function isStale(lesson: Lesson | undefined, lastUse: number | undefined, now: number): boolean {
  if (lesson === undefined || lesson.pinned) return false;
  const since = Math.max(lastUse ?? 0, lesson.changedAt);
  return now - since > STALE * lesson.text.note.halfLifeDays * DAY_MS;
}

export const lessonLabel = (id: string): string => `lesson.${shortHash([id])}`;
