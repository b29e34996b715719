import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonPath, withValueAt } from '../../../src/agent/sandbox/plain/edit-commands.ts';
import { createWorkspace, type Workspace } from '../../../src/agent/sandbox/workspace.ts';
import type { Json } from '../../../src/core/json.ts';
import { useDeepTemporaryFolder } from './deep-temporary-folder.ts';

useDeepTemporaryFolder();

const BOARD = { title: 'May', tickets: [{ id: 1, state: 'open' }, { id: 2 }], meta: { author: null } };

const inside = async <T>(use: (workspace: Workspace) => Promise<T>): Promise<T> => {
  const workspace = await createWorkspace();
  try {
    await workspace.write('board.json', JSON.stringify(BOARD));
    await workspace.write('list.json', '[1, 2]');
    await workspace.write('notes.txt', 'one two\nthree\nñ');
    return await use(workspace);
  } finally {
    await workspace.dispose();
  }
};
const board = async (workspace: Workspace) => JSON.parse(await workspace.read('board.json')) as typeof BOARD;

describe('set', () => {
  it.each([
    ['set board.json title June', { title: 'June' }],
    ['set board.json title June 2026', { title: 'June 2026' }],
    ['set board.json title \'"5"\'', { title: '5' }],
    ['set board.json title 5', { title: 5 }],
    ['set board.json title null', { title: null }],
    [`set board.json title '{"a": ["*?$", "it"]}'`, { title: { a: ['*?$', 'it'] } }],
    ['set board.json tickets[0].state closed', { tickets: [{ id: 1, state: 'closed' }, { id: 2 }] }],
    [
      "set board.json 'tickets[1].tags[0]' urgent",
      { tickets: [BOARD.tickets[0], { id: 2, tags: ['urgent'] }] },
    ],
    ['set board.json tickets.1.id 7', { tickets: [BOARD.tickets[0], { id: 7 }] }],
    [`set board.json tickets[2] '{"id": 3}'`, { tickets: [...BOARD.tickets, { id: 3 }] }],
    ['set board.json meta.author Ada', { meta: { author: 'Ada' } }],
    ['set board.json owner.team.name ops', { owner: { team: { name: 'ops' } } }],
    [`set board.json 'files["a.b[0]"]' x`, { files: { 'a.b[0]': 'x' } }],
    ['set board.json toString x', { toString: 'x' }],
    ['set board.json meta.hasOwnProperty.deep 1', { meta: { author: null, hasOwnProperty: { deep: 1 } } }],
  ])('%s', (line, changed) =>
    inside(async (workspace) => {
      expect(await workspace.runPlain(line, {})).toEqual({ end: 'exit', code: 0, stdout: '', stderr: '' });
      expect(await workspace.read('board.json')).toBe(
        `${JSON.stringify({ ...BOARD, ...changed }, null, 2)}\n`,
      );
    }),
  );

  it('changes an entry of a document that is an array', () =>
    inside(async (workspace) => {
      await workspace.runPlain("set list.json '[1]' two; set list.json '[2]' 3", {});
      expect(JSON.parse(await workspace.read('list.json'))).toEqual([1, 'two', 3]);
    }));

  it.each([
    ['set board.json tickets[5].state x', 'tickets has 2 entries: the next one would be [2], not [5]'],
    ['set board.json fresh[1] x', 'fresh has 0 entries'],
    ['set board.json title.deep x', 'title is a text: it has no "deep"'],
    ['set board.json title[0] x', 'title is a text, not an array'],
    ['set board.json meta.author.name x', 'meta.author is null'],
    ['set board.json tickets.state x', 'tickets is an array: it has no "state"'],
    ["set board.json '[0]' x", 'the document is an object, not an array'],
    ['set board.json __proto__.polluted 1', '__proto__ cannot be'],
    ['set board.json meta.constructor.prototype.polluted 1', 'constructor cannot be'],
    [`set board.json 'meta["__proto__"]' '{"polluted": 1}'`, '__proto__ cannot be'],
    [`set board.json 'meta["\\u005f_proto__"].polluted' 1`, '__proto__ cannot be'],
    ["set board.json '' x", 'is empty'],
    ['set board.json a..b x', 'cannot be parsed at "..b"'],
    ["set board.json 'a[x]' 1", 'cannot be parsed at "[x]"'],
    ['set board.json a', 'a value is missing'],
    ['set board.json n 1e999', 'too large'],
    ['set board.json n 12345678901234567890', 'too large'],
    ['set notes.txt a 1', 'notes.txt is not JSON'],
    ['set nothing.json a 1', 'no such file'],
    ['set ../board.json a 1', '".."'],
  ])('%s is rejected and does not change the file', (line, complaint) =>
    inside(async (workspace) => {
      const result = await workspace.runPlain(line, {});
      expect(result).toMatchObject({ end: 'exit', code: 2, stderr: expect.stringContaining(complaint) });
      expect(await board(workspace)).toEqual(BOARD);
      expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    }),
  );

  it('changes one value of any document and no other', () => {
    let nested = 0;
    const name = fc
      .string({ minLength: 1, maxLength: 6 })
      .filter((key) => !/^(__proto__|constructor|prototype)$/.test(key));
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 3 }),
        fc.array(name, { minLength: 1, maxLength: 4 }),
        fc.jsonValue(),
        (document, names, value) => {
          const steps = parseJsonPath(names.map((key) => `[${JSON.stringify(key)}]`).join(''));
          expect(steps).toEqual(names);
          const root = { ...(document as object), kept: document } as Json;
          const path = ['fresh', ...names];
          const changed = withValueAt(root, path, value as Json);
          const found = path.reduce<unknown>((here, key) => (here as Record<string, unknown>)[key], changed);
          expect(found).toEqual(value);
          const { fresh: _, ...rest } = changed as Record<string, unknown>;
          const { fresh: __, ...before } = root as Record<string, unknown>;
          expect(rest).toEqual(before);
          if (names.length > 1) nested++;
        },
      ),
      { numRuns: 150 },
    );
    expect(nested).toBeGreaterThan(50);
  });
});

