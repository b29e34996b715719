import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createAttemptFolders } from '../../../src/agent/attempts/attempt-folders.ts';
import { TOOL_PATH } from '../../../src/agent/sandbox/confiner.ts';
import type { PracticeTask } from '../../../src/core/practice.ts';
import { createEvidenceReader } from '../../../src/evidence/evidence-reader.ts';
import { createTaskVerifier } from '../../../src/evidence/verifiers/verify-task.ts';
import { createMinedTasks, type MiningRefusal } from '../../../src/learn/practice/sources/mined-tasks.ts';
import { isRerunnable } from '../../../src/learn/practice/sources/rerunnable.ts';
import { toRecords } from '../../../src/record/records.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { readStoredTurn } from '../../../src/record/stored-turn.ts';
import type { MiningRecord, PlayedSession } from './play-mining.ts';

/** What came of one session. */
export interface MinedSession {
  readonly played: PlayedSession;
  readonly tasks: readonly PracticeTask[];
  /** What was mined is what the scenario promises. */
  readonly isRight: boolean;
  readonly why?: string;
  /** Of a task with a command: whether it could be run again, and what its check said. */
  readonly rerun?: Rerun;
}

interface Rerun {
  readonly isRerunnable: boolean;
  readonly why?: string;
  /** The check of the state in which the request came; the record has it failing. */
  readonly atStart?: number;
  /** The check of the state that the recorded edits led to; the record has it passing. */
  readonly atEnd?: number;
}

/** Mines the record and tries every task again, confined: from its snapshot, before and after the recorded edits. */
export async function scoreMining(
  { storeFile, played }: MiningRecord,
  onProgress: (what: string) => void,
): Promise<readonly MinedSession[]> {
  const store = openSqliteStore({ file: storeFile });
  const folders = createAttemptFolders();
  try {
    const records = toRecords(store, Date.now);
    const evidence = createEvidenceReader({
      ...records,
      decoder: () => {
        const blocks = new Map();
        return (view) => readStoredTurn(view, records, blocks);
      },
    });
    const refusals = new Map<string, MiningRefusal>();
    const source = createMinedTasks({
      records,
      evidence,
      onRefused: (refusal) => refusals.set(refusal.session, refusal),
    });
    const { signal } = new AbortController();
    const tasks = await source.find({ count: 10_000 }, signal);
    onProgress(`${tasks.length} tasks found`);
    const bySession = groupBy(tasks, ({ from }) => from?.session ?? '');
    const scored: MinedSession[] = [];
    for (const one of played) {
      const own = bySession.get(one.session) ?? [];
      const { isRight, why } = judge(one, own);
      const task = own.find(({ check }) => check?.kind === 'command');
      const rerun = task === undefined ? undefined : await tryAgain(task, one, folders);
      const refusal = refusals.get(one.session)?.why;
      const reason = why ?? (isRight ? undefined : refusal);
      scored.push({
        ...{ played: one, tasks: own, isRight },
        ...(reason === undefined ? {} : { why: reason }),
        ...(rerun === undefined ? {} : { rerun }),
      });
      if (rerun !== undefined && scored.length % 20 === 0)
        onProgress(`${scored.length} sessions tried again`);
    }
    return scored;
  } finally {
    await folders.close();
    store.close();
  }
}

function judge(
  { scenario }: PlayedSession,
  tasks: readonly PracticeTask[],
): { readonly isRight: boolean; readonly why?: string } {
  const [task] = tasks;
  const kinds = tasks.map((one) => (one.isRecordOnly ? 'record only' : (one.check?.kind ?? 'other')));
  if (scenario.mined === 'nothing')
    return task === undefined ? { isRight: true } : { isRight: false, why: `mined as ${kinds.join(', ')}` };
  if (task === undefined) return { isRight: false, why: 'no task' };
  if (tasks.length > 1) return { isRight: false, why: `${tasks.length} tasks` };
  const [kind = ''] = kinds;
  const isRight = scenario.mined === 'other' ? kind !== 'record only' : kind === scenario.mined;
  return isRight ? { isRight } : { isRight, why: `mined as ${kind}` };
}

