import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { replaceFileSync } from '../src/base/atomic-file.ts';
import type { Log } from '../src/base/log.ts';
import { HomeInUseError } from '../src/config/home.ts';
import { asNumber, asObject, asString, parseJson } from '../src/core/json.ts';
import { lockHome } from '../src/record/home-lock.ts';
import { MARK } from './nano/policy/vocabulary.ts';
import { startTinkerServer } from './nano/server/start-tinker-server.ts';
import { openNano, ShippedFileError } from './nano/shipped-policy.ts';

export { ShippedFileError };

export interface StartEngineOptions {
  /** Where models in training and checkpoints are kept. Only one engine may use it at a time. */
  readonly folder: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Loopback by default. */
  readonly host?: string;
  /** Required of every caller, also on loopback: a program of another user reaches that port too. */
  readonly key: string;
  readonly log: Pick<Log, 'warn'>;
  /** The folder of the policy's files, if not the installed one. */
  readonly policy?: string;
}

export interface RunningEngine {
  readonly url: string;
  readonly port: number;
  /** The model's name for clients. */
  readonly model: string;
  /** Finishes the request in progress; queued requests stay on disk. */
  close(): Promise<void>;
}

/**
 * Serves the embedded policy over the Tinker protocol; models that were in training continue. Rejects with a HomeInUseError
 * when another engine uses the folder, with a ShippedFileError when the policy's files are damaged, and with the system's
 * error when the port is not available.
 */
export async function startEngine(options: StartEngineOptions): Promise<RunningEngine> {
  const { folder, port, host, key, log, policy } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = lockHome(path.join(folder, 'lock.sqlite'));
  if (lock === undefined) throw new HomeInUseError(describeOwner(folder));
  try {
    removeEngineRecord(folder);
    const nano = await openNano(policy);
    const server = await startTinkerServer({
      engine: nano.engine,
      folder,
      port,
      ...(host !== undefined && { host }),
      key,
      log: (line) => log.warn(line),
      endOfText: [MARK.end],
    }).catch(async (error) => {
      await nano.close();
      throw error;
    });
    writeEngineRecord(folder, { pid: process.pid, url: server.url });
    return {
      url: server.url,
      port: server.port,
      model: nano.name,
      close: async () => {
        removeEngineRecord(folder);
        await server.close();
        await nano.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function describeOwner(folder: string): string {
  const owner = readEngineRecord(folder);
  if (owner === undefined) return `another engine is starting in ${folder}`;
  return `another engine serves ${folder}: ${owner.url} (pid ${owner.pid})`;
}

/** Which process serves a folder, and its address. After a kill the file stays until the next engine takes the folder. */
interface EngineRecord {
  readonly pid: number;
  readonly url: string;
}

const fileIn = (folder: string): string => path.join(folder, 'engine.json');

function writeEngineRecord(folder: string, record: EngineRecord): void {
  replaceFileSync(fileIn(folder), `${JSON.stringify(record)}\n`);
}

const removeEngineRecord = (folder: string): void => rmSync(fileIn(folder), { force: true });

/** Undefined when there is no readable record. */
export function readEngineRecord(folder: string): EngineRecord | undefined {
  let text: string;
  try {
    text = readFileSync(fileIn(folder), 'utf8');
  } catch {
    return undefined;
  }
  const record = asObject(parseJson(text));
  const [pid, url] = [asNumber(record.pid), asString(record.url)];
  return pid === undefined || url === undefined ? undefined : { pid, url };
}
