import { describe, expect, it } from 'vitest';
import { describeConfiner, findConfiner } from '../../src/agent/sandbox/find-confiner.ts';
import { createWorkspace } from '../../src/agent/sandbox/workspace.ts';
import { wallsHere } from '../agent/sandbox/walls.ts';

const never = new AbortController().signal;
const walls = (await wallsHere()).filter(({ fault }) => fault === undefined);

/** System calls by number on x86_64, with the error that the sandbox must give: 1 EPERM, 38 ENOSYS, 97 no such family. */
const CALLS: readonly (readonly [name: string, line: string, error: number])[] = [
  ['unshare(NEWUSER)', 'syscall(272, 0x10000000)', 1],
  ['unshare(NEWUSER|NEWNS)', 'syscall(272, 0x10020000)', 1],
  ['clone(NEWUSER)', 'syscall(56, 0x10000011, 0, 0, 0, 0)', 1],
  ['clone3', 'syscall(435, 0, 0)', 38],
  ['mount', 'syscall(165, $t, $t, $t, 0, 0)', 1],
  ['fsopen', 'syscall(430, $t, 0)', 1],
  ['ptrace(TRACEME)', 'syscall(101, 0, 0, 0, 0)', 1],
  ['process_vm_readv', 'syscall(310, 1, 0, 0, 0, 0, 0)', 1],
  ['keyctl', 'syscall(250, 0, -3, 1)', 1],
  ['add_key', 'syscall(248, $t, $t, $t, 1, -2)', 1],
  ['bpf', 'syscall(321, 0, 0, 0)', 1],
  ['perf_event_open', 'syscall(298, 0, 0, -1, -1, 0)', 1],
  ['userfaultfd', 'syscall(323, 1)', 1],
  ['io_uring_setup', 'syscall(425, 1, 0)', 1],
  ['open_by_handle_at', 'syscall(304, 0, 0, 0)', 1],
  ['setns', 'syscall(308, 0, 0)', 1],
  ['socket(VSOCK)', 'syscall(41, 40, 1, 0)', 97],
  ['socket(ALG)', 'syscall(41, 38, 5, 0)', 97],
  ['personality(NO_RANDOMIZE)', 'syscall(135, 0x40000)', 1],
  ['ioctl(TIOCSTI)', 'syscall(16, 0, 0x5412, $t)', 1],
  ['getpid of x32', 'syscall(0x40000000 + 39)', 1],
];

describe('the sandbox', () => {
  it('says whether it has a seccomp filter, and prefers one that has', async () => {
    const found = await findConfiner(process.env.PATH ?? '');
    if (!found.ok) return expect(found.why).toContain('install bubblewrap');
    const hasFiltered = walls.some(({ confiner }) => confiner.filter !== undefined);
    expect(describeConfiner(found.confiner)).toContain(
      hasFiltered ? 'with a seccomp filter' : 'no seccomp filter',
    );
  });

  it.each(walls)(
    'creates no nested user namespace in $name (a kernel exploit begins there)',
    async ({ confiner }) => {
      const workspace = await createWorkspace({ confinement: { ok: true, confiner } });
      try {
        const tries = ['unshare -U true', 'unshare -r true', 'unshare -Urm true', 'unshare -Un ip link']
          .map((line) => `${line} && echo got "${line}"`)
          .join('; ');
        const result = await workspace.run(`${tries}; true`, {}, never);
        expect(result).toMatchObject({ end: 'exit', stdout: '' });
      } finally {
        await workspace.dispose();
      }
    },
  );

  const filtered = walls.filter(({ confiner }) => confiner.filter !== undefined && process.arch === 'x64');
  it.each(filtered)('refuses the system calls that reach beyond $name', async ({ confiner }) => {
    const workspace = await createWorkspace({ confinement: { ok: true, confiner } });
    try {
      const lines = CALLS.map(
        ([, line], index) => `$! = 0; my $r${index} = ${line}; print "$r${index} ", $!+0, "\\n";`,
      );
      await workspace.write('calls.pl', `my $t = 'tmpfs';\n${lines.join('\n')}`);
      const result = await workspace.run('perl calls.pl', {}, never);
      const printed = result.end === 'exit' ? result.stdout.trim().split('\n') : [];
      expect(CALLS.map(([name], index) => `${name}: ${printed[index]}`)).toEqual(
        CALLS.map(([name, , error]) => `${name}: -1 ${error}`),
      );
      // Threads, processes and pipes still work.
      const normal = await workspace.run(
        'perl -e \'print fork() ? (wait() > 0) : exit\'; seq 3 | sort -r | tr -d "\\n"',
        {},
        never,
      );
      expect(normal).toMatchObject({ end: 'exit', code: 0, stdout: '1321' });
    } finally {
      await workspace.dispose();
    }
  });
});
