import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeApiReference } from './api-reference.ts';
import { writeCommandReference } from './command-reference.ts';
import { writeSettingsReference } from './settings-reference.ts';
import { writeThirdParty } from './third-party.ts';

/** The generated pages, by their places in the repository. */
export const writeReference = async (root: string): Promise<Readonly<Record<string, string>>> => ({
  'docs/reference/commands.md': await writeCommandReference(),
  'docs/reference/settings.md': writeSettingsReference(),
  'docs/reference/api.md': writeApiReference((path) => readFileSync(join(root, 'src', path), 'utf8')),
  'THIRD-PARTY.md': writeThirdParty(root),
});

/** `npm run docs:reference` runs this file in the root of the checkout. */
async function saveReference(root: string): Promise<void> {
  mkdirSync(join(root, 'docs/reference'), { recursive: true });
  for (const [name, text] of Object.entries(await writeReference(root)))
    writeFileSync(join(root, name), text);
}

if (process.argv[1]?.endsWith('write-reference.js') === true) await saveReference(process.cwd());
