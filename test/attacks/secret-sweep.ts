import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { DatabaseSync } from '@photostructure/sqlite';
import type { SecretSample } from '../../lab/measure/secrets/secret-kinds.ts';

/** A place where text may have come to rest. */
export interface Sink {
  readonly name: string;
  readonly text: string;
}

/** Every file below a folder, raw, and every value of every table of every store in it, decompressed if possible. */
export function sinksIn(dir: string): readonly Sink[] {
  const files = (readdirSync(dir, { recursive: true }) as string[])
    .map((name) => path.join(dir, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
  return files.flatMap((file) => {
    // A temporary file may be renamed in between; it is found under its new name.
    if (!existsSync(file)) return [];
    const bytes = readFileSync(file);
    const name = path.relative(dir, file);
    const isStore = bytes.subarray(0, 15).toString('latin1') === 'SQLite format 3';
    return [
      { name, text: bytes.toString('utf8') },
      ...(isStore ? [{ name: `${name} (values)`, text: valuesOf(file) }] : []),
    ];
  });
}

function valuesOf(file: string): string {
  const db = new DatabaseSync(file, { readOnly: true });
  const tables = db.prepare("select name from sqlite_master where type = 'table'").all() as {
    name: string;
  }[];
  const values = tables.flatMap(({ name }) =>
    db
      .prepare(`select * from "${name}"`)
      .all()
      .flatMap((row) => Object.values(row as object)),
  );
  db.close();
  return values.map(readable).join('\n');
}

function readable(value: unknown): string {
  if (!(value instanceof Uint8Array)) return String(value);
  try {
    return inflateRawSync(value).toString('utf8');
  } catch {
    return Buffer.from(value).toString('utf8');
  }
}

/** Four digits are in any database by chance. */
const SHORTEST_ALONE = 6;

/** What must be found nowhere: the secret, of a block each of its lines, and a short one with the words around it. */
export const needlesOf = ({ secret, text }: SecretSample): readonly string[] => {
  if (secret.length < SHORTEST_ALONE) return [text];
  const lines = secret.split(/\n|\\n/).filter((line) => line.length >= 20 && !line.startsWith('-----'));
  return secret.includes('\n') || secret.includes('\\n') ? lines : [secret];
};

/** `kind in sink`, for every secret that is somewhere. */
export const foundIn = (samples: readonly SecretSample[], sinks: readonly Sink[]): readonly string[] =>
  samples.flatMap((sample) => {
    const needles = new Set(needlesOf(sample).flatMap((one) => [one, JSON.stringify(one).slice(1, -1)]));
    return sinks.flatMap(({ name, text }) =>
      [...needles].some((needle) => text.includes(needle)) ? [`${sample.kind} in ${name}`] : [],
    );
  });
