import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeApiReference } from './api-reference.ts';
import { writeCapabilities } from './capabilities.ts';
import { writeCommandReference } from './command-reference.ts';
import { writeSettingsReference } from './settings-reference.ts';
import { writeThirdParty } from './third-party.ts';

/** The generated pages, by their places in the repository. */
const writeReference = async (root: string): Promise<Readonly<Record<string, string>>> => ({
  'docs/reference/commands.md': await writeCommandReference(),
  'lab/results/capabilities.md': writeCapabilities(root),
  'docs/reference/settings.md': writeSettingsReference(),
  'docs/reference/api.md': writeApiReference((path) => readFileSync(join(root, 'src', path), 'utf8')),
  'THIRD-PARTY.md': writeThirdParty(root),
});

/**
 * `npm run docs:reference` runs this file in the root of the checkout. With `--check` nothing is written: it names the pages
 * that are out of date, and fails when there is one.
 */
const root = process.cwd();
const isCheck = process.argv.includes('--check');
mkdirSync(join(root, 'docs/reference'), { recursive: true });
for (const [name, text] of Object.entries(await writeReference(root))) {
  const file = join(root, name);
  if (!isCheck) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    process.stdout.write(`${name} is out of date: npm run docs:reference\n`);
    process.exitCode = 1;
  }
}
