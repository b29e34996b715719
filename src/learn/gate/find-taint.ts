import { setImmediate as takeTurn } from 'node:timers/promises';
import type { FailureCase, Passage } from '../../core/learn.ts';
import type { Taint } from '../../core/lesson.ts';
import { splitFoldedSentences } from '../../text/sentences.ts';
import { clip } from '../../text/truncate.ts';
import { foldText } from './fold-text.ts';
import { languagesOf } from './language.ts';
import { isOwn, type Material, type Stranger } from './material.ts';
import { passesOn } from './own-words.ts';
import { createFindLiteral } from './shared-literals.ts';
import { createFindMeaning } from './shared-meaning.ts';
import { createFindName } from './shared-names.ts';
import { createFindRun, findPatchwork } from './shared-runs.ts';
import { speaksToAgents } from './speaks-to-agents.ts';
import { runsAmong, runsOf, tokensOf } from './tokens.ts';

export interface Tainted {
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
  { firstParty, trusted, untrusted }: Material,
): Promise<readonly Tainted[]> {
  const folded = foldText(words);
  const findRun = createFindRun(folded, trusted);
  const findLiteral = createFindLiteral(folded, trusted);
  const findMeaning = createFindMeaning(folded, firstParty);
  const findName = createFindName(words, trusted);
  const languages = languagesOf(folded);
  const outputs = untrusted.filter(({ isAgent }) => !isAgent);
  const echoes = untrusted
    .filter(({ isAgent }) => isAgent)
    .flatMap((agent) => echoOf(agent, outputs, trusted));
  const found: Tainted[] = [];
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
      if (take(taint, `${from} in the same session addresses agents`, speaksToAgents(view) ? '' : undefined))
        break;
      if (take(taint, `this comes from ${from}`, findLiteral(view))) break;
      if (take(taint, `it paraphrases ${from}`, findMeaning(view))) break;
      if (take(taint, `this name comes from ${from}`, findName(view, taint === 'web'))) break;
    }
    const foreign = isAgent
      ? undefined
      : [...languagesOf(foldText(text))].find((name) => !languages.has(name));
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
  agent: Stranger,
  outputs: readonly Stranger[],
  trusted: readonly string[],
): readonly Stranger[] {
  const [plain = ''] = agent.views;
  const mine = new Set(runsOf(tokensOf(plain), REPEATS));
  for (const text of trusted) for (const run of runsAmong(mine, tokensOf(text), REPEATS)) mine.delete(run);
  const reported = splitFoldedSentences(plain)
    .filter((sentence) => REPORTED.test(sentence))
    .join('\n');
  const relayed = { taint: agent.taint, text: reported, views: [reported], isAgent: false };
  const echoes = outputs.flatMap(({ taint, views: [view = ''] }) => {
    const runs = runsAmong(mine, tokensOf(view), REPEATS);
    if (runs.size === 0) return [];
    const text = splitFoldedSentences(plain)
      .filter((sentence) => runsAmong(runs, tokensOf(sentence), REPEATS).size > 0)
      .join('\n');
    return [{ taint, text, views: [text], isAgent: false }];
  });
  return reported === '' ? echoes : [...echoes, relayed];
}

/**
 * A finding when no evidence outside the recorded text supports the lesson. A judge has only read that text; and next to a
 * page, an exit code or a negative rating does not explain what was learned.
 */
export function findBareBasis(cited: readonly FailureCase[]): Tainted | undefined {
  const isStated = cited.some(
    ({ appraisal, passages }) =>
      passages.some(({ origin }) => origin === 'person' || origin === 'verifier') ||
      appraisal.signals.some(({ name, score }) => name.startsWith('user-') && score < 0.5),
  );
  if (isStated) return undefined;
  const has = (isMeant: (passage: Passage) => boolean): boolean =>
    cited.some(({ task, passages }) => [{ origin: 'user', text: task } as const, ...passages].some(isMeant));
  if (has(({ origin, text }) => origin === 'web' || (isOwn(origin) && passesOn(text, origin))))
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
