import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { asNumber, isObject, parseJson } from '../../core/json.ts';
import type { RunEntry, RunJournal } from '../../train/step-journal.ts';
import { isRecordedTask } from './recorded-task.ts';

interface Line {
  readonly place: number;
  readonly entry: RunEntry;
}

/**
 * A run's journal in a file of the home, which one daemon has. Attempts whose batch is closed are forgotten when it is
 * opened: they are most of it, and nobody asks for them again. Attempts at recorded tasks are not written at all, and are made
 * again after an interruption: what people said stands in the record alone, so that erasing it there is enough.
 */
export function openFileJournal(file: string): RunJournal & { close(): void } {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const before = existsSync(file) ? readLines(readFileSync(file, 'utf8')) : [];
  const kept = forget(before);
  let places = (before.at(-1)?.place ?? -1) + 1;
  if (kept.length < before.length) {
    const text = kept.map((line) => `${JSON.stringify(line)}\n`).join('');
    writeFileSync(`${file}.new`, text, { mode: 0o600, flush: true });
    renameSync(`${file}.new`, file);
  }
  const descriptor = openSync(file, 'a', 0o600);
  // A line that a kill cut short must not swallow the next one.
  if (before.length > 0) writeSync(descriptor, '\n');
  return {
    read: async () => ({ entries: kept.map(({ entry }) => entry), places }),
    append: async (entry, place) => {
      if (place !== places) throw new Error(`entry ${place} of the run is written already`);
      if (entry.type !== 'group-collected' || !isRecordedTask(entry.group.task)) {
        writeSync(descriptor, `${JSON.stringify({ place, entry })}\n`);
        fsyncSync(descriptor);
      }
      places++;
    },
    close: () => closeSync(descriptor),
  };
}

const readLines = (text: string): readonly Line[] =>
  text.split('\n').flatMap((line): readonly Line[] => {
    const read = parseJson(line);
    if (!isObject(read) || asNumber(read.place) === undefined || !isObject(read.entry)) return [];
    return [read as unknown as Line];
  });

function forget(lines: readonly Line[]): readonly Line[] {
  const closed = new Set(
    lines.flatMap(({ entry }) => {
      const isClosing =
        entry.type === 'step-ended' || entry.type === 'step-refused' || entry.type === 'rolled-back';
      return isClosing ? [entry.batch] : [];
    }),
  );
  // The last line says how many there were: it always stays.
  return lines.filter(
    ({ entry }, at) =>
      entry.type !== 'group-collected' || !closed.has(entry.batch) || at === lines.length - 1,
  );
}
