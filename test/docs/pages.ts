import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { type CodeBlock, codeBlocksOf } from '../../lab/release/markdown.ts';

export const ROOT = path.resolve(import.meta.dirname, '../..');

/** The pages that people read, and those of the laboratory, from the root of the repository. */
export const PAGES: readonly string[] = [
  ...['README.md', 'SECURITY.md', 'CHANGELOG.md', 'AGENTS.md', 'THIRD-PARTY.md', 'models/nano/CARD.md'],
  ...['docs', 'lab/results'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`)
      .toSorted(),
  ),
];

const { files }: { files: readonly string[] } = JSON.parse(
  readFileSync(path.join(ROOT, 'package.json'), 'utf8'),
);

/** Whether an installation has this file: by the list in the manifest, and what npm packs anyway. */
export const isPacked = (file: string): boolean =>
  ['README.md', 'LICENSE', 'package.json'].includes(file) ||
  files.some((entry) => path.matchesGlob(file, entry) || path.matchesGlob(file, `${entry}/**`));

export const readPage = (file: string): string | undefined => {
  const full = path.join(ROOT, file);
  return statSync(full, { throwIfNoEntry: false })?.isFile() === true
    ? readFileSync(full, 'utf8')
    : undefined;
};

export interface PageBlock extends CodeBlock {
  readonly page: string;
  /** `docs/start.md:12`, for the name of a test. */
  readonly place: string;
}

/** Blocks that somebody may copy and run. Generated pages are compared with what they are generated from instead. */
export const RUNNABLE = new Set(['sh', 'bash', 'ts', 'js', 'mjs', 'py', 'python', 'json']);

export const pageBlocks = (): readonly PageBlock[] =>
  PAGES.filter((page) => !page.startsWith('docs/reference/')).flatMap((page) =>
    codeBlocksOf(readPage(page) ?? '').map((block) => ({ ...block, page, place: `${page}:${block.line}` })),
  );

/** Who runs the blocks that have this mark; the mark stands in a comment directly above the block. */
export const MARKS: Readonly<Record<string, string>> = {
  'main job': 'test/launcher.test.ts, and whoever starts a checkout',
  tests: 'the CI',
  library: 'test/api/library-docs.slow.ts',
  practice: 'test/docs/blocks.check.ts',
  pipeline: 'test/api/library-docs.slow.ts',
  'run: newcomer': 'test/newcomer',
  'run: home': 'test/docs/blocks.check.ts',
  'run: daemon': 'test/docs/blocks.check.ts',
  'run: program': 'test/docs/blocks.check.ts',
  'run: old home': 'test/docs/blocks.check.ts',
  'run: frameworks': 'test/frameworks/frameworks.check.ts, which has the same text in examples/',
  'json: overlay': 'test/docs/blocks.check.ts',
  'json: flow event': 'test/served/adapt-types.slow.ts',
};

/** The visible words above a block that no test runs. */
export const NOT_RUN = /^\*Not run in the tests: .{10,}\*$/;
