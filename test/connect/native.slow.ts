import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { asObject, parseJson } from '../../src/core/json.ts';
import { type NativeHome, openNativeHome } from '../plugins/native-home.ts';

const SOON = { timeout: 30_000, interval: 100 };
const HOOK = path.resolve(import.meta.dirname, '../../dist/plugins/hooks/main.js');
let instar: NativeHome;
beforeAll(async () => {
  // A client is connected to a provider, never to the toy model.
  instar = await openNativeHome({
    providers: { shop: { wire: 'openai', baseUrl: 'http://127.0.0.1:9/v1', keyEnv: 'FAKE_KEY' } },
    models: { default: 'shop/m' },
  });
  await instar.teach('checks', {
    name: 'shop-checks',
    description: 'When you check the shop.',
    content: 'Run make check.',
  });
});
afterAll(() => instar.close());

const at = (...parts: string[]): string => path.join(instar.person, ...parts);
const put = (file: string, text: string): void => {
  mkdirSync(path.dirname(at(file)), { recursive: true });
  writeFileSync(at(file), text);
};

it('adds its hook beside the hooks of others, and --undo removes exactly its own, though others changed the file since', async () => {
  const theirs = { hooks: [{ type: 'command', command: 'say done' }] };
  put('.claude/settings.json', JSON.stringify({ model: 'opus', hooks: { Stop: [theirs] } }, null, 2));
  put('.claude.json', JSON.stringify({ numStartups: 3 }));
  const connected = await instar.instar('connect', 'claude-code', '--native', '--write');
  expect(connected.code, connected.stderr).toBe(0);
  const written = asObject(parseJson(readFileSync(at('.claude/settings.json'), 'utf8')));
  expect(asObject(written.hooks).Stop).toHaveLength(2);
  expect(asObject(written.statusLine).command).toContain('--status-line');
  expect(written.env, 'the address of its models is not touched').toBeUndefined();
  expect(asObject(asObject(parseJson(readFileSync(at('.claude.json'), 'utf8'))).mcpServers)).toHaveProperty(
    'instar',
  );
  expect(readFileSync(at('.claude/skills/shop-checks/SKILL.md'), 'utf8')).toContain('make check');
  // Claude Code rewrites its own files all the time.
  put('.claude/settings.json', JSON.stringify({ ...written, theme: 'dark' }));
  put('.claude.json', readFileSync(at('.claude.json'), 'utf8').replace('3', '4'));
  expect((await instar.instar('connect', 'claude-code', '--native', '--undo')).code).toBe(0);
  expect(parseJson(readFileSync(at('.claude/settings.json'), 'utf8'))).toEqual({
    model: 'opus',
    hooks: { Stop: [theirs] },
    theme: 'dark',
  });
  expect(parseJson(readFileSync(at('.claude.json'), 'utf8'))).toEqual({ numStartups: 4 });
  expect(existsSync(at('.claude/skills'))).toBe(false);
  expect(
    readdirSync(path.join(instar.home, 'native')).filter((name) => name.startsWith('claude-code')),
  ).toEqual([]);
});

it('Codex connected both ways: each --undo leaves the other’s lines and the owner’s', async () => {
  const own = 'model = "gpt-5.2"\n\n[tui]\ntheme = "dark"\n';
  put('.codex/config.toml', own);
  expect((await instar.instar('connect', 'codex', '--native', '--write')).code).toBe(0);
  expect((await instar.instar('connect', 'codex', '--write')).code).toBe(0);
  const both = readFileSync(at('.codex/config.toml'), 'utf8');
  expect(both).toContain('[mcp_servers.instar]');
  expect(both).toContain('[model_providers.instar]');
  expect(existsSync(at('.codex/skills/shop-checks')), 'the gateway shows its lessons now').toBe(false);
  expect((await instar.instar('connect', 'codex', '--native', '--undo')).code).toBe(0);
  const routed = readFileSync(at('.codex/config.toml'), 'utf8');
  expect(routed).not.toContain('mcp_servers');
  expect(routed).toContain('[model_providers.instar]');
  expect(routed).toContain('# instar keeps: model = "gpt-5.2"');
  expect((await instar.instar('connect', 'codex', '--undo')).code).toBe(0);
  expect(readFileSync(at('.codex/config.toml'), 'utf8')).toBe(own);
});

it('a project gets its own lessons in its own folder', async () => {
  expect(
    (await instar.instar('connect', 'codex', '--native', '--project', instar.work, '--write')).code,
  ).toBe(0);
  const places = asObject(
    parseJson(readFileSync(path.join(instar.home, 'native', 'codex-skills.json'), 'utf8')),
  ).places;
  const [place] = places as { folder: string; project: string }[];
  expect(place?.folder).toBe(path.join(instar.work, '.agents', 'skills'));
  await instar.teach('of-shop', {
    name: 'of-shop',
    description: 'When you pack.',
    content: 'Use tape.',
    scope: { agent: 'claude-code', project: place?.project ?? '' },
  });
  const file = path.join(instar.work, '.agents/skills/of-shop/SKILL.md');
  await vi.waitFor(() => expect(existsSync(file)).toBe(true), SOON);
  expect((await instar.instar('connect', 'codex', '--undo')).code).toBe(0);
  expect(existsSync(path.join(instar.work, '.agents'))).toBe(false);
});

it('the hook prints nothing and ends with 0, whatever it is given; the key is in its own file alone', async () => {
  expect((await instar.instar('connect', 'claude-code', '--native', '--write')).code).toBe(0);
  const file = path.join(instar.home, 'native', 'claude-code.json');
  const run = (input: string, connection = file) =>
    spawnSync(process.execPath, [HOOK, connection], {
      input,
      encoding: 'utf8',
      env: { HOME: instar.person },
    });
  const event = (name: string, more: object = {}) =>
    JSON.stringify({ session_id: 's-1', prompt_id: 'p-1', cwd: instar.work, hook_event_name: name, ...more });
  for (const input of [
    '',
    '{',
    'null',
    '[]',
    event('Unknown'),
    event('Stop', { transcript_path: '/nowhere' }),
  ])
    for (const connection of [file, '/nowhere.json']) {
      const { status, stdout, stderr } = run(input, connection);
      expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
    }
  run(event('UserPromptSubmit', { prompt: 'Run the checks', prompt_id: 'p-2' }));
  run(
    event('PostToolUseFailure', {
      prompt_id: 'p-2',
      tool_name: 'Bash',
      tool_input: { command: 'make check' },
      error: 'Exit code 2\nno rule',
    }),
  );
  run(event('Stop', { prompt_id: 'p-2', last_assistant_message: 'It failed.' }));
  await vi.waitFor(async () => {
    // Ids of sessions begin with the key they were made with.
    const own = (await instar.events()).find(({ session }) => String(session).endsWith(':run_p-2'));
    const found = await instar.owner('GET', `/api/episodes/${encodeURIComponent(String(own?.session))}`);
    expect(found).toMatchObject({ state: 'ended', attempts: 1, failed: 1 });
  }, SOON);
  const settings = [at('.claude/settings.json'), at('.claude.json')]
    .map((one) => readFileSync(one, 'utf8'))
    .join('');
  expect(settings).not.toContain('instar_caller');
  expect((await instar.instar('connect', 'claude-code', '--undo')).code).toBe(0);
});
