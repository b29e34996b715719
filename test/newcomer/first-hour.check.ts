import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { drawTerminal } from '../../lab/release/terminal-picture.ts';
import { drawTour } from '../../lab/release/terminal-tour.ts';
import type { Provider } from '../support/provider.ts';
import { startForgetfulModel } from './forgetful-model.ts';
import { createShellSession, type ShellStep, withoutColour } from './shell-session.ts';

const root = path.resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(path.join(tmpdir(), 'newcomer-'));
const userHome = path.join(folder, 'home');
const project = path.join(folder, 'shop');
/** Not the usual one: the person who runs this may have a daemon of their own. The transcript shows the usual one. */
const PORT = 14_600 + (process.pid % 1000);

/** The newcomer's agent: it keeps a conversation in a file. */
const AGENT = `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
const [name, text] = process.argv.slice(2);
const messages = existsSync(name + '.json') ? JSON.parse(readFileSync(name + '.json', 'utf8')) : [];
messages.push({ role: 'user', content: text });
const reply = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY, 'content-type': 'application/json', 'x-instar-agent': 'clerk' },
  body: JSON.stringify({ model: 'clerk-1', messages }),
});
const { choices, error } = await reply.json();
if (error) throw new Error(error.message);
messages.push(choices[0].message);
writeFileSync(name + '.json', JSON.stringify(messages));
console.log(choices[0].message.content);
`;

let provider: Provider;
beforeAll(async () => {
  for (const dir of [userHome, project]) mkdirSync(dir, { recursive: true });
  writeFileSync(path.join(project, 'ask.mjs'), AGENT);
  provider = await startForgetfulModel();
});
afterAll(async () => {
  // After a failure it is still running.
  const main = path.join(project, 'node_modules/instar/dist/src/cli/main.js');
  spawnSync(process.execPath, [main, 'stop', '--force', '--home', path.join(userHome, '.instar')]);
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});

const npmSetting = (name: string): string =>
  execFileSync('npm', ['config', 'get', name], { cwd: root }).toString().trim();

it('installs, shows the tour, learns from one correction, gives its reasons, takes it back and stops', async () => {
  // A package that was packed before: for the same session under another Node.
  const packed = process.env.INSTAR_TARBALL;
  if (packed === undefined)
    execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root, stdio: 'ignore' });
  else copyFileSync(packed, path.join(folder, path.basename(packed)));
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  const env = {
    PATH: process.env.PATH,
    HOME: userHome,
    // The registry and the cache of whoever runs this; nothing else of their home.
    npm_config_userconfig: npmSetting('userconfig'),
    npm_config_cache: npmSetting('cache'),
    // Behind a proxy with a certificate of its own, npm reaches no registry without it.
    ...(process.env.NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS }),
    COLUMNS: '80',
    FORCE_COLOR: '1',
    npm_config_loglevel: 'error',
  };
  const { type, quietly, steps } = createShellSession({ cwd: project, env });
  const ask = (why: string, name: string, text: string): Promise<string> =>
    type(why, `eval "$(npx instar connect env)" && node ask.mjs ${name} "${text}"`);

  await type(
    'Install the packed package into an empty folder.',
    `npm init -y > npm.log && npm install --no-audit --no-fund ../${tarball}`,
  );
  expect(await type('A minute to see what it is for: no key, no model.', 'npx instar tour --yes')).toMatch(
    /Learned: [\s\S]*2026-11-16[\s\S]*taken back/,
  );
  await type(
    'Name the provider. Here it is a server on this machine.',
    `npx instar init --provider shop --wire openai-chat --base-url ${provider.url}/v1 --model clerk-1`,
  );
  await type('Lessons without a model: they quote the person.', 'npx instar config set models.evolver off');
  await quietly(`npx instar config set gateway.port ${PORT}`);
  expect(await quietly('npx instar config check')).toMatch(/no problem|is valid|ok/i);

  const daemon = spawn('npx', ['instar', 'up'], { cwd: project, env, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = new Promise<number | null>((resolve) => daemon.on('exit', resolve));
  const first = await new Promise<string>((resolve) =>
    daemon.stdout.once('data', (chunk) => resolve(String(chunk))),
  );
  expect(first).toContain(`instar ready http://127.0.0.1:${PORT}`);

  expect(await quietly('npx instar status')).toMatch(/model +shop/);
  const wrong = await ask(
    'The first question. The date is not as the shop wants it.',
    'monday',
    'When was order 1041 shipped?',
  );
  expect(wrong).toContain('16/11/2026');
  expect(
    await type(
      'Say so, once.',
      'npx instar feedback last "We always use ISO dates like 2026-11-16 in shipping reports."',
    ),
  ).toMatch(/Learned: .*ISO dates[\s\S]*Undo: instar undo/);
  const right = await ask('A new conversation.', 'thursday', 'When was order 1044 shipped?');
  expect(right).toContain('2026-11-16');
  expect(await type('What was learned.', 'npx instar lessons')).toMatch(/ISO dates/);
  expect(await type('What it says, and where it comes from.', 'npx instar lessons show last')).toMatch(
    /ISO dates/,
  );
  expect(await type('Why was it shown?', 'npx instar lessons why last')).toMatch(/it is relevant/);
  expect(await quietly('eval "$(npx instar connect env)" && node ask.mjs thursday "instar: why"')).toMatch(
    /Shown for the last answer/,
  );
  expect(await quietly('npx instar sessions list')).toMatch(/order 1044/);
  expect(await quietly('npx instar sessions show last')).toMatch(/2026-11-16/);
  expect(await quietly('npx instar status --why')).toMatch(/1 lesson|learned/i);
  expect(await type('What was served and learned; `--why` says what it cost.', 'npx instar status')).toMatch(
    /learned +1/,
  );

  expect(await type('Take it back.', 'npx instar undo')).toMatch(/Taken back/);
  const again = await ask(
    'The next conversation is served without the lesson.',
    'friday',
    'When was order 1045 shipped?',
  );
  expect(again).toContain('16/11/2026');
  expect(await type('', 'npx instar lessons history')).toMatch(/taken back/);
  expect(await quietly('npx instar doctor')).toMatch(/ok/);
  expect(await quietly('npx instar status --log -n 3')).toMatch(/learning cycle ended/);
  expect(await type('Stop it.', 'npx instar stop')).toMatch(/stopped/i);
  expect(await ended).toBe(0);
  expect(await quietly('npx instar status', { fails: true })).toMatch(/not running/);

  const shown = steps.map((step) => mask(step, tarball));
  writeFileSync(path.join(root, 'docs/first-hour.md'), writeTranscript(shown));
  writeFileSync(path.join(root, 'docs/first-hour.svg'), drawSteps(shown));
  writeFileSync(path.join(root, 'docs/tour.svg'), drawScenes(shown));
  expect(readFileSync(path.join(root, 'docs/first-hour.md'), 'utf8')).not.toContain(folder);
});