describe('sha256sum and wc', () => {
  const sha = (text: string) => createHash('sha256').update(text).digest('hex');

  it.each([
    [
      'sha256sum notes.txt list.json',
      `${sha('one two\nthree\nñ')}  notes.txt\n${sha('[1, 2]')}  list.json\n`,
    ],
    ['echo -n abc | sha256sum', `${sha('abc')}  -\n`],
    ['wc notes.txt', '2 4 16 notes.txt\n'],
    ['wc -l notes.txt', '2 notes.txt\n'],
    ['wc -cl notes.txt list.json', '2 16 notes.txt\n0 6 list.json\n2 22 total\n'],
    ['cat notes.txt | wc -w', '4\n'],
    ['sha256sum list.json > sums && cat sums', `${sha('[1, 2]')}  list.json\n`],
  ])('%s', (line, stdout) =>
    inside(async (workspace) => {
      expect(await workspace.runPlain(line, {})).toEqual({ end: 'exit', code: 0, stdout, stderr: '' });
    }),
  );

  it('rejects binary files (whose checksum would be wrong)', () =>
    inside(async (workspace) => {
      await writeFile(path.join(workspace.folder, 'image'), Buffer.from([0xf0, 0x9f, 0x98, 0x20]));
      expect(await workspace.runPlain('sha256sum image', {})).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('not UTF-8 text'),
      });
    }));

  it.each(['wc -x notes.txt', 'wc nothing', 'sha256sum nothing', 'sha256sum -c sums'])('%s fails', (line) =>
    inside(async (workspace) => {
      expect(await workspace.runPlain(line, {})).toMatchObject({ end: 'exit', code: 2 });
    }),
  );
});

describe('quoted text', () => {
  it.each([
    [
      'write a.json \'{\n  "a": [1, {"b": "$x *?"}],\n  "c": "`~!&"\n}\'',
      '{\n  "a": [1, {"b": "$x *?"}],\n  "c": "`~!&"\n}\n',
    ],
    [
      'write a.json "{\\"price\\": \\"$5\\", \\"glob\\": \\"*?{}[]`\\"}"',
      '{"price": "$5", "glob": "*?{}[]`"}\n',
    ],
    ['write a.json "line\nline\\n"', 'line\nline\\n\n'],
    ["write a.json 'it'\\''s'", "it's\n"],
  ])('%j is taken literally', (line, text) =>
    inside(async (workspace) => {
      expect(await workspace.runPlain(line, {})).toMatchObject({ end: 'exit', code: 0, stderr: '' });
      expect(await workspace.read('a.json')).toBe(text);
    }),
  );

  it('of any characters is preserved in single quotes', () =>
    inside(async (workspace) => {
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }), async (text) => {
          fc.pre(Buffer.from(text).toString() === text);
          const quoted = `'${text.replaceAll("'", "'\\''")}'`;
          expect(await workspace.runPlain(`write any ${quoted}`, {})).toMatchObject({ end: 'exit', code: 0 });
          expect(await workspace.read('any')).toBe(`${text}\n`);
        }),
        { numRuns: 50 },
      );
    }));

  it.each(['ls tickets[0-9]', 'ls [0]', 'echo a[', 'echo ]'])(
    '%j outside of quotes is still refused',
    (line) =>
      inside(async (workspace) => {
        expect(await workspace.runPlain(line, {})).toMatchObject({ end: 'refused' });
      }),
  );
});
