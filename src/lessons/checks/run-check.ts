import { LONGEST_TEXT } from '../../base/linear-regex.ts';
import {
  type CheckedWork,
  type CheckResult,
  type CheckTest,
  isSlowTest,
  type RuleCheck,
  type SlowTest,
  type TestPlace,
} from '../../core/check.ts';
import { headLines, tailLines } from '../../text/lines.ts';
import { readCommand } from '../../text/shell-programs.ts';
import { clip } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { type TestResult, testText } from './test-text.ts';

/** More files or commands than these are not looked at. */
const MOST_UNITS = 100;
const MOST_LINES = 2000;
const LONGEST_QUOTE = 160;
const NOT_APPLICABLE: CheckResult = { outcome: 'does-not-apply' };

/** What a check looks at in one go: the reply, one file, one command. */
interface Unit {
  readonly kind: 'reply' | 'file' | 'command';
  readonly text: string;
  readonly path?: string;
}

/** The answer of a test that needs a process or a model, about the whole work. */
type SlowAnswer = (test: SlowTest) => TestResult;

const NOT_ASKED: SlowAnswer = () => ({ answer: 'undecided' });

/** Asks a check about a piece of work. Never throws: a check that cannot be read applies to nothing. What is slow was asked before. */
export function runCheck(check: RuleCheck, work: CheckedWork, slow: SlowAnswer = NOT_ASKED): CheckResult {
  try {
    let result = NOT_APPLICABLE;
    for (const unit of unitsOf(check, work)) {
      const one = checkUnit(check, unit, { check, work, slow });
      if (one.outcome === 'broken') return one;
      if (one.outcome === 'kept') result = one;
    }
    return result;
  } catch {
    return NOT_APPLICABLE;
  }
}

/** Whether the answer of a slow test would decide: all that can be told at once says that the check applies and that the rule was kept. */
export const awaitsSlowTest = (check: RuleCheck, work: CheckedWork): boolean =>
  check.holdsWhen.some(isSlowTest) && runCheck(check, work, () => ({ answer: 'yes' })).outcome === 'kept';

/** Answers a slow test. Never rejects: what could not be asked is undecided. */
export type AskSlowTest = (test: SlowTest, check: RuleCheck, work: CheckedWork) => Promise<TestResult>;

/** Asks a check about a piece of work, its slow tests included where they decide. */
export async function runWholeCheck(
  check: RuleCheck,
  work: CheckedWork,
  ask: AskSlowTest,
): Promise<CheckResult> {
  if (!awaitsSlowTest(check, work)) return runCheck(check, work);
  const answers = new Map<SlowTest, TestResult>();
  for (const test of check.holdsWhen.filter(isSlowTest)) answers.set(test, await ask(test, check, work));
  return runCheck(check, work, (test) => answers.get(test) ?? { answer: 'undecided' });
}

function unitsOf({ looksAt }: RuleCheck, { reply, files, commands }: CheckedWork): readonly Unit[] {
  const units: readonly Unit[] = [
    ...(looksAt === 'reply' || looksAt === 'work' ? [{ kind: 'reply' as const, text: reply }] : []),
    ...(looksAt === 'files' || looksAt === 'work'
      ? files.map(({ path, text }) => ({ kind: 'file' as const, path, text }))
      : []),
    ...(looksAt === 'commands' || looksAt === 'work'
      ? commands.map((text) => ({ kind: 'command' as const, text }))
      : []),
  ];
  return units.filter(({ text }) => text.trim() !== '').slice(0, MOST_UNITS);
}

/** The commands of a unit: of text and files those that stand in code, a line each, behind what a script or a workflow puts before them. */
function commandsIn(unit: Unit): readonly string[] {
  if (unit.kind === 'command') return [unit.text];
  const { code } = isProse(unit) ? splitCode(unit.text) : { code: unit.text };
  const spans = isProse(unit)
    ? [...unit.text.matchAll(/`([^`\n]{2,200})`/g)].map((match) => match[1] ?? '')
    : [];
  const lines = code.slice(0, LONGEST_TEXT).split('\n').slice(0, MOST_LINES);
  return [...lines, ...spans]
    .map((line) => line.replace(/^\s*(?:[-*]\s+)?(?:run:\s*|RUN\s+|\$\s+|>\s+|"[\w:-]+":\s*"|@)*/, ''))
    .filter((line) => line.trim() !== '' && !/^\s*(?:#|\/\/)/.test(line));
}

function checkUnit(check: RuleCheck, unit: Unit, { work, slow }: Question): CheckResult {
  const ask = (test: CheckTest): TestResult => {
    if (isSlowTest(test)) return slow(test);
    if (test.in === 'all') {
      const units = unitsOf(check, work);
      return testText(
        test,
        test.is === 'program' ? units.flatMap(commandsIn) : units.map(({ text }) => text),
      );
    }
    if (test.is === 'program') return testText(test, commandsIn(unit));
    const text = textAt(test.in ?? 'whole', unit, { check, work });
    // An answer without the thing that is asked about is neither kept nor broken.
    return text === undefined ? { answer: 'undecided' } : testText(test, [text]);
  };
  if (!check.appliesWhen.every((test) => ask(test).answer === 'yes')) return NOT_APPLICABLE;
  const results = check.holdsWhen.map((test) => ({ test, ...ask(test) }));
  const failure = results.find(({ answer }) => answer === 'no');
  if (failure !== undefined) {
    const quote = quoteOf(failure, unit, { check, work });
    return quote === undefined ? { outcome: 'broken' } : { outcome: 'broken', quote };
  }
  return results.some(({ answer }) => answer === 'undecided') ? NOT_APPLICABLE : { outcome: 'kept' };
}

interface Question {
  readonly check: RuleCheck;
  readonly work: CheckedWork;
  readonly slow: SlowAnswer;
}

/** Undefined where the work has no such place. */
function textAt(place: TestPlace, unit: Unit, { check, work }: Omit<Question, 'slow'>): string | undefined {
  switch (place) {
    case 'request':
      return work.request;
    case 'whole':
      return unit.text;
    case 'all':
      return unitsOf(check, work)
        .map(({ text }) => text)
        .join('\n');
    case 'first-line':
      return headLines(unit.text, 1)[0]?.trim();
    case 'last-line':
      return tailLines(unit.text, 1)[0]?.trim();
    case 'headings':
      return present(headingsOf(unit.text));
    case 'code':
      return isProse(unit) ? present(splitCode(unit.text).code) : unit.text;
    case 'fences':
      return isProse(unit) ? present(splitCode(unit.text).fences) : /\.\w+$/.exec(unit.path ?? '')?.[0];
    case 'prose':
      return isProse(unit) ? present(splitCode(unit.text).prose.replace(/`[^`\n]+`/g, '``')) : undefined;
    case 'subject':
      return subjectOf(unit, check);
    case 'path':
      return unit.path;
  }
}

