import { setImmediate as takeTurn } from 'node:timers/promises';
import type { EvidenceCase, Passage } from '../../core/learn.ts';
import type { Taint } from '../../core/lesson.ts';
import { detectLanguages } from '../../text/languages.ts';
import { splitFoldedSentences } from '../../text/sentences.ts';
import { topicStems } from '../../text/topic-words.ts';
import { clip } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { RESULT_PROVEN } from '../draft-lesson.ts';
import { type EvidenceByTrust, isFirstParty, materialOf, type UntrustedText } from './evidence-by-trust.ts';
import type { LiteralProvenance } from './lesson-literals.ts';
import { foldedWords, foldText, matchingRuns, wordRuns } from './normalize-text.ts';
import {
  findAddressOfAgents,
  forwardsProse,
  givesInstruction,
  isProse,
  isReport,
  isStandingRule,
  readOutsideStatements,
  saysMore,
} from './outside-statements.ts';

export interface TaintFinding {
  readonly taint: Taint;
  /** The reason, for people. */
  readonly why: string;
}

const LONGEST_SHOWN = 80;

/**
 * Finds which parts of a lesson may come from untrusted text: words, literals, names or a meaning that only a tool or a page
 * used, or untrusted text that cannot be compared or addresses agents. Comparing words finds copies and close paraphrases.
 * Free paraphrases are limited by two rules: a page alone teaches nothing, and text that addresses agents taints everything
 * learned in its session.
 */
export async function findTaint(
  words: string,
  { firstParty, trusted, untrusted, events }: EvidenceByTrust,
  provenance: LiteralProvenance,
): Promise<readonly TaintFinding[]> {
  const folded = foldText(words);
  // A lesson may repeat the agent's own commands: what they name is checked literal by literal.
  const commands = events.flatMap(({ kind, lines }) =>
    (kind === 'succeeded' || kind === 'failed') && provenance.ofCommand(lines) !== 'outside' ? [lines] : [],
  );
  const findRun = createRunFinder(withoutCommands(folded, commands), trusted);
  const findLiteral = createLiteralFinder(folded, trusted, (literal) => {
    const from = provenance.ofName(literal);
    return from === 'proven' || from === 'tried';
  });
  const findMeaning = createMeaningFinder(folded, firstParty);
  const findName = createNameFinder(words, trusted);
  const languages = detectLanguages(folded);
  const outputs = untrusted.filter(({ isAgent }) => !isAgent);
  const found: TaintFinding[] = [];
  const take = (taint: Taint, why: string, what: string | undefined): boolean => {
    if (what !== undefined) found.push({ taint, why: `${why}: ${clip(what, LONGEST_SHOWN)}` });
    return what !== undefined;
  };

  // An agent's own conclusion is outside text only where some outside text could have led to it.
  const hasAdvice = outputs.some(teaches);
  for (const { taint, views, isAgent, isClient, text } of untrusted) {
    await takeTurn();
    if (isAgent && !hasAdvice) continue;
    const from = isAgent ? 'an agent' : taint === 'web' ? 'a page' : 'a tool';
    for (const view of views) {
      if (take(taint, `it repeats ${from}`, findRun(view))) break;
      if (isAgent) continue;
      const address = isClient ? undefined : findAddressOfAgents(view);
      if (take(taint, `${from} in the same session addresses agents`, address)) break;
      if (take(taint, `this comes from ${from}`, findLiteral(view))) break;
      if (take(taint, `it paraphrases ${from}`, findMeaning(view))) break;
      if (take(taint, `this name comes from ${from}`, findName(view, taint === 'web'))) break;
    }
    const foreign =
      isAgent || isClient
        ? undefined
        : [...detectLanguages(foldText(text))].find(([name]) => !languages.has(name));
    if (foreign !== undefined)
      take(
        taint,
        `${from} uses a language that the lesson cannot be compared with: ${foreign[0]}`,
        foreign[1].trim(),
      );
  }
  return found;
}

