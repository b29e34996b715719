import { setImmediate as takeTurn } from 'node:timers/promises';
import type { FailureCase, Passage } from '../../core/learn.ts';
import type { Taint } from '../../core/lesson.ts';
import type { EmbeddingModel } from '../../core/recall.ts';
import { splitFoldedSentences } from '../../text/sentences.ts';
import { clip } from '../../text/truncate.ts';
import { type EvidenceByTrust, isFirstParty, type UntrustedText } from './evidence-by-trust.ts';
import { forwardsProse } from './first-party-text.ts';
import { addressesAgents } from './injection-phrases.ts';
import { foldedWords, foldText, isProse, isRequest, matchingRuns, wordRuns } from './normalize-text.ts';
import {
  createLiteralFinder,
  createMeaningFinder,
  createNameFinder,
  createRunFinder,
  findPatchwork,
} from './text-overlap.ts';

export interface TaintFinding {
  readonly taint: Taint;
  /** The reason, for people. */
  readonly why: string;
}

const REPEATS = 5;
/** Phrases with which an agent attributes an instruction to its source. */
const REPORTED =
  /\b(?:as|per|like|according to|following|because|since|given that|based on)\b.{0,12}?\b(?:the|that|this|its|their|a)\b.{0,30}?\b(?:page|site|website|docs?|documentation|readme|tool|output|file|comment|issue|ticket|mail|e-?mail|calendar|invite|event|skill|instructions?|polic(?:y|ies)|guidelines?|rules?|note|notice|message|banner|convention)\b/;
const LONGEST_SHOWN = 80;

/**
 * Finds which parts of a lesson may come from untrusted text: words, literals, names or a meaning that only a tool or a page
 * used, or untrusted text that cannot be compared or addresses agents. Comparing words finds copies and close paraphrases.
 * Free paraphrases are limited by two rules: a page alone teaches nothing, and text that addresses agents taints everything
 * learned in its session.
 */
export async function findTaint(
  words: string,
  { firstParty, trusted, untrusted }: EvidenceByTrust,
): Promise<readonly TaintFinding[]> {
  const folded = foldText(words);
  const findRun = createRunFinder(folded, trusted);
  const findLiteral = createLiteralFinder(folded, trusted);
  const findMeaning = createMeaningFinder(folded, firstParty);
  const findName = createNameFinder(words, trusted);
  const languages = detectLanguages(folded);
  const outputs = untrusted.filter(({ isAgent }) => !isAgent);
  const echoes = untrusted
    .filter(({ isAgent }) => isAgent)
    .flatMap((agent) => echoOf(agent, outputs, trusted));
  const found: TaintFinding[] = [];
  const take = (taint: Taint, why: string, what: string | undefined): boolean => {
    if (what !== undefined)
      found.push({ taint, why: what === '' ? why : `${why}: ${clip(what, LONGEST_SHOWN)}` });
    return what !== undefined;
  };

  for (const { taint, views, isAgent, text } of [...untrusted, ...echoes]) {
    await takeTurn();
    const from = isAgent ? 'an agent' : taint === 'web' ? 'a page' : 'a tool';
    for (const view of views) {
      if (take(taint, `it repeats ${from}`, findRun(view))) break;
      if (isAgent) continue;
      if (take(taint, `${from} in the same session addresses agents`, addressesAgents(view) ? '' : undefined))
        break;
      if (take(taint, `this comes from ${from}`, findLiteral(view))) break;
      if (take(taint, `it paraphrases ${from}`, findMeaning(view))) break;
      if (take(taint, `this name comes from ${from}`, findName(view, taint === 'web'))) break;
    }
    const foreign = isAgent
      ? undefined
      : [...detectLanguages(foldText(text))].find((name) => !languages.has(name));
    take(taint, `${from} uses a language that the lesson cannot be compared with`, foreign);
  }
  for (const taint of ['tool', 'web'] as const) {
    const views = outputs.filter((one) => one.taint === taint).flatMap((one) => one.views);
    take(taint, 'it is assembled from pieces of untrusted text', findPatchwork(folded, trusted, views));
  }
  return found;
}

