import { cell } from './markdown.ts';

/** Reads a source file by its path from `src/`. */
type ReadSource = (path: string) => string;

interface ExportedName {
  readonly name: string;
  /** The file that declares it, from `src/`. */
  readonly file: string;
}

interface Declaration extends ExportedName {
  readonly kind: 'function' | 'class' | 'interface' | 'type';
  /** The words of the comment above it. */
  readonly comment: string;
  readonly code: string;
}

/**
 * What a program may import, as a page: each declaration with its comments, as the source has them. Functions without their
 * bodies. Throws for a name that it does not find, so that the page is never short of one.
 */
export function writeApiReference(read: ReadSource): string {
  const declarations = exportsOf(read('index.ts')).map((one) => declarationOf(one, read(one.file)));
  const values = declarations.filter(({ kind }) => kind === 'function' || kind === 'class');
  const types = declarations.filter((one) => !values.includes(one));
  return `${[
    '# The library’s API',
    'Written from `src/index.ts` and its comments by `npm run docs:reference`. [Use Instar as a library](../library.md) explains it with examples that run.',
    '## Values',
    ...values.flatMap(describe),
    '## Types',
    ...types.toSorted((a, b) => (a.name < b.name ? -1 : 1)).flatMap(describe),
  ].join('\n\n')}\n`;
}

const describe = ({ name, comment, code }: Declaration): readonly string[] => [
  `### ${name}`,
  ...(comment === '' ? [] : [cell(comment)]),
  `\`\`\`ts\n${code}\n\`\`\``,
];

/** The names that the index exports, with the files that declare them. */
function exportsOf(index: string): readonly ExportedName[] {
  const from = [...index.matchAll(/^export (?:type )?\{([^}]*)\} from '\.\/([^']+)';/gm)].flatMap(
    ([, names = '', file = '']) =>
      names
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '')
        .map((name) => ({ name, file })),
  );
  const own = [...index.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)].map(
    ([, name = '']) => ({
      name,
      file: 'index.ts',
    }),
  );
  return [...own, ...from];
}

function declarationOf(wanted: ExportedName, source: string): Declaration {
  const lines = source.split('\n');
  const start = new RegExp(`^export (?:async )?(function|class|interface|type) ${wanted.name}\\b`);
  const at = lines.findIndex((line) => start.test(line));
  const kind = start.exec(lines[at] ?? '')?.[1];
  if (kind === undefined) throw new Error(`src/${wanted.file} does not declare ${wanted.name}`);
  const end = kind === 'function' ? endOfSignature(lines, at) : endOfDeclaration(lines, at, kind);
  const text = lines
    .slice(at, end + 1)
    .join('\n')
    .replace(/^export /, '');
  return {
    ...wanted,
    kind: kind as Declaration['kind'],
    comment: commentAbove(lines, at),
    code: kind === 'function' ? text.replace(/^async /, '').replace(/ \{$/, ';') : text,
  };
}

/** The line whose brace begins the body: the only one with all other brackets closed before it. */
function endOfSignature(lines: readonly string[], from: number): number {
  let depth = 0;
  for (let at = from; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (line.endsWith(' {') && depth + depthOf(line.slice(0, -1)) === 0) return at;
    depth += depthOf(line);
  }
  throw new Error(`no end of ${lines[from] ?? ''}`);
}

function endOfDeclaration(lines: readonly string[], from: number, kind: string): number {
  let depth = 0;
  for (let at = from; at < lines.length; at++) {
    const line = lines[at] ?? '';
    depth += /^\s*(?:\*|\/)/.test(line) ? 0 : depthOf(line);
    if (depth === 0 && (kind === 'type' ? line.endsWith(';') : line.endsWith('}'))) return at;
  }
  throw new Error(`no end of ${lines[from] ?? ''}`);
}

const depthOf = (line: string): number => {
  const bare = line.replaceAll(/'[^']*'|\/\*.*?\*\/|\/\/.*$/g, '');
  return (bare.match(/[{([]/g)?.length ?? 0) - (bare.match(/[})\]]/g)?.length ?? 0);
};

function commentAbove(lines: readonly string[], at: number): string {
  if (lines[at - 1]?.trim().endsWith('*/') !== true) return '';
  const start = lines.slice(0, at).findLastIndex((line) => line.startsWith('/**'));
  return lines
    .slice(start, at)
    .join(' ')
    .replace('/**', '')
    .replace('*/', '')
    .replaceAll(/\s\*\s/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
