import { setImmediate as takeTurn } from 'node:timers/promises';
import type { EvidenceCase, Passage } from '../../core/learn.ts';
import type { Taint } from '../../core/lesson.ts';
import { detectLanguages } from '../../text/languages.ts';
import { clip } from '../../text/truncate.ts';
import { oneLine } from '../../text/visible-text.ts';
import { RESULT_PROVEN } from '../draft-lesson.ts';
import { type EvidenceByTrust, isFirstParty, materialOf, type UntrustedText } from './evidence-by-trust.ts';
import { forwardsProse } from './first-party-text.ts';
import { findAddressOfAgents } from './injection-phrases.ts';
import type { LiteralProvenance } from './literal-provenance.ts';
import { foldText } from './normalize-text.ts';
import { readOutsideStatements, saysMore } from './outside-statements.ts';
import {
  createLiteralFinder,
  createMeaningFinder,
  createNameFinder,
  createRunFinder,
} from './text-overlap.ts';

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
  const repeatable = [...trusted, ...commands];
  const findRun = createRunFinder(folded, repeatable);
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
