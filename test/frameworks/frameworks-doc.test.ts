import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXAMPLES, NPM, PYPI } from './install.ts';

const doc = readFileSync(path.resolve(import.meta.dirname, '../../docs/frameworks.md'), 'utf8');
const files = readdirSync(EXAMPLES);

describe('docs/frameworks.md', () => {
  it('has nine examples and what three of them share', () => {
    expect(files).toHaveLength(10);
  });

  it.each(files)('names examples/%s', (file) => {
    expect(doc).toContain(`\`examples/${file}\``);
  });

  it('shows six files, each letter by letter below its name', () => {
    const shown = [...doc.matchAll(/^`examples\/([\w.-]+)`\n<!-- run: frameworks -->\n/gm)];
    expect(doc.split('<!-- run: frameworks -->')).toHaveLength(shown.length + 1);
    expect(shown).toHaveLength(6);
    for (const [head, file = ''] of shown) {
      const text = readFileSync(path.join(EXAMPLES, file), 'utf8');
      const language = file.endsWith('.py') ? 'python' : 'js';
      expect(doc).toContain(`${head}\`\`\`${language}\n${text}\`\`\`\n`);
    }
  });

  it.each([...Object.entries(NPM), ...Object.entries(PYPI)])(
    'names the version of %s that is tested',
    (name, version) => {
      expect(doc).toContain(`\`${name}\` ${version}`);
    },
  );
});
