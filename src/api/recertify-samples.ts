import { compact } from '../core/json.ts';
import type { Records } from '../core/store.ts';
import { findSurvivors, type TrainingSample } from '../evidence/training-buffer.ts';
import { taskOf } from '../evidence/turn-evidence.ts';
import type { CompareBlocks, ShownTask } from '../lessons/compare-blocks.ts';
import type { MovedLesson } from '../lessons/library.ts';
import { readStoredTurn } from '../record/stored-turn.ts';

/** Each is recalled twice while a change waits; older samples do not survive it. */
const MOST = 128;

/**
 * The samples that keep their prompts after a change to the library: what their session was shown is what it would be shown
 * before and after the change, in the same bytes. A session's block is made for its first task. Never rejects.
 */
export async function recertifySamples(
  samples: readonly TrainingSample[],
  moved: readonly MovedLesson[],
  records: Pick<Records, 'turn' | 'turns' | 'session' | 'block'>,
  compare: CompareBlocks,
): Promise<readonly string[]> {
  const newest = samples.slice(-MOST);
  const asked = await Promise.all(newest.map((sample) => taskFor(sample, records).catch(() => undefined)));
  const tasks = asked.flatMap((task) => (task === undefined ? [] : [task]));
  const stays = await compare(tasks, moved).catch((): readonly boolean[] => []);
  const kept = new Set(newest.filter((_, at) => stays[tasks.indexOf(asked[at] as ShownTask)] === true));
  return findSurvivors({ samples: newest, wouldDiffer: async (sample) => !kept.has(sample) });
}

/** Undefined when the turn or its session cannot be read any more. */
async function taskFor(
  { turn, session }: TrainingSample,
  records: Parameters<typeof recertifySamples>[2],
): Promise<ShownTask | undefined> {
  const [view, of] = [await records.turn(turn), await records.session(session)];
  const first = (await records.turns(session)).find(({ role }) => role === 'main');
  const asked = first && (await readStoredTurn(first, records, new Map()));
  if (view === undefined || of === undefined || asked === undefined) return undefined;
  const query = { text: taskOf(asked.request.messages), agent: view.agent };
  return { query: compact({ ...query, project: of.project?.id }), shown: view.lessons };
}
