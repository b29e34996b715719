import { setImmediate as takeTurn } from 'node:timers/promises';
import type { FailureCase, Passage } from '../../core/learn.ts';
import type { Taint } from '../../core/lesson.ts';
import { foldText } from './fold-text.ts';
import { languagesOf } from './language.ts';
import { isOwn, type Material, type Stranger } from './material.ts';
import { passesOn } from './own-words.ts';
import { createFindLiteral } from './shared-literals.ts';
import { createFindMeaning } from './shared-meaning.ts';
import { createFindName } from './shared-names.ts';
import { createFindRun, findPatchwork } from './shared-runs.ts';
import { speaksToAgents } from './speaks-to-agents.ts';
import { runsAmong, runsOf, sentencesOf, tokensOf } from './tokens.ts';

export interface Tainted {
  readonly taint: Taint;
  /** For people. */
  readonly why: string;
}

const REPEATS = 5;
/** How an agent says whose wish it follows. */
const REPORTED =
  /\b(?:as|per|like|according to|following|because|since|given that|based on)\b.{0,12}?\b(?:the|that|this|its|their|a)\b.{0,30}?\b(?:page|site|website|docs?|documentation|readme|tool|output|file|comment|issue|ticket|mail|e-?mail|calendar|invite|event|skill|instructions?|polic(?:y|ies)|guidelines?|rules?|note|notice|message|banner|convention)\b/;
const LONGEST_SHOWN = 80;

/**
 * What of a lesson may be a stranger's: the same words, literals, names or meaning as something that a tool or a page
 * said and nobody else, or a stranger's text that cannot be compared or that works on its reader. Comparing words finds
 * copies and near paraphrases; against free ones there is only that a page may teach nothing on its own and that text
 * which turns to agents spoils all that was learned beside it.
 */
export async function findTaint(
  words: string,
  { spoken, trusted, strangers }: Material,
): Promise<readonly Tainted[]> {
  const folded = foldText(words);
  const findRun = createFindRun(folded, trusted);
  const findLiteral = createFindLiteral(folded, trusted);
  const findMeaning = createFindMeaning(folded, spoken);
  const findName = createFindName(words, trusted);
  const languages = languagesOf(folded);
  const said = strangers.filter(({ isAgent }) => !isAgent);
  const echoes = strangers.filter(({ isAgent }) => isAgent).flatMap((agent) => echoOf(agent, said, trusted));
  const found: Tainted[] = [];
  const take = (taint: Taint, why: string, what: string | undefined): boolean => {
    if (what !== undefined) found.push({ taint, why: what === '' ? why : `${why}: ${shown(what)}` });
    return what !== undefined;
  };

  for (const { taint, views, isAgent, text } of [...strangers, ...echoes]) {
    await takeTurn();
    const from = isAgent ? 'an agent' : taint === 'web' ? 'a page' : 'a tool';
    for (const view of views) {
      if (take(taint, `it repeats ${from}`, findRun(view))) break;
      if (isAgent) continue;
      if (take(taint, `${from} spoke to agents where it was learned`, speaksToAgents(view) ? '' : undefined))
        break;
      if (take(taint, `it has this from ${from}`, findLiteral(view))) break;
      if (take(taint, `it says what ${from} said`, findMeaning(view))) break;
      if (take(taint, `it has this name from ${from}`, findName(view, taint === 'web'))) break;
    }
    const foreign = isAgent
      ? undefined
      : [...languagesOf(foldText(text))].find((name) => !languages.has(name));
    take(taint, `${from} spoke in a language that it cannot be compared with`, foreign);
  }
  for (const taint of ['tool', 'web'] as const) {
    const views = said.filter((one) => one.taint === taint).flatMap((one) => one.views);
    take(taint, 'it is put together from pieces of what others said', findPatchwork(folded, trusted, views));
  }
  return found;
}

/** An agent that repeats a tool passes on what the tool wants: those sentences count as the tool's. */
function echoOf(agent: Stranger, said: readonly Stranger[], trusted: readonly string[]): readonly Stranger[] {
  const [plain = ''] = agent.views;
  const mine = new Set(runsOf(tokensOf(plain), REPEATS));
  for (const text of trusted) for (const run of runsAmong(mine, tokensOf(text), REPEATS)) mine.delete(run);
  const reported = sentencesOf(plain)
    .filter((sentence) => REPORTED.test(sentence))
    .join('\n');
  const relayed = { taint: agent.taint, text: reported, views: [reported], isAgent: false };
  const echoes = said.flatMap(({ taint, views: [view = ''] }) => {
    const runs = runsAmong(mine, tokensOf(view), REPEATS);
    if (runs.size === 0) return [];
    const text = sentencesOf(plain)
      .filter((sentence) => runsAmong(runs, tokensOf(sentence), REPEATS).size > 0)
      .join('\n');
    return [{ taint, text, views: [text], isAgent: false }];
  });
  return reported === '' ? echoes : [...echoes, relayed];
}

/**
 * What a lesson rests on when nothing outside the recorded text speaks for it. A judge has only read that text; and
 * what a page says beside an exit code or a thumb turned down is more than those do.
 */
export function findBareBasis(cited: readonly FailureCase[]): Tainted | undefined {
  const isSpoken = cited.some(
    ({ appraisal, passages }) =>
      passages.some(({ origin }) => origin === 'person' || origin === 'verifier') ||
      appraisal.signals.some(({ name, score }) => name.startsWith('user-') && score < 0.5),
  );
  if (isSpoken) return undefined;
  const has = (isMeant: (passage: Passage) => boolean): boolean =>
    cited.some(({ task, passages }) => [{ origin: 'user', text: task } as const, ...passages].some(isMeant));
  if (has(({ origin, text }) => origin === 'web' || (isOwn(origin) && passesOn(text, origin))))
    return { taint: 'web', why: 'nobody put into words what was learned beside a page' };
  const isMeasured = cited.some(
    ({ source, appraisal }) =>
      source === 'person' ||
      source === 'verifier' ||
      appraisal.digests.length > 0 ||
      appraisal.signals.some(({ source, score }) => source === 'signal' && score < 0.5),
  );
  return isMeasured || !has(({ origin }) => origin === 'tool')
    ? undefined
    : { taint: 'tool', why: 'nothing but what a tool said speaks for it' };
}

const shown = (text: string): string =>
  text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
