import { blockHash } from '../../../base/block-hash.ts';
import type { StoredFact } from '../../../core/fact.ts';
import type { PracticeTask } from '../../../core/practice.ts';
import type { Block, NewFact, Records } from '../../../core/store.ts';
import { PRACTICE_TASKS } from '../../../core/task-fact.ts';
import { readWorkspaceContent, writeWorkspaceContent } from '../../../core/workspace-content.ts';
import type { FactFold } from '../../learning-state.ts';

/** How often and how well a task was practised. */
export interface TaskHistory {
  /** The number of groups of attempts. */
  readonly times: number;
  readonly lastAt: number;
  readonly attempts: number;
  /** The sum of their rewards, 0 to 1 each. */
  readonly rewards: number;
  /** How many groups in a row, up to the last, passed in full. */
  readonly passes: number;
}

/** A known task with what is known about it. */
export interface KnownTask {
  readonly task: PracticeTask;
  readonly at: number;
  readonly isByPerson: boolean;
  readonly history?: TaskHistory;
}

/** The tasks of a home, folded from facts. An excluded or erased task never comes back. */
export interface PracticeTasks extends FactFold {
  /** In the order in which they came; without the diffs of their workspaces, which `open` reads. */
  list(): readonly KnownTask[];
  show(id: string): KnownTask | undefined;
  /** The task with the whole content of its workspace; undefined when it is gone. */
  open(id: string, records: Pick<Records, 'block'>): Promise<PracticeTask | undefined>;
  /** The fact to append for a task that a source found; undefined when it is known, excluded or erased. */
  found(task: PracticeTask, at: number): TaskAddition | undefined;
  /** The same for a task that a person gives: it replaces a found one of the same id. */
  added(task: PracticeTask, at: number, by?: string): TaskAddition | undefined;
  readonly excluded: ReadonlySet<string>;
}

/** What is appended for a new task. */
export interface TaskAddition {
  readonly fact: NewFact;
  readonly blocks: readonly Block[];
}

interface Entry {
  readonly task: PracticeTask;
  readonly at: number;
  readonly isByPerson: boolean;
  readonly content?: string;
}

export function createPracticeTasks(): PracticeTasks {
  const entries = new Map<string, Entry>();
  const histories = new Map<string, TaskHistory>();
  const excluded = new Set<string>();
  /** What excluded tasks come from: the same request in another session, and variations, stay away as well. */
  const excludedRoots = new Set<string>();
  const erased = new Set<string>();
  /** The ids of tasks by the session that they go with. */
  const bySession = new Map<string, Set<string>>();
  let seq = 0;

  const erase = (id: string): void => {
    entries.delete(id);
    erased.add(id);
  };
  const isGone = ({ id, root }: PracticeTask): boolean =>
    excluded.has(id) || excludedRoots.has(root) || erased.has(id);
  const withHistory = (id: string, { task, at, isByPerson }: Entry): KnownTask => {
    const history = histories.get(id);
    return { task, at, isByPerson, ...(history === undefined ? {} : { history }) };
  };
  return {
    add: ({ seq: number, at, fact }: StoredFact) => {
      if (number <= seq) return;
      seq = number;
      if (fact.type === 'session-erased') {
        for (const id of bySession.get(fact.session) ?? []) erase(id);
        return;
      }
      if (fact.type !== 'practice-task') return;
      if (fact.op === 'excluded') {
        const task = entries.get(fact.id)?.task;
        excluded.add(fact.id);
        entries.delete(fact.id);
        if (task === undefined || task.origin === 'variation') return;
        excludedRoots.add(task.root);
        for (const [id, entry] of entries) if (entry.task.root === task.root) entries.delete(id);
      } else if (fact.op === 'practised')
        histories.set(fact.id, withGroup(histories.get(fact.id), at, fact.rewards));
      else {
        for (const session of fact.sessions) {
          const ids = bySession.get(session) ?? new Set();
          bySession.set(session, ids.add(fact.id));
        }
        if (fact.task === undefined) erase(fact.id);
        else if (!isGone(fact.task))
          entries.set(fact.id, {
            task: fact.task,
            at,
            isByPerson: fact.op === 'added',
            ...(fact.content === undefined ? {} : { content: fact.content }),
          });
      }
    },
    list: () => [...entries].map(([id, entry]) => withHistory(id, entry)),
    show: (id) => {
      const entry = entries.get(id);
      return entry && withHistory(id, entry);
    },
    open: async (id, records) => {
      const entry = entries.get(id);
      if (entry === undefined) return undefined;
      const { task, content } = entry;
      if (content === undefined || task.workspace?.kind !== 'git') return task;
      const text = await records.block(content);
      // Without what was not committed, the attempt would begin with another state than the request did.
      if (text === undefined) return undefined;
      return { ...task, workspace: { ...task.workspace, ...readWorkspaceContent(text) } };
    },
    found: (task, at) => {
      if (entries.has(task.id) || isGone(task)) return undefined;
      return addition('found', task, at);
    },
    added: (task, at, by) => {
      if (isGone(task)) return undefined;
      return addition('added', task, at, by);
    },
    excluded,
  };
}

/** The diff of a workspace goes into a block of the session: it is stored once, and erased with it. */
function addition(op: 'found' | 'added', given: PracticeTask, at: number, by?: string): TaskAddition {
  const session = given.from?.session;
  const { task, content } =
    session === undefined ? { task: given, content: undefined } : withoutContent(given);
  const hash = content === undefined ? undefined : blockHash(content);
  return {
    fact: {
      at,
      fact: {
        type: 'practice-task',
        op,
        id: task.id,
        task,
        sessions: session === undefined ? [] : [session],
        ...(hash === undefined ? {} : { content: hash }),
        ...(by === undefined ? {} : { by }),
      },
      ...(op === 'found' ? { key: `practice-task:${task.id}` } : {}),
    },
    blocks:
      hash === undefined || content === undefined || session === undefined
        ? []
        : [{ hash, text: content, session }],
  };
}

function withoutContent(task: PracticeTask): {
  readonly task: PracticeTask;
  readonly content: string | undefined;
} {
  if (task.workspace?.kind !== 'git') return { task, content: undefined };
  const { diff, untracked, ...workspace } = task.workspace;
  if (diff === undefined && untracked === undefined) return { task, content: undefined };
  const content = writeWorkspaceContent({
    ...(diff === undefined ? {} : { diff }),
    ...(untracked === undefined ? {} : { untracked }),
  });
  return { task: { ...task, workspace }, content };
}

const PASSED = 0.999;

function withGroup(before: TaskHistory | undefined, at: number, rewards: readonly number[]): TaskHistory {
  const isPass = rewards.length > 0 && rewards.every((reward) => reward >= PASSED);
  return {
    times: (before?.times ?? 0) + 1,
    lastAt: at,
    attempts: (before?.attempts ?? 0) + rewards.length,
    rewards: (before?.rewards ?? 0) + rewards.reduce((sum, reward) => sum + reward, 0),
    passes: isPass ? (before?.passes ?? 0) + 1 : 0,
  };
}

/** The tasks that the record has. */
export async function openPracticeTasks(records: Pick<Records, 'events'>): Promise<PracticeTasks> {
  const tasks = createPracticeTasks();
  for (const stored of await records.events(PRACTICE_TASKS)) tasks.add(stored);
  return tasks;
}
