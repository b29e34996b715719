import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reportHook, statusLine } from '../../plugins/hooks/report-hook.ts';
import { createInstarPlugin } from '../../plugins/opencode/index.ts';
import { createInstarExtension } from '../../plugins/pi/index.ts';

const dir = mkdtempSync(join(tmpdir(), 'instar-hook-'));
const file = join(dir, 'claude-code.json');
let lessons: readonly object[] = [];
/** How often the lessons were asked for. */
let asked = 0;
const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  if (request.url === '/api/lessons') asked++;
  response.end(request.url === '/api/lessons' ? JSON.stringify(lessons) : '{"ok":true}');
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  writeFileSync(file, JSON.stringify({ client: 'claude-code', url: `http://127.0.0.1:${port}`, key: 'k' }));
});
afterAll(() => {
  server.close();
  rmSync(dir, { recursive: true, force: true });
});

const hook = (event: string) =>
  reportHook(file, { hook_event_name: event, session_id: 's', prompt_id: 'p', prompt: 'go on' });
const lesson = (id: string, title: string, more: object = {}) => ({
  id,
  title,
  revision: 1,
  state: 'live',
  ...more,
});

it('tells the person once what was learned, as a message that the model never sees', async () => {
  lessons = [lesson('l1', 'Use tabs in Makefiles')];
  // What was learned before the client was connected is no news.
  expect(await hook('UserPromptSubmit')).toBeUndefined();
  lessons = [
    ...lessons,
    lesson('l2', 'Use ISO dates in shipping reports'),
    lesson('l3', 'No', { state: 'proposed' }),
  ];
  expect(await hook('PostToolUse')).toBeUndefined();
  expect(JSON.parse((await hook('Stop')) ?? '')).toEqual({
    systemMessage: 'Learned: Use ISO dates in shipping reports. Undo: instar undo',
  });
  expect(await hook('Stop')).toBeUndefined();
  lessons = [lesson('l2', 'Use ISO dates in every report', { revision: 2 })];
  expect(await hook('UserPromptSubmit')).toContain('Learned: Use ISO dates in every report');
});

it('stands in the status line as soon as it is learned, for ten minutes, and then the number of lessons', async () => {
  expect(await statusLine(file)).toBe('Learned: Use ISO dates in every report. Undo: instar undo');
  // After the last hook of an answer.
  lessons = [...lessons, lesson('l4', 'Name the parcel')];
  expect(await statusLine(file)).toBe('Learned: Name the parcel. Undo: instar undo');
  expect(await hook('UserPromptSubmit')).toBeUndefined();
  lessons = lessons.slice(0, 1);
  const longAgo = new Date(Date.now() - 11 * 60_000);
  utimesSync(`${file}.line`, longAgo, longAgo);
  expect(await statusLine(file)).toBe('Instar: 1 lesson in use');
  expect(await statusLine(join(dir, 'nobody.json'))).toBe('Instar');
});

it('is told by the plugin of OpenCode in a toast, and by that of pi in a notice, at the end of a run', async () => {
  const told: string[] = [];
  const askedBefore = asked;
  lessons = [lesson('l1', 'Use tabs in Makefiles')];
  const opencode = await createInstarPlugin(file)({
    directory: dir,
    client: { tui: { showToast: async ({ body }) => void told.push(body.message) } },
  });
  await opencode['chat.message']?.(
    { sessionID: 's1' },
    { message: { id: 'm1' }, parts: [{ type: 'text', text: 'go' }] },
  );
  const notices: string[] = [];
  const acts = new Map<string, (event: never, context: never) => unknown>();
  createInstarExtension(file)({ on: (name, act) => void acts.set(name, act as never) });
  const context = {
    cwd: dir,
    sessionManager: { getSessionId: () => 's2' },
    hasUI: true,
    ui: { notify: (line: string) => void notices.push(line) },
  };
  const pi = (name: string, event: object) => acts.get(name)?.(event as never, context as never);
  await pi('before_agent_start', { prompt: 'go' });
  // What was known at the begin of the first run is no news.
  await expect.poll(() => asked).toBeGreaterThan(askedBefore + 1);
  lessons = [...lessons, lesson('l9', 'Sign every letter')];
  await opencode.event?.({ event: { type: 'session.idle', properties: { sessionID: 's1' } } });
  await pi('agent_end', { messages: [] });
  expect([told, notices]).toEqual([
    ['Learned: Sign every letter. Undo: instar undo'],
    ['Learned: Sign every letter. Undo: instar undo'],
  ]);
  // A correction is a rule only after the answer to it.
  await pi('before_agent_start', { prompt: 'no, weigh it' });
  await pi('agent_end', { messages: [] });
  lessons = [...lessons, lesson('l10', 'Weigh every parcel')];
  await expect.poll(() => notices, { timeout: 10_000 }).toHaveLength(2);
  expect(notices[1]).toBe('Learned: Weigh every parcel. Undo: instar undo');
});
