import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { confinementHere } from '../../../src/agent/sandbox/find-confiner.ts';
import { createWorkspace, type Workspace } from '../../../src/agent/sandbox/workspace.ts';
import type { Verification } from '../../../src/core/verifier.ts';
import {
  type CommandOptions,
  createCommandVerifier,
} from '../../../src/evidence/verifiers/command-verifier.ts';
import { attemptOf, never } from './submissions.ts';

const here = await confinementHere();
let checks = '';
let workspace: Workspace;

beforeAll(async () => {
  checks = await mkdtemp(path.join(tmpdir(), 'instar-checks-'));
  await chmod(checks, 0o755);
  await writeFile(path.join(checks, 'check.sh'), 'grep -q "^total: 42$" report.txt');
  workspace = await createWorkspace();
  await workspace.write('report.txt', 'apples\ntotal: 42\n');
});
afterAll(async () => {
  await workspace.dispose();
  await rm(checks, { recursive: true, force: true });
});

const verify = (options: CommandOptions): Promise<Verification> =>
  createCommandVerifier(options)(attemptOf('done', { workspace }), never);

describe('a command verifier without a workspace or a sandbox', () => {
  it('gives no grade when the attempt left no workspace', async () => {
    expect(await createCommandVerifier({ command: 'true' })(attemptOf('done'), never)).toMatchObject({
      status: 'failed-to-run',
    });
  });

  it('gives no grade where commands cannot be confined (not a grade of 0)', async () => {
    const open = await createWorkspace({ confinement: { ok: false, why: 'no wall here', fix: 'get one' } });
    const given = await createCommandVerifier({ command: 'true' })(
      attemptOf('done', { workspace: open }),
      never,
    );
    expect(given).toEqual({ status: 'failed-to-run', reasons: ['the check was refused: no wall here'] });
    await open.dispose();
  });

  it('grades with the plain shell on every machine', async () => {
    const command = "grep -q '^total: 42$' report.txt && test ! -e draft.txt";
    expect(await verify({ command, shell: 'plain' })).toMatchObject({ status: 'ok', reward: 1 });
    expect(await verify({ command: 'test -e draft.txt', shell: 'plain' })).toMatchObject({
      status: 'ok',
      reward: 0,
    });
    expect(await verify({ command: 'python3 x', shell: 'plain' })).toMatchObject({ status: 'failed-to-run' });
    expect(await verify({ command: 'echo $X', shell: 'plain' })).toMatchObject({ status: 'failed-to-run' });
  });
});

describe.skipIf(!here.ok)(
  `a command verifier in a sandbox${here.ok ? '' : ` (skipped: ${here.why})`}`,
  () => {
    it('grades by the exit code', async () => {
      expect(await verify({ command: 'grep -q 42 report.txt' })).toMatchObject({ reward: 1 });
      expect(await verify({ command: ['sh', '-c', 'echo missing >&2; exit 3'] })).toEqual({
        status: 'ok',
        reward: 0,
        reasons: ['the check exited with 3, not 0: missing'],
      });
      expect(await verify({ command: 'exit 3', expectExit: 3 })).toMatchObject({ reward: 1 });
      expect(await verify({ command: 'cat report.txt', expectStdout: 'pears' })).toMatchObject({ reward: 0 });
    });

    it('runs checks that the attempt can neither read nor change', async () => {
      const command = 'sh "$CHECKS/check.sh"';
      expect(await verify({ command, checks })).toMatchObject({ reward: 1 });
      const spoil = await workspace.run(`echo true > ${checks}/check.sh`, { readable: [checks] }, never);
      expect(spoil).toMatchObject({ end: 'exit', code: 2 });
      expect(await workspace.run(`ls ${checks}`, {}, never)).not.toMatchObject({ code: 0 });
    });

    it('gives no grade for a check that is missing or times out (unless time-outs count)', async () => {
      expect(await verify({ command: 'no-such-check' })).toMatchObject({ status: 'failed-to-run' });
      expect(await verify({ command: 'sleep 60', timeoutMs: 300 })).toMatchObject({
        status: 'failed-to-run',
      });
      expect(await verify({ command: 'sleep 60', timeoutMs: 300, timeoutFails: true })).toMatchObject({
        reward: 0,
      });
      expect(await verify({ command: 'yes', outputBytes: 1000 })).toMatchObject({ status: 'failed-to-run' });
    });
  },
);
