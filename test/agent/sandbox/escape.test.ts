import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Confiner } from '../../../src/agent/sandbox/confiner.ts';
import type { ConfinedRunOptions, ConfinedRunResult } from '../../../src/agent/sandbox/run-confined.ts';
import { createWorkspace, type Workspace } from '../../../src/agent/sandbox/workspace.ts';
import type { WorkspaceLimits } from '../../../src/agent/sandbox/workspace-limits.ts';
import { wallsHere } from './walls.ts';

const never = new AbortController().signal;
const walls = await wallsHere();

const said = (result: ConfinedRunResult): string =>
  result.end === 'refused' ? `refused: ${result.why}` : result.stdout + result.stderr;

let outside = '';
let secret = '';
let tcp: Server;
let abstract: Server;
let port = 0;
let calls = 0;
const abstractName = `\0instar-sandbox-${process.pid}`;

beforeAll(async () => {
  outside = await mkdtemp(path.join(tmpdir(), 'instar-outside-'));
  secret = path.join(outside, 'secret.txt');
  await writeFile(secret, 'the canary sings');
  await chmod(outside, 0o755);
  const count = (): void => {
    calls++;
  };
  tcp = createServer(count);
  await new Promise<void>((resolve) => tcp.listen(0, '0.0.0.0', resolve));
  const address = tcp.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
  abstract = createServer(count);
  await new Promise<void>((resolve) => abstract.listen(abstractName, resolve));
});

afterAll(async () => {
  tcp.close();
  abstract.close();
  await rm(outside, { recursive: true, force: true });
});

describe.each(walls.filter(({ fault }) => fault !== undefined))('$name', ({ fault }) => {
  it.skip(`cannot be tried here: ${fault}`, () => undefined);
});

