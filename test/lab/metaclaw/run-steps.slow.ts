import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseCommand } from '../../../lab/suites/metaclaw/parse-command.ts';
import { runSteps } from '../../../lab/suites/metaclaw/run-steps.ts';
import type { TaskVerdict } from '../../../lab/suites/suite.ts';
import { createWorkspace, type Workspace } from '../../../src/agent/sandbox/workspace.ts';
import { never, wall, withFiles } from './place.ts';

interface Asked {
  readonly exit?: number;
  readonly stdout?: string;
  readonly timeoutMs?: number;
}

const grade = (workspace: Workspace, command: string, asked: Asked = {}): Promise<TaskVerdict> =>
  runSteps(workspace, parseCommand(command).steps, { exit: 0, timeoutMs: 30_000, ...asked }, never);

const PASSED: TaskVerdict = { status: 'ok', passed: true, broken: [], reasons: [], official: true };
const READ_OK = `python -c "import json,sys; sys.exit(0 if json.load(open('a.json'))['ok'] is True else 1)"`;

describe('a chain of checkers', () => {
  it('passes when all do, and names the rule of the first that does not', async () => {
    const command =
      'python scripts/check_filename.py --dir d/ --ext md && python scripts/check_backup.py a && python scripts/check_done_log.py done.log';
    const log = '[DONE] 2026-03-16T09:30:00+08:00 | a | b\n';
    const all = { 'd/20260316_a.md': '', a: 'new', 'a.bak': 'old', 'done.log': log };
    expect(await withFiles(all, (workspace) => grade(workspace, command))).toEqual(PASSED);
    const broken: (readonly string[])[] = [];
    for (const missing of Object.keys(all)) {
      const files = Object.fromEntries(Object.entries(all).filter(([file]) => file !== missing));
      const verdict = await withFiles({ 'd/x': '', ...files }, (workspace) => grade(workspace, command));
      expect(verdict).toMatchObject({ status: 'ok', passed: false });
      expect(verdict.reasons).toHaveLength(1);
      broken.push(verdict.broken);
    }
    expect(broken).toEqual([['P2'], ['P4'], ['P4'], ['P5']]);
  });

  it('is compared with the expected exit code', async () => {
    const files = { a: 'x', 'a.bak': 'x' };
    const command = 'python scripts/check_backup.py a';
    expect(await withFiles(files, (workspace) => grade(workspace, command, { exit: 1 }))).toEqual(PASSED);
    expect(await withFiles(files, (workspace) => grade(workspace, command, { exit: 2 }))).toMatchObject({
      passed: false,
    });
    const different = { a: 'x', 'a.bak': 'y' };
    const verdict = await withFiles(different, (workspace) => grade(workspace, command, { exit: 1 }));
    expect(verdict).toMatchObject({ status: 'ok', passed: false, broken: [] });
  });

  it('fails to run in a workspace that is gone or when it is aborted (it neither passes nor fails)', async () => {
    const workspace = await createWorkspace();
    const { steps } = parseCommand('python scripts/check_backup.py a');
    const aborted = await runSteps(workspace, steps, { exit: 0, timeoutMs: 1000 }, AbortSignal.abort());
    expect(aborted).toMatchObject({ status: 'failed-to-run', passed: false });
    await workspace.dispose();
    expect(await grade(workspace, 'python scripts/check_backup.py a')).toMatchObject({
      status: 'failed-to-run',
      passed: false,
    });
  });

  it('fails to run without a sandbox if it needs Python, whatever is expected', async () => {
    const workspace = await createWorkspace({
      confinement: { ok: false, why: 'no wall here', fix: 'get one' },
    });
    const named = 'python scripts/check_backup.py $(python -c "print(1)")';
    for (const command of [READ_OK, named])
      for (const exit of [0, 1, 126, 127])
        expect(await grade(workspace, command, { exit })).toEqual({
          status: 'failed-to-run',
          passed: false,
          broken: [],
          reasons: ['no wall here'],
        });
    await workspace.dispose();
  });
});

