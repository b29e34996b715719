import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { type ESTree, parseSync, Visitor } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');

/** The rooms of `src/` and the rooms each may import. Anything else a room needs is passed to it as an argument. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  base: ['core'],
  text: ['core'],
  redact: [],
  wire: [],
  stats: [],
  embed: [],
  cost: [],
  config: [],
  alerts: [],
  schedule: ['config', 'cost'],
  agent: [],
  pipeline: [],
  mcp: [],
  record: ['wire'],
  // What is sent was read from the record.
  traces: ['config', 'record'],
  jobs: ['cost', 'record'],
  lessons: ['embed', 'stats'],
  overlays: ['cost', 'lessons', 'stats', 'wire'],
  reader: ['embed'],
  evidence: ['reader', 'stats'],
  learn: ['cost', 'evidence', 'lessons', 'reader', 'stats'],
  models: ['wire'],
  gateway: ['wire'],
  connect: ['config'],
  doctor: ['agent', 'config', 'cost', 'embed', 'models', 'record', 'schedule'],
  api: [
    ...['overlays', 'config', 'cost', 'evidence', 'gateway', 'learn', 'lessons', 'mcp', 'pipeline', 'record'],
    'schedule',
    // Whether this machine runs the commands of checks.
    'agent',
  ],
  cli: [
    'api',
    'config',
    'connect',
    'cost',
    'daemon',
    'doctor',
    'jobs',
    'lessons',
    'mcp',
    'models',
    'schedule',
  ],
};
/** What the other roots may import of `src/`. The embedded engine knows less than the rest of `train/`. */
const ROOT_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  train: ['core', 'base', 'text', 'stats', 'evidence', 'models', 'config', 'learn', 'lessons', 'record'],
  nano: ['core', 'base'],
  team: ['core', 'base', 'text', 'redact', 'config', 'cost', 'lessons', 'record', 'api', 'doctor'],
};
/** Every room may import these. */
const EVERYWHERE = ['core', 'base', 'text', 'redact'];
/** What every room may import is below these. */
const LOWEST = new Set(['core', 'base']);
/** The composition root and what a library user sees know every room of the product. */
const KNOWS_ALL = new Set(['daemon', 'index.ts']);
const EMPTY_NAMES = /manager|service|handler|processor|helper|util|common|misc/i;
const MOST_FUNCTION_LINES = 80;

const files = (dir: string): string[] =>
  readdirSync(dir).flatMap((name) => {
    const full = path.join(dir, name);
    return statSync(full).isDirectory() ? files(full) : /\.tsx?$/.test(full) ? [full] : [];
  });

interface Source {
  /** From the repository's root: `src/wire/sse.ts`. */
  readonly name: string;
  readonly root: string;
  readonly room: string;
  readonly text: string;
}

const sources: readonly Source[] = ['src', 'train', 'team', 'lab', 'plugins'].flatMap((part) =>
  files(path.join(root, part)).map((file) => {
    const name = path.relative(root, file);
    const [, room = ''] = name.split(path.sep);
    return { name, root: part, room, text: readFileSync(file, 'utf8') };
  }),
);

interface Import {
  readonly spec: string;
  /** Loaded when it is needed, with `import()`. */
  readonly isDynamic: boolean;
  /** `import type`: nothing is loaded. */
  readonly isType: boolean;
}

const importsOf = (text: string): readonly Import[] =>
  [...text.matchAll(/(?:^(import type)\b[^;]*?\bfrom|\bfrom|\bimport)\s*(\(?)\s*'([^']+)'/gm)].map(
    (match) => ({
      spec: match[3] ?? '',
      isDynamic: match[2] === '(',
      isType: match[1] !== undefined,
    }),
  );

/** The page in the browser: a workspace of its own. */
const pageSources: readonly Source[] = files(path.join(root, 'web/src')).map((file) => ({
  name: path.relative(root, file),
  root: 'web',
  room: '',
  text: readFileSync(file, 'utf8'),
}));

const withCode = (text: string): number => text.split('\n').filter((line) => line.trim() !== '').length;

