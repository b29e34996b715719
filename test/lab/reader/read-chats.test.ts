import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readChats } from '../../../lab/reader/read-chats.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'read-chats-'));
const git = (...args: readonly string[]): void => {
  execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args]);
};
const commit = (file: string, text: string): void => {
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  writeFileSync(path.join(folder, file), text);
  git('add', '-A');
  git('commit', '-q', '-m', file);
};

beforeAll(() => git('init', '-q'));
afterAll(() => rmSync(folder, { recursive: true }));

test('reads what people typed in the histories of three clients, also of deleted files', () => {
  commit(
    '.specstory/history/2026-01-02_chat.md',
    [
      '_**User (2026-01-02 10:00Z)**_\n\nadd a button\n\n---\n',
      '_**Agent (model x)**_\n\nDone.\n\n<details><summary>edit</summary>\nlong\n</details>\n\n---\n',
      '_**User**_\n\nno, the other page\n\n---\n',
    ].join('\n'),
  );
  git('rm', '-q', '.specstory/history/2026-01-02_chat.md');
  git('commit', '-q', '-m', 'gone');
  commit(
    '.aider.chat.history.md',
    '# aider chat started at 1\n\n> Aider v1\n\n#### /add a.md\n\n> Added a.md\n\n#### use tabs\n#### everywhere\n\nFine.\n\n#### thanks\n',
  );
  const entry = (type: string, content: unknown, more = {}): string =>
    JSON.stringify({ type, message: { role: type, content }, ...more });
  commit(
    'ab/cdef/0/full.jsonl',
    [
      entry('user', 'fix tests'),
      entry('user', 'a skill of the client', { isMeta: true }),
      entry('assistant', [{ type: 'text', text: 'Fixed.' }]),
      entry('user', [{ type: 'tool_result', content: 'ok' }]),
      entry('user', [{ type: 'text', text: 'still red' }]),
    ].join('\n'),
  );
  expect([...readChats(folder)].sort((a, b) => (a.message < b.message ? -1 : 1))).toEqual([
    { message: '/add a.md', answer: '' },
    { message: 'add a button', answer: '' },
    { message: 'fix tests', answer: '' },
    { message: 'no, the other page', answer: 'Done.' },
    { message: 'still red', answer: 'Fixed.' },
    { message: 'thanks', answer: 'Fine.' },
    { message: 'use tabs\neverywhere', answer: '' },
  ]);
});