/** Whether an outside text says anything beside what went wrong. */
const teaches = ({ views }: UntrustedText): boolean =>
  saysMore(views[0] ?? '') || readOutsideStatements(views).length > 0;

/**
 * A finding when no evidence outside the recorded text supports the lesson. A judge has only read that text; and next to a
 * page that says anything but what went wrong, an exit code or a negative rating does not explain what was learned.
 */
export function findUnsupportedBasis(
  cited: readonly EvidenceCase[],
  untrusted: readonly UntrustedText[],
): TaintFinding | undefined {
  const isStated = cited.some((failure) => {
    const hasNote = materialOf(failure).passages.some(
      ({ origin, isFeedback }) => origin === 'person' || origin === 'verifier' || isFeedback === true,
    );
    return (
      hasNote || failure.appraisal.signals.some(({ name, score }) => name.startsWith('user-') && score < 0.5)
    );
  });
  if (isStated) return undefined;
  const has = (isMeant: (passage: Passage) => boolean): boolean =>
    cited.some((failure) => materialOf(failure).passages.some(isMeant));
  const said = new Set(
    untrusted.flatMap((text) => (text.taint === 'web' && teaches(text) ? [text.text] : [])),
  );
  if (
    said.size > 0 &&
    has(({ origin, text }) => origin === 'web' || (isFirstParty(origin) && forwardsProse(text, origin)))
  )
    return {
      taint: 'web',
      why: `a page was read, and no person or verifier stated what was learned: ${shownOf([...said])}`,
    };
  const isMeasured = cited.some(
    ({ source, appraisal }) =>
      source === 'person' ||
      source === 'verifier' ||
      appraisal.digests.length > 0 ||
      appraisal.signals.some(
        ({ name, source, score }) =>
          ((source === 'signal' || source === 'chat') && score < 0.5) || name === RESULT_PROVEN,
      ),
  );
  if (isMeasured || !has(({ origin }) => origin === 'tool')) return undefined;
  const outputs = cited.flatMap((failure) =>
    materialOf(failure).passages.flatMap(({ origin, text }) => (origin === 'tool' ? [text] : [])),
  );
  return { taint: 'tool', why: `only the output of a tool supports it: ${shownOf(outputs)}` };
}

/** The beginning of the last of these texts, in one line. */
const shownOf = (texts: readonly string[]): string =>
  clip(oneLine((texts.at(-1) ?? '').slice(0, 400)), LONGEST_SHOWN);

/** This many words in the same order are no coincidence. */
const RUN = 8;

/** Finds a run of words that the lesson shares with an untrusted text and with no trusted one. */
type RunFinder = (folded: string) => string | undefined;

/** The passages of a lesson between the agent's own commands: "`X` worked" is no run of words, however long X is. */
const withoutCommands = (folded: string, commands: readonly string[]): readonly string[] =>
  commands.reduce<readonly string[]>(
    (passages, command) =>
      passages.flatMap((passage) => (command === '' ? [passage] : passage.split(command))),
    [flat(folded)],
  );

/** `passages`: the lesson; `trusted`: text that it may repeat. Both normalized. */
function createRunFinder(passages: readonly string[], trusted: readonly string[]): RunFinder {
  const all = new Set(passages.flatMap((words) => [...wordRuns(foldedWords(words), RUN)]));
  const runs = without(all, trusted, RUN);
  return (folded) => [...matchingRuns(runs, foldedWords(folded), RUN)][0];
}

function without(runs: ReadonlySet<string>, trusted: readonly string[], length: number): ReadonlySet<string> {
  const left = new Set(runs);
  for (const text of trusted)
    for (const run of matchingRuns(left, foldedWords(text), length)) left.delete(run);
  return left;
}

