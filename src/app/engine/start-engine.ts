import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { MARK } from '../../nano/policy/vocabulary.ts';
import { isLoopback } from '../../nano/server/door.ts';
import { startTinkerServer } from '../../nano/server/start-tinker-server.ts';
import { lockHome } from '../../store/home-lock.ts';
import { HomeTakenError } from '../home-taken-error.ts';
import type { Log } from '../log.ts';
import { readEngineRecord, removeEngineRecord, writeEngineRecord } from './engine-record.ts';
import { openNano } from './open-nano.ts';

export interface StartEngineOptions {
  /** Where models in training and checkpoints are kept. One engine at a time has it. */
  readonly folder: string;
  /** 0 takes one that is free. */
  readonly port: number;
  /** Loopback unless said otherwise. */
  readonly host?: string;
  /** Asked of every caller; there must be one where `needsKey` says so. */
  readonly key?: string;
  readonly log: Pick<Log, 'warn'>;
  /** Where the policy's files are, if not where they were installed. */
  readonly policy?: string;
}

export interface RunningEngine {
  readonly url: string;
  readonly port: number;
  /** What a client calls the model. */
  readonly model: string;
  /** What is being done ends, what waits stays on the disk. */
  close(): Promise<void>;
}

/** Programs of this machine need none, as for the embedded policy: they could as well start an engine of their own. */
export const needsKey = (host: string): boolean => !isLoopback(host);

/**
 * The embedded policy behind Tinker's routes; models that were in training go on. Rejects with a HomeTakenError when another
 * engine has the folder, with a ShippedFileError when the policy's files are damaged, and with the system's error when the port
 * cannot be had.
 */
export async function startEngine(options: StartEngineOptions): Promise<RunningEngine> {
  const { folder, port, host, key, log, policy } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = lockHome(path.join(folder, 'lock.sqlite'));
  if (lock === undefined) throw new HomeTakenError(describeOwner(folder));
  try {
    removeEngineRecord(folder);
    const nano = await openNano(policy);
    const server = await startTinkerServer({
      engine: nano.engine,
      folder,
      port,
      ...(host !== undefined && { host }),
      ...(key !== undefined && { key }),
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
  if (owner === undefined) return `another engine is just starting in ${folder}`;
  return `another engine serves ${folder}: ${owner.url} (pid ${owner.pid})`;
}
