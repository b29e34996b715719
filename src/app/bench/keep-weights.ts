import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

/** The folders of a home that hold weights and training state. */
const FOLDERS = ['engine', 'train'];
/** Locks and the engine's address belong to the running process. */
const isKept = (file: string): boolean => !/lock|engine\.json/.test(path.basename(file));
const beside = (file: string, folder: string): string => `${file}.${folder}`;

/** Copies a home's weights beside a copy of its record. No training may be running. */
export function keepWeights(home: string, file: string): void {
  for (const folder of FOLDERS) {
    const from = path.join(home, folder);
    const to = beside(file, folder);
    rmSync(to, { recursive: true, force: true });
    if (!existsSync(from)) continue;
    // The rename makes the copy atomic.
    cpSync(from, `${to}.new`, { recursive: true, filter: isKept });
    renameSync(`${to}.new`, to);
  }
}

export function restoreWeights(home: string, file: string): void {
  for (const folder of FOLDERS)
    if (existsSync(beside(file, folder)))
      cpSync(beside(file, folder), path.join(home, folder), { recursive: true });
}

/** Removes a copy that a later one has replaced. */
export function forgetKept(file: string): void {
  for (const one of [file, ...FOLDERS.map((folder) => beside(file, folder))])
    rmSync(one, { recursive: true, force: true });
}
