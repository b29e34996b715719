import { hash } from 'node:crypto';
import type { TaskOrigin, TaskSplit } from '../../../core/practice.ts';
import { collapseSpaces } from '../../../text/contains-phrase.ts';

/** Of 100 roots. The gate needs tasks that a lesson was not learned from, and the report tasks that nothing was decided on. */
const LEARN = 60;
const GATE = 25;

/**
 * The split of a task, by a hash of what it comes from: a task and its variations never cross, and no later task moves an earlier
 * one. The hash does not depend on the home: the same curated file is split the same way everywhere.
 */
export function splitOf(root: string): TaskSplit {
  const place = Number.parseInt(hash('sha256', `split\n${root}`, 'hex').slice(0, 8), 16) % 100;
  if (place < LEARN) return 'learn';
  return place < LEARN + GATE ? 'gate' : 'report';
}

/** The root of the same words is the same, whatever their case and spaces: the same request in two sessions is one root. */
export const rootOf = (domain: string, prompt: string, place = ''): string =>
  `root_${digest('root', domain, normalPrompt(prompt), place)}`;

/** The same task found again has the same id. */
export const taskId = (origin: TaskOrigin, root: string, ...parts: readonly string[]): string =>
  `task_${origin}_${digest('task', origin, root, ...parts)}`;

/** The words of a request as they are compared: without case and layout. */
export const normalPrompt = (prompt: string): string => collapseSpaces(prompt.normalize('NFC')).toLowerCase();

const digest = (...parts: readonly string[]): string =>
  hash('sha256', JSON.stringify(parts), 'hex').slice(0, 16);
