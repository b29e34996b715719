import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { asObject, parseJson } from '../../src/core/json.ts';
import type { NativeHome } from '../plugins/native-home.ts';
import type { Provider } from '../support/provider.ts';
import { install, ROUTED_PROGRAMS, runProgram } from './programs.ts';
import { startToolProvider } from './provider.ts';
import { LESSON, learnedWith, openRoutedHome, SOON, threadsOf } from './routed-home.ts';

const TASK = 'Write the meeting dates and times into the table in notes.md';
const CORRECTION =
  'No, that is wrong. In this project always run the checks with `make dates`, never with npm.';
// Continue tells its model an exit code only where something stands on standard error.
const FAILING = 'echo two checks failed >&2; exit 3';

describe.each(ROUTED_PROGRAMS.map((program) => [program.client, program] as const))(
  '%s',
  (client, program) => {
    let provider: Provider;
    let instar: NativeHome;
    const before: Record<string, string> = {};
    const run = (args: readonly string[]) => runProgram(program, args, { cwd: instar.work, env: instar.env });

    beforeAll(async () => {
      install(program);
      provider = await startToolProvider(({ messages }) =>
        messages.some(({ role }) => role === 'tool') ? undefined : FAILING,
      );
      instar = await openRoutedHome(provider);
      for (const [file, text] of Object.entries(program.direct(provider.url))) {
        before[file] = text;
        mkdirSync(path.dirname(path.join(instar.person, file)), { recursive: true });
        writeFileSync(path.join(instar.person, file), text);
      }
    });
    afterAll(async () => {
      if (program.stop !== undefined) await run(program.stop);
      await instar.close();
      await provider.close();
    });

    it('is shown a lesson, its failed command is a failure, a correction in its conversation is learned, --undo restores its file', async () => {
      const connected = await instar.instar('connect', client, '--write');
      expect(connected.code, connected.stderr + connected.stdout).toBe(0);
      const ran = await run(program.args(TASK));
      const asked = () =>
        provider.seen.map(({ body }) => body.toString()).filter((body) => body.includes('"tools"'));
      expect(asked().length, ran.output).toBeGreaterThanOrEqual(2);
      expect(asked().map((body) => body.split(LESSON).length - 1)).toEqual(asked().map(() => 1));

      await vi.waitFor(async () => {
        const threads = (await threadsOf(instar)).filter(({ turns }) =>
          turns.some(({ role }) => role === 'main'),
        );
        expect(threads.map((thread) => thread.client)).toEqual([client]);
        const [first] = threads[0]?.turns.filter(({ role }) => role === 'main') ?? [];
        expect(first, JSON.stringify(threads)).toMatchObject({ status: 'complete', verdict: 'failure' });
      }, SOON);

      // Cline resumes a conversation in a terminal only.
      const again = program.again?.(CORRECTION);
      if (again !== undefined) {
        const corrected = await run(again);
        await learnedWith(instar, 'make dates');
        const mains = (await threadsOf(instar)).filter(({ turns }) =>
          turns.some(({ role }) => role === 'main'),
        );
        expect(mains, corrected.output).toHaveLength(1);
        expect(mains[0]?.turns.filter(({ role }) => role === 'main').length).toBeGreaterThanOrEqual(3);
      }

      const undone = await instar.instar('connect', client, '--undo');
      expect(undone.code, undone.stderr).toBe(0);
      for (const [file, text] of Object.entries(before)) {
        const now = readFileSync(path.join(instar.person, file), 'utf8');
        expect(now).not.toContain(`127.0.0.1:${instar.daemon.port}`);
        if (file.endsWith('.json')) expect(parseJson(now)).toMatchObject(asObject(parseJson(text)));
        else expect(now).toBe(text);
      }
      process.stderr.write(
        `${client}: ${program.packages[0]}, lesson shown in ${asked().length} requests, failure${again === undefined ? '' : ' and correction'} read\n`,
      );
    });
  },
);
