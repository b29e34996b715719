import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type CommandModelOptions, createCommandModel } from '../../src/models/command-model.ts';

/** A real program of a few lines in place of a command-line agent that costs money; `input()` reads its standard input. */
export async function createStandIn(
  command: 'claude' | 'codex',
  program: string,
  more: Partial<CommandModelOptions> = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'instar-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const bin = join(folder, 'bin');
  const cwd = join(folder, 'runs');
  await mkdir(bin);
  await mkdir(cwd);
  const file = join(bin, command);
  await writeFile(file, `#!${process.execPath}\n${PROLOGUE}\n${program}\n`);
  await chmod(file, 0o755);
  const model = createCommandModel({
    command,
    timeoutMs: 25_000,
    cwd,
    graceMs: 10_000,
    ...more,
    env: { PATH: bin, HOME: folder, ...more.env },
  });
  return { model, folder, left: () => readdir(cwd) };
}

const PROLOGUE = `
const fs = require('node:fs');
const args = process.argv.slice(2);
const input = () => fs.readFileSync(0, 'utf8');
const print = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
const answer = (text, more) => print({ type: 'result', subtype: 'success', is_error: false, num_turns: 1, result: text, ...more });
`;
