import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { type NativeHome, openNativeHome } from '../plugins/native-home.ts';
import type { Provider } from '../support/provider.ts';
import { install, PROGRAMS, type Program, runProgram } from './programs.ts';
import { PROOF, startToolProvider } from './provider.ts';

const SOON = { timeout: 120_000, interval: 1_000 };
const RIGHT = `echo ${PROOF}`;
const TASK = 'Run the checks of the shop.';
const CORRECTION = `No, that is wrong. In this project always run the checks with \`${RIGHT}\`, never with make.`;
const programOf = (name: string): Program => {
  const found = PROGRAMS.find(({ client }) => client === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
};
let provider: Provider;
let instar: NativeHome;
/** The name of the lesson, once it is known. */
let lesson = '';

beforeAll(async () => {
  // A model that knows nothing of the shop and obeys what it is shown: it reads a skill that is listed, and does what it says.
  provider = await startToolProvider((request) => {
    const shown = JSON.stringify(request.messages) + JSON.stringify(request.system);
    const results = JSON.stringify(request.messages.filter(({ role }) => role === 'tool'));
    if (results.includes(`"${PROOF}`) || results.split(PROOF).length > 3) return undefined;
    const calls = JSON.stringify(request.messages.filter(({ role }) => role === 'assistant'));
    if (shown.includes(RIGHT)) return calls.includes(`${RIGHT}`) ? undefined : RIGHT;
    if (results !== '[]') return undefined;
    if (lesson !== '' && shown.includes(lesson)) return `cat .agents/skills/${lesson}/SKILL.md`;
    return 'make checks';
  });
  instar = await openNativeHome();
  for (const name of ['claude-code', 'codex']) {
    const program = programOf(name);
    install(program);
    for (const [file, text] of Object.entries(program.direct(provider.url))) {
      mkdirSync(path.dirname(path.join(instar.person, file)), { recursive: true });
      writeFileSync(path.join(instar.person, file), text);
    }
  }
});
afterAll(async () => {
  await instar.close();
  await provider.close();
});

it('what a person corrects in Claude Code is obeyed by Codex in the same project, without the gateway', async () => {
  const { env, work } = instar;
  const claude = programOf('claude-code');
  const codex = programOf('codex');
  const connect = (client: string) =>
    instar.instar('connect', client, '--native', '--ratings', '--project', work, '--write');
  expect((await connect('claude-code')).code).toBe(0);
  const first = await runProgram(claude, claude.args(TASK), { cwd: work, env });
  expect(first.code, first.output).toBe(0);
  const second = await runProgram(claude, claude.again?.(CORRECTION) ?? [], { cwd: work, env });
  expect(second.code, second.output).toBe(0);

  const learned = await vi.waitFor(async () => {
    const listed = JSON.parse((await instar.instar('lessons', 'list', '--json')).stdout) as JsonObject[];
    const shown = await Promise.all(
      listed.map(({ id }) => instar.owner('GET', `/api/lessons/${String(id)}`)),
    );
    const found = shown.find(({ content }) => String(content).includes(RIGHT));
    expect(found, JSON.stringify(listed)).toBeDefined();
    return found;
  }, SOON);
  expect(learned).toMatchObject({ kind: 'skill', scope: { agent: 'claude-code' } });
  lesson = String(learned?.name);

  expect((await connect('codex')).code).toBe(0);
  const file = path.join(work, '.agents', 'skills', lesson, 'SKILL.md');
  expect(existsSync(file), 'a lesson on trial is no skill file').toBe(learned?.state === 'live');
  const args = [...codex.args(TASK), ...(codex.trustHooks ?? [])];
  const from = provider.seen.length;
  await instar.owner('POST', '/api/lessons', {
    reason: 'approved',
    changes: [{ op: 'move', id: String(learned?.id), to: 'live' }],
  });
  await vi.waitFor(() => expect(existsSync(file), readdirSync(work).join()).toBe(true), SOON);

  const ran = await runProgram(codex, args, { cwd: work, env });
  expect(ran.output, `exit ${ran.code}`).toContain(PROOF);
  const asked = provider.seen.slice(from).map(({ body }) => body.toString());
  const calls = asked.flatMap((body) =>
    [...body.matchAll(/"arguments":"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text),
  );
  expect(
    asked.some((body) => body.includes(lesson)),
    'Codex listed the skill',
  ).toBe(true);
  expect(calls.join('\n')).toContain(RIGHT);
  process.stderr.write(
    `a correction in ${claude.packages[0]} was obeyed by ${codex.packages[0]}: skill ${lesson}\n`,
  );
});
