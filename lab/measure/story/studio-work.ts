import { fileURLToPath } from 'node:url';
import { createWorkspace } from '../../../src/agent/sandbox/workspace.ts';
import { PACKAGE_ROOT } from '../../../src/base/package.ts';
import type { FileQuestion, TaskVerdict } from '../../suite/suite.ts';
import { openRules } from '../../workdays/rules/open-rules.ts';
import { workQuestions } from '../../workdays/task-source.ts';
import { verify } from './studio-check.ts';
import type { UserDaemon } from './user-daemon.ts';

/** A task of the studio. */
export interface StudioTask {
  readonly id: string;
  readonly system: string;
  readonly question: FileQuestion;
  readonly files: Readonly<Record<string, string>>;
}

const RULES = fileURLToPath(new URL('lab/measure/story/studio-rules.json', PACKAGE_ROOT));
/** Names, tasks and wordings of a split that no pre-training saw. */
const SPLIT = 'report';
const WORLDS = { work: 60_000, measured: 70_000, perSeed: 100 };

/** Tasks that at least one of the studio's rules is about; those of `measured` are given to copies of the home alone. */
export function makeStudioTasks(
  kind: 'work' | 'measured',
  seed: number,
  count: number,
): readonly StudioTask[] {
  const world = WORLDS[kind] + WORLDS.perSeed * seed;
  const options = { split: SPLIT, seed: world, count: 3 * count, rules: openRules(RULES) } as const;
  return [...workQuestions(options)]
    .flat()
    .filter(({ question }) => question.rules.length > 0)
    .slice(0, count)
    .map(({ id, ...task }) => ({ ...task, id: `${kind}-${id}` }));
}

/** How the daemon's answer to a task did. */
export interface StudioResult {
  readonly verdict: TaskVerdict;
  /** By the user's own check: how far it can be trusted is measured with the verdict. */
  readonly reward: number;
}

const NEVER = new AbortController().signal;

/** Asks for a task in a session of its own, carries the answer out in an empty folder, and looks at what is there. */
export async function askStudioTask(
  daemon: UserDaemon,
  session: string,
  task: StudioTask,
): Promise<StudioResult> {
  const { system, question, files } = task;
  const answer = await daemon.chat(session, system, question.text);
  const workspace = await createWorkspace();
  try {
    for (const [file, text] of Object.entries(files)) await workspace.write(file, text);
    const lines = answer.split('\n').filter((line) => line.trim() !== 'done');
    await workspace.runPlain(lines.join('\n'), {});
    const verdict = await question.check(workspace, NEVER);
    return { verdict, reward: verify({ task: question.text, output: answer }).reward };
  } finally {
    await workspace.dispose();
  }
}
