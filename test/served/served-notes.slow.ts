import { describe, expect, it, vi } from 'vitest';
import { runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { serveHome } from '../support/served-home.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 100 };

const served = serveHome({
  library: { autonomy: 'guarded' },
});

interface Said {
  readonly session: string;
  readonly agent?: string;
  readonly isDone?: boolean;
  readonly key?: string;
}

/** Sends a first message; gives the prompt that the provider got. */
async function say(
  content: string,
  { session, agent = 'ada', isDone = false, key = served.daemon.key }: Said,
): Promise<string> {
  await ask(served.daemon.port, {
    path: '/v1/chat/completions',
    body: JSON.stringify({ model: 'default', messages: [{ role: 'user', content }] }),
    headers: {
      ...(key === '' ? {} : { 'x-instar-key': key }),
      'x-instar-agent': agent,
      'x-instar-session': session,
      ...(isDone ? { 'x-instar-session-done': 'true' } : {}),
    },
  });
  return served.prompt;
}
const lessons = async (): Promise<readonly { readonly state: string; readonly description: string }[]> =>
  JSON.parse((await runInProcess(['lessons', 'list', '--all', '--json', '--home', served.dir])).stdout);
const stateOf = async (part: string): Promise<string | undefined> =>
  (await lessons()).find(({ description }) => description.includes(part))?.state;

describe('what a user plainly says', () => {
  it('in the first message of a session is shown in later ones of the same agent, once the session has ended', async () => {
    await say('The server for demos is demo-3.', { session: 'one' });
    expect(await say('Which server do I use for demos?', { session: 'two' })).not.toContain('demo-3');
    await say('Thanks, that is all.', { session: 'one', isDone: true });
    await vi.waitFor(async () => expect(await stateOf('demo-3')).toBe('live'), SOON);
    await vi.waitFor(
      async () =>
        expect(await say('Which server do I use for demos?', { session: `q${Math.random()}` })).toContain(
          'demo-3',
        ),
      SOON,
    );
    expect(await say('Which server do I use for demos?', { session: 'three', agent: 'bob' })).not.toContain(
      'demo-3',
    );
  });

  it('is updated and taken back by later words', async () => {
    await say('the server for demos is demo-5 now', { session: 'four', isDone: true });
    await vi.waitFor(async () => expect(await stateOf('demo-3')).toBe('retired'), SOON);
    await say('Please forget the server for demos.', { session: 'five', isDone: true });
    await vi.waitFor(async () => expect(await stateOf('demo-5')).toBe('retired'), SOON);
    expect(await say('Which server do I use for demos?', { session: 'six' })).not.toContain('demo-5');
  });

  it('teaches nothing where the caller is unknown', async () => {
    await say('The login for demos is guest.', { session: 'seven', key: '', isDone: true });
    await say('The room for demos is 4.12.', { session: 'eight', isDone: true });
    await vi.waitFor(async () => expect(await stateOf('4.12')).toBe('live'), SOON);
    expect(await stateOf('guest')).toBeUndefined();
  });
});
