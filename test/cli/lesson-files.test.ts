import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeHome } from '../support/daemon.ts';
import { runInProcess } from './run-cli.ts';

const scratch = mkdtempSync(path.join(tmpdir(), 'instar-notes-'));
let home: ReturnType<typeof makeHome>;
/** A person is at the terminal, and agrees. */
const asOwner = (...args: string[]) => runInProcess([...args, '--home', home.dir], {}, { keys: ['y'] });
const json = async (...args: string[]) => JSON.parse((await asOwner(...args, '--json')).stdout);
const write = (name: string, text: string): string => {
  const file = path.join(mkdtempSync(path.join(scratch, 'in-')), name);
  writeFileSync(file, text);
  return file;
};

beforeAll(() => {
  home = makeHome({});
});
afterAll(() => {
  home.remove();
  rmSync(scratch, { recursive: true, force: true });
});

describe('instar data import and export', () => {
  it('import a CLAUDE.md as live at the word of a person, and as proposals without one', async () => {
    const rules = write('CLAUDE.md', '# Rules\n\n- Never push to main without a review.\n');
    const alone = await runInProcess(['lessons', 'import', rules, '--home', home.dir, '--json']);
    expect(JSON.parse(alone.stdout)).toMatchObject({ faults: [], done: [{ what: 'imported' }] });
    const [lesson] = await json('lessons', 'list');
    expect(lesson).toMatchObject({ state: 'proposed', kind: 'skill' });
    const other = write('AGENTS.md', '- Sign every commit with your key.\n');
    await asOwner('lessons', 'import', other, '--project', path.dirname(other));
    const signed = await json('lessons', 'show', 'sign-every-commit-with-your-key');
    expect(signed).toMatchObject({ state: 'live', scope: { project: expect.any(String) } });
    expect(signed.note.context).toContain('AGENTS.md, line 1');
  });

  it('say what a file is not, and which formats there are', async () => {
    const unknown = await asOwner('lessons', 'import', write('x.json', '{"a": 1}'));
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('--format youtu, ace, mem0') });
    const wrong = await asOwner('lessons', 'import', write('x.md', 'No playbook.\n'), '--format', 'ace');
    expect(wrong.stdout).toContain('line 1: left out: it is text outside of the bullets');
    expect(await asOwner('lessons', 'import', scratch, '--format', 'mem0')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is a folder'),
    });
  });

  it('import many notes with their count on standard error, and nothing of it with --json', async () => {
    const notes = Array.from({ length: 230 }, (_, nth) => ({
      id: `n${nth}`,
      memory: `Parcels of depot ${nth} are weighed twice before they are sent`,
    }));
    const done = await asOwner('data', 'import', write('many.json', JSON.stringify(notes)));
    expect(done.code).toBe(0);
    expect(done.stderr).toMatch(/importing many\.json.*0 of 230/);
    expect(done.stderr).toContain('200 of 230');
    const again = await asOwner('data', 'import', write('many.json', JSON.stringify(notes)), '--json');
    expect(again.stderr).not.toContain('importing');
  });

  it('import what a broken file has, list the rest with its lines, and fail', async () => {
    const file = write('m.json', '[{"id": "1", "memory": "Uses pnpm daily"},\n {"id": "2", "memory": "cut');
    const done = await asOwner('lessons', 'import', file);
    expect(done.code).toBe(1);
    expect(done.stdout).toContain('uses-pnpm-daily: imported');
    expect(done.stdout).toContain(`${file}:2 is an entry that does not end`);
  });

  it('export for Claude Code, and importing that folder changes nothing', async () => {
    const out = path.join(scratch, 'project');
    await asOwner('lessons', 'export', out, '--for', 'claude-code');
    const folder = path.join(out, '.claude', 'skills', 'sign-every-commit-with-your-key');
    expect(existsSync(path.join(folder, 'SKILL.md'))).toBe(true);
    const again = await json('lessons', 'import', out);
    expect(again.faults).toEqual([]);
    expect(again.done.map(({ what }: { what: string }) => what)).toEqual(['unchanged']);
    expect(await asOwner('lessons', 'export', out, '--for', 'emacs')).toMatchObject({ code: 2 });
  });
});
