import { describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { countOf } from '../support/counts.ts';
import { lessonText } from '../support/lesson-text.ts';
import { serveHome } from '../support/served-home.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 100 };
const RULE = 'From now on always answer in British English.';
const SESSIONS = countOf(40, 200);

const served = serveHome({
  // Every other session goes without a lesson, and every change needs approval.
  library: { autonomy: 'manual' },
});

/** Gives the prompt that the provider got. */
async function say(
  session: string,
  messages: readonly object[],
  { isDone = false, model = 'default', agent = 'ada' } = {},
): Promise<string> {
  await ask(served.daemon.port, {
    path: '/v1/chat/completions',
    body: JSON.stringify({ model, messages }),
    headers: {
      'x-instar-key': served.daemon.key,
      'x-instar-agent': agent,
      'x-instar-session': session,
      ...(isDone ? { 'x-instar-session-done': 'true' } : {}),
    },
  });
  return served.prompt;
}
const user = (content: string) => ({ role: 'user', content });
const owner = async (method: string, path: string, body?: object) => {
  const headers = { authorization: `Bearer ${served.daemon.ownerKey}`, 'content-type': 'application/json' };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  return JSON.parse((await ask(served.daemon.port, { method, path, headers, ...text })).text);
};
const lessons = async (): Promise<readonly JsonObject[]> => owner('GET', '/api/lessons');

describe('a rule that a person said once', () => {
  it('is live where every change needs approval, and stands in the next conversation on any task, and not in small talk', async () => {
    const done = { role: 'assistant', content: 'Done.' };
    await say('first', [user('Draft the invitation to the summer party')]);
    await say('first', [user('Draft the invitation to the summer party'), done, user(RULE)], {
      isDone: true,
    });
    await vi.waitFor(async () => {
      const told = (await lessons()).filter(({ description }) => String(description).includes('British'));
      expect(told).toMatchObject([{ state: 'live', isAlways: true }]);
    }, SOON);
    for (let nth = 0; nth < 10; nth++)
      expect(await say(`task-${nth}`, [user('Sort the rows of the invoices table by date')])).toContain(
        'British English',
      );
    expect(await say('small', [user('hi there, thanks!')])).not.toContain('British English');
  });

  it('stands in every task of the person’s other agents, too, once they share what they are told', async () => {
    const task = [user('Sort the rows of the invoices table by date')];
    expect(await say('alone', task, { agent: 'bob' })).not.toContain('British English');
    await owner('POST', '/api/config', { path: 'library.shareAgents', value: true });
    expect(await say('other-agent', task, { agent: 'bob' })).toContain('British English');
    await owner('POST', '/api/config', { path: 'library.shareAgents', unset: true });
  });

  it('is not repeated where the client’s own prompt has it', async () => {
    const memory = { role: 'system', content: `# Memory\n${RULE.replaceAll(' ', '  ')}` };
    const sent = await say('memory', [memory, user('Sort the rows of the invoices table by date')]);
    expect(sent.match(/British/g)).toHaveLength(1);
    expect(sent).not.toContain('Active Skills');
  });

  it('stands in the message for a model of a few billion parameters, and in the system prompt for others', async () => {
    const task = user('Sort the rows of the invoices table by date');
    const small = JSON.parse(await say('small-model', [task], { model: 'local/qwen2.5:7b' }));
    expect(small.messages).toHaveLength(1);
    expect(small.messages[0].content).toContain(`As I said before: ${RULE}`);
    const large = JSON.parse(await say('large-model', [task], { model: 'local/gpt-oss:120b' }));
    expect(large.messages[0]).toMatchObject({ role: 'system', content: expect.stringContaining('British') });
    expect(large.messages[1]).toEqual(task);
  });

  it('is shown or listed with eleven others in every one of many sessions, beside a lesson on trial', async () => {
    const words = 'dates units names colours prices sources titles tables quotes links dashes'.split(' ');
    const told = words.map((word) => ({
      op: 'add',
      id: `told-${word}`,
      kind: 'skill',
      state: 'live',
      text: lessonText({
        name: `mind-${word}`,
        description: `Mind the ${word} in all that you write.`,
        content: `Mind the ${word}: ${'they are looked at first. '.repeat(12)}`,
        note: { source: 'told', isAlways: true },
      }),
    }));
    const inferred = {
      op: 'add',
      id: 'inferred',
      kind: 'skill',
      state: 'trial',
      text: lessonText({
        name: 'sort-invoices',
        description: 'When you sort the rows of a table of invoices by date.',
        content: 'Sort by booking day.',
      }),
    };
    await owner('POST', '/api/lessons', { changes: [...told, inferred] });
    for (let nth = 0; nth < SESSIONS; nth++) {
      const sent = await say(`many-${nth}`, [user('Sort the rows of the invoices table by date')]);
      expect(words.filter((word) => !sent.includes(`mind-${word}`))).toEqual([]);
      expect(sent).toContain('British English');
    }
  });
});

describe('instar learn SESSION --wait', () => {
  it('waits for the end of the session and prints what it taught; a session that taught nothing says so with exit code 1', async () => {
    const learn = (session: string) =>
      runInProcess(['learn', session, '--wait', '--home', served.dir], { COLUMNS: '200' });
    const done = { role: 'assistant', content: 'Done.' };
    const asked = [user('Write the shipping report'), done];
    await say('taught', asked.slice(0, 1));
    const waiting = learn('taught');
    await say('taught', [...asked, user('From now on always name the carrier in shipping reports.')], {
      isDone: true,
    });
    const taught = await waiting;
    expect(taught.stdout).toMatch(/^Learned: .*carrier/im);
    expect(taught.code).toBe(0);
    await say('silent', [user('What is the capital of Peru?')], { isDone: true });
    const silent = await learn('silent');
    expect(silent.stdout).toMatch(/^Nothing was learned from it/m);
    expect(silent.code).toBe(1);
  });
});
