import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const script = path.join(import.meta.dirname, 'practice-process.mjs');
const dir = mkdtempSync(path.join(tmpdir(), 'practice-kill-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface Life {
  readonly isKilled: boolean;
  readonly output: string;
}

function live(name: string, mode: string): Life {
  const files = ['store.db', 'calls'].map((file) => path.join(dir, `${name}.${file}`));
  const { signal, status, stdout, stderr } = spawnSync(process.execPath, [script, ...files, mode], {
    encoding: 'utf8',
  });
  if (signal !== 'SIGKILL' && status !== 0) throw new Error(stderr);
  return { isKilled: signal === 'SIGKILL', output: stdout };
}

const callsOf = (name: string): readonly string[] =>
  readFileSync(path.join(dir, `${name}.calls`), 'utf8')
    .trim()
    .split('\n');

/** Lives until one is not killed. */
function liveOn(name: string, mode: string): { readonly output: unknown; readonly kills: number } {
  for (let kills = 0; ; kills++) {
    if (kills > 1000) throw new Error('the run does not come to an end');
    const { isKilled, output } = live(name, mode);
    if (!isKilled) return { output: JSON.parse(output), kills };
  }
}

describe('a session of 20 tasks that is killed with SIGKILL', () => {
  let whole: {
    readonly result: { readonly spent: object; readonly counts: { readonly published: number } };
    readonly facts: number;
  };
  beforeAll(() => {
    whole = JSON.parse(live('whole', 'whole').output);
    expect(whole.result.counts.published).toBeGreaterThan(3);
  });

  it('after each write to the store ends with the same library and spending, and pays for nothing twice', () => {
    const { output, kills } = liveOn('after', 'after');
    expect(output).toEqual(whole);
    expect(kills).toBeGreaterThan(100);
    expect(callsOf('after')).toEqual(callsOf('whole'));
  }, 1_200_000);

  it('before each write ends with the same library and spending; only what was under way is done again', () => {
    const { output, kills } = liveOn('before', 'before');
    expect(output).toEqual(whole);
    expect(kills).toBeGreaterThan(100);
    expect(new Set(callsOf('before'))).toEqual(new Set(callsOf('whole')));
    expect(callsOf('before').length).toBeLessThanOrEqual(callsOf('whole').length + kills);
  }, 1_200_000);
});
