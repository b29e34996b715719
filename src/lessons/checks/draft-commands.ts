import type { CheckedWork, CheckTest } from '../../core/check.ts';
import { type Program, readCommand } from '../../text/shell-programs.ts';
import {
  absent,
  type CheckSketch,
  literalPattern,
  quotePattern,
  type RuleMaterial,
} from './rule-material.ts';

/** Programs that a rule may name without an answer that runs them. */
const USUAL_PROGRAMS = new Set(
  'apt apt-get brew bun bundle cargo cat chmod chown composer conda cp curl dd deno docker docker-compose find gh git go gradle grep helm jest kill killall kubectl ls make mkdir mv mvn mypy node npm npx pip pip3 pipenv pkill pnpm podman poetry pytest python python3 rg rm rsync ruff scp sed ssh sudo tar terraform trash trash-put tsc uv vitest wget yarn'.split(
    ' ',
  ),
);
/** Their first argument is a command of its own. */
const WITH_SUBCOMMANDS = new Set(
  'git npm pnpm yarn bun docker podman kubectl helm cargo go gh apt apt-get brew pip uv poetry terraform make'.split(
    ' ',
  ),
);

interface Run {
  readonly name: string;
  /** `git push`, where the program has subcommands. */
  readonly run: string;
  readonly args: readonly string[];
  readonly typed: string;
}

/** Checks of commands: one program in place of another, one that is not run, an argument that is not given, an order. */
export function draftCommands(material: RuleMaterial): readonly CheckSketch[] {
  const before = runsIn(material.corrected);
  const after = runsIn(material.revised);
  return material.corrected === undefined
    ? [...namedPrograms(material), ...namedBranches(material)]
    : [
        ...ordered(material, after),
        ...replacedPrograms(material, before, after),
        ...wantedCall(material, before, after),
        ...requiredOptions(material, before, after),
        ...changedArguments(material, before, after),
        ...forbiddenPrograms(material, before, after),
      ];
}

const runsIn = (work: CheckedWork | undefined): readonly Run[] =>
  (work?.commands ?? []).flatMap((command) => readCommand(command).map(runOf));

function runOf({ name, args, typed }: Program): Run {
  const sub = WITH_SUBCOMMANDS.has(name) ? args.find((arg) => /^[a-z][\w-]*$/.test(arg)) : undefined;
  return { name, run: sub === undefined ? name : `${name} ${sub}`, args, typed: typed.join(' ') };
}

/** Whether the rule names it, as a word of its own: "pushed" names `push`. */
const names = (rule: string, word: string): boolean =>
  new RegExp(`(?:^|[^\\w-])${quotePattern(word)}(?:e?s|ed|ing|en|t)?(?:$|[^\\w-])`, 'iu').test(rule);

const isNegated = ({ words }: RuleMaterial, word: string): boolean =>
  [...words.forbidden, ...words.contrasts.map(({ unwanted }) => unwanted)].some((passage) =>
    names(passage, word),
  );

const distinct = (runs: readonly Run[], of: (run: Run) => string): readonly string[] => [
  ...new Set(runs.map(of)),
];

const runs = (run: string): CheckTest => ({ is: 'program', run });

/** "rg, not grep": only programs that the rule names and that changed places. */
function replacedPrograms(
  material: RuleMaterial,
  before: readonly Run[],
  after: readonly Run[],
): readonly CheckSketch[] {
  const { rule } = material;
  const [gone, come] = [
    distinct(before, ({ name }) => name).filter(
      (name) => names(rule, name) && !after.some((run) => run.name === name),
    ),
    distinct(after, ({ name }) => name).filter(
      (name) => names(rule, name) && !before.some((run) => run.name === name),
    ),
  ];
  const [bad] = gone;
  if (bad === undefined || come.length === 0) return [];
  const run = withOptions(rule, bad, before);
  return [
    { looksAt: 'work', about: [runs([...come, run].join('|'))], holdsWhen: [{ is: 'program', run, max: 0 }] },
  ];
}

/** With what the rule writes behind it: "rm -rf", "git add .", "docker exec". */
function withOptions(rule: string, program: string, before: readonly Run[]): string {
  const call = before.find(({ name, run }) => name === program && run !== name && rule.includes(run));
  if (call !== undefined) return call.run;
  const option = new RegExp(
    `(?:^|[^\\w-])${quotePattern(program)}\\s+(--?[a-zA-Z][\\w-]*|\\.(?=\\W))`,
    'u',
  ).exec(rule)?.[1];
  return option === undefined ? program : `${program} ${option}`;
}

