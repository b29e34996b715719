import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { asArray, asObject, type JsonObject } from '../../src/core/json.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';

const SOON = { timeout: 25_000, interval: 100 };
const MAIN = path.resolve(import.meta.dirname, '../../dist/src/cli/main.js');

let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
beforeAll(async () => {
  home = makeHome({});
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  home.remove();
});

/** The command, as the person of this home, or with a member's key from a machine without a home. */
function instar(args: readonly string[], key?: string) {
  const env = { PATH: process.env.PATH, HOME: `${home.dir}-elsewhere` };
  const remote = { INSTAR_URL: `http://127.0.0.1:${daemon.port}`, INSTAR_MEMBER_KEY: key };
  const at = key === undefined ? ['--home', home.dir] : [];
  const done = spawnSync(process.execPath, [MAIN, ...args, ...at, '--json'], {
    encoding: 'utf8',
    env: key === undefined ? env : { ...env, ...remote },
  });
  return {
    code: done.status,
    out: done.stdout,
    said: `${done.stdout}${done.stderr}`,
    json: () => JSON.parse(done.stdout) as JsonObject,
  };
}
const listed = (key?: string): readonly JsonObject[] => {
  const answer: unknown = instar(['lessons', 'list'], key).json();
  return asArray(Array.isArray(answer) ? answer : asObject(answer).lessons).map(asObject);
};

const MESSAGES = [
  { role: 'user', content: 'Write the date of the meeting on 3 May 2026.' },
  { role: 'assistant', content: 'The meeting is on 5/3/2026.' },
  { role: 'user', content: 'No, that is wrong. Always write dates as 2026-05-03, with the year first.' },
];
const chat = (key: string, messages: readonly object[]) =>
  ask(daemon.port, {
    path: '/v1/chat/completions',
    headers: { 'x-instar-key': key, 'x-instar-session': 'main' },
    body: JSON.stringify({ model: 'm', messages }),
  });

it('what one member’s chat teaches is that member’s: the others neither list it nor are shown it', async () => {
  const ada = instar(['members', 'add', 'ada']).json();
  const bob = instar(['members', 'add', 'bob', '--role', 'reviewer']).json();
  const laptop = String(instar(['members', 'key', 'ada', 'laptop']).json().key);
  for (const length of [1, 3]) expect((await chat(laptop, MESSAGES.slice(0, length))).status).toBe(200);
  await vi.waitFor(() => expect(listed(String(ada.key)).length).toBe(1), SOON);
  const [lesson] = listed(String(ada.key));
  expect(lesson).toMatchObject({ scope: { member: ada.id } });
  expect(listed(String(bob.key))).toEqual([]);
  expect(instar(['lessons', 'show', String(lesson?.id)], String(bob.key)).code).not.toBe(0);
  expect(instar(['sessions', 'list'], String(bob.key)).out).not.toContain(String(ada.id));
  expect(instar(['sessions', 'list'], String(ada.key)).out).toContain(`${String(ada.id)}:main`);
  const shared = instar(['members', 'shared'], String(ada.key)).json();
  expect(shared).toMatchObject({ member: 'ada', recorded: { sessions: 1 }, private: 1, team: [] });

  // Roles: a member adds nobody and decides nothing for the team.
  expect(instar(['members', 'add', 'eve'], String(bob.key)).said).toContain('Only an owner');
  const share = ['lessons', 'share', String(lesson?.name), '--team'];
  expect(instar(share, String(ada.key)).code).not.toBe(0);
  expect(instar(share).code).toBe(0);
  const [team] = listed(String(bob.key));
  expect(team).toMatchObject({ name: lesson?.name, scope: { member: '*' } });

  // The member takes it back.
  expect(instar(['members', 'opt-out'], String(ada.key)).json()).toMatchObject({ shares: false });
  expect(listed(String(bob.key)).filter(({ state }) => state !== 'retired')).toEqual([]);
  expect(listed(String(ada.key)).filter(({ state }) => state !== 'retired').length).toBe(1);
}, 150_000);

it('the record has no text of a key, and members are the same after a restart', async () => {
  const key = String(instar(['members', 'add', 'cyd']).json().key);
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  daemon = await startDaemon(home.dir);
  expect(instar(['sessions', 'list'], key).code).toBe(0);
  expect(instar(['members', 'list']).out).not.toContain(key);
  expect(instar(['members', 'remove', 'cyd']).code).toBe(0);
  expect(instar(['sessions', 'list'], key).code).not.toBe(0);
}, 150_000);

it('with members, a gateway on a network address without a proxy does not start, and says how to', async () => {
  const other = makeHome({ gateway: { host: '127.0.0.1' } });
  const run = (args: readonly string[]) =>
    spawnSync(process.execPath, [MAIN, ...args, '--home', other.dir], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: other.dir },
      timeout: 60_000,
    });
  try {
    expect(run(['members', 'add', 'ada']).status).toBe(0);
    writeFileSync(path.join(other.dir, 'config.json'), JSON.stringify({ gateway: { host: '0.0.0.0' } }));
    const up = run(['up', '--port', '0']);
    expect(up.status).not.toBe(0);
    expect(`${up.stdout}${up.stderr}`).toContain('gateway.trustedProxy');
  } finally {
    other.remove();
  }
}, 150_000);
