import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { replaceFileSync } from '../base/atomic-file.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Home } from '../config/home.ts';
import { type Json, parseJson } from '../core/json.ts';
import type { Undo } from './file-edit.ts';

/** The change to one file, with everything needed to undo it. */
export interface ConnectedFile {
  readonly path: string;
  /** The original content and mode; undefined when there was no file. */
  readonly before?: { readonly base64: string; readonly mode: number };
  /** Hash of the written content, to detect later changes. */
  readonly after: string;
  /** Folders created for it, outermost first. */
  readonly folders: readonly string[];
  readonly undo: Undo;
}

interface ConnectRecord {
  readonly client: string;
  readonly files: readonly ConnectedFile[];
}

const memberSchema = z.object({
  path: z.array(z.string()),
  value: z.json() as z.ZodType<Json>,
  mark: z.array(z.string()).optional(),
  isElement: z.literal(true).optional(),
  before: z.string().optional(),
  depth: z.int().min(0),
});
const recordSchema = z.object({
  client: z.string(),
  files: z.array(
    z.object({
      path: z.string(),
      before: z.object({ base64: z.string(), mode: z.int() }).optional(),
      after: z.string(),
      folders: z.array(z.string()),
      undo: z.union([
        z.object({
          kind: z.literal('json'),
          dialect: z.enum(['json', 'jsonc', 'json5']),
          members: z.array(memberSchema),
        }),
        z.object({
          kind: z.literal('toml'),
          trace: z.object({ table: z.string(), top: z.array(z.string()) }),
        }),
        z.object({ kind: z.literal('yaml') }),
        z.object({ kind: z.literal('whole') }),
      ]),
    }),
  ),
});

const folderOf = (home: Home): string => join(home.dir, 'connect');
const fileOf = (home: Home, client: string): string => join(folderOf(home), `${client}.json`);

export function connectedClients(home: Home): readonly string[] {
  if (!existsSync(folderOf(home))) return [];
  return readdirSync(folderOf(home)).flatMap((name) => /^([a-z-]+)\.json$/.exec(name)?.[1] ?? []);
}

/** Undefined when the client is not connected. Throws `ConfigError` for an invalid record. */
export function readRecord(home: Home, client: string): ConnectRecord | undefined {
  const file = fileOf(home, client);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new ConfigError([{ path: file, what: `cannot be read (${code ?? 'unknown error'})` }]);
  }
  const parsed = recordSchema.safeParse(parseJson(text));
  if (!parsed.success) throw new ConfigError([{ path: file, what: 'is not a record of a connection' }]);
  // JSON has no undefined, so optional members are either absent or set.
  return parsed.data as ConnectRecord;
}

export function writeRecord(home: Home, record: ConnectRecord): void {
  const file = fileOf(home, record.client);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  replaceFileSync(file, `${JSON.stringify(record, null, 2)}\n`);
}

export function removeRecord(home: Home, client: string): void {
  const file = fileOf(home, client);
  rmSync(file, { force: true });
  try {
    rmdirSync(dirname(file));
  } catch {
    // Other clients are still connected.
  }
}
