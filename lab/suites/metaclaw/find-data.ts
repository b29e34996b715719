import { access, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { confinementHere, findProgram } from '../../../src/agent/sandbox/find-confiner.ts';
import { MetaclawDataError } from './data-files.ts';

/** A set of days: the folder that contains `all_tests.json`. */
interface MetaclawData {
  /** `small`: the folder's own name. */
  readonly name: string;
  readonly folder: string;
}

/**
 * The sets in the first candidate with a set: a candidate is a set itself, or a folder of sets. Undefined and missing candidates are
 * skipped. Empty when no set was found.
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

/** The folders' names in the repository that the benchmark was published in. */
const PUBLISHED_AS: Readonly<Record<string, string>> = {
  part1: 'metaclaw-bench',
  small: 'metaclaw-bench-small',
};

interface SetChoice {
  /** The folder that the user named; no other is searched then. */
  readonly data: string | undefined;
  /** The folder to search otherwise. */
  readonly fallback: string | undefined;
  /** The set's name; without it part I, or the only set. */
  readonly set: string | undefined;
}

/** Rejects with a MetaclawDataError that says which folder was searched, what is in it, and what to give instead. */
export async function chooseMetaclawSet({ data, fallback, set }: SetChoice): Promise<MetaclawData> {
  const place = data ?? fallback;
  if (place === undefined || place === '')
    throw new MetaclawDataError(
      'The data of MetaClaw-Bench is not part of Instar.',
      'give its folder with --data FOLDER or INSTAR_BENCH_DATA',
    );
  const found = await findMetaclawData([place]);
  if (found.length === 0) throw await nothingIn(path.resolve(place));
  const wanted = set ?? 'part1';
  const chosen = found.find(({ name }) => name === wanted || name === PUBLISHED_AS[wanted]);
  if (chosen !== undefined) return chosen;
  const [only] = found;
  // The user pointed at the set itself: its folder may have any name.
  if (found.length === 1 && only !== undefined && (set === undefined || only.folder === path.resolve(place)))
    return only;
  throw new MetaclawDataError(
    `${path.resolve(place)} has no set named "${wanted}". Available: ${found.map(({ name }) => name).join(', ')}.`,
    'choose one with --set NAME',
  );
}

async function nothingIn(place: string): Promise<MetaclawDataError> {
  const needed = 'give the folder that holds all_tests.json, eval/ and workspaces/, or the folder above it';
  const found = await stat(place).catch(() => undefined);
  if (found === undefined) return new MetaclawDataError(`The folder ${place} does not exist.`, needed);
  if (!found.isDirectory()) return new MetaclawDataError(`${place} is a file, not a folder.`, needed);
  const names = await readdir(place).catch((): string[] => []);
  const inside = names.length === 0 ? 'It is empty.' : `It contains ${names.sort().slice(0, 6).join(', ')}.`;
  return new MetaclawDataError(
    `No days of MetaClaw-Bench were found in ${place}: neither it nor a folder in it has an all_tests.json. ${inside}`,
    needed,
  );
}

/** Its agents run real commands and its checks run Python: rejects with a MetaclawDataError where the machine cannot do both. */
export async function mustBeAbleToCheck(): Promise<void> {
  const confinement = await confinementHere();
  if (!confinement.ok)
    throw new MetaclawDataError(
      'MetaClaw-Bench runs the commands of a model, and this machine cannot confine them.',
      confinement.why,
    );
  // Only system folders are visible to confined commands.
  if ((await findProgram('python3', '')) === undefined)
    throw new MetaclawDataError(
      'The checks of MetaClaw-Bench are Python programs, and there is no python3 in the system folders.',
      'install python3 (Debian, Ubuntu: apt install python3)',
    );
}
