import { asArray, asString, compact, type JsonObject, toJson } from '../../core/json.ts';
import type { SessionParts } from './session-parts.ts';
import { successOf } from './sources/choose-tasks.ts';
import { readCuratedTasks } from './sources/curated-tasks.ts';
import type { KnownTask } from './sources/practice-tasks.ts';
import { splitOf } from './sources/split.ts';

/** A request that cannot be carried out; its message says what to change. */
export class PracticeRefusal extends Error {
  override readonly name = 'PracticeRefusal';
}

type TaskCommand = (parts: SessionParts, body: JsonObject) => Promise<JsonObject>;

const LONGEST_LIST = 1000;

const list: TaskCommand = async ({ tasks }, body) => {
  const domain = asString(body.domain);
  const listed = tasks.list().filter(({ task }) => domain === undefined || task.domain === domain);
  return { tasks: listed.slice(-LONGEST_LIST).map(describeTask), count: listed.length };
};

const show: TaskCommand = async ({ tasks, records, whyNotAttempted, withCheck }, { id }) => {
  const stored = tasks.show(asString(id) ?? '');
  if (stored === undefined)
    throw new PracticeRefusal(`There is no task ${String(id)}. See: instar practice tasks list`);
  const task = (await tasks.open(stored.task.id, records)) ?? stored.task;
  const whyNot = await whyNotAttempted(task);
  return compact({
    ...describeTask({ ...stored, task: withCheck(task) }),
    ...(whyNot === undefined ? { canRun: true } : { canRun: false, whyNot }),
    whole: toJson(task),
    history: stored.history && toJson(stored.history),
  }) as JsonObject;
};

const add: TaskCommand = async ({ tasks, records, clock, embed }, body) => {
  const text = asString(body.text) ?? '';
  const read = await readCuratedTasks(text, asString(body.file) ?? 'tasks', embed);
  let added = 0;
  for (const task of read.tasks) {
    const addition = tasks.added(task, clock.now(), asString(body.by));
    if (addition === undefined) continue;
    const [written] = await records.append([addition.fact], addition.blocks);
    if (written?.isNew !== true) continue;
    added++;
    tasks.add({ seq: written.seq, at: addition.fact.at, fact: addition.fact.fact });
  }
  return {
    added,
    known: read.tasks.length - added,
    duplicates: read.duplicates,
    faults: read.faults.map((fault) => ({ ...fault })),
  };
};

const exclude: TaskCommand = async ({ tasks, records, clock }, body) => {
  const ids = asArray(body.ids).flatMap((id) => asString(id) ?? []);
  let excluded = 0;
  for (const id of ids) {
    if (tasks.show(id) === undefined) continue;
    const fact = compact({
      type: 'practice-task' as const,
      op: 'excluded' as const,
      id,
      why: asString(body.why),
      by: asString(body.by),
    });
    const at = Math.round(clock.now());
    const [written] = await records.append([{ at, fact, key: `practice-task/${id}/excluded` }]);
    if (written?.isNew !== true) continue;
    excluded++;
    tasks.add({ seq: written.seq, at, fact });
  }
  return { excluded, unknown: ids.length - excluded };
};

/** What a person asks about the tasks of practice, by `do`. */
export const TASK_COMMANDS: Readonly<Record<string, TaskCommand>> = { tasks: list, task: show, add, exclude };

/** A task in a list: its first words, where it comes from and how it went. */
function describeTask({ task, at, isByPerson, history }: KnownTask): JsonObject {
  const { mean } = successOf({ task, ...(history === undefined ? {} : { history }) });
  return compact({
    id: task.id,
    origin: task.origin,
    domain: task.domain,
    agent: task.agent,
    project: task.project,
    split: splitOf(task.root),
    prompt: task.prompt,
    check: task.check?.kind,
    isApproximate: task.isApproximate,
    workspace: task.workspace?.kind,
    isByPerson,
    expected: Math.round(mean * 100) / 100,
    practised: history?.times ?? 0,
    at: new Date(at).toISOString(),
  });
}
