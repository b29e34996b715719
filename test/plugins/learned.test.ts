import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reportHook } from '../../plugins/hooks/report-hook.ts';

const dir = mkdtempSync(join(tmpdir(), 'instar-hook-'));
const file = join(dir, 'claude-code.json');
let lessons: readonly object[] = [];
const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
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
