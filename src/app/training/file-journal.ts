import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { replaceFileSync } from '../../base/atomic-file.ts';
import { asNumber, isObject, type Json, type JsonObject, parseJson } from '../../core/json.ts';
import type { RunEntry, RunJournal } from '../../train/step-journal.ts';
import { isRecordedTask } from './recorded-task.ts';

interface Line {
  readonly place: number;
  readonly entry: RunEntry;
}

/**
 * A run's journal in a file of the home, which belongs to one daemon. Opening it drops the attempts of closed batches: they
 * are most of the file and are not needed again. Attempts at recorded tasks are never written, and are made again after an
 * interruption: users' words are only in the record, so erasing them there is enough.
 */
export function openFileJournal(file: string): RunJournal & { close(): void } {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const before = existsSync(file) ? readLines(readFileSync(file, 'utf8')) : [];
  const kept = forget(before);
  let places = (before.at(-1)?.place ?? -1) + 1;
  if (kept.length < before.length) {
    const text = kept.map((line) => `${JSON.stringify(line)}\n`).join('');
    replaceFileSync(file, text);
  }
  const descriptor = openSync(file, 'a', 0o600);
  // After a kill the last line may be incomplete: the next entry must start on a new line.
  if (before.length > 0) writeSync(descriptor, '\n');
  return {
    read: async () => ({ entries: kept.map(({ entry }) => entry), places }),
    append: async (entry, place) => {
      if (place !== places) throw new Error(`entry ${place} of the run already exists`);
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
    return isLine(read) ? [read] : [];
  });

/** Only this file writes the journal: a line that is complete JSON has all of its members. */
const isLine = (value: Json | undefined): value is JsonObject & Line =>
  isObject(value) && asNumber(value.place) !== undefined && isObject(value.entry);

function forget(lines: readonly Line[]): readonly Line[] {
  const closed = new Set(
    lines.flatMap(({ entry }) => {
      const isClosing =
        entry.type === 'step-ended' || entry.type === 'step-refused' || entry.type === 'rolled-back';
      return isClosing ? [entry.batch] : [];
    }),
  );
  // The last line has the number of entries: it always stays.
  return lines.filter(
    ({ entry }, at) =>
      entry.type !== 'group-collected' || !closed.has(entry.batch) || at === lines.length - 1,
  );
}