/** The functions that have too many lines, nested functions included; blank lines and comments do not count. */
function findLongFunctions({ name, text }: Source): readonly string[] {
  if (withCode(text) <= MOST_FUNCTION_LINES) return [];
  const { program, comments } = parseSync(name, text);
  let code = text;
  for (const { start, end } of comments)
    code = code.slice(0, start) + text.slice(start, end).replace(/\S/g, ' ') + code.slice(end);
  const long: string[] = [];
  const measure = ({ start, end }: ESTree.Span): void => {
    const lines = withCode(code.slice(start, end));
    const place = `${name}:${text.slice(0, start).split('\n').length}`;
    if (lines > MOST_FUNCTION_LINES) long.push(`${place} has ${lines} lines`);
  };
  new Visitor({
    FunctionDeclaration: measure,
    FunctionExpression: measure,
    ArrowFunctionExpression: measure,
  }).visit(program);
  return long;
}

interface Place {
  readonly from: string;
  readonly room: string;
}

interface Imported {
  readonly file: string;
  readonly to: string;
  readonly toRoom: string;
  readonly isDynamic: boolean;
  readonly isType: boolean;
}

function mayImport({ from, room }: Place, { file, to, toRoom, isDynamic, isType }: Imported): boolean {
  if (from === 'lab') return true;
  // A plugin runs inside another program: it is thin, and brings nothing of the product with it, but how a folder's project is told.
  if (from === 'plugins' && file === 'src/base/repository.ts') return true;
  if (from === 'plugins') return to === 'plugins' && (toRoom === 'shared' || toRoom === room);
  if (from === 'train' || from === 'team') {
    const part = from === 'train' && room === 'nano' ? 'nano' : from;
    if (to === from) return part !== 'nano' || toRoom === 'nano';
    return to === 'src' && (ROOT_MAY_IMPORT[part]?.includes(toRoom) ?? false);
  }
  if (to === 'lab') return isDynamic && room === 'cli';
  // Absent unless used: loaded when it is needed.
  if (to === 'train' || to === 'team') return isDynamic || isType;
  return (
    toRoom === room ||
    KNOWS_ALL.has(room) ||
    (EVERYWHERE.includes(toRoom) && !LOWEST.has(room)) ||
    (MAY_IMPORT[room]?.includes(toRoom) ?? false)
  );
}

