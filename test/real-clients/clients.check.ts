import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../cli/run-cli.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import type { Provider } from '../support/provider.ts';
import { install, PROGRAMS, ROUTED_PROGRAMS, runProgram } from './programs.ts';
import { PROOF, startToolProvider } from './provider.ts';

const PROMPT = 'Run the command you were told about and tell me what it said.';
let provider: Provider;
beforeAll(async () => {
  provider = await startToolProvider();
});
afterAll(() => provider.close());

describe.each([...PROGRAMS, ...ROUTED_PROGRAMS].map((program) => [program.client, program] as const))(
  '%s',
  (client, program) => {
    let daemon: RunningDaemon;
    let person = '';
    let work = '';
    let home: ReturnType<typeof makeHome>;
    let environment: NodeJS.ProcessEnv = {};
    const instar = (...args: string[]) => runCli([...args, '--home', home.dir], environment);

    beforeAll(async () => {
      install(program);
      person = mkdtempSync(path.join(tmpdir(), 'person-'));
      work = path.join(person, 'shop');
      mkdirSync(work);
      home = makeHome({
        providers: {
          fake: { wire: ['openai', 'anthropic'], baseUrl: `${provider.url}/v1`, keyEnv: 'FAKE_KEY' },
        },
        models: { default: 'fake/fake-model' },
      });
      environment = { HOME: person, FAKE_KEY: 'provider-key-0123456789', IS_SANDBOX: '1' };
      daemon = await startDaemon(home.dir, [], environment);
    });
    afterAll(async () => {
      if (program.stop !== undefined)
        await runProgram(program, program.stop, { cwd: work, env: environment });
      daemon.child.kill('SIGTERM');
      await daemon.exited;
      home.remove();
      rmSync(person, { recursive: true, force: true });
    });

    it('is connected, runs its tool loop through Instar, is recognised, and is disconnected without a trace', async () => {
      const model = program.model === undefined ? [] : ['--model', program.model];
      const connected = await instar('connect', client, '--write', ...model, '--json');
      expect(connected.code, connected.stderr + connected.stdout).toBe(0);
      const files = [...connected.stdout.matchAll(/"(\/[^"]+\.(?:json|jsonc|toml|json5|yaml|yml))"/g)]
        .map((match) => match[1] ?? '')
        .filter((file) => file.startsWith(person));
      expect(files.length).toBeGreaterThan(0);
      expect(readFileSync(files[0] ?? '', 'utf8')).toContain(String(daemon.port));

      const ran = await runProgram(program, program.args(PROMPT), { cwd: work, env: environment });
      expect(ran.output, `exit ${ran.code}`).toContain(PROOF);
      if (program.unwanted !== undefined) expect(ran.output).not.toContain(program.unwanted);

      const sessions = JSON.parse((await instar('sessions', 'list', '--json')).stdout) as Record<
        string,
        unknown
      >[];
      const shown = await Promise.all(
        sessions.map(async ({ id }) =>
          JSON.parse((await instar('sessions', 'show', String(id), '--json')).stdout),
        ),
      );
      const main = shown.filter(({ turns }) => turns.some(({ role }: { role: string }) => role === 'main'));
      expect(main).toHaveLength(1);
      expect(main[0]).toMatchObject({ client });
      const turns = main[0].turns.filter(({ role }: { role: string }) => role === 'main');
      expect(turns.length).toBeGreaterThanOrEqual(2);
      expect(turns.map(({ status }: { status: string }) => status)).toEqual(turns.map(() => 'complete'));
      if (client !== 'openclaw') expect(main[0].project).toMatchObject({ label: 'shop' });
      const roles = shown.flatMap((session) => session.turns.map(({ role }: { role: string }) => role));

      const undone = await instar('connect', client, '--undo');
      expect(undone.code, undone.stderr).toBe(0);
      const left = files.filter(
        (file) => existsSync(file) && readFileSync(file, 'utf8').includes(String(daemon.port)),
      );
      expect(left).toEqual([]);
      process.stderr.write(
        `${client}: ${program.packages[0]}, ${turns.length} main turns, ${roles.filter((role) => role !== 'main').length} auxiliary, project ${main[0].project?.label ?? '-'}\n`,
      );
    });
  },
);
