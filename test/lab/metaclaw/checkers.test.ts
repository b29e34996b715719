import { describe, expect, it } from 'vitest';
import {
  checkBackup,
  checkDoneLog,
  checkFilename,
  checkIso8601,
  checkMetadata,
  parseFieldPath,
} from '../../../lab/suites/metaclaw/checkers.ts';
import { withFiles } from './place.ts';

const AT = '2026-03-16T09:30:00+08:00';
const json = (value: unknown): Record<string, string> => ({ 'a.json': JSON.stringify(value) });
const paths = (...fields: readonly string[]) => fields.flatMap((field) => [parseFieldPath(field) ?? []]);

describe('check_iso8601', () => {
  const check = (files: Record<string, string>, ...fields: readonly string[]) =>
    withFiles(files, (workspace) => checkIso8601(workspace, 'a.json', paths(...fields)));

  it.each([
    ['a member', { at: AT }, ['at']],
    ['parts of a second', { at: '2026-03-16T09:30:00.123+08:00' }, ['at']],
    ['a nested member', { a: { b: AT } }, ['a.b']],
    ['members of a list', { list: [{ x: AT }, { x: AT }] }, ['list[].x']],
    ['the list itself', { list: [AT, AT] }, ['list[]']],
    ['lists in lists', { a: [{ b: [{ c: AT }] }] }, ['a[].b[].c']],
    ['several fields', { a: AT, b: AT }, ['a', 'b']],
  ])('passes %s', async (_, value, fields) => {
    expect(await check(json(value), ...fields)).toBeUndefined();
  });

  it.each([
    '2026-03-16 09:30:00',
    '2026-03-16T09:30:00Z',
    '2026-03-16T09:30:00',
    '2026-03-16T09:30+08:00',
    '2026-03-16T09:30:00+0800',
    '2026-03-16T09:30:00+09:00',
    '2026-03-16T09:30:00.+08:00',
    '2026-03-16t09:30:00+08:00',
    '2026-3-16T09:30:00+08:00',
    '2026-03-16',
    '',
    ` ${AT}`,
    `${AT}\n`,
    '٢٠٢٦-03-16T09:30:00+08:00',
    null,
    0,
    true,
    [AT],
    { at: AT },
  ])('fails the time %j', async (value) => {
    expect(await check(json({ at: value }), 'at')).toContain('at is');
  });

  it.each([
    ['a missing member', {}, 'at'],
    ['a missing nested member', { a: {} }, 'a.b'],
    ['a member of a text', { a: 'text' }, 'a.length'],
    ['a missing list', {}, 'list[].x'],
    ['an empty list', { list: [] }, 'list[].x'],
    ['an empty list of times', { list: [] }, 'list[]'],
    ['an object where a list should be', { list: { x: AT } }, 'list[].x'],
    ['a text where a list should be', { list: AT }, 'list[].x'],
    ['an inner list that is empty', { a: [{ b: [{ c: AT }] }, { b: [] }] }, 'a[].b[].c'],
    ['an entry without the member', { list: [{ x: AT }, {}] }, 'list[].x'],
    ['a list at the root', [{ at: AT }], 'at'],
    ['a member of every object', {}, 'constructor.name'],
    ['the prototype', {}, '__proto__'],
    ['members of the prototype', {}, '__proto__.toString.name'],
  ])('fails %s (missing values do not pass)', async (_, value, field) => {
    expect(await check(json(value), field)).toContain('is not there');
  });

  it('fails when one of several fields is wrong', async () => {
    expect(await check(json({ a: AT, b: AT, c: 'soon' }), 'a', 'b', 'c')).toContain('c is "soon"');
  });

  it.each([
    ['no file', {}, 'is not there'],
    ['no JSON', { 'a.json': '{"at": ' }, 'is not JSON'],
    ['an empty file', { 'a.json': '' }, 'is not JSON'],
  ])('fails %s', async (_, files, why) => {
    expect(await check(files, 'at')).toContain(why);
  });
});

