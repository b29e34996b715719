import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AttemptFolders, createAttemptFolders } from '../../../src/agent/attempts/attempt-folders.ts';

const signal = new AbortController().signal;
let root = '';
let repository = '';
let commit = '';
let folders: AttemptFolders;

function git(...args: readonly string[]): string {
  // Its own commands do not step into the traps below.
  const quiet = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'filter.evil.smudge=cat'];
  const settings = ['user.name=A', 'user.email=a@b', ...quiet].flatMap((one) => ['-c', one]);
  return execFileSync('git', [...settings, ...args], {
    cwd: repository,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1' },
  }).trim();
}
const write = (name: string, text: string): void => {
  const file = path.join(repository, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
};

beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), 'snapshots-'));
  repository = path.join(root, 'shop');
  mkdirSync(repository);
  git('init', '-q');
  write('secret.txt', 'in the first commit only\n');
  git('add', '-A');
  git('commit', '-qm', 'first');
  git('rm', '-q', 'secret.txt');
  write('src/sum.sh', '#!/bin/sh\necho 41\n');
  chmodSync(path.join(repository, 'src/sum.sh'), 0o755);
  write('notes.md', 'one\ntwo\n');
  write('.gitattributes', '*.md filter=evil\n');
  git('add', '-A');
  git('commit', '-qm', 'second');
  commit = git('rev-parse', 'HEAD');
  // What a repository may bring along: a hook, and a setting that runs a program.
  write('.git/hooks/post-checkout', `#!/bin/sh\ntouch ${root}/hook-ran\n`);
  chmodSync(path.join(repository, '.git/hooks/post-checkout'), 0o755);
  git('config', 'core.fsmonitor', `touch ${root}/monitor-ran`);
  git('config', 'filter.evil.smudge', `touch ${root}/filter-ran; cat`);
  folders = createAttemptFolders({ limits: { bytes: 4 * 1024 * 1024, entries: 500 } });
});
afterAll(async () => {
  await folders.close();
  rmSync(root, { recursive: true, force: true });
});

describe('a snapshot of a git work tree', () => {
  it('is the commit with the diff and the untracked files, and a history of one commit (not the whole one)', async () => {
    write('notes.md', 'one\nTWO\n');
    const diff = git('diff', '--binary');
    git('checkout', '-q', '--', 'notes.md');
    const workspace = await folders.open(
      { kind: 'git', repository, commit, diff, untracked: { 'tmp/plan.txt': 'later\n' } },
      signal,
    );
    expect(await workspace.read('notes.md')).toBe('one\nTWO\n');
    expect(await workspace.read('tmp/plan.txt')).toBe('later\n');
    const ran = await workspace.run(
      'src/sum.sh; git status --short; git log --format=%H; git cat-file -t HEAD; git commit -qam done && git fsck --strict',
      {},
      signal,
    );
    expect(ran).toMatchObject({ end: 'exit', code: 0 });
    if (ran.end !== 'exit') return;
    expect(ran.stdout.split('\n').slice(0, 5)).toEqual(['41', ' M notes.md', '?? tmp/', commit, 'commit']);
    await workspace.dispose();
    expect(
      ['hook-ran', 'monitor-ran', 'filter-ran'].filter((name) => existsSync(path.join(root, name))),
    ).toEqual([]);
  });

  it('gives every attempt its own copy, and leaves the repository as it was', async () => {
    const before = `${git('rev-parse', 'HEAD')} ${git('count-objects')} ${readFileSync(path.join(repository, 'notes.md'), 'utf8')}`;
    const [one, two] = await Promise.all(
      [1, 2].map(() => folders.open({ kind: 'git', repository, commit }, signal)),
    );
    await one?.run('echo mine > notes.md; git commit -qam mine', {}, signal);
    expect(await two?.read('notes.md')).toBe('one\ntwo\n');
    await Promise.all([one?.dispose(), two?.dispose()]);
    expect(
      `${git('rev-parse', 'HEAD')} ${git('count-objects')} ${readFileSync(path.join(repository, 'notes.md'), 'utf8')}`,
    ).toBe(before);
  });

  it('is made from a linked work tree, and from a bare repository', async () => {
    const linked = path.join(root, 'linked');
    git('worktree', 'add', '-q', '--detach', linked, commit);
    const bare = path.join(root, 'bare.git');
    git('clone', '-q', '--bare', repository, bare);
    for (const at of [linked, bare]) {
      const workspace = await folders.open({ kind: 'git', repository: at, commit }, signal);
      expect(await workspace.read('notes.md')).toBe('one\ntwo\n');
      await workspace.dispose();
    }
  });

  it('says why it cannot be made: a lost commit, a diff of another commit, too many files, a file of Git LFS', async () => {
    const open = (more: object): Promise<unknown> =>
      folders.open({ kind: 'git', repository, commit, ...more }, signal);
    await expect(open({ commit: 'f'.repeat(40) })).rejects.toThrow(/cannot be read from/);
    await expect(open({ repository: path.join(root, 'gone') })).rejects.toThrow(
      /not a git repository any more/,
    );
    const other = '--- a/notes.md\n+++ b/notes.md\n@@ -1,1 +1,1 @@\n-nowhere\n+x\n';
    await expect(open({ diff: other })).rejects.toThrow(/does not apply/);
    await expect(open({ diff: other.replaceAll('notes.md', '../out.md') })).rejects.toThrow(/does not apply/);
    await expect(open({ untracked: { '../out.md': 'x' } })).rejects.toThrow(/stay in the workspace/);
    await expect(open({ untracked: { '.git/hooks/pre-commit': 'x' } })).rejects.toThrow(/no name for a task/);

    for (let n = 0; n < 501; n++) write(`many/${n}.txt`, `${n}\n`);
    git('add', '-A');
    git('commit', '-qm', 'many');
    await expect(open({ commit: git('rev-parse', 'HEAD') })).rejects.toThrow(/50\d files; .* holds 500/);
    git('rm', '-rq', 'many');
    write('big.bin', 'x'.repeat(5 * 1024 * 1024));
    git('add', '-A');
    git('commit', '-qm', 'big');
    await expect(open({ commit: git('rev-parse', 'HEAD') })).rejects.toThrow(
      /6 MB; .* holds 4 MB|5 MB; .* holds 4 MB/,
    );
    git('rm', '-q', 'big.bin');
    const id = 'a'.repeat(64);
    write('model.bin', `version https://git-lfs.github.com/spec/v1\noid sha256:${id}\nsize 5\n`);
    git('add', '-A');
    git('commit', '-qm', 'lfs');
    const large = git('rev-parse', 'HEAD');
    await expect(open({ commit: large })).rejects.toThrow(/git lfs fetch/);
    write(`.git/lfs/objects/aa/aa/${id}`, 'large');
    const workspace = await folders.open({ kind: 'git', repository, commit: large }, signal);
    expect(await workspace.read('model.bin')).toBe('large');
    await workspace.dispose();
  });

  it('leaves the folder of a submodule empty, as a plain clone does', async () => {
    git('update-index', '--add', '--cacheinfo', `160000,${commit},vendor/lib`);
    git('commit', '-qm', 'submodule');
    const workspace = await folders.open(
      { kind: 'git', repository, commit: git('rev-parse', 'HEAD') },
      signal,
    );
    expect(await workspace.list('vendor/lib')).toEqual([]);
    await workspace.dispose();
  });
});