/** Sentences in which an agent repeats a tool, or attributes an instruction to one, count as the tool's text. */
function echoOf(
  agent: UntrustedText,
  outputs: readonly UntrustedText[],
  trusted: readonly string[],
): readonly UntrustedText[] {
  const [plain = ''] = agent.views;
  const mine = new Set(wordRuns(foldedWords(plain), REPEATS));
  for (const text of trusted)
    for (const run of matchingRuns(mine, foldedWords(text), REPEATS)) mine.delete(run);
  const reported = splitFoldedSentences(plain)
    .filter((sentence) => REPORTED.test(sentence))
    .join('\n');
  const relayed = { taint: agent.taint, text: reported, views: [reported], isAgent: false };
  const echoes = outputs.flatMap(({ taint, views: [view = ''] }) => {
    const runs = matchingRuns(mine, foldedWords(view), REPEATS);
    if (runs.size === 0) return [];
    const text = splitFoldedSentences(plain)
      .filter((sentence) => matchingRuns(runs, foldedWords(sentence), REPEATS).size > 0)
      .join('\n');
    return [{ taint, text, views: [text], isAgent: false }];
  });
  return reported === '' ? echoes : [...echoes, relayed];
}

/**
 * A finding when no evidence outside the recorded text supports the lesson. A judge has only read that text; and next to a
 * page, an exit code or a negative rating does not explain what was learned.
 */
export function findUnsupportedBasis(cited: readonly FailureCase[]): TaintFinding | undefined {
  const isStated = cited.some(
    ({ appraisal, passages }) =>
      passages.some(({ origin }) => origin === 'person' || origin === 'verifier') ||
      appraisal.signals.some(({ name, score }) => name.startsWith('user-') && score < 0.5),
  );
  if (isStated) return undefined;
  const has = (isMeant: (passage: Passage) => boolean): boolean =>
    cited.some(({ task, passages }) => [{ origin: 'user', text: task } as const, ...passages].some(isMeant));
  if (has(({ origin, text }) => origin === 'web' || (isFirstParty(origin) && forwardsProse(text, origin))))
    return { taint: 'web', why: 'a page was read, and no person or verifier stated what was learned' };
  const isMeasured = cited.some(
    ({ source, appraisal }) =>
      source === 'person' ||
      source === 'verifier' ||
      appraisal.digests.length > 0 ||
      appraisal.signals.some(({ source, score }) => source === 'signal' && score < 0.5),
  );
  return isMeasured || !has(({ origin }) => origin === 'tool')
    ? undefined
    : { taint: 'tool', why: 'only the output of a tool supports it' };
}

/** Cosines of all-MiniLM-L6-v2 from which two sentences count as similar; lower for sentences that request something. */
const NEAR_ASKING = 0.4;
const NEAR = 0.45;
const MOST_SENTENCES = 240;
const MOST_FIRST_PARTY = 60;
const FEWEST_WORDS_IN_LINE = 4;

export interface SimilarSentence {
  readonly taint: Taint;
  /** The untrusted sentence; undefined when the comparison was not possible. */
  readonly sentence: string | undefined;
}

/**
 * An untrusted sentence that a line of the lesson resembles in meaning, by embeddings: that finds paraphrases that share no
 * words. A line that is closer to first-party text is not reported. Where the comparison is not possible (too much text, or
 * the model fails), any untrusted sentence counts as found.
 */
export async function findSimilarMeaning(
  words: string,
  { firstParty, untrusted }: EvidenceByTrust,
  embed: EmbeddingModel['embed'],
): Promise<SimilarSentence | undefined> {
  const taints = new Map<string, Taint>();
  for (const { isAgent, taint, views } of untrusted)
    if (!isAgent)
      for (const view of views)
        for (const sentence of splitFoldedSentences(view)) if (isProse(sentence)) taints.set(sentence, taint);
  const sentences = [...taints.keys()].sort((a, b) => Number(isRequest(b)) - Number(isRequest(a)));
  const lines = splitFoldedSentences(foldText(words)).filter(
    (line) => foldedWords(withoutCode(line)).length >= FEWEST_WORDS_IN_LINE,
  );
  const [first] = sentences;
  if (first === undefined || lines.length === 0) return undefined;
  const unknown = { taint: taints.get(first) ?? 'tool', sentence: undefined };
  if (sentences.length > MOST_SENTENCES) return unknown;
  const own = [...new Set(firstParty.flatMap(splitFoldedSentences))].slice(0, MOST_FIRST_PARTY);
  try {
    const vectors = await embed([...lines, ...own, ...sentences]);
    const lineVectors = vectors.slice(0, lines.length);
    const ownVectors = vectors.slice(lines.length, lines.length + own.length);
    const nearestOwn = lineVectors.map((line) =>
      Math.max(0, ...ownVectors.map((vector) => cosine(line, vector))),
    );
    for (const [index, sentence] of sentences.entries()) {
      const vector = vectors[lines.length + own.length + index];
      if (vector === undefined) return unknown;
      const bar = isRequest(sentence) ? NEAR_ASKING : NEAR;
      const isNear = lineVectors.some(
        (line, at) => cosine(line, vector) >= Math.max(bar, nearestOwn[at] ?? 0),
      );
      if (isNear) return { taint: taints.get(sentence) ?? 'tool', sentence };
    }
    return undefined;
  } catch {
    return unknown;
  }
}

