import { readCuratedTasks } from '../../src/learn/practice/sources/curated-tasks.ts';
import { splitOf } from '../../src/learn/practice/sources/split.ts';
import type { RecordedTask } from '../../train/recorded-tasks.ts';
import { countTasks } from '../../train/task-sources.ts';
import { ask } from '../support/client.ts';

/** A verifier that can grade every answer without a reference or a model: recorded tasks need one. */
export const GRADING = { verifiers: [{ domain: '*', kind: 'regex', pattern: '[aeiou]' }] };

/** With so large an improvement to show, the fewest tasks suffice to measure new weights. */
export const LARGEST_EFFECT = 0.9;
/** As many are needed for it in a new home. */
const HELD_OUT = 24;

const FILES = ['a', 'b', 'plan', 'notes', 'dates', 'state', 'list', 'todo', 'team', 'trip', 'menu', 'log'];

const textOf = (nth: number, file: string): string =>
  `t0${110 + nth}, May 4, 2031, 10:00, from Ada. Set state to done in ${file}.json.`;
const isHeldOut = (text: string): boolean =>
  countTasks([{ domain: 'general', text, rules: [] as readonly string[] } as RecordedTask]).heldOut === 1;

const SYLLABLES = 'ba de fi go ku la me ni po ru sa te'.split(' ');
/** No two are alike: tasks that share most of their words are one task. */
export const wordAt = (nth: number): string =>
  [nth % 12, Math.floor(nth / 12) % 12, Math.floor(nth / 144) % 12].map((at) => SYLLABLES[at]).join('');

/** Lines of a file of tasks of practice, as many as a new home needs to measure new weights with so large an improvement. */
export async function gateLines(lineOf: (nth: number) => object): Promise<string> {
  const lines = Array.from({ length: 300 }, (_, at) => JSON.stringify(lineOf(at)));
  const { tasks } = await readCuratedTasks(lines.join('\n'), 'gate.jsonl');
  const isGate = (at: number): boolean => splitOf(tasks[at]?.root ?? '') === 'gate';
  return (
    lines
      .filter((_, at) => isGate(at))
      // Some of them may be taken for one task.
      .slice(0, 2 * HELD_OUT)
      .join('\n')
  );
}

const FEW = FILES.map((file, at) => textOf(at, file));

/** Sessions with different tasks that the embedded policy answers in words: some to train on, and a few held out. */
export const recordTasks = (port: number, key: string): Promise<void> => record(port, key, 'recorded', FEW);

/** Enough held-out ones besides to measure new weights. */
export function recordHeldOut(port: number, key: string): Promise<void> {
  const all = Array.from({ length: 400 }, (_, at) => textOf(at, FILES[at % FILES.length] ?? ''));
  const texts = all.filter((text) => isHeldOut(text) && !FEW.includes(text)).slice(0, HELD_OUT);
  return record(port, key, 'held-out', texts);
}

async function record(port: number, key: string, name: string, texts: readonly string[]): Promise<void> {
  const ended = await Promise.all(
    texts.map((content, at) =>
      ask(port, {
        path: '/v1/chat/completions',
        headers: { 'x-instar-key': key, 'x-instar-session': `${name}-${at}` },
        body: JSON.stringify({ model: 'instar/nano', stream: true, messages: [{ role: 'user', content }] }),
      }),
    ),
  );
  for (const { status } of ended) if (status !== 200) throw new Error(`the policy answered ${status}`);
}