/** "python3 -m pytest": the way in which a program is called. */
function wantedCall(
  { rule }: RuleMaterial,
  before: readonly Run[],
  after: readonly Run[],
): readonly CheckSketch[] {
  return after.flatMap(({ name, typed }): readonly CheckSketch[] => {
    const words = typed.split(' ');
    const call = words.slice(0, words.indexOf(name) + 1).join(' ');
    const isNew =
      call.includes(' ') && rule.includes(call) && !before.some((run) => run.typed.includes(call));
    if (!isNew || !before.some((run) => run.name === name)) return [];
    return [
      {
        looksAt: 'commands',
        about: [runs(name)],
        holdsWhen: [{ is: 'pattern', pattern: literalPattern(call), means: `“${call}”` }],
      },
    ];
  });
}

/** The same program with an argument that the rule names and that only one of the answers has. */
function changedArguments(
  material: RuleMaterial,
  before: readonly Run[],
  after: readonly Run[],
): readonly CheckSketch[] {
  const { rule } = material;
  return distinct(before, ({ run }) => run).flatMap((run): readonly CheckSketch[] => {
    if (!run.split(' ').some((word) => names(rule, word))) return [];
    const [old, now] = [before, after].map((all) =>
      all.filter((one) => one.run === run).flatMap(({ args }) => args),
    );
    const gone = (old ?? []).find((arg) => !now?.includes(arg) && isNamedArgument(rule, arg, run));
    const come = (now ?? []).find((arg) => !old?.includes(arg) && isNamedArgument(rule, arg, run));
    const about = [runs(run)];
    if (gone !== undefined && (gone.startsWith('-') || gone === '.'))
      return [{ looksAt: 'work', about, holdsWhen: [{ is: 'program', run: `${run} ${gone}`, max: 0 }] }];
    if (gone !== undefined)
      return [
        {
          looksAt: 'work',
          about: [{ is: 'program', run, with: namedArguments(before, run) }],
          holdsWhen: [{ is: 'program', run, with: wholeArgument(gone), max: 0 }],
        },
      ];
    if (come?.startsWith('-') === true)
      return [{ looksAt: 'work', about, holdsWhen: [{ is: 'program', run: `${run} ${come}` }] }];
    if (come !== undefined)
      return [{ looksAt: 'work', about, holdsWhen: [{ is: 'program', run, with: wholeArgument(come) }] }];
    return [];
  });
}

/** "kubectl only with -n": the options stand before the subcommand, too, so that every run of the program is compared. */
function requiredOptions(
  { rule, words }: RuleMaterial,
  before: readonly Run[],
  after: readonly Run[],
): readonly CheckSketch[] {
  const has = (all: readonly Run[], name: string, option: string): readonly boolean[] =>
    all.filter((one) => one.name === name).map(({ args }) => args.includes(option));
  return words.required.flatMap((option) =>
    distinct(before, ({ name }) => name).flatMap((name): readonly CheckSketch[] => {
      const [old, now] = [has(before, name, option), has(after, name, option)];
      const isRequired = /^--?[a-zA-Z]/.test(option) && names(rule, name) && now.length > 0;
      if (!isRequired || old.includes(true) || now.includes(false)) return [];
      return [
        {
          looksAt: 'commands',
          about: [runs(name)],
          holdsWhen: [{ is: 'program', run: `${name} ${option}` }],
        },
      ];
    }),
  );
}

const isNamedArgument = (rule: string, arg: string, run: string): boolean =>
  /^[\w-]{2,}$/.test(arg)
    ? !run.split(' ').includes(arg) && names(rule, arg)
    : rule.includes(`${run} ${arg}`);

/** As many arguments as the corrected command had: one that leaves them out (`git push`) does not tell what it works on. */
function namedArguments(before: readonly Run[], run: string): string {
  const args = before.find((one) => one.run === run)?.args ?? [];
  const count = args.filter((arg) => !arg.startsWith('-')).length;
  return `(?:^|\\s)${Array.from({ length: count }, () => '[^-\\s]\\S*').join('(?:\\s+-\\S*)*\\s+')}`;
}

const wholeArgument = (arg: string): string => `(?:^|[\\s:/=])${quotePattern(arg)}(?:[\\s:=]|$)`;

/** A program that only the corrected answer runs, behind a negation. */
function forbiddenPrograms(
  material: RuleMaterial,
  before: readonly Run[],
  after: readonly Run[],
): readonly CheckSketch[] {
  const bad = distinct(before, ({ name }) => name).find(
    (name) => isNegated(material, name) && !after.some((run) => run.name === name),
  );
  // "no curl | bash" is about the two together.
  if (bad === undefined || material.rule.includes('|')) return [];
  const run = withOptions(material.rule, bad, before);
  const instead = distinct(after, (one) => one.run).filter((one) => !before.some((old) => old.run === one));
  const holdsWhen: readonly CheckTest[] = [{ is: 'program', run, max: 0 }];
  return [
    ...(instead.length === 0
      ? []
      : [{ looksAt: 'work' as const, about: [runs([...instead, run].join('|'))], holdsWhen }]),
    { looksAt: 'work', about: [], holdsWhen },
  ];
}

const BEFORE = /\b(?:before|prior to|bevor|vor|avant(?: de)?|antes de)\b/iu;

