import path from 'node:path';
import { createAttemptFolders } from '../../../src/agent/attempts/attempt-folders.ts';
import { createAttempts } from '../../../src/agent/attempts/attempts.ts';
import type { Workspace } from '../../../src/agent/sandbox/workspace.ts';
import type { OpenAttemptModel } from '../../../src/core/attempt-model.ts';
import type { Clock } from '../../../src/core/clock.ts';
import type { Attempt, AttemptOrder } from '../../../src/core/practice.ts';
import { notRun, type VerifiedWorkspace } from '../../../src/core/verifier.ts';
import { readAttemptSteps } from '../../../src/evidence/verifiers/verify-task.ts';
import type { TaskVerdict } from '../../suites/suite.ts';
import { type CuratedWork, gradeVerdict } from '../../suites/workdays/curated-tasks.ts';
import { MOST_STEPS } from '../../suites/workdays/task-source.ts';

/** An attempt at a file task, with everything that the report needs besides its grade. */
export interface WorkAttempt {
  readonly attempt: Attempt;
  /** Absent when it was not graded. */
  readonly verdict?: TaskVerdict;
  /** The texts of the folder that it left, as one text; the same for the same files. */
  readonly state?: string;
}

export interface WorkAttempts {
  make(order: AttemptOrder, signal: AbortSignal): Promise<WorkAttempt>;
  close(): Promise<void>;
}

interface WorkAttemptsParts {
  /** All tasks that may be attempted. */
  readonly work: readonly CuratedWork[];
  /** By name; the first one makes the attempts whose order names none. */
  readonly agents: ReadonlyMap<string, OpenAttemptModel>;
  readonly clock: Clock;
}

/** nano knows the commands of the built-in shell alone. */
const PLAIN = { ok: false, why: 'the suite is worked on with the built-in commands' } as const;

/** Attempts through the agent and the folders that practice uses, graded by the checks of the suite. */
export function createWorkAttempts({ work, agents, clock }: WorkAttemptsParts): WorkAttempts {
  const questions = new Map(work.map(({ task, question }) => [task.id, question]));
  const opened = new WeakMap<VerifiedWorkspace, Workspace>();
  const folders = createAttemptFolders({ confinement: PLAIN });
  const parts = {
    agents: new Map([...agents].map(([name, open]) => [name, { kind: 'model' as const, open }])),
    folders: {
      ...folders,
      open: async (...given: Parameters<typeof folders.open>) => {
        const workspace = await folders.open(...given);
        opened.set(workspace, workspace);
        return workspace;
      },
    },
    readSteps: readAttemptSteps,
    clock,
    workspace: { steps: MOST_STEPS },
    confinement: PLAIN,
  };
  return {
    make: async (order, signal) => {
      let left: Omit<WorkAttempt, 'attempt'> = {};
      const make = createAttempts({
        ...parts,
        verify: async ({ id }, submission, limit) => {
          const question = questions.get(id);
          const workspace = submission.workspace && opened.get(submission.workspace);
          if (question === undefined || workspace === undefined) return notRun(`${id} is no task of the run`);
          const verdict = await question.check(workspace, limit);
          left = { verdict, state: await readState(workspace) };
          return gradeVerdict(question, verdict);
        },
      });
      return { attempt: await make(order, signal), ...left };
    },
    close: () => folders.close(),
  };
}

/** Every file with its text, in the order of their paths. */
async function readState(workspace: Workspace): Promise<string> {
  const files: (readonly [string, string])[] = [];
  const visit = async (folder: string): Promise<void> => {
    for (const { name, kind } of await workspace.list(folder)) {
      const file = path.posix.join(folder, name);
      if (kind === 'folder') await visit(file);
      else if (kind === 'file') files.push([file, await workspace.read(file)]);
    }
  };
  await visit('.');
  return JSON.stringify(files.sort(([a], [b]) => (a < b ? -1 : 1)));
}
