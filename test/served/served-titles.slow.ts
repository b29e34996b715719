import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runInProcess } from '../cli/run-cli.ts';
import { startScriptedProvider } from '../clients/scripted-provider.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import type { Provider } from '../support/provider.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 100 };

let provider: Provider;
let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;

beforeAll(async () => {
  provider = await startScriptedProvider();
  home = makeHome({
    providers: { fake: { wire: ['openai'], baseUrl: `${provider.url}/v1` } },
    models: { default: 'fake/m-1', evolver: 'off', judge: 'off' },
  });
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  await provider.close();
  home.remove();
});

const say = (messages: readonly object[], session: string) =>
  ask(daemon.port, {
    path: '/v1/chat/completions',
    body: JSON.stringify({ model: 'default', messages }),
    headers: { authorization: `Bearer ${daemon.key}`, 'x-instar-agent': 'cody', 'x-instar-session': session },
  });

const instar = async (...args: readonly string[]): Promise<string> =>
  (await runInProcess([...args, '--home', home.dir])).stdout;

describe('a rule that begins with a refusal', () => {
  it('is called by what it asks for (not by its opposite), and its reason is what was said', async () => {
    const task = { role: 'user', content: 'install the dependencies of the web app' };
    const answer = { role: 'assistant', content: 'I ran npm install.' };
    const rule = { role: 'user', content: 'no, we use pnpm here' };
    await say([task], 'one');
    await say([task, answer, rule], 'one');
    await say(
      [task, answer, rule, { role: 'assistant', content: 'ok' }, { role: 'user', content: 'next' }],
      'one',
    );
    await vi.waitFor(async () => expect(await instar('lessons', 'list')).toContain('Use pnpm here'), SOON);
    expect(await instar('lessons', 'list')).not.toContain('no-pnpm');
    expect(JSON.parse(await instar('lessons', 'list', '--json'))).toMatchObject([
      { name: 'use-pnpm-here', title: 'Use pnpm here' },
    ]);
    const shown = await instar('lessons', 'show', 'Use pnpm here');
    expect(shown).toContain('You said: "no, we use pnpm here"');
    expect(shown).not.toMatch(/^hash/m);
    expect(await instar('today')).toMatch(/Use pnpm here .*\n +You said: "no, we use pnpm here"/);
    expect(JSON.parse(await instar('lessons', 'show', 'use-pnpm-here', '--json'))).toMatchObject({
      origin: 'You said: "no, we use pnpm here"',
    });
  });
});
