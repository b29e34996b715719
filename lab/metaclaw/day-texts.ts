import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { MetaclawDataError } from './data-error.ts';
import { readDataText } from './read-data-file.ts';

/** What a day's materials may hold together; the published ones hold some kilobytes. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * What the agent finds on a day: the files that lie beside the days, and the day's own folder. Nothing of other days,
 * whose materials give away what was asked there, and nothing of the checks. By path with `/`. Rejects with a
 * MetaclawDataError for what cannot be given as text.
 */
export async function readDayTexts(
  workspaces: string,
  day: string,
): Promise<Readonly<Record<string, string>>> {
  const found: [string, string][] = [];
  const left = { bytes: MOST_BYTES };
  for (const name of await namesIn(workspaces)) {
    const at = path.join(workspaces, name);
    if ((await lstat(at)).isFile()) found.push([name, await readOne(at, left)]);
  }
  const waiting = [day];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop())
    for (const name of await namesIn(path.join(workspaces, folder))) {
      const inside = `${folder}/${name}`;
      const at = path.join(workspaces, inside);
      if ((await lstat(at)).isDirectory()) waiting.push(inside);
      else found.push([inside, await readOne(at, left)]);
    }
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Names that begin with a dot are what editors and systems leave behind. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => undefined);
  if (names === undefined)
    throw new MetaclawDataError(`${folder} is not a folder that can be read: fetch the data again`);
  return names.filter((name) => !name.startsWith('.'));
}

async function readOne(at: string, left: { bytes: number }): Promise<string> {
  const found = await lstat(at);
  if (!found.isFile())
    throw new MetaclawDataError(`${at} is not a plain file: replace it by what it leads to`);
  left.bytes -= found.size;
  if (left.bytes < 0)
    throw new MetaclawDataError(`${at}: the day holds more than ${MOST_BYTES} bytes: take files out`);
  return readDataText(at);
}