describe.each(walls.filter(({ fault }) => fault === undefined))('$name', ({ confiner }) => {
  const inside = async <T>(
    use: (
      workspace: Workspace,
      run: (command: string, options?: ConfinedRunOptions) => Promise<ConfinedRunResult>,
    ) => Promise<T>,
    limits: Partial<WorkspaceLimits> = {},
  ): Promise<T> => {
    const workspace = await createWorkspace({
      limits,
      confinement: { ok: true, confiner: confiner as Confiner },
    });
    try {
      return await use(workspace, (command, options = {}) => workspace.run(command, options, never));
    } finally {
      await workspace.dispose();
    }
  };

  it('runs a command to its end and returns its output, files and exit code', () =>
    inside(async (workspace, run) => {
      await workspace.write('in.txt', 'b\na\n');
      const result = await run('sort in.txt | tee out.txt; echo hm >&2; pwd; exit 7');
      expect(result).toEqual({ end: 'exit', code: 7, stdout: 'a\nb\n/workspace\n', stderr: 'hm\n' });
      expect(await workspace.read('out.txt')).toBe('a\nb\n');
      expect(await run('no-such-program')).toMatchObject({ end: 'exit', code: 127 });
      expect(await run('kill -TERM $$')).toMatchObject({ end: 'exit', code: 143 });
      const words = await workspace.run(['printf', '%s|', 'a b', '$HOME', ';'], {}, never);
      expect(words).toMatchObject({ stdout: 'a b|$HOME|;|' });
      expect(await run('echo $WORD', { env: { WORD: 'given' } })).toMatchObject({ stdout: 'given\n' });
    }));

  it('does not see files, folders or processes of the host', () =>
    inside(async (workspace, run) => {
      const tries = [
        secret,
        `/proc/1/root${secret}`,
        '/etc/shadow',
        '/etc/passwd',
        workspace.folder,
        '/root',
        '/home',
      ]
        .map((file) => `ls -d ${file} 2>/dev/null; cat ${file} 2>/dev/null`)
        .join('; ');
      const result = await run(
        `${tries}; for p in /proc/[0-9]*; do cat $p/root${secret} $p/cwd/${path.basename(secret)} 2>/dev/null; done; kill -9 ${process.pid} 2>/dev/null && echo killed; ls -a / /tmp /dev/shm`,
      );
      expect(said(result)).not.toMatch(/canary|killed|root:|\broot\b|\bhome\b/);
      expect(said(result)).toContain('workspace');
      const seen = await run('tr "\\0" "\\n" < /proc/1/environ; env; ls -l /proc/*/fd');
      expect(said(seen)).not.toContain(outside);
      expect(said(seen)).not.toContain(process.env.HOME ?? 'HOME of the tests');
    }));

  it('writes only to its folder', () =>
    inside(async (_, run) => {
      const targets = [
        '/usr/x',
        '/usr/bin/x',
        '/etc/x',
        '/x',
        '/proc/sys/kernel/core_pattern',
        '/dev/x',
        secret,
      ];
      const result = await run(targets.map((file) => `(echo 1 > ${file}) && echo wrote ${file}`).join('; '));
      expect(said(result)).not.toContain('wrote');
      expect(await readFile(secret, 'utf8')).toBe('the canary sings');
    }));

  it('has no capabilities', () =>
    inside(async (_, run) => {
      const result = await run(
        [
          'mount -t tmpfs tmpfs /workspace && echo got mount',
          'mount -o remount,rw / && echo got remount',
          'umount -l /usr && echo got umount',
          'chroot /workspace /bin/true && echo got chroot',
          'mknod sda b 8 0 && echo got mknod',
          'unshare -rm sh -c "umount -l /proc || mount -o remount,bind,rw /usr && echo x > /usr/x" && echo got unshare',
          'unshare -rm sh -c "mkdir -p m; mount -t tmpfs t m; mount -o remount,bind,rw / && echo 1 > /x" && echo got nested',
          'nsenter -t 1 -a true && echo got nsenter',
          'grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status',
        ].join('; '),
      );
      expect(said(result)).not.toContain('got ');
      expect(said(result)).toMatch(/CapEff:\s*0+\n/);
      expect(said(result)).toMatch(/NoNewPrivs:\s*1/);
    }));

  it('does not reach the network, not even the host', () =>
    inside(async (workspace, run) => {
      await workspace.write(
        'call.mjs',
        `import net from 'node:net';
        import dns from 'node:dns/promises';
        const tell = (to) => new Promise((resolve) => {
          const socket = net.connect(to, () => resolve('reached'));
          socket.on('error', (error) => resolve(error.code));
        });
        const hosts = ['127.0.0.1', '::1', ...process.argv.slice(3)];
        for (const host of hosts) console.log(host, await tell({ host, port: Number(process.argv[2]) }));
        console.log('abstract', await tell({ path: '\\0' + ${JSON.stringify(abstractName.slice(1))} }));
        console.log('name', await dns.lookup('example.com').then(() => 'reached', (error) => error.code));`,
      );
      const readable = [path.dirname(process.execPath)];
      const result = await run(`${process.execPath} call.mjs ${port} 10.255.255.1 1.1.1.1`, { readable });
      expect(said(result)).toMatch(/127\.0\.0\.1 E[A-Z]+/);
      expect(said(result)).toMatch(/abstract E[A-Z]+/);
      expect(said(result)).toMatch(/name E[A-Z]+/);
      expect(said(result)).not.toContain('reached');
      expect(calls).toBe(0);
    }));

  it('reads a folder made readable, and cannot write to it', () =>
    inside(async (_, run) => {
      const options = { readable: [outside] };
      expect(await run(`cat ${secret}`, options)).toMatchObject({ code: 0, stdout: 'the canary sings' });
      expect(
        said(await run(`(echo 1 > ${secret}) && echo wrote; rm ${secret} && echo gone`, options)),
      ).not.toMatch(/wrote|gone/);
      const modules = path.resolve('node_modules/vitest');
      expect(said(await run(`ls ${modules}`, { readable: [modules] }))).toContain('package.json');
      expect(await run('true', { readable: ['/'] })).toMatchObject({ end: 'refused' });
      expect(await run('true', { readable: ['/no/such/folder'] })).toMatchObject({ end: 'refused' });
    }));

  it('is stopped with all its children, also those in a session of their own', () =>
    inside(async (workspace, run) => {
      const beat =
        'setsid sh -c "trap : TERM HUP; while :; do echo x >> beat; sleep 0.02; done" > /dev/null 2>&1 &';
      const stops = async (command: string, timeoutMs: number): Promise<ConfinedRunResult> => {
        const result = await run(command, { timeoutMs });
        const before = (await workspace.read('beat')).length;
        await sleep(150);
        expect((await workspace.read('beat')).length).toBe(before);
        expect(before).toBeGreaterThan(0);
        return result;
      };
      expect(await stops(`${beat} sleep 600`, 1500)).toMatchObject({ end: 'stopped', why: 'timeout' });
      const begun = 'until [ -s beat ]; do sleep 0.02; done';
      expect(await stops(`rm -f beat; ${beat} ${begun}`, 20_000)).toMatchObject({ end: 'exit', code: 0 });
    }));

  it('is stopped when it prints too much and when it is aborted, also before it begins', () =>
    inside(async (workspace, run) => {
      const loud = await run('yes', { outputBytes: 10_000 });
      expect(loud).toMatchObject({ end: 'stopped', why: 'output' });
      expect(said(loud)).toHaveLength(10_000);
      const leaving = new AbortController();
      setTimeout(() => leaving.abort(), 100);
      expect(await workspace.run('sleep 600', {}, leaving.signal)).toMatchObject({ why: 'aborted' });
      expect(await workspace.run('touch begun', {}, AbortSignal.abort())).toMatchObject({ why: 'aborted' });
      expect((await workspace.list()).map(({ name }) => name)).not.toContain('begun');
    }));

  it('cannot fill the disk or the process table', () =>
    inside(
      async (workspace, run) => {
        const big = await run('head -c 3000000 /dev/zero > big');
        expect(big).toMatchObject({ end: 'exit', code: 153 });
        await run('rm big');
        const many = await run('for i in 1 2 3 4 5; do head -c 300000 /dev/zero > f$i; done');
        expect(many).toMatchObject({ end: 'stopped', why: 'size' });
        await expect(workspace.write('more', 'x')).rejects.toThrow('bytes');
        await run('rm f*');
        const forks = await run('i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done; echo all');
        // The kernel counts no processes of who is root outside.
        if (confiner.owner !== undefined || process.getuid?.() !== 0) expect(said(forks)).toMatch(/fork/i);
        expect(await run('echo still here')).toMatchObject({ stdout: 'still here\n' });
      },
      { bytes: 1_000_000, processes: 30 },
    ));

  it('may leave links that lead out, which are not followed', () =>
    inside(async (workspace, run) => {
      await run(`ln -s ${secret} link; ln -s ${outside} folder; ln -s ${outside}/new dangling; mkfifo pipe`);
      for (const file of ['link', 'folder/secret.txt', 'dangling'])
        await expect(workspace.read(file)).rejects.toThrow('leads out');
      for (const file of ['link', 'folder/new.txt', 'dangling'])
        await expect(workspace.write(file, 'x')).rejects.toThrow('leads out');
      await expect(workspace.list('folder')).rejects.toThrow('leads out');
      await expect(workspace.read('pipe')).rejects.toThrow('not a regular file');
      expect(await workspace.runPlain('rm link folder', {})).toMatchObject({ code: 0 });
      expect(await readFile(secret, 'utf8')).toBe('the canary sings');
    }));

  it('is removed by dispose, also folders without permissions', async () => {
    const workspace = await createWorkspace({ confinement: { ok: true, confiner } });
    await workspace.run('mkdir -p a/b; echo 1 > a/b/c; chmod 000 a/b a', {}, never);
    await workspace.dispose();
    await expect(readFile(workspace.folder)).rejects.toThrow('ENOENT');
    await expect(workspace.read('x')).rejects.toThrow('disposed');
    expect(await workspace.run('true', {}, never)).toEqual({
      end: 'refused',
      why: 'the workspace was disposed of',
    });
  });
});
