import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { runInProcess } from '../cli/run-cli.ts';
import { ask, askOwner } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import { type Provider, startProvider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 50 };
const TASK = 'Write the shipping report for the parcels of last week.';
const KEPT = 'The parcels left on 2026-11-16.';
const BROKEN = 'The parcels left on 11/16/2026.';
const RULE = 'No, we always use ISO dates in shipping reports.';

/** Another agent's. */
const TOLD = {
  op: 'add',
  id: 'told',
  kind: 'skill',
  state: 'live',
  text: lessonText({
    name: 'short-subjects',
    description: '"Keep subjects short."',
    content: 'The user said so.',
    scope: { agent: 'other' },
  }),
};

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
let answer = KEPT;

beforeAll(async () => {
  provider = await startProvider((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        id: 'r',
        model: 'm',
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: answer } }],
        usage: { prompt_tokens: 1, completion_tokens: 1 },
      }),
    );
  });
  home = makeHome({
    providers: { local: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
    models: { default: 'local/m', evolver: 'off', judge: 'off' },
  });
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const owner = (method: string, path: string, body?: object): Promise<JsonObject> =>
  askOwner(daemon, method, path, body);

/** A conversation with its history; each message is answered with `answer`, and gives the body that the provider got. */
function open(session: string) {
  const messages: object[] = [];
  return async (content: string): Promise<string> => {
    messages.push({ role: 'user', content });
    await ask(daemon.port, {
      path: '/v1/chat/completions',
      body: JSON.stringify({ model: 'default', messages }),
      headers: { 'x-instar-key': daemon.key, 'x-instar-agent': 'clerk', 'x-instar-session': session },
    });
    messages.push({ role: 'assistant', content: answer });
    return provider.seen.at(-1)?.body.toString() ?? '';
  };
}

const lesson = async (): Promise<JsonObject> => {
  const { stdout } = await runInProcess(['lessons', 'list', '--json', '--home', home.dir]);
  const all: readonly JsonObject[] = JSON.parse(stdout);
  const rule = all.find(({ description }) => String(description).includes('ISO dates'));
  if (rule === undefined) throw new Error('no lesson yet');
  return rule;
};
const counts = async () => {
  const { shown, applied, kept, toldAgain } = (await lesson()).adherence as JsonObject;
  return { shown, applied, kept, toldAgain };
};
const expectCounts = (wanted: object) => vi.waitFor(async () => expect(await counts()).toEqual(wanted), SOON);

describe('a rule that a person said once', () => {
  it('is counted as kept in the next conversation, where nobody says a word about it', async () => {
    answer = BROKEN;
    const first = open('first');
    await first(TASK);
    answer = KEPT;
    await first(RULE);
    // The corrected answer and the revised one prove a check that the rule's own words gave.
    await vi.waitFor(async () => {
      expect(await lesson()).toMatchObject({
        title: 'Use ISO dates in shipping reports',
        check: { standing: 'accepted', by: 'words' },
      });
    }, SOON);
    expect(await counts()).toMatchObject({ toldAgain: 0 });
    const before = await counts();
    expect(await open('second')(TASK)).toContain('always use ISO dates');
    await expectCounts({
      shown: Number(before.shown) + 1,
      applied: Number(before.applied) + 1,
      kept: Number(before.kept) + 1,
      toldAgain: 0,
    });
  });

  it('is shown again behind the next message when an answer breaks it, and the prompt up to there is the same', async () => {
    const before = await counts();
    const say = open('third');
    answer = BROKEN;
    const first = await say(TASK);
    await vi.waitFor(async () => expect((await counts()).applied).toBe(Number(before.applied) + 1), SOON);
    answer = KEPT;
    const next = await say('And for the week before?');
    expect(next).toContain('the last answer did not keep to it');
    const common = first.slice(0, first.indexOf(TASK) + TASK.length);
    expect(next.startsWith(common)).toBe(true);
    const later = await say('Thanks.');
    expect(later.startsWith(next.slice(0, next.indexOf('the last answer did not keep to it') + 34))).toBe(
      true,
    );
    expect(later.split('did not keep to it')).toHaveLength(2);
    expect(await counts()).toMatchObject({ applied: Number(before.applied) + 1, kept: before.kept });
  });

  it('says so in the terminal, in the status, today and on the page', async () => {
    const { id, name } = await lesson();
    const now = await counts();
    const run = async (...args: string[]) => (await runInProcess([...args, '--home', home.dir])).stdout;
    const shown = await run('lessons', 'show', String(id));
    expect(shown).toContain(
      `kept ${now.kept} of ${now.applied}${now.toldAgain === 0 ? '' : `, told again ${now.toldAgain}`}`,
    );
    expect(shown).toMatch(/broken\s+.*third/);
    expect(await run('lessons', 'list')).toContain(`${now.kept} of ${now.applied}`);
    await owner('POST', '/api/lessons', { changes: [TOLD], reason: 'a test' });
    expect(await run('status')).toMatch(/\d rules? you told: kept \d of \d/);
    expect(await run('today')).toMatch(/rules +today kept \d, broken 1, told again 0/);
    const page = await owner('GET', '/api/page/lessons?limit=10');
    const rows = asArray(page.lessons).map(asObject);
    expect(rows.find((row) => row.id === id)).toMatchObject({ name, adherence: now });
    expect(await owner('GET', `/api/lessons/${id}`)).toMatchObject({
      adherence: now,
      brokenIn: [{ session: expect.stringContaining('third') }],
    });
  });

  it('stands among the parts of the reward of each turn, in the terminal, the API and on the page', async () => {
    answer = KEPT;
    await open('rated')(TASK);
    const rate = () => owner('POST', '/v1/feedback', { session: 'rated', score: 1 });
    await vi.waitFor(async () => expect((await rate()).ok).toBe(true), SOON);
    const show = async () => (await runInProcess(['sessions', 'show', 'rated', '--home', home.dir])).stdout;
    await vi.waitFor(
      async () =>
        expect(await show()).toMatch(/reward +task 1\.00 \(you 1\.00\), rules: kept 1 of 1, 2 tokens/),
      SOON,
    );
    const wanted = {
      parts: [expect.objectContaining({ source: 'person', score: 1 })],
      rules: [expect.objectContaining({ outcome: 'kept' })],
    };
    expect(asArray((await owner('GET', '/api/sessions/rated')).turns)).toMatchObject([wanted]);
    expect(asArray((await owner('GET', '/api/page/sessions/rated')).turns)).toMatchObject([wanted]);
  });

  it('is counted as told again when the person has to repeat it', async () => {
    const before = await counts();
    const say = open('fourth');
    answer = BROKEN;
    await say(TASK);
    await say(RULE);
    await vi.waitFor(async () => expect((await counts()).toldAgain).toBe(Number(before.toldAgain) + 1), SOON);
  });

  it('has the same counts after a kill, and loses those of a session that is erased', async () => {
    const before = await counts();
    daemon.child.kill('SIGKILL');
    await daemon.exited;
    daemon = await startDaemon(home.dir);
    expect(await counts()).toEqual(before);
    await runInProcess(['sessions', 'erase', 'third', '--yes', '--home', home.dir]);
    await expectCounts({
      ...before,
      shown: Number(before.shown) - 1,
      applied: Number(before.applied) - 1,
    });
  });
});