/** "run X before you Y". */
function ordered({ rule }: RuleMaterial, after: readonly Run[]): readonly CheckSketch[] {
  const match = BEFORE.exec(rule);
  if (match === null) return [];
  const [first, second] = [rule.slice(0, match.index), rule.slice(match.index + match[0].length)].map(
    (passage) =>
      after.find(({ name, run }) =>
        [name, ...run.split(' ').slice(1)].some((word) => word !== 'git' && names(passage, word)),
      ),
  );
  if (first === undefined || second === undefined || first.run === second.run) return [];
  const pattern = (run: Run): string =>
    run.run.split(' ').map(literalPattern).join('\\b[^\\n;&|]*').replaceAll('\\b\\b', '\\b');
  return [
    {
      looksAt: 'commands',
      about: [{ is: 'program', run: second.run, in: 'all' }],
      holdsWhen: [{ is: 'order', first: pattern(first), second: pattern(second), in: 'all' }],
    },
  ];
}

/** "never push to main": the branch is an argument of the push. */
function namedBranches({ words }: RuleMaterial): readonly CheckSketch[] {
  return words.forbidden.flatMap((passage): readonly CheckSketch[] => {
    const branch = PUSHED_TO.exec(passage)?.[1];
    if (branch === undefined) return [];
    const run = 'git push';
    const pushes = (where: string): CheckedWork => ({ ...NOTHING, commands: [`git push origin ${where}`] });
    return [
      {
        looksAt: 'work',
        about: [{ is: 'program', run, with: '(?:^|\\s)[^-\\s]\\S*(?:\\s+-\\S*)*\\s+[^-\\s]\\S*' }],
        holdsWhen: [{ is: 'program', run, with: wholeArgument(branch), max: 0 }],
        keeping: pushes('my-branch'),
        breaking: pushes(branch),
      },
    ];
  });
}

const PUSHED_TO =
  /^(?:force[- ])?push(?:es|ing)?\s+(?:\w+\s+){0,2}?(?:to|on|onto|into)\s+(?:the\s+)?["'`“]?([\w-][\w./-]*[\w-])["'`”]?(?:\s+branch)?\W*$/iu;

/** Without answers: programs that everybody knows, behind a negation, and those named in their place. */
function namedPrograms(material: RuleMaterial): readonly CheckSketch[] {
  const { rule } = material;
  const programs = [...USUAL_PROGRAMS].filter(
    (name) => names(rule, name) && new RegExp(`(?:^|[^\\w-])${quotePattern(name)}(?:$|[^\\w-])`).test(rule),
  );
  const bad = programs.find((name) => isNegated(material, name));
  if (bad === undefined) return [];
  const run = withOptions(rule, bad, []);
  const good = programs.filter((name) => name !== bad && !isNegated(material, name));
  return [
    {
      looksAt: 'commands',
      about: good.length === 0 ? [] : [runs([...good, run].join('|'))],
      holdsWhen: [{ is: 'program', run, max: 0 }],
      keeping: `${good[0] ?? 'ls'} work`,
      breaking: `${run} work`,
    },
  ];
}

/** Programs that change the files that they are given. */
const WRITERS = 'rm|mv|cp|tee|touch|truncate|sed -i|perl -i|git rm|git mv|ln|install|chmod';
const NOTHING: CheckedWork = { request: '', reply: '', files: [], commands: [] };

/** Files that a rule puts out of bounds: `migrations/`, `dist`. */
export function draftPaths(material: RuleMaterial): readonly CheckSketch[] {
  const folders =
    material.rule.match(/(?:[\w.-]+\/)+[\w.*-]*|\b[\w-]+\.(?:json|ya?ml|toml|lock|env|md|sql)\b/gu) ?? [];
  const before = (material.corrected?.files ?? []).map(({ path }) => path);
  const after = (material.revised?.files ?? []).map(({ path }) => path);
  return folders
    .filter((folder) => material.words.forbidden.some((passage) => passage.includes(folder)))
    .flatMap((folder): readonly CheckSketch[] => {
      const name = quotePattern(folder);
      const touches = (paths: readonly string[]): boolean => paths.some((path) => path.includes(folder));
      if (material.corrected !== undefined && (!touches(before) || touches(after))) return [];
      return [
        {
          looksAt: 'work',
          about: [],
          holdsWhen: [
            absent({ pattern: `(?:^|/)${name}`, in: 'path', means: `path in ${folder}` }),
            { is: 'program', run: WRITERS, with: `(?:^|[\\s/'"])${name}`, max: 0 },
            absent({ pattern: `\\S\\s+>{1,2}\\s*(?:\\./)?${name}`, means: `output into ${folder}` }),
          ],
          keeping: { ...NOTHING, files: [{ path: 'elsewhere.txt', text: 'text' }] },
          breaking: { ...NOTHING, commands: [`rm ${folder}`] },
        },
      ];
    });
}