const withoutCode = (line: string): string => line.replace(/`[^`]*`/g, ' ');

/** For unit vectors. */
function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}

const SCRIPTS: readonly (readonly [name: string, letters: RegExp])[] = [
  ['cyrillic', /\p{Script=Cyrillic}/gu],
  ['han', /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ['hangul', /\p{Script=Hangul}/gu],
  ['arabic', /\p{Script=Arabic}/gu],
  ['hebrew', /\p{Script=Hebrew}/gu],
  ['greek', /\p{Script=Greek}/gu],
  ['devanagari', /\p{Script=Devanagari}/gu],
  ['thai', /\p{Script=Thai}/gu],
];
const FEWEST_LETTERS = 8;

/** Function words that only this language has, or uses far more often. */
const FUNCTION_WORDS: readonly (readonly [name: string, words: ReadonlySet<string>])[] = [
  [
    'german',
    setOf(
      'der die das und nicht ist sind ein eine einen mit fur auf von zu dem den des im wird werden muss mussen soll sollen immer vor nach bei auch oder als wenn bitte aus uber nur wie kann an',
    ),
  ],
  [
    'french',
    setOf(
      'le la les des une et est sont pas dans pour avec sur au aux du que qui doit doivent toujours jamais avant apres vous votre vos ce cette il ne chaque sans ou',
    ),
  ],
  [
    'spanish',
    setOf(
      'el la los las una y es son no en para con por del que debe deben siempre nunca antes despues usted su sus este esta cada sin al lo se',
    ),
  ],
  [
    'portuguese',
    setOf(
      'o os as uma e sao nao em para com por do da dos das que deve devem sempre nunca antes depois voce seu sua este esta cada sem ao se',
    ),
  ],
  [
    'italian',
    setOf(
      'il lo gli le una e sono non in per con del della dei che deve devono sempre mai prima dopo tuo suo questo questa ogni senza si di',
    ),
  ],
  [
    'dutch',
    setOf(
      'de het een en niet is zijn met voor op van naar moet moeten altijd nooit bij ook of als wordt worden uit over dit dat u',
    ),
  ],
  [
    'polish',
    setOf('i w na z nie jest sie do ze przed zawsze nigdy nalezy musi aby po oraz kazdy przez jako'),
  ],
  ['turkish', setOf('ve bir bu icin ile her zaman asla once sonra gerekir olarak daha gibi da de mi')],
];
const ENGLISH = setOf(
  'the a an and or of to in for with is are be on at by from this that it as not must should before after when you your always never do if all any into',
);
const FEWEST_WORDS = 4;

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(' '));
}

/** The languages and scripts other than English in a normalized passage, as far as they can be detected. */
function detectLanguages(folded: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [name, letters] of SCRIPTS)
    if ((folded.match(letters)?.length ?? 0) >= FEWEST_LETTERS) found.add(name);
  for (const line of folded.split('\n')) {
    const words = line.match(/[\p{L}']+/gu) ?? [];
    if (words.length < FEWEST_WORDS) continue;
    const english = words.filter((word) => ENGLISH.has(word)).length;
    let best = { name: '', count: Math.max(2, english) };
    for (const [name, small] of FUNCTION_WORDS) {
      const count = words.filter((word) => small.has(word)).length;
      if (count > best.count) best = { name, count };
    }
    if (best.name !== '') found.add(best.name);
  }
  return found;
}