describe('check_filename', () => {
  const inFolder = (names: readonly string[], extension = 'md', minCount = 1) =>
    withFiles(Object.fromEntries(names.map((name) => [`d/${name}`, 'x'])), (workspace) =>
      checkFilename(workspace, { folder: 'd/', extension, minCount }),
    );

  it.each(['20260323_a.md', '20260323_build_summary.md', '20260323_v230_x9_.md'])(
    'passes %s',
    async (name) => {
      expect(await inFolder([name])).toBeUndefined();
      expect(await inFolder([name], '.MD')).toBeUndefined();
      const alone = withFiles({ [`d/${name}`]: '' }, (workspace) =>
        checkFilename(workspace, { file: `d/${name}` }),
      );
      expect(await alone).toBeUndefined();
    },
  );

  it.each([
    'summary.md',
    'summary_20260323.md',
    '2026032_a.md',
    '202603231_a.md',
    '20260323-a.md',
    '20260323_a-b.md',
    '20260323_A.md',
    '20260323_aB.md',
    '20260323_1a.md',
    '20260323__a.md',
    '20260323_.md',
    '20260323_a b.md',
    '20260323_a.b.md',
    '20260323_a.MD',
    '20260323_ä.md',
    ' 20260323_a.md',
    '20260323_a.md\n',
  ])('fails %j', async (name) => {
    expect(await inFolder([name])).toContain('0 of at least 1');
    const alone = withFiles({ [`d/${name}`]: '' }, (workspace) =>
      checkFilename(workspace, { file: `d/${name}` }),
    );
    expect(await alone).toContain('is not named');
  });

  it('counts: one short fails, enough of another kind fails', async () => {
    const names = ['20260323_a.md', '20260323_b.md', '20260323_c.json', 'd.md'];
    expect(await inFolder(names, 'md', 2)).toBeUndefined();
    expect(await inFolder(names, 'md', 3)).toContain('2 of at least 3');
    expect(await inFolder(names, 'json', 2)).toContain('1 of at least 2');
    expect(await inFolder(names, 'd', 1)).toContain('0 of at least 1');
  });

  it('counts files only, not folders, and not files in subfolders', async () => {
    const files = { 'd/20260323_a.md/x': '', 'd/deep/20260323_b.md': '' };
    const found = withFiles(files, (workspace) =>
      checkFilename(workspace, { folder: 'd', extension: 'md', minCount: 1 }),
    );
    expect(await found).toContain('0 of at least 1');
  });

  it('fails for a folder or a file that is not there', async () => {
    await withFiles({ file: '' }, async (workspace) => {
      expect(await checkFilename(workspace, { folder: 'gone/', extension: 'md', minCount: 1 })).toContain(
        'not there',
      );
      expect(await checkFilename(workspace, { folder: 'file', extension: 'md', minCount: 1 })).toContain(
        'not a folder',
      );
      expect(await checkFilename(workspace, { file: '20260323_a.md' })).toContain('not there');
      expect(await checkFilename(workspace, { file: 'gone/20260323_a.md' })).toContain('not there');
    });
  });
});

