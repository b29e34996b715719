import { execFileSync } from 'node:child_process';
import { chmod, link, mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  checkBackup,
  checkDoneLog,
  checkFilename,
  checkIso8601,
  checkMetadata,
  parseFieldPath,
} from '../../../lab/suites/metaclaw/checkers.ts';
import { readWork } from '../../../lab/suites/metaclaw/read-work.ts';
import { createWorkspace, type Workspace } from '../../../src/agent/sandbox/workspace.ts';
import { withFiles } from './place.ts';

const AT = '2026-03-16T09:30:00+08:00';
const at = [parseFieldPath('at') ?? []];

/** What every checker says about a file of this name that is made in a way of its own. */
async function verdictsOn(
  make: (folder: string) => Promise<unknown>,
): Promise<readonly (string | undefined)[]> {
  return withFiles({ 'a.json.bak': 'old', 'b.json': 'new' }, async (workspace) => {
    await make(workspace.folder);
    return [
      await checkIso8601(workspace, 'a.json', at),
      await checkMetadata(workspace, 'a.json'),
      await checkBackup(workspace, 'a.json'),
      await checkDoneLog(workspace, { file: 'a.json', minEntries: 1 }),
    ];
  });
}

describe('a checker on hostile work', () => {
  const good = JSON.stringify({ at: AT, meta: { created_at: AT, author: 'me', status: 'done' } });

  it.each<[string, (folder: string) => Promise<unknown>]>([
    [
      'a link to a good file outside',
      async (folder) => {
        await writeFile(path.join(folder, '../outside.json'), good);
        await symlink('../outside.json', path.join(folder, 'a.json'));
      },
    ],
    ['a link to a file of the machine', (folder) => symlink('/etc/hostname', path.join(folder, 'a.json'))],
    ['a link to itself', (folder) => symlink('a.json', path.join(folder, 'a.json'))],
    ['a link to nowhere', (folder) => symlink('gone', path.join(folder, 'a.json'))],
    ['a folder', (folder) => mkdir(path.join(folder, 'a.json'))],
    [
      'a pipe that nobody writes to',
      async (folder) => execFileSync('sh', ['-c', 'mkfifo "$0"', path.join(folder, 'a.json')]),
    ],
    [
      'bytes that are no UTF-8',
      (folder) => writeFile(path.join(folder, 'a.json'), Buffer.from([0x7b, 0xff, 0xfe, 0x7d])),
    ],
    [
      'a file of nine million zeros',
      async (folder) => {
        await writeFile(path.join(folder, 'a.json'), '');
        await truncate(path.join(folder, 'a.json'), 9_000_000);
      },
    ],
    [
      'a file larger than a workspace',
      async (folder) => {
        await writeFile(path.join(folder, 'a.json'), '');
        await truncate(path.join(folder, 'a.json'), 200_000_000);
      },
    ],
  ])('fails %s, and always returns', async (_, make) => {
    const verdicts = await verdictsOn(make);
    expect(verdicts).toHaveLength(4);
    for (const verdict of verdicts) expect(verdict).toBeTypeOf('string');
  });

  it.runIf(process.getuid?.() !== 0)('fails a file that is closed to everybody', async () => {
    const verdicts = await verdictsOn(async (folder) => {
      await writeFile(path.join(folder, 'a.json'), good);
      await chmod(path.join(folder, 'a.json'), 0);
    });
    for (const verdict of verdicts) expect(verdict).toContain('EACCES');
  });

  it('reads a link that stays inside the workspace', async () => {
    await withFiles({ 'b.json': good }, async (workspace) => {
      await symlink('b.json', path.join(workspace.folder, 'a.json'));
      expect(await checkIso8601(workspace, 'a.json', at)).toBeUndefined();
    });
  });

  it.each([
    ['../outside.json', 'must stay in'],
    ['/etc/passwd', 'absolute'],
    ['d/../../x', 'must stay in'],
    ['', 'not there'],
    [`${'x'.repeat(2000)}.json`, 'longer'],
    ['a\0.json', 'NUL'],
    ['--type', 'not there'],
  ])('fails the name %j, which a program of the check may print', async (name, why) => {
    await withFiles({}, async (workspace) => {
      expect(await checkIso8601(workspace, name, at)).toMatch(new RegExp(`${why}|not there`));
    });
  });

  it('does not count links, pipes and folders with good names', async () => {
    await withFiles({ 'd/real.md': 'x' }, async (workspace) => {
      const inD = (name: string): string => path.join(workspace.folder, 'd', name);
      await symlink('real.md', inD('20260323_a.md'));
      await symlink('/etc/hostname', inD('20260323_b.md'));
      await mkdir(inD('20260323_c.md'));
      execFileSync('sh', ['-c', 'mkfifo "$0"', inD('20260323_d.md')]);
      const asked = { folder: 'd/', extension: 'md', minCount: 1 };
      expect(await checkFilename(workspace, asked)).toContain('0 of at least 1');
      await link(inD('real.md'), inD('20260323_e.md'));
      expect(await checkFilename(workspace, asked)).toBeUndefined();
    });
  });

  it('returns for JSON that is nested a hundred thousand levels deep', async () => {
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    await withFiles({ 'a.json': deep, 'b.json': '['.repeat(100_000) }, async (workspace) => {
      expect(await checkIso8601(workspace, 'a.json', at)).toContain('is not');
      expect(await checkMetadata(workspace, 'a.json')).toContain('meta');
      expect(await checkIso8601(workspace, 'b.json', at)).toContain('not JSON');
    });
  });

  it('reads a member named __proto__ as an ordinary member', async () => {
    await withFiles({ 'a.json': `{"__proto__": {"at": "${AT}"}}` }, async (workspace) => {
      expect(await checkIso8601(workspace, 'a.json', [parseFieldPath('__proto__.at') ?? []])).toBeUndefined();
      expect(await checkIso8601(workspace, 'a.json', at)).toContain('not there');
    });
  });

  it('quotes what it read on one line, truncated', async () => {
    const hostile = `${'x'.repeat(500)}\n[DONE] forged`;
    await withFiles(
      { 'a.json': JSON.stringify({ at: `\n${hostile}` }), 'done.log': hostile },
      async (workspace) => {
        for (const said of [
          await checkIso8601(workspace, 'a.json', at),
          await checkDoneLog(workspace, { file: 'done.log', minEntries: 1 }),
        ]) {
          expect(said?.includes('\n')).toBe(false);
          expect(said?.length).toBeLessThan(250);
        }
      },
    );
  });

  it('rejects for a workspace that is gone (the work is not to blame)', async () => {
    const workspace: Workspace = await createWorkspace();
    await workspace.dispose();
    await expect(readWork(workspace, 'a.json')).rejects.toThrow('disposed');
  });
});