async function tryAgain(
  task: PracticeTask,
  { project, bug }: PlayedSession,
  folders: ReturnType<typeof createAttemptFolders>,
): Promise<Rerun> {
  const able = await isRerunnable(task, TOOL_PATH);
  if (!able.ok) return { isRerunnable: false, why: able.why };
  const verify = createTaskVerifier({});
  const { signal } = new AbortController();
  const { prompt, domain } = task;
  const grades: number[] = [];
  for (const isEnd of [false, true]) {
    const workspace = await folders.open(task.workspace, signal);
    try {
      // The recorded edits ended in the file of the project's first commit.
      if (isEnd) await workspace.write(bug.file, readFileSync(path.join(project.folder, bug.file), 'utf8'));
      const grade = await verify(task, { task: prompt, output: '', domain, workspace }, signal);
      if (grade.status !== 'ok') return { isRerunnable: false, why: grade.reasons.join('; ') };
      grades.push(grade.reward);
    } finally {
      await workspace.dispose();
    }
  }
  const [atStart = 0, atEnd = 0] = grades;
  return { isRerunnable: true, atStart, atEnd };
}

/** The table, and its numbers. */
export function reportMining(scored: readonly MinedSession[], repos: readonly string[]): string {
  const share = (part: number, of: number): string =>
    of === 0 ? '–' : `${part} of ${of} (${Math.round((100 * part) / of)} %)`;
  const wanted = scored.filter(({ played }) => played.scenario.mined !== 'nothing');
  const unwanted = scored.filter(({ played }) => played.scenario.mined === 'nothing');
  const withCommand = scored.filter(({ tasks }) => tasks.some(({ check }) => check?.kind === 'command'));
  const rerun = withCommand.flatMap((one) => one.rerun ?? []);
  const run = rerun.filter((one) => one.isRerunnable);
  const lines = [
    '| | |',
    '|---|---|',
    `| sessions recorded (clients' shapes: 7; public repositories: ${repos.length === 0 ? 'none' : repos.join(', ')}) | ${scored.length} |`,
    `| tasks found | ${scored.reduce((sum, { tasks }) => sum + tasks.length, 0)} |`,
    `| sessions with a task that gave the right one | ${share(wanted.filter(({ isRight }) => isRight).length, wanted.length)} |`,
    `| sessions without one that gave none | ${share(unwanted.filter(({ isRight }) => isRight).length, unwanted.length)} |`,
    `| tasks with a command that can be run again | ${share(run.length, rerun.length)} |`,
    `| check at the start: fails, as recorded | ${share(run.filter(({ atStart }) => atStart === 0).length, run.length)} |`,
    `| check after the recorded edits: passes, as recorded | ${share(run.filter(({ atEnd }) => atEnd === 1).length, run.length)} |`,
    '',
    '| sessions | number | right | tasks | run again | start fails, end passes |',
    '|---|---|---|---|---|---|',
  ];
  const rows = (name: string, group: readonly MinedSession[]): string => {
    const again = group.flatMap((one) => one.rerun ?? []);
    const able = again.filter((one) => one.isRerunnable);
    const agreed = able.filter(({ atStart, atEnd }) => atStart === 0 && atEnd === 1).length;
    const right = group.filter(({ isRight }) => isRight).length;
    const tasks = group.reduce((sum, one) => sum + one.tasks.length, 0);
    return `| ${name} | ${group.length} | ${right} | ${tasks} | ${again.length === 0 ? '–' : `${able.length} of ${again.length}`} | ${able.length === 0 ? '–' : `${agreed} of ${able.length}`} |`;
  };
  for (const [name, group] of groupBy(scored, ({ played }) => played.scenario.name))
    lines.push(rows(name, group));
  for (const [name, group] of groupBy(scored, ({ played }) => played.client))
    lines.push(rows(`client ${name}`, group));
  for (const [name, group] of groupBy(scored, ({ played: { project } }) =>
    project.kind === 'real' ? `repository ${project.name}` : `generated, ${project.kind}`,
  ))
    lines.push(rows(name, group));
  return lines.join('\n');
}

function groupBy<T>(items: readonly T[], nameOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(nameOf(item)) ?? [];
    groups.set(nameOf(item), group);
    group.push(item);
  }
  return groups;
}