/** Paths and ports of this run are replaced by those that a reader has. */
function mask(step: ShellStep, tarball: string): ShellStep {
  const clean = (text: string): string =>
    text
      .replaceAll(provider.url, 'http://127.0.0.1:8000')
      .replaceAll(`:${provider.port}`, ':8000')
      .replaceAll(String(PORT), '4600')
      .replaceAll(userHome, '/home/me')
      .replaceAll(project, '/home/me/shop')
      .replaceAll(`../${tarball}`, `./${tarball}`)
      .replaceAll(/\(pid \d+/g, '(pid 4321');
  return { ...step, command: clean(step.command), output: clean(step.output) };
}

function writeTranscript(steps: readonly ShellStep[]): string {
  const parts = steps.map(({ why, command, output }) =>
    [
      ...(why === '' ? [] : [why, '']),
      '```console',
      `$ ${command}`,
      withoutColour(output).trimEnd(),
      '```',
    ].join('\n'),
  );
  return `${[
    '# The first hour',
    'See the first hour before you install anything: the tour, one correction, the next conversation that keeps it, its reasons, and how to take it back. You would type the same commands.',
    'It was recorded with the packed package. The agent is a script, `ask.mjs CONVERSATION WORDS`; the provider is a model that writes European dates unless its prompt speaks of ISO dates. Ports and paths were replaced.',
    ...parts,
  ].join('\n\n')}\n`;
}

/** What a person sees of a command that the transcript has in full. */
const asTyped = (command: string): string =>
  command.replace('eval "$(npx instar connect env)" && ', '').replaceAll('npx ', '');

/** The tour at the top of the README: the session in a minute. */
function drawScenes(steps: readonly ShellStep[]): string {
  const chosen = [
    /ask.mjs monday/,
    /feedback last "/,
    /ask.mjs thursday "When/,
    /lessons why/,
    /instar undo/,
    /ask.mjs friday/,
  ];
  const scenes = chosen.flatMap((pattern) => {
    const step = steps.find(({ command }) => pattern.test(command));
    if (step === undefined) throw new Error(`no step of the first hour matches ${String(pattern)}`);
    return [{ why: step.why, command: asTyped(step.command), output: step.output }];
  });
  const title = 'instar: a minute of the first hour';
  return drawTour(scenes, { columns: 80, rows: 17, seconds: 60, title, still: 2 });
}

/** The steps that the picture of the session shows. */
function drawSteps(steps: readonly ShellStep[]): string {
  const pick = (pattern: RegExp): ShellStep | undefined => steps.find(({ command }) => pattern.test(command));
  const chosen = [/ask.mjs monday/, /feedback last "/, /ask.mjs thursday/, /lessons why/, /instar undo/];
  const lines = chosen.flatMap((pattern) => {
    const step = pick(pattern);
    if (step === undefined) return [];
    const command = asTyped(step.command);
    return [`\u001b[32m$\u001b[0m \u001b[1m${command}\u001b[0m`, ...step.output.trimEnd().split('\n'), ''];
  });
  return drawTerminal(lines.slice(0, -1), 80, 'instar');
}
