import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { proposeToWorkshop } from '../../src/connect/openclaw-workshop.ts';

// The replies are those of OpenClaw 2026.9.6, shortened.
const TAKEN = '{ "record": { "id": "date-offsets-20261117-3a0b81294f", "status": "pending" } }';
const BUSY =
  '{ "ok": false, "error": { "type": "cli_error", "message": "another OpenClaw process owns state-lifecycle" } }';
const PROPOSAL = {
  name: 'date-offsets',
  description: 'When you write dates.',
  content: 'Use +02:00.',
  evidence: 'Measured.',
};

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'workshop-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that stands where OpenClaw's command would; it runs in its own process. */
function program(...lines: string[]): string {
  const file = path.join(folder, 'openclaw');
  writeFileSync(file, ['#!/bin/sh', `cd '${folder}'`, ...lines, ''].join('\n'), { mode: 0o755 });
  return file;
}
const propose = (
  command: string,
  options: { timeoutMs?: number; tries?: number; description?: string } = {},
) =>
  proposeToWorkshop(
    { ...PROPOSAL, ...(options.description === undefined ? {} : { description: options.description }) },
    {
      program: command,
      env: { PATH: process.env.PATH, TMPDIR: folder },
      retryMs: 1,
      tries: options.tries ?? 5,
      timeoutMs: options.timeoutMs ?? 60_000,
    },
  );

it('a proposal is a file and its evidence, and the answer is its id', async () => {
  const command = program(
    'printf "%s\\n" "$@" > args',
    'for last; do :; done',
    'cp "$last" content',
    `echo '${TAKEN}'`,
  );
  expect(await propose(command)).toEqual({ ok: true, id: 'date-offsets-20261117-3a0b81294f' });
  expect(readFileSync(path.join(folder, 'content'), 'utf8')).toBe('Use +02:00.\n');
  expect(readFileSync(path.join(folder, 'args'), 'utf8')).toContain('--evidence\nMeasured.\n');
});

it('a long description is cut between characters, within the bytes that the Workshop takes', async () => {
  const command = program('printf "%s" "$7" > flag; printf "%s" "$8" > description', `echo '${TAKEN}'`);
  await propose(command, { description: 'ü'.repeat(100) });
  const [flag, description] = ['flag', 'description'].map((name) =>
    readFileSync(path.join(folder, name), 'utf8'),
  );
  expect([flag, description]).toEqual(['--description', 'ü'.repeat(80)]);
});

it('while OpenClaw starts, the proposal is made again until it is taken', async () => {
  const command = program(
    'echo x >> tries',
    `if [ "$(wc -l < tries)" -lt 3 ]; then echo '${BUSY}'; exit 1; fi`,
    `echo '${TAKEN}'`,
  );
  expect(await propose(command)).toMatchObject({ ok: true });
  expect(readFileSync(path.join(folder, 'tries'), 'utf8')).toBe('x\nx\nx\n');
});

it('where OpenClaw stays busy, the reason is its own and the fix is to wait', async () => {
  const command = program(`echo '${BUSY}'`, 'exit 1');
  expect(await propose(command, { tries: 2 })).toEqual({
    ok: false,
    why: 'another OpenClaw process owns state-lifecycle',
    fix: 'OpenClaw is starting or stopping: try again when it has',
  });
});

it('any other refusal is told once, in OpenClaw’s words', async () => {
  const refusal = '{ "ok": false, "error": { "message": "Skill already exists" } }';
  const command = program('echo x >> tries', `echo '${refusal}'`, 'exit 1');
  expect(await propose(command)).toMatchObject({ ok: false, why: 'Skill already exists' });
  expect(readFileSync(path.join(folder, 'tries'), 'utf8')).toBe('x\n');
});

it('a reply without an id, a command that hangs and one that is missing each say what to do', async () => {
  expect(await propose(program('echo "{}"'))).toMatchObject({ ok: false, why: '{}' });
  expect(await propose(program('exec sleep 600'), { timeoutMs: 1_000 })).toMatchObject({
    ok: false,
    why: 'it gave no answer in time',
  });
  const missing = path.join(folder, 'nowhere');
  expect(await propose(missing)).toEqual({
    ok: false,
    why: `${missing} was not found`,
    fix: 'name its command with --program PATH',
  });
  expect(existsSync(missing)).toBe(false);
  expect(readdirSync(folder)).toEqual(['openclaw']);
});
