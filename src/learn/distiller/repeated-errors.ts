import type { FailureCase } from '../../core/learn.ts';
import type { SkillDraft } from './write-skill.ts';

const FEWEST_SESSIONS = 2;
const PLAIN = /^[A-Za-z][A-Za-z0-9_ -]{2,55}$/;

interface RepeatedError {
  readonly skill: SkillDraft;
  readonly failures: readonly FailureCase[];
}

/** Errors of several sessions. Of a tool's output, only the name of the error kind is used. */
export function findRepeatedErrors(failures: readonly FailureCase[]): readonly RepeatedError[] {
  const byKind = new Map<string, FailureCase[]>();
  for (const failure of failures)
    for (const kind of new Set(failure.appraisal.digests.map(kindOf))) {
      const seen = byKind.get(kind);
      if (seen === undefined) byKind.set(kind, [failure]);
      else seen.push(failure);
    }
  return [...byKind].flatMap(([kind, seen]) => {
    const advice = PLAIN.test(kind) ? errorAdvice(kind) : undefined;
    const sessions = new Set(seen.map(({ session }) => session)).size;
    return advice === undefined || sessions < FEWEST_SESSIONS
      ? []
      : [{ skill: writeAdvice(kind, advice, sessions), failures: seen }];
  });
}

const kindOf = (digest: string): string => digest.split(' @ ', 1)[0]?.trim() ?? '';

function writeAdvice(kind: string, advice: readonly string[], sessions: number): SkillDraft {
  const slug = kind
    .replace(/([a-z])(?=[A-Z])/g, '$1-')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  return {
    name: `when-${slug}`.slice(0, 60).replace(/-$/, ''),
    description: `When \`${kind}\` appears in what a command or a test prints.`,
    content: [
      `## When ${kind} appears`,
      '',
      ...advice.map((look, index) => `${index + 1}. Check ${look}.`),
      `${advice.length + 1}. Run again only after one of these has changed.`,
      '',
      `Example: it ended the work in ${sessions} sessions that went wrong.`,
      'Anti-pattern: running the same command again, or hiding the message, without having looked.',
    ].join('\n'),
    category: 'common_mistakes',
  };
}

/** What to check for each kind of error. The first match applies. */
const ADVICE: readonly (readonly [RegExp, readonly string[]])[] = [
  [
    /^(?:ModuleNotFoundError|ImportError|module-not-found|MODULE_NOT_FOUND|ERR_MODULE_NOT_FOUND)\b/,
    [
      'whether the package is declared and installed in the environment that runs the code',
      'whether the name and the path of the import are spelt as they are on disk',
      'whether the command is run from the folder that the import is relative to',
    ],
  ],
  [
    /^(?:FileNotFoundError|ENOENT|no-such-file|NoSuchFileException)\b/,
    [
      'which folder the command runs in, and what is really there',
      'whether the folder has to be made first',
      'whether the name differs in case or ending',
    ],
  ],
  [
    /^(?:PermissionError|EACCES|EPERM|permission-denied)\b/,
    [
      'who owns the file and what its mode allows',
      'whether the place is meant to be written to at all',
      'whether another place would do, before any right is widened',
    ],
  ],
  [
    /^(?:SyntaxError|ParseError|shell-syntax-error|IndentationError|sql syntax-error)\b/,
    [
      'the line before the one that is named: brackets, quotes and commas',
      'whether the language version knows what was written',
      'the file with a parser or a linter before it is run again',
    ],
  ],
  [
    /^(?:JSONDecodeError|JsonProcessingException)\b/,
    [
      'the text itself before it is parsed: it may be empty, or a page that reports an error',
      'quotes, commas at the end, and comments',
      'the encoding and a mark at the beginning of the file',
    ],
  ],
  [
    /^(?:KeyError|IndexError|index-out-of-range|panic index|ArrayIndexOutOfBoundsException)\b/,
    [
      'what the data really holds, with its length or its keys printed',
      'the case of missing and of empty data',
      'off-by-one errors where the index is made',
    ],
  ],
  [
    /^(?:TypeError|AttributeError|NullPointerException|panic nil-pointer|NoMethodError)\b/,
    [
      'what the value really is there: it is often absent',
      'the signature of what is called, in the version that is installed',
      'where the value comes from, rather than where it breaks',
    ],
  ],
  [
    /^(?:NameError|ReferenceError|unbound-variable|TS2304|TS2552)\b/,
    [
      'whether the name is spelt as where it is defined',
      'whether it is imported, and defined before it is used',
      'in which scope it lives',
    ],
  ],
  [
    /^(?:AssertionError|AssertionFailedError)\b/,
    [
      'what was expected and what was there, to the letter',
      'whether the code or the expectation is what changed',
      'the failing test alone before all of them',
    ],
  ],
  [
    /^(?:UnicodeDecodeError|UnicodeEncodeError)\b/,
    [
      'in which encoding the file was written',
      'that the encoding is named when files are opened',
      'whether the file is text at all',
    ],
  ],
  [
    /^TS\d{4,5}\b|^mypy\b/,
    [
      'the types on both sides where the error is named',
      'the definition of what is used, in the version that is installed',
      'with the type checker after each edit, not at the end',
    ],
  ],
  [
    /^(?:CompileError|LinkError|E0\d{3})\b/,
    [
      'the first error before the others: they often follow from it',
      'whether what is used is declared and linked',
      'with a build after each edit, not at the end',
    ],
  ],
  [
    /^eslint\b|^[EFWCN]\d{3}\b/,
    [
      'the rule that is named, and fix the code instead of switching it off',
      'with the linter after each edit',
      'how the files around it are written',
    ],
  ],
  [
    /^command-not-found\b/,
    [
      'whether the program is installed, and under which name',
      'whether it is a script of the project that is run through its package manager',
      'the search path of the shell that runs it',
    ],
  ],
  [
    /^git merge-conflict\b/,
    [
      'each conflict by hand: both sides have a reason',
      'that no conflict mark is left in any file',
      'the build and the tests before the merge is concluded',
    ],
  ],
  [
    /^git\b/,
    [
      'the state of the working tree and the current branch first',
      'that the branch, path or revision is spelt as it exists',
      'nothing by force: fetch and look before pushing again',
    ],
  ],
  [
    /^npm\b|^pip\b/,
    [
      'which names and versions the manifest and the lock file hold',
      'that the runtime is of a version that the package supports',
      'the scripts that the project really has',
    ],
  ],
  [
    /^sql\b|^SQLSTATE\b|^mysql\b/,
    [
      'the schema as it is, with the names of tables and columns',
      'the rows that a constraint speaks of',
      'the statement on a copy or in a transaction first',
    ],
  ],
  [
    /^(?:EADDRINUSE|EEXIST|ENOTEMPTY|EISDIR|ENOTDIR|IsADirectoryError)\b/,
    [
      'what is there already, and who made it',
      'whether a path names a file or a folder',
      'that an earlier run was ended and cleaned up after',
    ],
  ],
];

const ORDINARY = /^[A-Z][A-Za-z]{2,40}(?:Error|Exception)$/;
const GENERAL: readonly string[] = [
  'the whole message and the first frame in the code of the project',
  'the input that leads to it, made as small as it gets',
  'that the cause is gone, and not only the message',
];

/** What to check when an error of this kind appears; undefined for an unknown kind. */
function errorAdvice(kind: string): readonly string[] | undefined {
  return ADVICE.find(([pattern]) => pattern.test(kind))?.[1] ?? (ORDINARY.test(kind) ? GENERAL : undefined);
}
