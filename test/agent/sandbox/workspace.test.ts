import { execFileSync } from 'node:child_process';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findConfiner } from '../../../src/agent/sandbox/find-confiner.ts';
import { createWorkspace } from '../../../src/agent/sandbox/workspace.ts';
import { isInside, resolveInside } from '../../../src/agent/sandbox/workspace-files.ts';
import { SandboxError } from '../../../src/agent/sandbox/workspace-limits.ts';
import { runsOf } from '../../support/counts.ts';
import { useDeepTemporaryFolder } from './deep-temporary-folder.ts';

useDeepTemporaryFolder();

const never = new AbortController().signal;
let base = '';
let made = 0;

const folder = async (fill: (at: string) => Promise<unknown> = async () => undefined): Promise<string> => {
  const at = path.join(base, `f${made++}`);
  await mkdir(at);
  await fill(at);
  return at;
};

beforeAll(async () => {
  base = await realpath(await mkdtemp(path.join(tmpdir(), 'instar-workspace-test-')));
});
afterAll(() => rm(base, { recursive: true, force: true }));

describe('a workspace', () => {
  it('is a copy of a folder that no other user can read, and leaves the folder unchanged', async () => {
    const from = await folder(async (at) => {
      await mkdir(path.join(at, 'deep/er'), { recursive: true });
      await writeFile(path.join(at, 'deep/er/run.sh'), 'echo 1');
      await chmod(path.join(at, 'deep/er/run.sh'), 0o755);
      await symlink('er/run.sh', path.join(at, 'deep/link'));
    });
    const workspace = await createWorkspace({ from });
    expect((await stat(path.dirname(workspace.folder))).mode & 0o777).toBe(0o700);
    expect((await stat(path.join(workspace.folder, 'deep/er/run.sh'))).mode & 0o111).not.toBe(0);
    expect(await workspace.read('deep/link')).toBe('echo 1');
    await workspace.write('deep/link', 'echo 2');
    await workspace.write('new/file.txt', 'x');
    expect((await workspace.list()).map(({ name, kind }) => `${kind} ${name}`)).toEqual([
      'folder deep',
      'folder new',
    ]);
    expect(await readFile(path.join(from, 'deep/er/run.sh'), 'utf8')).toBe('echo 1');
    await workspace.dispose();
    await workspace.dispose();
    await expect(stat(workspace.folder)).rejects.toThrow('ENOENT');
  });

  it.each([
    ['a link to elsewhere', (at: string) => symlink('/etc/hostname', path.join(at, 'x')), 'leads out'],
    ['a link that goes up', (at: string) => symlink('../..', path.join(at, 'x')), 'leads out'],
    ['a link to nowhere', (at: string) => symlink('gone', path.join(at, 'x')), 'leads out'],
    [
      'a pipe',
      async (at: string) => execFileSync('sh', ['-c', 'mkfifo "$0"', path.join(at, 'x')]),
      'neither a file nor a folder',
    ],
    ['too many bytes', (at: string) => writeFile(path.join(at, 'x'), 'x'.repeat(101)), 'more than 100 bytes'],
    [
      'too many files',
      async (at: string) => {
        for (const name of 'abcd') await writeFile(path.join(at, name), '');
      },
      'more than 3 files',
    ],
  ])('is not created from a folder with %s, and leaves nothing behind', async (_, fill, why) => {
    const from = await folder(fill);
    const temporary = process.env.TMPDIR;
    process.env.TMPDIR = await folder();
    try {
      await expect(createWorkspace({ from, limits: { bytes: 100, entries: 3 } })).rejects.toThrow(why);
      expect(await readdir(tmpdir())).toEqual([]);
    } finally {
      if (temporary === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = temporary;
    }
  });

  it('rejects writes above its limits', async () => {
    const workspace = await createWorkspace({ limits: { bytes: 10, entries: 3 } });
    await workspace.write('a', '12345678');
    await expect(workspace.write('b', '123')).rejects.toThrow('more than 10 bytes');
    await expect(workspace.write('deep/er/still', '')).rejects.toThrow('more than 3 files');
    expect((await workspace.list()).map(({ name }) => name)).toEqual(['a']);
    await workspace.dispose();
  });

  it.each(['../x', 'a/../../x', '/etc/passwd', 'C:\\x', '\\\\host\\x', 'a\0b', '', 'x'.repeat(2000)])(
    'reads and writes nothing at %j',
    async (wanted) => {
      const workspace = await createWorkspace();
      await expect(workspace.read(wanted)).rejects.toBeInstanceOf(SandboxError);
      await expect(workspace.write(wanted, 'x')).rejects.toBeInstanceOf(SandboxError);
      await workspace.dispose();
    },
  );

  it('resolves any path to one inside, or rejects it', async () => {
    const root = await folder(async (at) => {
      await mkdir(path.join(at, 'a'));
      await symlink('..', path.join(at, 'up'));
      await symlink('a', path.join(at, 'in'));
      await symlink('/', path.join(at, 'a/top'));
      await symlink('gone', path.join(at, 'a/gone'));
    });
    const segment = fc.constantFrom('a', 'up', 'in', 'top', 'gone', '..', '.', '', 'new', '\0', '/');
    await fc.assert(
      fc.asyncProperty(fc.array(segment, { maxLength: 6 }), async (segments) => {
        const found = await resolveInside(root, segments.join('/')).catch((error: unknown) => error);
        if (typeof found === 'string') expect(isInside(root, found)).toBe(true);
        else expect(found).toBeInstanceOf(SandboxError);
      }),
      runsOf(100, 300),
    );
  });

  it('runs its operations one at a time', async () => {
    const workspace = await createWorkspace();
    const lines = Array.from({ length: 20 }, (_, index) => workspace.runPlain(`append log ${index}`, {}));
    await Promise.all(lines);
    expect(await workspace.read('log')).toBe(lines.map((_, index) => `${index}\n`).join(''));
    await workspace.dispose();
  });
});

describe('commands without a working sandbox', () => {
  it('are refused with the reason (not run unconfined)', async () => {
    const workspace = await createWorkspace({
      confinement: { ok: false, why: 'no sandbox', fix: 'get one' },
    });
    expect(await workspace.run('touch begun', {}, never)).toEqual({ end: 'refused', why: 'no sandbox' });
    expect(await workspace.list()).toEqual([]);
    await workspace.dispose();
  });

  it.runIf(process.platform === 'linux')(
    'are refused when the sandbox program does not isolate',
    async () => {
      // Programs with the names of the real ones that do not confine anything.
      const fake = await folder(async (at) => {
        for (const name of ['bwrap', 'unshare']) {
          const file = path.join(at, name);
          await writeFile(file, '#!/bin/sh\necho ready >&3; exec 3>&-; exit 0\n');
          await chmod(file, 0o755);
        }
      });
      const found = await findConfiner(fake);
      expect(found).toMatchObject({
        ok: false,
        why: expect.stringMatching(/bwrap: files written .* lost; unshare: /),
        fix: expect.stringContaining('install bubblewrap'),
      });
    },
  );

  it.each([
    [[], {}, 'no command'],
    ['true', { env: { 'A=B': 'x' } }, 'not a valid variable name'],
    [['true', 'a\0b'], {}, 'NUL'],
    ['true', { readable: ['relative'] }, 'normalized absolute path'],
    ['true', { readable: ['/usr/../etc'] }, 'normalized absolute path'],
  ] as const)('are refused for invalid arguments: %j %j', async (command, options, why) => {
    const workspace = await createWorkspace();
    expect(await workspace.run(command, options, never)).toMatchObject({
      end: 'refused',
      why: expect.stringContaining(why),
    });
    await workspace.dispose();
  });
});