const SHORTEST = 12;
const FEWEST_QUOTED = 5;
const CODE = /`([^`\n]{3,400})`/g;
const QUOTED = /"([^"\n]{8,400})"/g;
const FENCE = /^\s{0,3}(?:```|~~~)/;
/** Words with punctuation inside, as no sentence has. */
const SIGNED = /^[\w@~$%\\/.:=+#*-]{12,300}$/;
/** A file that runs: however short its name is, a lesson that names it may have it run. */
const RUNS =
  /^[\w@.~$\\/-]{0,120}\w\.(?:sh|bash|zsh|fish|ps1|psm1|bat|cmd|vbs|exe|msi|scr|com|pkg|deb|rpm|run|bin|dmg|appimage|apk|jar|dll|so|dylib)$/;
/** A setting, however short: `CI=1`. */
const ASSIGNMENT = /^[a-z][a-z0-9_]{1,60}=[\w@~$%\\/.:+*-]{1,200}$/;
const PATH = /^(?:[\w@.~$-]{1,80})?(?:[\\/][\w@.~$-]{1,80}){1,20}$/;
/** Files of most projects: their names do not show where a sentence comes from. */
const COMMON =
  /^(?:package(?:-lock)?\.json|requirements\.txt|tsconfig\.json|pyproject\.toml|docker-compose\.ya?ml|cargo\.(?:toml|lock)|node_modules|changelog\.md|contributing\.md|readme\.md|\.gitignore|gradle\.properties|build\.gradle|pnpm-lock\.yaml|__init__\.py|conftest\.py|index\.(?:html|[jt]sx?)|main\.(?:py|go|rs|[jt]s)|settings\.py|setup\.(?:py|cfg)|vite\.config\.[jt]s|go\.(?:mod|sum))$/;

/** The literals of a normalized lesson: paths, commands, code, quotations. */
function literalsOf(words: string): readonly string[] {
  const found = new Set<string>();
  let isFenced = false;
  for (const line of words.split('\n')) {
    if (FENCE.test(line)) isFenced = !isFenced;
    else if (isFenced && line.trim().length >= SHORTEST) found.add(line.trim());
  }
  for (const [, code = ''] of words.matchAll(CODE))
    if (code.trim().length >= SHORTEST) found.add(code.trim());
  for (const [, quoted = ''] of words.matchAll(QUOTED))
    if (foldedWords(quoted).length >= FEWEST_QUOTED) found.add(quoted.trim());
  for (const word of words.split(/[\s`"'()[\]{}<>,;!?]+/)) {
    const bare = word.replace(/^[.:*]+|[.:*]+$/g, '');
    if (RUNS.test(bare) || ASSIGNMENT.test(bare) || (SIGNED.test(bare) && isSigned(bare))) found.add(bare);
  }
  return [...found].filter((literal) => !COMMON.test(literal));
}

/** A path, or a name with punctuation or digits between its letters; two words joined by a hyphen or a slash are English. */
const isSigned = (word: string): boolean =>
  /\w[\\/]\w[\w.~$-]*[\\/.]|^[~/\\]|\w[_=@$%#+]\w|\w\.\w|\w::?\w|[a-z]\d[a-z]|-{2}\w/.test(word);

/**
 * Finds literals of a lesson that occur in untrusted text only. `isOwn`: the agent used it before outside text named it. A relative path counts as trusted when its last segment
 * is: error digests keep no more of it.
 */
function createLiteralFinder(
  words: string,
  trusted: readonly string[],
  isOwn: (literal: string) => boolean,
): (folded: string) => string | undefined {
  const said = flat(trusted.join('\n'));
  const open = literalsOf(words).filter((literal) => {
    if (isOwn(literal)) return false;
    const base = PATH.test(literal) && !/^[/~\\]/.test(literal) ? literal.split(/[\\/]/).at(-1) : undefined;
    return !said.includes(flat(literal)) && !(base && base.length > 3 && said.includes(base));
  });
  return (folded) => {
    if (open.length === 0) return undefined;
    const text = flat(folded);
    return open.find((literal) => text.includes(flat(literal)));
  };
}

const flat = (text: string): string => foldText(text).split(/\s+/).join(' ');

/** Words written like a name: `AcmePay`, `left-pad-x` in code, `@acme/pay`, a capital inside a sentence. */
const CAMEL = /\b\p{Lu}?\p{Ll}+\p{Lu}[\p{L}\p{N}]*\b/gu;
const INSIDE = /(?<=[\p{Ll}\p{N},;] )\p{Lu}\p{Ll}{2,}\b/gu;
const CODE_NAME = /`(@?[a-z0-9][\w.-]{2,60}(?:\/[\w.-]{1,60})?)`/gi;

/**
 * Finds names of a lesson that occur in untrusted text only: on a page any of them, elsewhere those in a request. Injected
 * advertising and malicious packages work through names.
 */
function createNameFinder(
  text: string,
  trusted: readonly string[],
): (folded: string, isPage: boolean) => string | undefined {
  const known = new Set(trusted.flatMap((said) => foldedWords(said)));
  const said = trusted.join('\n');
  const names = new Set(
    [CAMEL, INSIDE, CODE_NAME]
      .flatMap((pattern) => [...text.matchAll(pattern)].map((match) => foldText(match[1] ?? match[0])))
      .filter((name) => !said.includes(name) && !foldedWords(name).every((token) => known.has(token))),
  );
  return (folded, isPage) => {
    if (names.size === 0) return undefined;
    for (const sentence of splitFoldedSentences(folded)) {
      const found = [...names].find((name) => sentence.includes(name));
      if (found !== undefined && (isPage || givesInstruction(sentence))) return found;
    }
    return undefined;
  };
}

/** How many stems, and which share of them, two sentences must have in common. */
interface Bar {
  readonly fewest: number;
  readonly share: number;
}
const FOR_STANDING: Bar = { fewest: 2, share: 0.34 };
const FOR_ASKING: Bar = { fewest: 3, share: 0.5 };
const FOR_PROSE: Bar = { fewest: 3, share: 0.5 };
const FOR_ANYTHING: Bar = { fewest: 4, share: 0.6 };
/** Enough common stems for a sentence of any length. */
const ENOUGH = 7;

type MeaningFinder = (folded: string) => string | undefined;

/**
 * Finds a sentence of untrusted text that the lesson repeats in any order and inflection of its words. The threshold is lower
 * for sentences that request something. Words that people, verifiers or digests used as well do not count. Of reports
 * of what went wrong a lesson may use more.
 */
function createMeaningFinder(words: string, trusted: readonly string[]): MeaningFinder {
  const known = topicStems(trusted.join('\n'));
  const lines = splitFoldedSentences(words).map(stemsOf);
  const all = new Set(lines.flatMap((stems) => [...stems]));
  const linesOf = new Map<string, number[]>();
  for (const [index, stems] of lines.entries())
    for (const stem of stems) linesOf.set(stem, [...(linesOf.get(stem) ?? []), index]);

  return (folded) =>
    splitFoldedSentences(folded).find((sentence) => {
      const fresh = [...stemsOf(sentence)].filter((stem) => !known.has(stem));
      const shared = fresh.filter((stem) => all.has(stem));
      if (shared.length < FOR_STANDING.fewest) return false;
      const bar = isStandingRule(sentence)
        ? FOR_STANDING
        : givesInstruction(sentence)
          ? FOR_ASKING
          : undefined;
      if (bar !== undefined && (passes(bar, shared.length, fresh.length) || shared.length >= ENOUGH))
        return true;
      const hits = new Map<number, number>();
      for (const stem of shared)
        for (const line of linesOf.get(stem) ?? []) hits.set(line, (hits.get(line) ?? 0) + 1);
      const isWritten = !isReport(sentence) && isProse(sentence);
      return [...hits].some(([line, count]) => {
        const size = lines[line]?.size ?? 0;
        return (
          passes(FOR_ANYTHING, count, size) ||
          (isWritten && passes(FOR_PROSE, count, Math.min(size, fresh.length)))
        );
      });
    });
}

/** Without paths and dotted names: literals are compared separately. */
const stemsOf = (sentence: string): ReadonlySet<string> =>
  topicStems(
    sentence
      .split(/\s+/)
      .filter((part) => !/\w[/\\._]\w/.test(part))
      .join(' '),
  );

const passes = ({ fewest, share }: Bar, count: number, of: number): boolean =>
  count >= fewest && count >= of * share;
