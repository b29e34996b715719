import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredFact } from '../../src/core/fact.ts';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { openSqliteReader } from '../../src/record/store/sqlite-store.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { lessonText } from '../support/lesson-text.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';

const PATH = '/v1/chat/completions';
const PRIVATE = 'Send the invoices of Frau Huber with the offset +02:00 in every time.';
const TASK = 'Write the meeting dates and times of the invoices into the table in notes.md';
let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;

beforeAll(async () => {
  provider = await startProvider((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(wholeReply('openai-chat'));
  });
  home = makeHome({
    providers: { local: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
    learn: { failures: 1, verifiers: [{ domain: 'general', kind: 'regex', pattern: 'EUR' }] },
  });
  daemon = await startDaemon(home.dir);
  await owner('POST', '/api/lessons', {
    reason: 'a test',
    changes: [
      {
        op: 'add',
        id: 'private',
        kind: 'skill',
        state: 'live',
        text: lessonText({
          name: 'invoice-offsets',
          description: 'When you write dates or times of invoices into a table or a file.',
          content: PRIVATE,
        }),
      },
    ],
  });
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const owner = async (method: string, where: string, body?: object): Promise<JsonObject> => {
  const headers = { authorization: `Bearer ${daemon.ownerKey}`, 'content-type': 'application/json' };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  return asObject(JSON.parse((await ask(daemon.port, { method, path: where, headers, ...text })).text));
};
const say = async (
  session: string,
  messages: readonly object[],
  more: Record<string, string> = {},
): Promise<{ turn: string; session: string }> => {
  const body = JSON.stringify({ model: 'local/m', messages });
  const headers = { 'x-instar-session': session, 'x-instar-agent': 'bookkeeper', ...more };
  const answer = await ask(daemon.port, { path: PATH, body, headers });
  expect(answer.status).toBe(200);
  return {
    turn: String(answer.headers['x-instar-turn']),
    session: String(answer.headers['x-instar-session']),
  };
};
const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });
/** A task, a correction by the user, thanks: everything that learning looks for. */
async function correct(session: string, more: Record<string, string>): Promise<readonly string[]> {
  const first = [user(TASK)];
  const wrong = [...first, assistant('Done.'), user('No, that is wrong. Always write amounts as 12.50 EUR.')];
  const last = [...wrong, assistant('Now with EUR.'), user('Perfect, thank you!')];
  const turns = [
    (await say(session, first, more)).turn,
    (await say(session, wrong, more)).turn,
    (await say(session, last, { ...more, 'x-instar-session-done': 'true' })).turn,
  ];
  await expect
    .poll(async () => {
      const shown = asArray((await owner('GET', `/api/sessions/${session}`)).turns).map(asObject);
      return shown.filter(({ status }) => status === 'complete').length;
    })
    .toBe(3);
  return turns;
}
function facts(): readonly StoredFact[] {
  const reader = openSqliteReader(`${home.dir}/instar.sqlite`);
  try {
    return reader.facts(0, Number.POSITIVE_INFINITY);
  } finally {
    reader.close();
  }
}
const DERIVED = ['turn-appraised', 'learning-queued', 'session-scored', 'session-marked', 'lessons-recalled'];
const derivedFrom = (session: string): readonly string[] =>
  facts().flatMap(({ fact }) =>
    DERIVED.includes(fact.type) && 'session' in fact && fact.session === session ? [fact.type] : [],
  );
/** Learning follows the record in its order: once this one is appraised, all before it were looked at. */
async function untilLookedAt(session: string): Promise<void> {
  const [turn] = await correct(session, { 'x-instar-key': daemon.key });
  await owner('POST', '/v1/feedback', { turn, score: -1 });
  await expect.poll(() => derivedFrom(session)).toContain('turn-appraised');
  await expect.poll(() => derivedFrom(session), { timeout: 100_000 }).toContain('session-scored');
}

describe('a caller without a key', () => {
  it('(1) teaches nothing: its failures and corrections yield no appraisal, no score and no lesson (it taught other agents)', async () => {
    const turns = await correct('keyless', {});
    // A credential that nobody checks is worth as much as none.
    await correct('pretended', { authorization: 'Bearer sk-anything' });
    // The owner's word on such a turn is kept, and its text is still no material.
    for (const turn of turns) await owner('POST', '/v1/feedback', { turn, score: -1, note: 'Wrong again.' });
    await untilLookedAt('known');
    expect(derivedFrom('keyless')).toEqual([]);
    expect(derivedFrom('pretended')).toEqual([]);
    const verified = facts().filter(
      ({ fact }) =>
        fact.type === 'reward-given' && fact.source === 'verifier' && turns.includes(fact.turn ?? ''),
    );
    expect(verified).toEqual([]);
    const shown = asArray((await owner('GET', '/api/sessions/keyless')).turns).map(asObject);
    expect(shown.map(({ caller }) => caller)).toEqual(['anonymous', 'anonymous', 'anonymous']);
    expect(shown.map(({ rewards }) => asArray(rewards).length)).toEqual([1, 1, 1]);
    const known = asArray((await owner('GET', '/api/sessions/known')).turns).map(asObject);
    for (const { caller } of known) expect(['anonymous', 'unverified', undefined]).not.toContain(caller);
    const lessons = JSON.stringify(await owner('GET', '/api/lessons'));
    for (const turn of turns) expect(lessons).not.toContain(turn);
  });

  it('(1) is shown no lesson, which may hold private words, and its recall is not recorded', async () => {
    const before = facts().filter(({ fact }) => fact.type === 'lessons-recalled').length;
    await say('reader', [user(TASK)]);
    expect(provider.seen.at(-1)?.body.toString()).not.toContain('Huber');
    await say('reader', [user(TASK)], { authorization: 'Bearer sk-anything' });
    expect(provider.seen.at(-1)?.body.toString()).not.toContain('Huber');
    expect(facts().filter(({ fact }) => fact.type === 'lessons-recalled')).toHaveLength(before);
    await say('owned', [user(TASK)], { 'x-instar-key': daemon.key });
    expect(provider.seen.at(-1)?.body.toString()).toContain('Huber');
  });

  it('(1) neither joins nor ends the session of a known caller', async () => {
    const mine = await say('shared-id', [user('My own task.')], { 'x-instar-key': daemon.key });
    const theirs = await say('shared-id', [user('Someone else’s task.')], {
      'x-instar-session-done': 'true',
    });
    expect(mine.session).toBe('shared-id');
    expect(theirs.session).not.toBe('shared-id');
    // Without ids the same first words within a minute are a client's retry, but not another caller's.
    const body = JSON.stringify({ model: 'local/m', messages: [user('A first message of its own.')] });
    const one = await ask(daemon.port, { path: PATH, body, headers: { 'x-instar-key': daemon.key } });
    const two = await ask(daemon.port, { path: PATH, body });
    expect(two.headers['x-instar-session']).not.toBe(one.headers['x-instar-session']);
    await expect
      .poll(async () => asArray((await owner('GET', `/api/sessions/${theirs.session}`)).turns).length)
      .toBe(1);
    expect((await owner('GET', '/api/sessions/shared-id')).endedAt).toBeUndefined();
    expect((await owner('GET', '/api/sessions/shared-id')).turns).toHaveLength(1);
  });
});
