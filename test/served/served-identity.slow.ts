import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { serveHome } from '../support/served-home.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 50 };
const SOUL = '# Soul of ada\n\n## Core\n\nNever deceive.\n\n## Guarded\n\nYou are calm.\n';

const served = serveHome(
  {
    library: { autonomy: 'guarded' },
  },
  (dir) => {
    mkdirSync(path.join(dir, 'identity', 'ada'), { recursive: true });
    writeFileSync(file(), SOUL);
  },
);

const file = (): string => path.join(served.dir, 'identity', 'ada', 'SOUL.md');
const identity = (args: readonly string[], keys?: readonly string[]) =>
  runInProcess(['identity', ...args, '--home', served.dir], {}, keys && { keys });
const promptOf = async (agent: string, session: string, content = 'Good morning!'): Promise<string> => {
  await ask(served.daemon.port, {
    path: '/v1/chat/completions',
    body: JSON.stringify({ model: 'default', messages: [{ role: 'user', content }] }),
    headers: { 'x-instar-key': served.daemon.key, 'x-instar-agent': agent, 'x-instar-session': session },
  });
  return served.prompt;
};
const waiting = async (): Promise<readonly string[]> =>
  JSON.parse((await identity(['show', '--json'])).stdout)
    .filter(({ state }: { state: string }) => state === 'proposed')
    .map(({ name }: { name: string }) => name);

describe('an identity', () => {
  it('comes by file, is approved by the owner for the bytes shown, and opens the prompt of its agent alone', async () => {
    await vi.waitFor(async () => expect(await waiting()).toEqual(['soul-core', 'soul-guarded']), SOON);
    expect(await promptOf('ada', 'before')).not.toContain('Never deceive.');
    // Nobody is asked for what would be refused; without a terminal nothing is approved.
    const unmeasured = await identity(['approve', 'ada', 'soul-core'], ['y']);
    expect(unmeasured.stderr).toContain('no practice compared attempts with it and without it');
    const alone = await identity(['approve', 'ada', 'soul-core', '--unmeasured']);
    expect(alone.stderr).toContain('Only a person at a terminal can confirm this');
    const stale = ['approve', 'ada', 'soul-core', '--unmeasured', '--hash', 'b_0'];
    expect((await identity(stale, ['y'])).stderr).toContain('it has changed since it was shown to you');
    const done = await identity(['approve', 'ada', 'soul-core', '--unmeasured'], ['y']);
    expect(done.stderr).toContain('Never deceive.');
    expect(done.stdout).toContain('soul-core of ada is in use');
    expect((await identity(['approve', 'ada', '--unmeasured'], ['y'])).code).toBe(0);
    const shown = await promptOf('ada', 'after');
    expect(shown).toMatch(/### soul-core.*Never deceive\..*### soul-guarded.*You are calm\./s);
    expect(await promptOf('bob', 'other')).not.toContain('Never deceive.');
  });

  it('is edited by file as a proposal, compared line by line, replaced, and rolled back', async () => {
    writeFileSync(file(), SOUL.replace('You are calm.', 'You are calm.\nYou joke.'));
    await vi.waitFor(async () => expect(await waiting()).toEqual(['soul-guarded-revised']), SOON);
    expect((await identity(['diff', 'ada'])).stdout).toMatch(/^ {2}You are calm\.\n\+ You joke\.$/m);
    expect((await identity(['approve', 'ada', '--unmeasured'], ['y'])).code).toBe(0);
    expect(await promptOf('ada', 'joking')).toContain('You joke.');
    expect(await waiting()).toEqual([]);
    const back = await identity(['rollback', 'ada', 'soul-guarded'], ['y']);
    expect(back.stdout).toContain('soul-guarded of ada is as in revision 1');
    expect(await promptOf('ada', 'calm')).not.toContain('You joke.');
    // The file follows: its text was in use before.
    await vi.waitFor(() => expect(readFileSync(file(), 'utf8')).toBe(SOUL), SOON);
    const { stdout } = await identity(['history', 'ada']);
    for (const what of ['add → proposed r1', 'move → live r1', 'merge → live r2', 'restore → live r3'])
      expect(stdout).toContain(what);
  });

  it('is not changed by the other commands of the owner', async () => {
    for (const args of [
      ['lessons', 'retire', 'soul-core'],
      ['lessons', 'pin', 'soul-core'],
      ['lessons', 'freeze', 'soul-core'],
      ['lessons', 'always', 'soul-core'],
    ]) {
      const { code, stderr } = await runInProcess([...args, '--home', served.dir], {}, { keys: ['y'] });
      expect([args[1], code, stderr]).toEqual([args[1], 1, expect.stringContaining('instar identity')]);
    }
    expect(await promptOf('ada', 'kept')).toContain('Never deceive.');
  });
});

describe('what people say about manner', () => {
  const say = async (session: string, words: string): Promise<void> => {
    const messages = [
      { role: 'user', content: `Summarise the report of ${session}` },
      { role: 'assistant', content: 'Here is a long summary of everything in it.' },
      { role: 'user', content: words },
    ];
    for (const count of [1, 3])
      await ask(served.daemon.port, {
        path: '/v1/chat/completions',
        body: JSON.stringify({ model: 'default', messages: messages.slice(0, count) }),
        headers: { 'x-instar-key': served.daemon.key, 'x-instar-agent': 'cyd', 'x-instar-session': session },
      });
  };
  it('in two sessions becomes a proposal for that agent in their own words; one session is not enough', async () => {
    await say('one', 'Call me Captain.');
    await say('two', 'Please call me Captain.');
    await vi.waitFor(async () => {
      await identity(['reflect']);
      const { stdout } = await identity(['show', 'cyd', '--json']);
      expect(JSON.parse(stdout)).toMatchObject([
        {
          tier: 'guarded',
          state: 'proposed',
          scope: { agent: 'cyd' },
          content: expect.stringContaining('> Call me Captain.'),
        },
      ]);
    }, SOON);
    expect((await identity(['show', 'cyd'])).stdout).toContain('not measured');
    // Once a day it is done by itself, in quiet hours.
    const { stdout } = await runInProcess(['schedule', 'status', '--json', '--home', served.dir]);
    expect(JSON.parse(stdout).jobs).toContainEqual(
      expect.objectContaining({ name: 'reflection', needsWindow: true }),
    );
    const status = await runInProcess(['status', '--why', '--home', served.dir]);
    expect(status.stdout).toMatch(/reflection: \d{4}-\d\d-\d\d \d\d:\d\d; /);
  });
});
