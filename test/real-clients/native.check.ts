import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type NativeHome, openNativeHome } from '../plugins/native-home.ts';
import type { Provider } from '../support/provider.ts';
import { install, PROGRAMS, runProgram } from './programs.ts';
import { startToolProvider } from './provider.ts';

const SOON = { timeout: 60_000, interval: 500 };
const PROMPT = 'Run the checks of the shop and tell me what they said.';
const FAILING = 'echo two checks failed; exit 3';
const DESCRIPTION = 'When you are asked for the checks of the shop, and only then.';

/** Where each client has the skills of its user. */
const FOLDERS: Readonly<Record<string, string>> = {
  'claude-code': '.claude/skills',
  codex: '.codex/skills',
  opencode: '.config/opencode/skills',
  pi: '.pi/agent/skills',
};

describe.each(
  PROGRAMS.filter(({ client }) => client in FOLDERS).map((program) => [program.client, program] as const),
)('%s', (client, program) => {
  let provider: Provider;
  let instar: NativeHome;
  const before: Record<string, string> = {};

  beforeAll(async () => {
    install(program);
    provider = await startToolProvider(({ messages }) =>
      messages.some(({ role }) => role === 'tool') ? undefined : FAILING,
    );
    instar = await openNativeHome();
    for (const [file, text] of Object.entries(program.direct(provider.url))) {
      before[file] = text;
      mkdirSync(path.dirname(path.join(instar.person, file)), { recursive: true });
      writeFileSync(path.join(instar.person, file), text);
    }
  });
  afterAll(async () => {
    await instar.close();
    await provider.close();
  });

  it('loads the skill as its own, reports the exit code and the end, keeps its login, and is as before after --undo', async () => {
    const { person, work, env } = instar;
    await instar.teach('checks', {
      name: 'shop-checks',
      description: DESCRIPTION,
      content: 'Run make check.',
    });
    const connected = await instar.instar('connect', client, '--native', '--write', '--json');
    expect(connected.code, connected.stderr + connected.stdout).toBe(0);
    const skill = path.join(person, FOLDERS[client] ?? '', 'shop-checks', 'SKILL.md');
    expect(readFileSync(skill, 'utf8')).toContain('Run make check.');

    const ran = await runProgram(program, [...program.args(PROMPT), ...(program.trustHooks ?? [])], {
      cwd: work,
      env,
    });
    const asked = provider.seen.map(({ body }) => body.toString());
    expect(asked.length, ran.output).toBeGreaterThanOrEqual(2);
    expect(
      asked.some((body) => body.includes(DESCRIPTION)),
      'it read the skill file',
    ).toBe(true);
    const keys = provider.seen.map(({ headers }) => JSON.stringify(headers)).join('\n');
    expect(keys).toContain('sk-own-key');
    expect(keys).not.toContain('instar_caller');

    await vi.waitFor(async () => {
      const events = await instar.events();
      expect(
        events.map(({ kind }) => kind),
        ran.output,
      ).toEqual(['episode_start', 'episode_attempt', 'episode_end']);
      expect(await instar.owner('GET', `/api/episodes/${String(events[0]?.session)}`)).toMatchObject({
        state: 'ended',
        attempts: 1,
        failed: 1,
      });
    }, SOON);

    // A retired lesson is no longer a skill; a file that its user edited stays.
    await instar.teach('other', {
      name: 'shop-other',
      description: 'When you pack parcels.',
      content: 'Use tape.',
    });
    const other = path.join(person, FOLDERS[client] ?? '', 'shop-other', 'SKILL.md');
    await vi.waitFor(() => expect(existsSync(other)).toBe(true), SOON);
    writeFileSync(other, `${readFileSync(other, 'utf8')}\nMy own line.\n`);
    await instar.owner('POST', '/api/lessons', {
      reason: 'test',
      changes: [{ op: 'retire', id: 'checks', reason: 'test' }],
    });
    await vi.waitFor(() => expect(existsSync(skill)).toBe(false), SOON);

    const undone = await instar.instar('connect', client, '--native', '--undo');
    expect(undone.code, undone.stderr).toBe(0);
    expect(undone.stdout).toContain('it stays');
    expect(readFileSync(other, 'utf8')).toContain('My own line.');
    for (const [file, text] of Object.entries(before)) {
      const now = readFileSync(path.join(person, file), 'utf8');
      expect(now).not.toContain('instar');
      if (client !== 'claude-code') expect(now).toBe(text);
    }
    process.stderr.write(
      `${client}: ${program.packages[0]}, native: skill loaded, exit code 3 and end reported\n`,
    );
  });
});
