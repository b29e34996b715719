import { existsSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runCli, runInProcess } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { startDaemon } from '../support/daemon.ts';
import { startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';
import { backupsOf, OLD, openOldHome, removeOldHomes, storeOf } from './old-home.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 60_000, interval: 100 };
const CORRECTION = 'No. Always put the unit behind every amount, such as 12.50 EUR.';
/** Said in the session of three turns, and nowhere else. */
const OLD_WORDS = 'And their totals?';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
  removeOldHomes();
});

describe('a home of 0.1.0 after instar upgrade', () => {
  it.each(OLD)(
    '($name) learns from three corrections, shows the lesson in the next prompt, and lists, shows and erases its old sessions',
    async ({ name, lessons }) => {
      const provider = await startProvider((_request, response) => {
        response.setHeader('content-type', 'application/json');
        response.end(wholeReply('openai-chat'));
      });
      undo.push(() => provider.close());
      const home = openOldHome(name, provider.port);
      for (const [path, value] of [['models.evolver', 'off']] as const)
        expect((await runInProcess(['config', 'set', path, value, '--home', home])).code).toBe(0);
      expect((await runInProcess(['upgrade', '--home', home])).code).toBe(0);
      const daemon = await startDaemon(home);
      undo.push(async () => {
        daemon.child.kill('SIGTERM');
        await daemon.exited;
      });
      const say = async (session: string, ...messages: readonly object[]): Promise<void> => {
        const { status } = await ask(daemon.port, {
          path: '/v1/chat/completions',
          headers: {
            authorization: `Bearer ${daemon.key}`,
            'x-instar-agent': 'bookkeeper',
            'x-instar-session': session,
          },
          body: JSON.stringify({ model: 'clerk-1', messages }),
        });
        expect(status).toBe(200);
      };
      const user = (content: string) => ({ role: 'user', content });

      for (const month of ['May', 'June', 'July']) {
        const task = user(`Write the invoice amounts of ${month} into report.md`);
        const answer = { role: 'assistant', content: `I wrote the amounts of ${month}.` };
        await say(`bills-${month}`, task);
        await say(`bills-${month}`, task, answer, user(CORRECTION));
      }
      await vi.waitFor(async () => {
        const headers = { authorization: `Bearer ${daemon.ownerKey}` };
        const { text } = await ask(daemon.port, { method: 'GET', path: '/api/lessons', headers });
        expect(text).toContain('unit behind every amount');
      }, SOON);
      await say('bills-August', user('Write the invoice amounts of August into report.md'));
      const prompt = provider.seen.map(({ body }) => body.toString()).find((text) => text.includes('August'));
      expect(prompt).toContain('unit behind every amount');

      const cli = async (...args: readonly string[]): Promise<string> => {
        const { code, stdout, stderr } = await runCli([...args, '--home', home]);
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        return stdout;
      };
      // What a person said was on trial in these formats; today it is in force.
      const learned: unknown = JSON.parse(await cli('lessons', 'list', '--json'));
      for (const name of lessons) {
        expect(learned).toContainEqual(expect.objectContaining({ name, state: 'live' }));
        expect(await cli('lessons', 'list')).toContain('Use ISO dates like 2026-11-16 in shipping reports');
      }

      const listed = await cli('sessions', 'list');
      for (const order of [1041, 1042, 1043, 1044, 1045])
        expect(listed).toContain(`When was order ${order} shipped?`);
      expect(await cli('sessions', 'show', 'long-1', '--full')).toContain(OLD_WORDS);
      await cli('sessions', 'erase', 'long-1', '--yes');
      expect(await cli('sessions', 'list')).not.toContain('Which orders are open?');
      daemon.child.kill('SIGTERM');
      await daemon.exited;
      for (const file of [storeOf(home), `${storeOf(home)}-wal`, ...backupsOf(home)])
        if (existsSync(file)) expect(readFileSync(file, 'latin1')).not.toContain(OLD_WORDS);
      // The other old sessions are still there, after a restart, too.
      expect((await runInProcess(['sessions', 'show', 'shop-2', '--full', '--home', home])).stdout).toContain(
        'When was order 1043 shipped?',
      );
    },
    240_000,
  );
});