describe('the house', () => {
  it('has rooms that import only what the list allows', () => {
    const wrong: string[] = [];
    let checked = 0;
    for (const { name, root: from, room, text } of sources) {
      for (const { spec, isDynamic, isType } of importsOf(text).filter(({ spec: to }) =>
        to.startsWith('.'),
      )) {
        checked++;
        if (!spec.endsWith('.ts')) wrong.push(`${name} imports ${spec} without its .ts`);
        const target = path.relative(root, path.resolve(root, path.dirname(name), spec)).split(path.sep);
        const [to = '', toRoom = ''] = target;
        const isAllowed = mayImport(
          { from, room },
          { file: target.join('/'), to, toRoom, isDynamic, isType },
        );
        if (!isAllowed) wrong.push(`${name} imports ${target.join('/')}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(checked).toBeGreaterThan(500);
  });

  it('lists its rooms without a cycle, and every room is on the list', () => {
    const depth = (room: string, seen: readonly string[]): number => {
      if (seen.includes(room)) throw new Error(`${[...seen, room].join(' -> ')}`);
      return 1 + Math.max(0, ...(MAY_IMPORT[room] ?? []).map((next) => depth(next, [...seen, room])));
    };
    for (const room of Object.keys(MAY_IMPORT)) expect(depth(room, [])).toBeGreaterThan(0);
    const rooms = new Set(sources.filter((source) => source.root === 'src').map(({ room }) => room));
    expect([...rooms].filter((room) => !(room in MAY_IMPORT) && !KNOWS_ALL.has(room))).toEqual([]);
  });

  it('has no files that import each other in a circle', () => {
    const graph = new Map<string, readonly string[]>();
    for (const { name, text } of sources) {
      const targets = importsOf(text)
        .filter(({ spec, isDynamic }) => spec.startsWith('.') && !isDynamic)
        .map(({ spec }) => path.relative(root, path.resolve(root, path.dirname(name), spec)));
      graph.set(name, targets);
    }
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, trail: readonly string[]): void => {
      const at = trail.indexOf(file);
      if (at >= 0) cycles.push([...trail.slice(at), file].join(' -> '));
      if (at >= 0 || done.has(file)) return;
      for (const next of graph.get(file) ?? []) visit(next, [...trail, file]);
      done.add(file);
    };
    for (const file of graph.keys()) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it('gives every exported name one meaning: no two files export the same name', () => {
    const exporters = new Map<string, Set<string>>();
    for (const { name, text } of sources) {
      const declared = text.matchAll(
        /^export (?:default )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm,
      );
      for (const [, exported = ''] of declared) {
        const known = exporters.get(exported) ?? new Set();
        exporters.set(exported, known.add(name));
      }
    }
    const shared = [...exporters].filter(([, names]) => names.size > 1);
    expect(shared.map(([exported, names]) => `${exported}: ${[...names].join(', ')}`)).toEqual([]);
    expect(exporters.size).toBeGreaterThan(500);
  });

  it('has no name that says nothing', () => {
    const empty = sources.flatMap(({ name, text }) => {
      const exported = [
        ...text.matchAll(/^export (?:async )?(?:const|function|class|interface|type) (\w+)/gm),
      ];
      return [name, ...exported.map((match) => match[1] ?? '')].filter((word) => EMPTY_NAMES.test(word));
    });
    expect(empty).toEqual([]);
  });

  it('leaves nothing half done, mocks nothing and casts nothing twice', () => {
    const marks = /\bTODO\b|\bFIXME\b|\bXXX\b|vi\.mock\(|jest\.|: any\b|as any\b/;
    const tests = files(path.join(root, 'test')).map((file) => ({
      name: path.relative(root, file),
      text: readFileSync(file, 'utf8'),
    }));
    const left = [...sources, ...tests].filter(
      ({ name, text }) => !name.includes('architecture') && marks.test(text),
    );
    expect(left.map(({ name }) => name)).toEqual([]);
    expect(sources.filter(({ text }) => text.includes('as unknown as')).map(({ name }) => name)).toEqual([]);
  });

  it('spreads no literal: properties are not packed to save lines', () => {
    const packed = sources.filter(({ root: part, text }) => part !== 'lab' && /\.\.\.\{/.test(text));
    expect(packed.map(({ name }) => name)).toEqual([]);
  });

  it('has no function of more than 80 lines: its parts have names', () => {
    const counted = [...sources.filter(({ root: part }) => part !== 'lab'), ...pageSources];
    expect(counted.flatMap(findLongFunctions)).toEqual([]);
    const body = Array.from({ length: MOST_FUNCTION_LINES }, (_, n) => `  it(${n}); // ${n}\n\n`).join('');
    const text = `const outer = () => {\n${body.replace('0);', '() => {\n});')}};\n`;
    expect(findLongFunctions({ name: 'a.ts', root: '', room: '', text })).toEqual(['a.ts:1 has 83 lines']);
  });

  it('enters SQLite and ends threads through the gate alone: else a process that exits may abort', () => {
    const past = sources.filter(
      ({ name, root: part, text }) =>
        part !== 'lab' &&
        ((text.includes("'@photostructure/sqlite'") && name !== 'src/base/sqlite.ts') ||
          (text.includes('.terminate()') && name !== 'src/base/sqlite-gate.ts')),
    );
    expect(past.map(({ name }) => name)).toEqual([]);
  });

  it('knows no rule of the benchmark in the product', () => {
    const rules = ['+08:00', '.bak', 'done.log'];
    const knowing = sources
      .filter((source) => source.root === 'src')
      .flatMap(({ name, text }) =>
        rules.filter((rule) => text.includes(rule)).map((rule) => `${name}: ${rule}`),
      );
    expect(knowing).toEqual([]);
  });
});

/** A part of a syntax tree, as the parser gives it. */
interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

/** Every node below one of a syntax tree, itself included. */
function nodesBelow(node: unknown): readonly SyntaxNode[] {
  if (Array.isArray(node)) return node.flatMap(nodesBelow);
  if (typeof node !== 'object' || node === null) return [];
  const below = Object.values(node).flatMap(nodesBelow);
  return 'type' in node ? [node as SyntaxNode, ...below] : below;
}

const partsOf = (node: SyntaxNode): readonly SyntaxNode[] => (node.types ?? []) as readonly SyntaxNode[];

const isPromise = ({ type, typeName }: SyntaxNode): boolean =>
  type === 'TSTypeReference' && (typeName as { readonly name?: string }).name === 'Promise';

/** "Not yet begun" is no value. */
const isAbsence = ({ type }: SyntaxNode): boolean =>
  type === 'TSUndefinedKeyword' || type === 'TSNullKeyword';

const WHY = new Set(['error', 'failure', 'fault', 'missing', 'problem', 'why']);

/** Whether an object says why there is no value, and neither `ok` nor a word for what happened tells it from the others. */
function saysWhyAlone(part: SyntaxNode): boolean {
  if (part.type === 'TSIntersectionType') return partsOf(part).some(saysWhyAlone);
  if (part.type !== 'TSTypeLiteral') return false;
  const members = (part.members as readonly SyntaxNode[]).filter(
    ({ type }) => type === 'TSPropertySignature',
  );
  const nameOf = ({ key }: SyntaxNode): string => (key as { readonly name?: string }).name ?? '';
  const isWord = ({ typeAnnotation }: SyntaxNode): boolean => {
    const values = nodesBelow(typeAnnotation).filter(({ type }) => type === 'TSLiteralType');
    return values.some(({ literal }) => typeof (literal as { readonly value?: unknown }).value === 'string');
  };
  return (
    members.some((member) => WHY.has(nameOf(member))) &&
    !members.some((member) => nameOf(member) === 'ok' || isWord(member))
  );
}

describe('a type', () => {
  const unions = [...sources, ...pageSources]
    // The others have none of these types, and parsing all of them takes seconds.
    .filter(
      ({ text }) =>
        /\|\s+Promise<|Promise<.*> \|/.test(text) ||
        (/[^|]\|\s*(?:\/\*|\(?\{)|\}\)?\s*\|[^|]|&\s*\{/.test(text) &&
          /\b(?:error|failure|fault|missing|problem|why)\??:/.test(text)),
    )
    .flatMap(({ name, text }) =>
      nodesBelow(parseSync(name, text).program.body)
        .filter(({ type }) => type === 'TSUnionType')
        .map((node) => ({
          place: `${name}:${text.slice(0, node.start).split('\n').length}`,
          parts: partsOf(node),
        })),
    );

  it('is a value or a promise, never either', () => {
    const either = unions.filter(
      ({ parts }) => parts.some(isPromise) && parts.some((part) => !isPromise(part) && !isAbsence(part)),
    );
    expect(either.map(({ place }) => place)).toEqual([]);
    expect(unions.length).toBeGreaterThan(500);
  });

  it('of what may be refused is { ok: true, … } or { ok: false, why }', () => {
    const other = unions.filter(({ parts }) => parts.some(saysWhyAlone));
    expect(other.map(({ place }) => place)).toEqual([]);
  });
});

describe('the page', () => {
  it('imports itself, what reads text, one library, and the types of the route table', () => {
    const allowed = /^(?:\.{1,2}\/(?!.*\.\.\/src\/)|(?:\.\.\/){3}src\/text\/|preact(?:\/hooks)?$)/;
    const allowedTypes = /^(?:(?:\.\.\/){3}src\/api\/router\/|zod$)/;
    const wrong = pageSources.flatMap(({ name, text }) =>
      [...text.matchAll(/^import (type )?.*?'([^']+)';$|^} from '([^']+)';$/gm)]
        .map((match) => ({ isType: match[1] !== undefined, spec: match[2] ?? match[3] ?? '' }))
        .filter(({ isType, spec }) => !allowed.test(spec) && !(isType && allowedTypes.test(spec)))
        .map(({ spec }) => `${name} imports ${spec}`),
    );
    expect(wrong).toEqual([]);
    expect(pageSources.length).toBeGreaterThan(40);
  });

  it('never takes text for markup or code, and casts nothing twice', () => {
    const forbidden =
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|\beval\(|new Function|DOMParser|as unknown as|: any\b|as any\b/;
    expect(pageSources.filter(({ text }) => forbidden.test(text)).map(({ name }) => name)).toEqual([]);
  });
});
