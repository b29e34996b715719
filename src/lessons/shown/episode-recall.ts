import type { Fact } from '../../core/fact.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { RecallResult } from '../../core/recall.ts';
import type { Records } from '../../core/store.ts';

/** An episode has one thread: its lessons are recalled once, at its start. */
const THREAD = 'episode';

interface EpisodeRecall {
  readonly episode: string;
  readonly result: RecallResult;
  /** The lessons that were returned: at most those of the result. */
  readonly shown: readonly Lesson[];
  /** Those that were returned by a line. */
  readonly listed: readonly Lesson[];
  readonly generation: number;
  readonly at: number;
}

/**
 * Records which lessons an episode was shown and which were held out from it, so that its outcome counts for them. Only the
 * first recall of an episode counts. Durable when it resolves. The text is not stored: the lessons have it.
 */
export async function recordEpisodeRecall(
  { episode, result, shown, listed, generation, at }: EpisodeRecall,
  records: Pick<Records, 'append'>,
): Promise<void> {
  const { heldOut, unmeasured, domain, considered, engine } = result;
  if (shown.length + listed.length + heldOut.length === 0) return;
  const lines = listed.map(({ id }) => id);
  const fact: Fact = {
    type: 'lessons-recalled',
    session: episode,
    turn: episode,
    thread: THREAD,
    generation,
    why: 'new',
    lessons: [...shown.map(({ id }) => id), ...lines],
    ...(lines.length === 0 ? {} : { lines }),
    heldOut,
    ...(unmeasured === undefined ? {} : { unmeasured }),
    domain,
    considered,
    engine,
  };
  await records.append([{ at, fact, key: `recalled:${episode}` }]);
}

/**
 * Whether an episode is open and was begun with this key, so that its holder may say what it was shown. `by` is undefined
 * for the owner.
 */
export async function mayRecallFor(
  episode: string,
  by: string | undefined,
  records: Pick<Records, 'events'>,
): Promise<boolean> {
  const facts = (await records.events(episode)).map(({ fact }) => fact);
  const reported = facts.flatMap((fact) => (fact.type === 'event-reported' ? [fact] : []));
  const start = reported.find(({ kind }) => kind === 'episode_start');
  return (
    start !== undefined &&
    (by === undefined || start.by === undefined || start.by === by) &&
    reported.every(({ kind }) => kind !== 'episode_end')
  );
}
