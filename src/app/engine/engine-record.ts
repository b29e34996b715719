import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { replaceFileSync } from '../../base/atomic-file.ts';
import { asNumber, asObject, asString, parseJson } from '../../core/json.ts';

/** Which process serves a folder, and its address. After a kill the file stays until the next engine takes the folder. */
export interface EngineRecord {
  readonly pid: number;
  readonly url: string;
}

const fileIn = (folder: string): string => path.join(folder, 'engine.json');

export function writeEngineRecord(folder: string, record: EngineRecord): void {
  replaceFileSync(fileIn(folder), `${JSON.stringify(record)}\n`);
}

export const removeEngineRecord = (folder: string): void => rmSync(fileIn(folder), { force: true });

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
