import { access, readdir } from 'node:fs/promises';
import path from 'node:path';

/** A set of days: the folder that holds `all_tests.json`. */
export interface MetaclawData {
  /** `small`: the folder's own name. */
  readonly name: string;
  readonly folder: string;
}

/**
 * The sets of the first place that holds one: a candidate is a set itself, or a folder that holds some. Empty when there
 * are none; what is undefined or not there is passed over.
 */
export async function findMetaclawData(
  candidates: readonly (string | undefined)[],
): Promise<readonly MetaclawData[]> {
  for (const candidate of candidates) {
    if (candidate === undefined || candidate === '') continue;
    const place = path.resolve(candidate);
    const folders = (await isSet(place)) ? [place] : await setsIn(place);
    if (folders.length > 0) return folders.map((folder) => ({ name: path.basename(folder), folder }));
  }
  return [];
}

const isSet = (folder: string): Promise<boolean> =>
  access(path.join(folder, 'all_tests.json')).then(
    () => true,
    () => false,
  );

async function setsIn(place: string): Promise<readonly string[]> {
  const names = await readdir(place).catch((): string[] => []);
  const folders = names.sort().map((name) => path.join(place, name));
  const kept = await Promise.all(folders.map(isSet));
  return folders.filter((_, index) => kept[index]);
}
