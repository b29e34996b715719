import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

const ROOMS: readonly string[] = [
  ...readdirSync(path.join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `src/${name}`),
  ...['src/learn/practice', 'src/lessons/recall', 'src/lessons/skill-files'],
  ...['train', 'train/nano', 'train/tinker', 'team', 'lab', 'plugins', 'web', 'test'],
];

const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** What stands between backticks, outside of fenced blocks. */
const quotedIn = (text: string): readonly string[] =>
  [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, quoted = '']) => quoted);

const tooLong = (text: string): readonly string[] => text.split('\n').filter((line) => line.length > 120);

const lineCount = (text: string): number => text.trimEnd().split('\n').length;

/** READMEs write files with their endings, and folders with a slash at the end. */
const NAMED_FILE = /^\w[\w.-]*(?:\/[\w.-]+)*(?:\.(?:tsx?|mjs|json|jsonl|css|md|py)|\/)$/;

/** Files that a README names and that neither its room nor the repository has. */
const missingIn = (room: string, text: string): readonly string[] =>
  quotedIn(text).filter(
    (quoted) =>
      NAMED_FILE.test(quoted) &&
      !existsSync(path.join(root, room, quoted)) &&
      !existsSync(path.join(root, quoted)),
  );

/** The map writes files without endings, below `src`, `train` or the root. */
const NAMED_BY_MAP = /^[a-z][\w-]*(?:\/[\w-]+)+$|^[a-z]+(?:-[a-z]+)+$/;

const sources = ['src', 'train', 'team', 'test', 'lab'].flatMap((part) =>
  readdirSync(path.join(root, part), { recursive: true, encoding: 'utf8' }).map((name) =>
    path.posix.join(part, name.replaceAll(path.sep, '/')),
  ),
);
const withoutEnding = new Set(sources.map((name) => name.replace(/(?:\.test)?\.(?:tsx?|mjs)$/, '')));
const baseNames = new Set([...withoutEnding].map((name) => path.posix.basename(name)));

const isOnMap = (quoted: string): boolean =>
  quoted.includes('/')
    ? withoutEnding.has(quoted) || withoutEnding.has(`src/${quoted}`) || existsSync(path.join(root, quoted))
    : baseNames.has(quoted);

describe.each(ROOMS)('the README of %s', (room) => {
  it('has at most 45 lines of at most 120 characters, and names only files that exist', () => {
    const text = read(`${room}/README.md`);
    expect(lineCount(text)).toBeLessThanOrEqual(45);
    expect(tooLong(text)).toEqual([]);
    expect(missingIn(room, text)).toEqual([]);
    expect(text).toMatch(/^# .+\n\n(?:.+\n){2,}\n(?:.+\n)*?## /);
    expect(text).toMatch(/^## (?:Add|Change) /m);
  });
});

describe('the map', () => {
  const text = read('AGENTS.md');

  it('has at most 120 lines of at most 120 characters, and names only files that exist', () => {
    expect(lineCount(text)).toBeLessThanOrEqual(120);
    expect(tooLong(text)).toEqual([]);
    const named = quotedIn(text).filter((quoted) => NAMED_BY_MAP.test(quoted));
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((quoted) => !isOnMap(quoted))).toEqual([]);
  });

  it('has a line for each room', () => {
    for (const room of ROOMS.filter((name) => /^src\/\w+$/.test(name))) expect(text).toContain(room);
  });
});

describe('a file that does not exist', () => {
  it('is found, in a README and on the map', () => {
    expect(missingIn('src/wire', '`wires.ts`, `src/core/wire.ts`, `openai-chat/`')).toEqual([]);
    expect(missingIn('src/wire', '`wired.ts`, `openai-chats/`, `describeWire(…)`')).toEqual([
      'wired.ts',
      'openai-chats/',
    ]);
    expect(isOnMap('core/fact')).toBe(true);
    expect(isOnMap('plan-turn')).toBe(true);
    expect(isOnMap('core/no-fact')).toBe(false);
  });
});
