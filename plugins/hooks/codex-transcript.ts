import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { isRecord, textOf } from '../shared/connection.ts';
import { type NativeOutcome, shorten } from '../shared/native-outcome.ts';

const MOST_BYTES = 4 * 1024 * 1024;
const LONGEST_ACTION = 1_000;
const LONGEST_RESULT = 4_000;

/** The commands of one turn with their exit codes, from the end of a Codex transcript; none when it cannot be read. */
export function readCodexCommands(file: string, turn: string): readonly NativeOutcome[] {
  return readEnd(file)
    .split('\n')
    .flatMap((line) => (line.includes('CommandExecution') ? readCommand(line, turn) : []));
}

function readCommand(line: string, turn: string): readonly NativeOutcome[] {
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    // The first line may be cut.
    return [];
  }
  const payload = isRecord(entry) && isRecord(entry.payload) ? entry.payload : {};
  const item = isRecord(payload.item) ? payload.item : {};
  if (payload.turn_id !== turn || item.type !== 'CommandExecution') return [];
  const exitCode = typeof item.exit_code === 'number' ? item.exit_code : undefined;
  const parts = Array.isArray(item.command) ? item.command.map(String) : [];
  const isShell = parts.length === 3 && /^-l?c$/.test(parts[1] ?? '');
  const command = isShell ? (parts[2] ?? '') : parts.join(' ');
  return [
    {
      tool: 'Bash',
      action: shorten(command, LONGEST_ACTION),
      result: shorten(textOf(item.aggregated_output) ?? '', LONGEST_RESULT),
      ok: exitCode === undefined ? item.status === 'completed' : exitCode === 0,
      ...(exitCode === undefined ? {} : { exitCode }),
    },
  ];
}

function readEnd(file: string): string {
  let handle: number | undefined;
  try {
    handle = openSync(file, 'r');
    const { size } = fstatSync(handle);
    const length = Math.min(size, MOST_BYTES);
    const bytes = Buffer.alloc(length);
    return bytes.toString('utf8', 0, readSync(handle, bytes, 0, length, size - length));
  } catch {
    return '';
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