const present = (text: string): string | undefined => (text.trim() === '' ? undefined : text);

/** Whether a file is written for readers. */
export const isDocument = (path: string): boolean => /\.(?:md|mdx|markdown|rst|txt|adoc)$/i.test(path);

/** A reply, or a document. */
const isProse = ({ kind, path = '' }: Unit): boolean => kind === 'reply' || isDocument(path);

const FENCE = /^ {0,3}(?:```|~~~)/;

interface SplitCode {
  readonly code: string;
  readonly fences: string;
  readonly prose: string;
}

/** Fenced code and the rest. A fence that is never closed is text: it cannot hide what follows. */
function splitCode(text: string): SplitCode {
  const code: string[] = [];
  const fences: string[] = [];
  const prose: string[] = [];
  let open: string[] | undefined;
  for (const line of text.split('\n'))
    if (FENCE.test(line)) {
      if (open === undefined) fences.push(line.trim());
      else code.push(...open);
      open = open === undefined ? [] : undefined;
    } else (open ?? prose).push(line);
  prose.push(...(open ?? []));
  return { code: code.join('\n'), fences: fences.join('\n'), prose: prose.join('\n') };
}

/** `# Title` and a line that is bold as a whole. */
const headingsOf = (text: string): string =>
  splitCode(text)
    .prose.split('\n')
    .flatMap((line) => {
      const heading = /^ {0,3}#{1,6}\s+(.*)$/.exec(line) ?? /^\s*\*\*([^*]+)\*\*:?\s*$/.exec(line);
      return heading?.[1] === undefined ? [] : [heading[1].trim()];
    })
    .join('\n');

/** Of a file there is none; a reply is taken for a commit message only where the check is about replies alone. */
function subjectOf({ kind, text }: Unit, { looksAt }: RuleCheck): string | undefined {
  if (kind === 'command') return committedSubject(text);
  return kind === 'reply' && looksAt === 'reply' ? writtenSubject(text) : undefined;
}

/** The first line of the message of a `git commit -m`. */
function committedSubject(command: string): string | undefined {
  const commit = readCommand(command).find(({ name, args }) => name === 'git' && args.includes('commit'));
  const at = commit?.args.findIndex((arg) => /^(?:-[a-z]*m|--message)$/.test(arg)) ?? -1;
  const long = commit?.args.find((arg) => arg.startsWith('--message='))?.slice('--message='.length);
  const message = long ?? (at < 0 ? undefined : commit?.args[at + 1]);
  return message?.split('\n')[0]?.trim();
}

/** A reply shows a commit message in a code block, or after a line that announces it. */
function writtenSubject(text: string): string | undefined {
  const { code, prose } = splitCode(text);
  const lines = headLines(code.trim() === '' ? prose : code, 2);
  return (lines[0]?.trim().endsWith(':') === true ? lines[1] : lines[0])?.trim();
}

/** The line that breaks the rule; of files and commands at least which one. */
function quoteOf(
  failure: TestResult & { readonly test: CheckTest },
  unit: Unit,
  question: Omit<Question, 'slow'>,
): string | undefined {
  if (isSlowTest(failure.test))
    return failure.answer === 'no' && failure.quote !== undefined
      ? clip(oneLine(failure.quote), LONGEST_QUOTE)
      : undefined;
  const { in: place = 'whole' } = failure.test;
  if (place === 'request') return undefined;
  const text = textAt(place, unit, question) ?? '';
  const at = failure.answer === 'no' ? failure.at : undefined;
  const isLine = place === 'first-line' || place === 'last-line' || place === 'subject' || place === 'path';
  const passage =
    at !== undefined ? lineAround(text, at) : isLine ? text : unit.kind === 'command' ? unit.text : unit.path;
  return passage === undefined ? undefined : clip(oneLine(passage), LONGEST_QUOTE);
}

/** The line at a position, from a little before it where the line is long. */
function lineAround(text: string, at: number): string {
  const start = Math.max(text.lastIndexOf('\n', at - 1) + 1, at - LONGEST_QUOTE / 2);
  const end = text.indexOf('\n', at);
  return text.slice(start, end < 0 ? start + LONGEST_QUOTE : end);
}
