import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeApiReference } from './api-reference.ts';
import { writeCommandReference } from './command-reference.ts';
import { writeSettingsReference } from './settings-reference.ts';

/** The generated pages of the reference, by their names below `docs/reference/`. */
export const writeReference = async (root: string): Promise<Readonly<Record<string, string>>> => ({
  'commands.md': await writeCommandReference(),
  'settings.md': writeSettingsReference(),
  'api.md': writeApiReference((path) => readFileSync(join(root, 'src', path), 'utf8')),
});

/** `npm run docs:reference` runs it in the root of the checkout. */
export async function saveReference(root: string): Promise<void> {
  const folder = join(root, 'docs/reference');
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(await writeReference(root)))
    writeFileSync(join(folder, name), text);
}

if (process.argv[1]?.endsWith('write-reference.js') === true) await saveReference(process.cwd());
