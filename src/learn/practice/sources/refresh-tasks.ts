import type { Library } from '../../../core/library.ts';
import type { PracticeSource, PracticeTask } from '../../../core/practice.ts';
import type { Records } from '../../../core/store.ts';
import type { EvidenceReader } from '../../../evidence/evidence-reader.ts';
import { isPractisedOn } from '../../../evidence/learned-from.ts';
import type { LessonEffects } from '../../../lessons/effect/lesson-effects.ts';
import { type CuratedFault, createCuratedTasks } from './curated-tasks.ts';
import { createGapTasks, type TriggeringTask } from './gap-tasks.ts';
import { createMinedTasks, type MinedRecords } from './mined-tasks.ts';
import type { EmbedTexts } from './near-tasks.ts';
import type { PracticeTasks } from './practice-tasks.ts';

export interface RefreshParts {
  readonly records: MinedRecords & Pick<Records, 'append' | 'turn' | 'turns'>;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly library: Pick<Library, 'lessons' | 'shown'>;
  readonly effects: Pick<LessonEffects, 'usefulness' | 'verdict'>;
  readonly tasks: PracticeTasks;
  /** Files that a person wrote. */
  readonly files: readonly string[];
  readonly embed: EmbedTexts;
  readonly now: () => number;
  readonly onFault?: (fault: CuratedFault) => void;
}

/** Tasks of one source that one refresh may add. */
const MOST_FOUND = 200;

/** Looks for new tasks and records them. Returns how many each source added; stops at the signal. */
export async function refreshTasks(
  parts: RefreshParts,
  signal: AbortSignal,
): Promise<Readonly<Record<string, number>>> {
  const { records, evidence, library, effects, tasks, embed } = parts;
  const known = () => tasks.list();
  const sources: readonly PracticeSource[] = [
    createCuratedTasks({
      files: parts.files,
      embed,
      ...(parts.onFault === undefined ? {} : { onFault: parts.onFault }),
    }),
    createMinedTasks({ records, evidence, lessons: () => library.shown(parts.now()) }),
    createGapTasks({
      lessons: () => library.lessons(),
      effects,
      known,
      requests: (turns) => readRequests(turns, parts),
      embed,
    }),
  ];
  const added: Record<string, number> = {};
  const addFrom = async (source: PracticeSource, count: number): Promise<void> => {
    if (signal.aborted) return;
    for (const task of await source.find({ count }, signal))
      if (await addTask(task, parts)) added[source.origin] = (added[source.origin] ?? 0) + 1;
  };
  for (const source of sources) await addFrom(source, MOST_FOUND);
  return added;
}

/** False when it is known, was excluded or erased. */
async function addTask(task: PracticeTask, { tasks, records, now }: RefreshParts): Promise<boolean> {
  const addition = tasks.found(task, now());
  if (addition === undefined) return false;
  const { fact, blocks } = addition;
  const [written] = await records.append([fact], blocks);
  if (written?.isNew === true) tasks.add({ seq: written.seq, at: fact.at, fact: fact.fact });
  return written?.isNew ?? false;
}

/** The recorded requests that led to lessons: only of callers that are learned from, in the users' own words. */
async function readRequests(
  turns: readonly string[],
  { records, evidence }: Pick<RefreshParts, 'records' | 'evidence'>,
): Promise<readonly TriggeringTask[]> {
  const requests: TriggeringTask[] = [];
  for (const id of turns) {
    const view = await records.turn(id);
    if (view === undefined || !isPractisedOn(view)) continue;
    const session = await records.session(view.session);
    const [read] = (await evidence.turns(view.session)).filter(({ evidence: one }) => one.turn === id);
    const text = read?.evidence.task ?? '';
    if (text === '' || session === undefined || session.erased) continue;
    requests.push({
      text,
      session: view.session,
      turn: id,
      agent: session.agent,
      ...(session.project === undefined ? {} : { project: session.project.id }),
    });
  }
  return requests;
}
