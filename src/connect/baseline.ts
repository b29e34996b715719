import { createHash } from 'node:crypto';
import { takeOut } from './apply-edit.ts';
import type { ClientFile, Content } from './client-file.ts';
import type { FileRecord } from './record.ts';

export interface Baseline {
  /** What the file would hold without us; undefined when there would be none. */
  readonly content: Content | undefined;
  /**
   * `exact`: byte for byte what it was. `changed`: someone else has changed the file since, and only our part was taken
   * out. `gone`: the file was taken away since. `unreadable`: it was changed in such a way that our part cannot be found.
   */
  readonly kind: 'exact' | 'changed' | 'gone' | 'unreadable';
}

/** A connected client's file as it would be if it had never been connected. */
export function baselineOf({ content }: ClientFile, record: FileRecord): Baseline {
  const before = record.before && {
    bytes: Buffer.from(record.before.base64, 'base64'),
    mode: record.before.mode,
  };
  if (content === undefined) return { content: undefined, kind: before === undefined ? 'exact' : 'gone' };
  const isUntouched = hashOf(content.bytes) === record.after;
  if (isUntouched || before?.bytes.equals(content.bytes)) return { content: before, kind: 'exact' };
  const text = takeOut(content.bytes.toString('utf8'), record.undo);
  if (text === undefined) return { content, kind: 'unreadable' };
  const isOurs = before === undefined && /^\s*(\{\s*\})?\s*$/.test(text);
  const mode = before?.mode ?? content.mode;
  return { content: isOurs ? undefined : { bytes: Buffer.from(text), mode }, kind: 'changed' };
}

export const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
