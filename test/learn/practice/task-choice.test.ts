import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { asArray, asObject } from '../../../src/core/json.ts';
import { openScripted, TOPICS } from './open-scripted.ts';

const lines = (...tasks: readonly JsonObject[]): JsonObject => ({
  text: tasks.map((task) => JSON.stringify(task)).join('\n'),
});
const promptOf = (topic: string): string => `${topic} ${topic}: write the ${topic} report`;
const GONE = { kind: 'command', command: 'no-such-program-here --check' };

type Opened = Awaited<ReturnType<typeof openScripted>>;

async function practiseAll({ command, finish }: Opened): Promise<void> {
  await command('run', { kind: 'exploratory' });
  await finish();
}

describe('the tasks of a session', () => {
  it('are those that can be checked on this machine now, and a task that cannot says why', async () => {
    const practice = await openScripted({});
    await practice.command(
      'add',
      lines(
        ...TOPICS.map((topic, nth) => ({
          prompt: promptOf(topic),
          ...(nth % 2 === 0 ? { files: { 'a.txt': 'a' }, check: GONE } : { answer: topic }),
        })),
      ),
    );
    await practiseAll(practice);
    expect(practice.orders.length).toBeGreaterThan(0);
    expect(practice.orders.filter(({ task }) => task.check?.kind === 'command')).toEqual([]);
    const { tasks } = await practice.command('tasks');
    const idOf = (check: string) =>
      asArray(tasks)
        .map(asObject)
        .find((task) => task.check === check)?.id;
    expect(await practice.command('task', { id: idOf('command') ?? '' })).toMatchObject({
      canRun: false,
      whyNot: 'no-such-program-here is not on this machine',
    });
    expect(await practice.command('task', { id: idOf('exact') ?? '' })).toMatchObject({ canRun: true });
  });

  it('that all cannot be run make no session, and none is due again at once', async () => {
    const practice = await openScripted({});
    const gone = TOPICS.map((topic) => ({ prompt: promptOf(topic), files: { 'a.txt': 'a' }, check: GONE }));
    await practice.command('add', lines(...gone));
    expect(await practice.command('due')).toMatchObject({ due: { kind: 'initial' } });
    expect(await practice.command('work')).toMatchObject({ end: 'done' });
    expect(await practice.command('due')).toEqual({});
    expect(practice.orders).toEqual([]);
  });

  it('without a check have that of their domain, where it can grade them', async () => {
    const rows = [
      { domain: 'letters', kind: 'regex', pattern: 'Dear' },
      { domain: 'sums', kind: 'number' },
      { domain: 'sums.*', kind: 'regex', pattern: 'never reached' },
    ] as const;
    const practice = await openScripted({}, { verifiers: rows });
    await practice.command(
      'add',
      lines(
        ...TOPICS.map((topic, nth) => ({
          prompt: promptOf(topic),
          domain: nth % 2 === 0 ? 'letters' : 'sums',
          ...(nth === 0 ? { check: { kind: 'regex', pattern: 'its own' } } : {}),
        })),
      ),
    );
    await practiseAll(practice);
    const checks = new Map(practice.orders.map(({ task }) => [task.prompt, task]));
    expect(checks.size).toBeGreaterThan(5);
    for (const { domain, check, prompt } of checks.values()) {
      const own = { kind: 'regex', pattern: 'its own' };
      const configured = domain === 'letters' ? { kind: 'regex', pattern: 'Dear' } : undefined;
      expect(check).toEqual(prompt === promptOf(TOPICS[0] ?? '') ? own : configured);
    }
  });

  it('are attempted once by the pipeline: the queue repeats what failed through nobody’s fault', async () => {
    const practice = await openScripted(
      {},
      {
        attempt: async (order) => ({
          ...{
            id: order.id,
            task: order.task.id,
            by: 'm',
            generation: 0,
            lessons: [],
            output: '',
            steps: [],
          },
          used: { calls: 1, tokens: 0, usd: 0, unpriced: 0, ms: 0 },
          outcome: { is: 'infrastructure', why: 'the network is down' },
        }),
      },
    );
    await practice.command(
      'add',
      lines(...TOPICS.map((topic) => ({ prompt: promptOf(topic), answer: topic }))),
    );
    await practiseAll(practice);
    const ids = practice.orders.map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(0);
    expect(ids.filter((id) => id.endsWith('.1'))).toEqual([]);
  });
});
