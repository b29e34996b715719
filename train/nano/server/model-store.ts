import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../../../src/base/atomic-file.ts';
import { asNumber, asObject, asString } from '../../../src/core/json.ts';
import type { LoraOptions } from '../engine.ts';
import { loraFrom, loraJson } from './checkpoints.ts';
import { type RequestOutcome, restoreOutcome, storeOutcome } from './futures.ts';
import {
  createModelJournal,
  DamagedFileError,
  headOnly,
  type JournalRecord,
  type ModelJournal,
  openModelJournal,
  readChecked,
  readModelJournal,
  sha256,
} from './model-journal.ts';
import { decodeModelRequest, MODEL_REQUEST_KINDS, type ModelRequest } from './model-request.ts';

export interface AcceptedRequest {
  readonly job: ModelRequest;
  /** The idempotency key of the HTTP request, which identifies a request without a sequence number. */
  readonly key: string | undefined;
}

/** What the files of a model contain: a snapshot, and the requests and outcomes since. */
export interface ModelHistory {
  /** The snapshot includes the effect of all requests up to this one. */
  readonly base: number;
  readonly lora: LoraOptions;
  readonly saved: Uint8Array;
  readonly asked: ReadonlyMap<number, AcceptedRequest>;
  readonly ended: ReadonlyMap<number, { readonly print: string; readonly outcome: RequestOutcome }>;
  /** How often a request without an outcome was begun. */
  readonly attempts: ReadonlyMap<number, number>;
}

/** The files of one model: `journal-<n>.log` and the snapshot that it names. */
export interface ModelStore {
  /** Bytes written since the last snapshot. */
  readonly size: number;
  ask(seq: number, asked: AcceptedRequest): Promise<void>;
  begin(seq: number): Promise<void>;
  end(seq: number, print: string, outcome: StoredOutcome): Promise<void>;
  /** `carry` is called directly before the rotation: what is appended later goes into the new journal. */
  snapshot(
    base: number,
    saved: Uint8Array,
    lora: LoraOptions,
    carry: () => readonly JournalRecord[],
  ): Promise<void>;
  read(): Promise<ModelHistory>;
  close(): Promise<void>;
}

export type StoredOutcome = Exclude<RequestOutcome, { kind: 'sample' }>;

export const acceptedRecord = (seq: number, { job, key }: AcceptedRequest): JournalRecord => ({
  head: {
    t: 'ask',
    seq,
    kind: job.kind,
    proto: job.isProto,
    print: job.print,
    ...(key === undefined ? {} : { key }),
  },
  bytes: job.bytes,
});
export const outcomeRecord = (seq: number, print: string, outcome: StoredOutcome): JournalRecord =>
  storeOutcome(outcome, { t: 'end', seq, print });

/** Undefined when there is no journal: the model was requested, but never created. */
export async function openModelStore(folder: string): Promise<ModelStore | undefined> {
  const bases = (await readdir(folder))
    .map((name) => /^journal-(\d+)\.log$/.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => b - a);
  const [newest, ...older] = bases;
  if (newest === undefined) return undefined;
  // An older journal is left when the process died directly after the rotation.
  for (const base of older) await rm(path.join(folder, journalName(base)), { force: true });
  return createStore(
    folder,
    journalName(newest),
    await openJournalCut(path.join(folder, journalName(newest))),
  );
}

/** A store for files that cannot be used: every call rejects with the reason. */
export function createBrokenStore(why: Error): ModelStore {
  const refuse = (): Promise<never> => Promise.reject(why);
  return {
    size: 0,
    ask: refuse,
    begin: refuse,
    end: refuse,
    snapshot: refuse,
    read: refuse,
    close: async () => undefined,
  };
}

async function openJournalCut(file: string): Promise<ModelJournal> {
  await readModelJournal(file);
  return openModelJournal(file);
}

export async function createModelStore(
  folder: string,
  saved: Uint8Array,
  lora: LoraOptions,
): Promise<ModelStore> {
  await mkdir(folder, { recursive: true });
  const first = await writeSnapshot(folder, 0, saved, lora);
  return createStore(
    folder,
    journalName(0),
    await createModelJournal(path.join(folder, journalName(0)), [first]),
  );
}

const journalName = (base: number): string => `journal-${base}.log`;

async function writeSnapshot(
  folder: string,
  base: number,
  saved: Uint8Array,
  lora: LoraOptions,
): Promise<JournalRecord> {
  const sha = sha256(saved);
  const file = `snapshot-${base}-${sha.slice(0, 16)}.bin`;
  await replaceFile(path.join(folder, file), saved);
  return headOnly({ t: 'base', seq: base, file, sha, lora: loraJson(lora) });
}

function createStore(folder: string, name: string, journal: ModelJournal): ModelStore {
  let current = name;
  let start = 0;
  return {
    get size() {
      return journal.size - start;
    },
    ask: (seq, asked) => journal.append([acceptedRecord(seq, asked)], true),
    begin: (seq) => journal.append([headOnly({ t: 'begin', seq })], false),
    // A lost success is computed again. A failure must be durable: it might not fail again.
    end: (seq, print, outcome) =>
      journal.append([outcomeRecord(seq, print, outcome)], outcome.kind === 'failed'),
    snapshot: async (base, saved, lora, carry) => {
      const first = await writeSnapshot(folder, base, saved, lora);
      const next = journalName(base);
      await journal.rotate(path.join(folder, next), [first, ...carry()]);
      current = next;
      start = journal.size;
      for (const file of await readdir(folder)) {
        if (file.startsWith('snapshot-') && file !== first.head.file)
          await rm(path.join(folder, file), { force: true });
      }
    },
    read: async () => readHistory(folder, await readModelJournal(path.join(folder, current))),
    close: () => journal.close(),
  };
}

async function readHistory(
  folder: string,
  [first, ...rest]: readonly JournalRecord[],
): Promise<ModelHistory> {
  const file = asString(first?.head.file);
  const lora = loraFrom(asObject(first?.head.lora));
  if (first?.head.t !== 'base' || file === undefined || lora === undefined)
    throw new DamagedFileError(`the journal in ${folder} does not start with a snapshot`);
  const saved = await readChecked(path.join(folder, path.basename(file)), asString(first.head.sha) ?? '');
  const asked = new Map<number, AcceptedRequest>();
  const ended = new Map<number, { print: string; outcome: RequestOutcome }>();
  const attempts = new Map<number, number>();
  for (const record of rest) {
    const { head } = record;
    const seq = asNumber(head.seq) ?? 0;
    if (head.t === 'begin') attempts.set(seq, (attempts.get(seq) ?? 0) + 1);
    else if (head.t === 'end')
      ended.set(seq, { print: asString(head.print) ?? '', outcome: restoreOutcome(record) });
    else if (head.t === 'ask') {
      const kind = MODEL_REQUEST_KINDS.find((one) => one === head.kind);
      if (kind === undefined)
        throw new DamagedFileError(`the journal in ${folder} has a request of an unknown kind`);
      asked.set(seq, {
        job: decodeModelRequest(kind, record.bytes, head.proto === true),
        key: asString(head.key),
      });
    }
  }
  return { base: asNumber(first.head.seq) ?? 0, lora, saved, asked, ended, attempts };
}
