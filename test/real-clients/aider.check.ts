import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { ChatEvent } from '../../src/core/chat.ts';
import { wires } from '../../src/wire/wires.ts';
import type { NativeHome } from '../plugins/native-home.ts';
import { type Provider, startProvider } from '../support/provider.ts';
import { runCommand } from './programs.ts';
import { AIDER, installPythonClient } from './python-client.ts';
import { LESSON, learnedWith, openRoutedHome, SOON, threadsOf } from './routed-home.ts';

const TASK = 'Write the meeting dates and times into notes.py';
const CORRECTION =
  'No, that is wrong. In this project always name the table meeting_dates, never just table.';
const OWN = '# mine\nmodel: gpt-4o\nauto-commits: true\n';
const CONFIG = '.aider.conf.yml';
let provider: Provider;
let instar: NativeHome;

/** A model of aider's whole-file format: its first edit fails the project's check, the next one passes. */
function startEditor(): Promise<Provider> {
  let edits = 0;
  return startProvider(({ method, body }, response) => {
    if (method !== 'POST') return void response.writeHead(200).end('{"object":"list","data":[]}');
    const wire = wires['openai-chat'];
    const request = wire.decodeRequest(JSON.parse(body.toString()));
    const isCommit = JSON.stringify(request.system).includes('Git commit messages');
    if (!isCommit) edits++;
    const file = edits === 1 ? 'table = []' : `meeting_dates = [${edits}]`;
    const text = isCommit ? 'feat: add the dates' : `Here it is.\n\nnotes.py\n\`\`\`\n${file}\n\`\`\`\n`;
    const events: readonly ChatEvent[] = [
      { type: 'reply-start', id: `reply_${edits}`, model: request.model },
      { type: 'text-delta', text },
      { type: 'reply-end', stop: 'end', usage: { inputTokens: 900, outputTokens: 9 } },
    ];
    const encoder = wire.createStreamEncoder();
    response.writeHead(200, { 'content-type': request.stream ? 'text/event-stream' : 'application/json' });
    const streamed = events.map((event) => encoder.encode(event)).join('');
    response.end(request.stream ? streamed : JSON.stringify(wire.encodeReply(events)));
  });
}

beforeAll(async () => {
  provider = await startEditor();
  instar = await openRoutedHome(provider);
  writeFileSync(path.join(instar.person, CONFIG), OWN);
  writeFileSync(path.join(instar.work, 'notes.py'), '');
  writeFileSync(
    path.join(instar.work, 'check.sh'),
    'grep -q meeting_dates notes.py || { echo "FAILED notes.py: NameError: meeting_dates"; echo "1 failed"; exit 1; }\n',
  );
  for (const args of [
    ['init', '-q'],
    ['config', 'user.name', 'n'],
    ['config', 'user.email', 'n@n.example'],
  ])
    execFileSync('git', args, { cwd: instar.work });
});
afterAll(async () => {
  await instar.close();
  await provider.close();
});

it('aider is shown a lesson, its conversation is one session, its failed test is a failure, a correction is learned without its rules, --undo restores its file', async (context) => {
  const found = installPythonClient(AIDER);
  if ('missing' in found) return context.skip(found.missing);
  const connected = await instar.instar('connect', 'aider', '--model', 'fake/fake-model', '--write');
  expect(connected.code, connected.stderr + connected.stdout).toBe(0);

  const options = [
    '--yes-always',
    '--no-check-update',
    '--analytics-disable',
    '--no-gitignore',
    '--no-pretty',
  ];
  const ran = await runCommand(
    found.bin,
    [...options, '--test-cmd', 'sh check.sh', '--auto-test', 'notes.py'],
    {
      cwd: instar.work,
      env: { ...instar.env, PATH: process.env.PATH },
      lines: `${TASK}\n${CORRECTION}\n/exit\n`,
    },
  );
  const asked = provider.seen.map(({ body }) => body.toString()).filter((body) => body.includes('messages'));
  const coding = asked.filter((body) => !body.includes('Git commit messages'));
  expect(coding.length, ran.output).toBeGreaterThanOrEqual(3);
  expect(coding.map((body) => body.split(LESSON).length - 1)).toEqual(coding.map(() => 1));
  expect(readFileSync(path.join(instar.work, 'notes.py'), 'utf8')).toContain('meeting_dates');

  const threads = await vi.waitFor(async () => {
    const mains = (await threadsOf(instar)).filter(({ turns }) => turns.some(({ role }) => role === 'main'));
    expect(mains.map(({ client }) => client)).toEqual(['aider']);
    const turns = mains[0]?.turns.filter(({ role }) => role === 'main') ?? [];
    expect(turns.map(({ status }) => status)).toEqual(coding.map(() => 'complete'));
    expect(turns[0]?.verdict, JSON.stringify(turns)).toBe('failure');
    return mains;
  }, SOON);
  const learned = await learnedWith(instar, 'meeting_dates');
  expect(JSON.stringify(learned)).not.toContain('file listing');
  const lessons = (await instar.instar('lessons', 'list', '--json')).stdout;
  expect(lessons).not.toMatch(/skip, omit|new code base|entire content/);

  expect((await instar.instar('connect', 'aider', '--undo')).code).toBe(0);
  expect(existsSync(path.join(instar.person, CONFIG))).toBe(true);
  expect(readFileSync(path.join(instar.person, CONFIG), 'utf8')).toBe(OWN);
  process.stderr.write(
    `aider: ${AIDER.requirement}, ${threads[0]?.turns.length} turns in one session, ${asked.length - coding.length} commit messages\n`,
  );
});
