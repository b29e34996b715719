import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

/** What an engine and its training keep in a home. */
const FOLDERS = ['engine', 'train'];
/** Who has it now is not part of it. */
const isKept = (file: string): boolean => !/lock|engine\.json/.test(path.basename(file));
const beside = (file: string, folder: string): string => `${file}.${folder}`;

/** Copies a home's weights beside a copy of its record. Nothing may be training. */
export function keepWeights(home: string, file: string): void {
  for (const folder of FOLDERS) {
    const from = path.join(home, folder);
    const to = beside(file, folder);
    rmSync(to, { recursive: true, force: true });
    if (!existsSync(from)) continue;
    // Whole or not at all.
    cpSync(from, `${to}.new`, { recursive: true, filter: isKept });
    renameSync(`${to}.new`, to);
  }
}

export function restoreWeights(home: string, file: string): void {
  for (const folder of FOLDERS)
    if (existsSync(beside(file, folder)))
      cpSync(beside(file, folder), path.join(home, folder), { recursive: true });
}

/** A copy that a later one has replaced. */
export function forgetKept(file: string): void {
  for (const one of [file, ...FOLDERS.map((folder) => beside(file, folder))])
    rmSync(one, { recursive: true, force: true });
}
