import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FUNCTION_BUGS } from './function-bugs.ts';

/** One thing that is wrong in a project for a session: what stands there, what should, and the test that shows it. */
export interface ProjectBug {
  /** What a user calls it. */
  readonly topic: string;
  readonly file: string;
  readonly right: string;
  readonly wrong: string;
  readonly command: string;
}

export interface MiningProject {
  readonly name: string;
  readonly folder: string;
  readonly kind: 'node' | 'python' | 'real';
  readonly bugs: readonly ProjectBug[];
}

export const runGit = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=Dev', '-c', 'user.email=dev@localhost', ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** A project with real tests, node:test or unittest. All of its functions are right in its commit. */
export function createMiningProject(
  root: string,
  name: string,
  kind: 'node' | 'python',
  nth: number,
): MiningProject {
  const folder = path.join(root, name);
  const put = (file: string, text: string): void => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  };
  const bugs = FUNCTION_BUGS.map((one, at): ProjectBug => {
    const { text, right, wrong, test } = one[kind];
    const file = kind === 'node' ? `src/${one.name}.js` : `lib/${one.name}.py`;
    if (text.replace(right, wrong).split(wrong).length !== 2)
      throw new Error(`${one.name}: "${wrong}" is not unique`);
    put(file, text);
    put(kind === 'node' ? `test/${one.name}.test.js` : `tests/test_${one.name}.py`, test);
    return { topic: one.topic, file, right, wrong, command: commandOf(kind, one.name, nth + at) };
  });
  put('README.md', `# ${name}\n\nSmall functions with tests.\n`);
  const manifest = { name, version: '1.0.0', type: 'module', scripts: { test: 'node --test' } };
  if (kind === 'node') put('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
  else for (const at of ['lib', 'tests']) put(`${at}/__init__.py`, '');
  runGit(folder, 'init', '-q', '-b', 'main');
  runGit(folder, 'add', '.');
  runGit(folder, 'commit', '-qm', 'All functions with their tests');
  return { name, folder, kind, bugs };
}

/** The ways in which agents run one test. */
function commandOf(kind: 'node' | 'python', name: string, nth: number): string {
  const ways =
    kind === 'node'
      ? [`node --test test/${name}.test.js`, 'npm test', 'npm test 2>&1 | tail -40']
      : [
          `python3 -m unittest tests.test_${name}`,
          'python3 -m unittest discover -s tests -t .',
          `python3 -m unittest -v tests.test_${name}`,
        ];
  return ways[nth % ways.length] ?? '';
}

type RealBug = readonly [topic: string, file: string, right: string, wrong: string, command: string];

const TOMLI = 'PYTHONPATH=src python3 -m unittest discover -s tests -t .';
const IDNA = 'python3 -m unittest tests.test_idna tests.test_idna_codec';
const RECIPES = 'python3 -m unittest tests.test_recipes';

/** Public repositories with their own tests and test commands, and what is broken in them for a session. */
const REAL: Readonly<Record<string, readonly RealBug[]>> = {
  tomli: [
    [
      'local times in toml files',
      'src/tomli/_re.py',
      'time(int(hour_str), int(minute_str),',
      'time(int(minute_str), int(minute_str),',
      TOMLI,
    ],
    [
      'negative time zone offsets in toml files',
      'src/tomli/_re.py',
      '1 if sign_str == "+" else -1',
      '1 if sign_str == "+" else 1',
      TOMLI,
    ],
    [
      'floats in toml files',
      'src/tomli/_re.py',
      'return parse_float(match.group())',
      'return int(float(match.group()))',
      TOMLI,
    ],
  ],
  idna: [
    ['the length check of labels', 'idna/core.py', 'if len(label) > 63:', 'if len(label) > 630:', IDNA],
    ['the hyphen check of labels', 'idna/core.py', 'if label[2:4] == "--":', 'if label[2:4] == "-+":', IDNA],
    [
      'the check for combining characters',
      'idna/core.py',
      '(label[0])[0] == "M":',
      '(label[0])[0] == "Q":',
      IDNA,
    ],
  ],
  'more-itertools': [
    [
      'take of an iterable',
      'more_itertools/recipes.py',
      'return list(islice(iterable, n))',
      'return list(islice(iterable, n + 1))',
      `${RECIPES}.TakeTests`,
    ],
    [
      'the dot product',
      'more_itertools/recipes.py',
      'return sum(map(mul, vec1, vec2))',
      'return sum(map(max, vec1, vec2))',
      `${RECIPES}.DotproductTests`,
    ],
    [
      'ncycles of an iterable',
      'more_itertools/recipes.py',
      'repeat(tuple(iterable), n)',
      'repeat(tuple(iterable), n + 1)',
      `${RECIPES}.NcyclesTests`,
    ],
  ],
};

/** A clone of a public repository, as far as it is known here; its git folder may be bare. */
export function cloneMiningProject(root: string, source: string): MiningProject | undefined {
  const name = Object.keys(REAL).find((known) => source.includes(known));
  if (name === undefined || !existsSync(source)) return undefined;
  const folder = path.join(root, name);
  execFileSync('git', ['clone', '-q', '--no-hardlinks', source, folder], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const bugs = (REAL[name] ?? []).flatMap(([topic, file, right, wrong, command]): readonly ProjectBug[] =>
    readFileSync(path.join(folder, file), 'utf8').replace(right, wrong).split(wrong).length === 2
      ? [{ topic, file, right, wrong, command }]
      : [],
  );
  return { name, folder, kind: 'real', bugs };
}