describe('check_metadata', () => {
  const check = (name: string, text: string, type?: string) =>
    withFiles({ [name]: text }, (workspace) => checkMetadata(workspace, name, type));
  const good = { created_at: AT, author: 'me', status: 'done' };
  type Meta = Readonly<Record<string, unknown>>;
  const lines = (meta: Meta, indent = ''): string =>
    Object.entries(meta)
      .map(([key, value]) => `${indent}${key}: ${value}\n`)
      .join('');
  const kinds: readonly (readonly [string, (meta: Meta) => string])[] = [
    ['a.json', (meta) => JSON.stringify({ meta, content: {} })],
    ['a.md', (meta) => `---\n${lines(meta)}---\n\n# Title\n`],
    ['a.txt', (meta) => `---\n${lines(meta)}---\ntext\n`],
    ['a.py', (meta) => `"""What it does.\n\nMeta:\n${lines(meta, '  ')}"""\n\nx = 1\n`],
    [
      'a.csv',
      (meta) =>
        `# meta: ${Object.entries(meta)
          .map((pair) => pair.join('='))
          .join(' ')}\na,b\n1,2\n`,
    ],
  ];
  const without = (key: keyof typeof good): Meta =>
    Object.fromEntries(Object.entries(good).filter(([name]) => name !== key));

  it('passes complete metadata and fails each single violation, in all five file types', async () => {
    let failed = 0;
    for (const [name, write] of kinds) {
      for (const status of ['pending', 'in_progress', 'done'])
        expect(await check(name, write({ ...good, status })), name).toBeUndefined();
      const wrong: readonly (readonly [Meta, string])[] = [
        [without('created_at'), 'created_at'],
        [without('author'), 'author'],
        [without('status'), 'status'],
        [{ ...good, created_at: '2026-03-16' }, 'created_at'],
        [{ ...good, created_at: '2026-03-16T09:30:00Z' }, 'created_at'],
        [{ ...good, created_at: '' }, 'created_at'],
        [{ ...good, author: '' }, 'author'],
        [{ ...good, status: '' }, 'status'],
        [{ ...good, status: 'ready' }, 'status'],
        [{ ...good, status: 'Done' }, 'status'],
        [{ 'created-at': AT, author: 'me', status: 'done' }, 'created_at'],
      ];
      for (const [meta, why] of wrong) {
        expect(await check(name, write(meta)), `${name} ${JSON.stringify(meta)}`).toContain(why);
        failed++;
      }
      expect(await check(name, 'x = 1\n')).toBeTypeOf('string');
      expect(await check(name, '')).toBeTypeOf('string');
    }
    expect(failed).toBe(55);
  });

  it.each([
    ['in quotes', `---\ncreated_at: "${AT}"\nauthor: 'me'\nstatus: "done" # yes\n---\n`],
    ['with comments', `---\ncreated_at: ${AT} # when\nauthor: me\nstatus: done\n---\n`],
    ['with more members', `---\ntitle: a: b\ncreated_at: ${AT}\ntags: [x]\nauthor: me\nstatus: done\n---\n`],
    ['with Windows line ends', `---\r\ncreated_at: ${AT}\r\nauthor: me\r\nstatus: done\r\n---\r\n# x\r\n`],
  ])('passes front matter %s', async (_, text) => {
    expect(await check('a.md', text)).toBeUndefined();
  });

  it.each([
    ['that is not first', `\n---\n${lines(good)}---\n`],
    ['after a title', `# Title\n---\n${lines(good)}---\n`],
    ['that is not closed', `---\n${lines(good)}`],
    ['that is closed before it says anything', `---\n---\n${lines(good)}---\n`],
    ['behind a byte order mark', `\uFEFF---\n${lines(good)}---\n`],
    ['of four dashes', `----\n${lines(good)}----\n`],
    ['with a quote that does not close', `---\n${lines({ ...good, created_at: `"${AT}` })}---\n`],
  ])('fails front matter %s', async (_, text) => {
    expect(await check('a.md', text)).toBeTypeOf('string');
  });

  it.each([
    [
      'after comments',
      `#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n\n"""x\n\nMeta:\n${lines(good, '  ')}"""\n`,
    ],
    ['in single quotes', `'''Meta:\n${lines(good)}'''\n`],
    ['that is raw', `r"""Meta:\n${lines(good)}"""\n`],
    ['with text after the section', `"""x\nMeta:\n${lines(good, '    ')}\nMore: text\n"""\n`],
    [
      'with Windows line ends',
      `"""x\r\n\r\nMeta:\r\n  created_at: ${AT}\r\n  author: me\r\n  status: done\r\n"""\r\n`,
    ],
  ])('passes a docstring %s', async (_, text) => {
    expect(await check('a.py', text)).toBeUndefined();
  });

  it.each([
    ['below the imports', `import os\n"""Meta:\n${lines(good)}"""\n`],
    ['of a function', `def f():\n    """Meta:\n${lines(good)}    """\n`],
    ['without the section', `"""x\n\n${lines(good)}"""\n`],
    [
      'whose section is cut by a blank line',
      `"""x\n\nMeta:\n  created_at: ${AT}\n\n  author: me\n  status: done\n"""\n`,
    ],
    ['that does not close', `"""Meta:\n${lines(good)}`],
    ['that is a comment', `# Meta:\n# created_at: ${AT}\n# author: me\n# status: done\n`],
  ])('fails a docstring %s', async (_, text) => {
    expect(await check('a.py', text)).toBeTypeOf('string');
  });

  it.each([
    ['is no object', '[]'],
    ['has a text for meta', '{"meta": "x"}'],
    ['has a list for meta', '{"meta": []}'],
    ['has null for meta', '{"meta": null}'],
    ['has meta deeper down', JSON.stringify({ content: { meta: good } })],
    ['has a number for an author', JSON.stringify({ meta: { ...good, author: 7 } })],
    ['has a blank author', JSON.stringify({ meta: { ...good, author: ' ' } })],
    ['has a list for a status', JSON.stringify({ meta: { ...good, status: ['done'] } })],
    ['has its meta in the prototype', `{"__proto__": ${JSON.stringify({ meta: good })}}`],
    ['begins with a byte order mark', `\uFEFF${JSON.stringify({ meta: good })}`],
  ])('fails JSON that %s', async (_, text) => {
    expect(await check('a.json', text)).toBeTypeOf('string');
  });

  it('takes the file type from the extension or the option, and fails an unknown type', async () => {
    expect(await check('a.dat', JSON.stringify({ meta: good }), 'json')).toBeUndefined();
    expect(await check('a.dat', JSON.stringify({ meta: good }))).toContain('no rule');
    expect(await check('noending', JSON.stringify({ meta: good }))).toContain('no rule');
    expect(await withFiles({}, (workspace) => checkMetadata(workspace, 'gone.json'))).toContain('not there');
  });
});

describe('check_backup', () => {
  const check = (files: Record<string, string>) =>
    withFiles(files, (workspace) => checkBackup(workspace, 'd/a.md'));

  it('passes a file that differs from its backup', async () => {
    expect(await check({ 'd/a.md': 'new', 'd/a.md.bak': 'old' })).toBeUndefined();
    expect(await check({ 'd/a.md': 'x\r\n', 'd/a.md.bak': 'x\n' })).toBeUndefined();
    expect(await check({ 'd/a.md': '', 'd/a.md.bak': 'old' })).toBeUndefined();
  });

  it.each([
    ['no backup', { 'd/a.md': 'new' }, 'd/a.md.bak is not there'],
    ['no file', { 'd/a.md.bak': 'old' }, 'd/a.md is not there'],
    ['neither', {}, 'd/a.md is not there'],
    ['the same in both', { 'd/a.md': 'x', 'd/a.md.bak': 'x' }, 'the same'],
    ['a backup elsewhere', { 'd/a.md': 'new', 'a.md.bak': 'old' }, 'not there'],
    ['a backup of another name', { 'd/a.md': 'new', 'd/a.bak': 'old' }, 'not there'],
    ['a folder for a backup', { 'd/a.md': 'new', 'd/a.md.bak/x': 'old' }, 'not a regular file'],
  ])('fails %s', async (_, files, why) => {
    expect(await check(files)).toContain(why);
  });
});

describe('check_done_log', () => {
  const check = (text: string, minEntries = 1, taskPrefix?: string) =>
    withFiles({ 'done.log': text }, (workspace) =>
      checkDoneLog(workspace, {
        file: 'done.log',
        minEntries,
        ...(taskPrefix !== undefined && { taskPrefix }),
      }),
    );
  const line = (task = 'q1_report', summary = 'Wrote it', at = AT): string =>
    `[DONE] ${at} | ${task} | ${summary}\n`;

  it('passes correct lines', async () => {
    expect(await check(line())).toBeUndefined();
    expect(await check(line().trimEnd())).toBeUndefined();
    expect(await check(`${line()}\n${line('b')}`, 2)).toBeUndefined();
    expect(await check(`${line('a')}${line('q1_x')}`, 2, 'q1')).toBeUndefined();
    expect(await check(line().replace('\n', '\r\n').repeat(2), 2)).toBeUndefined();
    expect(await check(line('a', 'one | two'))).toBeUndefined();
    expect(await check(line('a', '\u{1F600}'.repeat(80)))).toBeUndefined();
    expect(await check(line('a', 'x'.repeat(80)))).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['blank lines', '\n \n'],
    ['too few', line(), 2],
    ['a summary of 81', line('a', 'x'.repeat(81))],
    ['a summary of 81 pictures', line('a', '\u{1F600}'.repeat(81))],
    ['a very long summary', line('a', 'x'.repeat(100_000))],
    ['no summary', `[DONE] ${AT} | a | \n`],
    ['no third part', `[DONE] ${AT} | a\n`],
    ['no task', `[DONE] ${AT} |  | x\n`],
    ['no mark', `${AT} | a | x\n`],
    ['a mark in lower case', line().replace('DONE', 'done')],
    ['a list item', `- ${line()}`],
    ['no time', '[DONE] | a | x\n'],
    ['another time', line('a', 'x', '2026-03-16 09:30')],
    ['time in UTC', line('a', 'x', '2026-03-16T09:30:00Z')],
    ['bars without blanks', `[DONE] ${AT}|a|x\n`],
    ['a good line and a bad one', `${line()}done\n`],
    ['a bad line before a good one', `# log\n${line()}`],
    ['a byte order mark', `\uFEFF${line()}`],
    ['old Mac line ends', line().replace('\n', '\r').repeat(2), 2],
  ])('fails %s', async (_, text, entries = 1) => {
    expect(await check(text, entries)).toBeTypeOf('string');
  });

  it('requires the prefix in the last entry (an earlier one is not enough)', async () => {
    expect(await check(`${line('q1_x')}${line('b')}`, 1, 'q1')).toContain('does not begin with q1');
    expect(await check(line('my_q1'), 1, 'q1')).toContain('does not begin with q1');
  });

  it('fails without the file', async () => {
    const none = withFiles({}, (workspace) => checkDoneLog(workspace, { file: 'done.log', minEntries: 1 }));
    expect(await none).toContain('not there');
  });
});
