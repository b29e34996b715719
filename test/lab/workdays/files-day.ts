import { makeDay, makeWorld } from '../../../lab/suites/workdays/make-world/make-days.ts';
import type { DayWorld, Split } from '../../../lab/suites/workdays/world.ts';
import { createWorkspace, type Workspace } from '../../../src/agent/sandbox/workspace.ts';
import { createRandom } from '../../../src/base/random.ts';

/** A day of some company, as the suite has it. */
export function dayOf(split: Split, seed: string, index: number): DayWorld {
  const world = makeWorld(createRandom(`${seed}/world`), split);
  return makeDay({ world, split, seed, index, difficulty: index / 13, firstDay: 20_500 }).day;
}

/** A real workspace with these texts in it. */
export async function workspaceWith(texts: Readonly<Record<string, string>>): Promise<Workspace> {
  const workspace = await createWorkspace();
  for (const [path, text] of Object.entries(texts)) await workspace.write(path, text);
  return workspace;
}

/** Runs commands of a solution one by one; the last, `done`, is the agent's and no command of the shell. */
export async function perform(workspace: Workspace, commands: readonly string[]): Promise<void> {
  if (commands.at(-1) !== 'done') throw new Error('a solution ends with done');
  for (const command of commands.slice(0, -1)) {
    const result = await workspace.runPlain(command, {});
    if (result.end !== 'exit' || result.code !== 0) throw new Error(`${command}\n${JSON.stringify(result)}`);
  }
}
