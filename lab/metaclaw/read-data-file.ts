import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { codeOf } from '../../src/agent/sandbox/workspace-limits.ts';
import { parseJson } from '../../src/core/json.ts';
import { MetaclawDataError } from './data-error.ts';

/** Reads a JSON file of the data by its schema. Rejects with a MetaclawDataError that names the file and each field. */
export async function readDataFile<T>(file: string, schema: z.ZodType<T>): Promise<T> {
  const data = parseJson(await readDataText(file));
  if (data === undefined) throw new MetaclawDataError(`${file} is not JSON: fetch the data again`);
  const read = schema.safeParse(data);
  if (read.success) return read.data;
  const wrong = read.error.issues.slice(0, 5).map((issue) => `${fieldOf(issue.path)}: ${issue.message}`);
  throw new MetaclawDataError(`${file}: ${wrong.join('; ')}`);
}

/** Reads a file of the data as the text it is. Rejects with a MetaclawDataError for what is missing or no text. */
export async function readDataText(file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(file));
  } catch (error) {
    if (codeOf(error) === 'ENOENT')
      throw new MetaclawDataError(
        `${file} is not there: point to a folder that holds all_tests.json, eval/ and workspaces/`,
      );
    if (error instanceof TypeError)
      throw new MetaclawDataError(`${file} is not UTF-8 text: fetch the data again`);
    throw new MetaclawDataError(
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** `rounds[2].eval.answer` */
const fieldOf = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '') || 'the whole file';