describe.skipIf(!wall.ok)(`a check in Python${wall.ok ? '' : ` (cannot be tried here: ${wall.why})`}`, () => {
  it('passes and fails by its exit code, in the workspace', async () => {
    expect(await withFiles({ 'a.json': '{"ok": true}' }, (workspace) => grade(workspace, READ_OK))).toEqual(
      PASSED,
    );
    for (const files of [{ 'a.json': '{"ok": 1}' }, { 'a.json': '{' }, {}] as Record<string, string>[]) {
      const verdict = await withFiles(files, (workspace) => grade(workspace, READ_OK));
      expect(verdict).toMatchObject({ status: 'ok', passed: false, broken: [] });
    }
    const three = 'python -c "import sys; sys.exit(3)"';
    expect(await withFiles({}, (workspace) => grade(workspace, three, { exit: 3 }))).toEqual(PASSED);
  });

  it('compares the output where the data asks for it', async () => {
    await withFiles({}, async (workspace) => {
      const command = `python -c "print('one')" && python -c "print('two')"`;
      expect(await grade(workspace, command, { stdout: 'one\ntwo' })).toEqual(PASSED);
      expect(await grade(workspace, command, { stdout: 'three' })).toMatchObject({
        status: 'ok',
        passed: false,
      });
    });
  });

  it('lets a program name the file, and fails when it names none', async () => {
    const command = `python scripts/check_backup.py $(python -c "import glob; print(sorted(glob.glob('*.md'))[0])")`;
    const files = { 'a.md': 'new', 'a.md.bak': 'old' };
    expect(await withFiles(files, (workspace) => grade(workspace, command))).toEqual(PASSED);
    const none = await withFiles({}, (workspace) => grade(workspace, command));
    expect(none).toMatchObject({ status: 'ok', passed: false });
    expect(none.reasons[0]).toContain('IndexError');
  });

  it('takes the output as one name (a name cannot smuggle in options or a second file)', async () => {
    const command = `python scripts/check_metadata.py $(python -c "import glob; print(glob.glob('*.md*')[0])")`;
    const meta = JSON.stringify({
      meta: { created_at: '2026-03-16T09:30:00+08:00', author: 'a', status: 'done' },
    });
    const verdict = await withFiles({ 'x.md --type json': meta }, (workspace) => grade(workspace, command));
    expect(verdict).toMatchObject({ status: 'ok', passed: false });
  });

  it('does not import modules from the workspace', async () => {
    const lie = 'import sys\nsys.exit(0)\n';
    const names = [
      'json',
      'sys',
      'glob',
      're',
      'sitecustomize',
      'usercustomize',
      'encodings/__init__',
      'site',
    ];
    const files = Object.fromEntries(names.map((name) => [`${name}.py`, lie]));
    await withFiles({ ...files, 'a.json': '{"ok": false}' }, async (workspace) => {
      const unguarded = await workspace.run(
        ['python3', '-c', 'import json; import os; os._exit(1)'],
        {},
        never,
      );
      expect(unguarded).toMatchObject({ end: 'exit', code: 0 });
      expect(await grade(workspace, READ_OK)).toMatchObject({ status: 'ok', passed: false });
      const command = `python -c "import glob,re,sys; sys.exit(0 if glob.glob('gone') else 1)"`;
      expect(await grade(workspace, command)).toMatchObject({ status: 'ok', passed: false });
    });
  });

  it('leaves no file behind', async () => {
    await withFiles({ 'a.json': '{"ok": true}', 'd/module.py': 'x = 1\n' }, async (workspace) => {
      const all = (): string => execFileSync('find', ['.'], { cwd: workspace.folder }).toString();
      const before = all();
      expect(await grade(workspace, READ_OK)).toEqual(PASSED);
      const imports = `python -c "import sys; sys.path.insert(0, 'd'); import module; sys.exit(module.x - 1)"`;
      expect(await grade(workspace, imports)).toEqual(PASSED);
      expect(all()).toBe(before);
    });
  });

  it('fails work that makes it run too long or print too much (it is not left ungraded)', async () => {
    await withFiles({}, async (workspace) => {
      execFileSync('sh', ['-c', 'mkfifo "$0"', path.join(workspace.folder, 'a.json')]);
      const waiting = await grade(workspace, READ_OK, { timeoutMs: 1000 });
      expect(waiting).toMatchObject({ status: 'ok', passed: false });
      expect(waiting.reasons[0]).toContain('timeout');
      const talking = await grade(workspace, `python -c "print('x' * 3000000)"`);
      expect(talking).toMatchObject({ status: 'ok', passed: false });
      expect(talking.reasons[0]).toContain('output');
    });
  });

  it('fails to run where there is no python3', async () => {
    if (!wall.ok) return;
    const { confiner } = wall;
    const wrap: typeof confiner.wrap = (place, line) =>
      confiner.wrap(
        place,
        line.map((word) => (word === 'python3' ? 'python-of-nowhere' : word)),
      );
    const workspace = await createWorkspace({ confinement: { ok: true, confiner: { ...confiner, wrap } } });
    for (const exit of [0, 1, 127]) {
      const verdict = await grade(workspace, READ_OK, { exit });
      expect(verdict).toMatchObject({ status: 'failed-to-run', passed: false });
      expect(verdict.reasons[0]).toContain('python3 cannot be run');
    }
    await workspace.dispose();
  });
});
