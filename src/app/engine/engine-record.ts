import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { replacePrivateFile } from '../../config/private-file.ts';
import { asNumber, asObject, asString, parseJson } from '../../core/json.ts';

/** Which process serves a folder, and where. What a killed one left behind stays until the next has the folder. */
export interface EngineRecord {
  readonly pid: number;
  readonly url: string;
}

const fileIn = (folder: string): string => path.join(folder, 'engine.json');

export const writeEngineRecord = (folder: string, record: EngineRecord): void =>
  replacePrivateFile(fileIn(folder), `${JSON.stringify(record)}\n`);

export const removeEngineRecord = (folder: string): void => rmSync(fileIn(folder), { force: true });

/** Undefined when there is none that can be read. */
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
