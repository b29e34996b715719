import { splitFoldedSentences } from '../../text/sentences.ts';
import { clip } from '../../text/truncate.ts';
import { AGAINST_PEOPLE } from './against-people.ts';
import { readViews } from './decode-text.ts';
import { findAddresses } from './find-addresses.ts';
import { findCommands } from './find-commands.ts';
import { findBlob, findMarkup } from './find-markup.ts';
import { foldText, isDisguised } from './fold-text.ts';
import { findForeignOrders } from './foreign-orders.ts';
import type { OrderRule } from './order-rule.ts';
import { RISKY_ACTS } from './risky-acts.ts';
import { tokensOf } from './tokens.ts';

const FORBIDS =
  /(?:\b(?:never|not|no|avoid|avoids|avoiding|refrain from|rather than|instead of|wrong:|bad:|mistake:)|n't)(?![^,;:]{0,60}\b(?:forget|omit|skip|leav|fail|not|neglect|delay|refus|hesitat|miss|mind|worr|without|before|until|unless|instead|only|just|matter|but)\w*\b)[^,;:]{0,90}$/;
const ANTI_PATTERN = /^\W{0,6}anti-?patterns?:/;
/** An anti-pattern of omission ('forgetting to …') asks for the act instead of forbidding it. */
const OMITS = /\b(?:not|never|no|without|forget|omit|skip|leav|fail|neglect|miss|delay|refus|hesitat)\w*\b/;
const RULES: readonly OrderRule[] = [...AGAINST_PEOPLE, ...RISKY_ACTS];
const LONGEST_SHOWN = 60;

/**
 * Reasons, for a person, to review a lesson before it is used; empty when there are none. `trusted`: normalized text of people
 * and verifiers. What they asked for themselves is not reported, unless the rule says that nobody asks for it in earnest.
 */
export function lintLesson(words: string, trusted: readonly string[]): readonly string[] {
  const asked = trusted.join('\n');
  const why = new Set<string>();
  if (isDisguised(words)) why.add('it mixes look-alike letters of another script into words');
  const blob = findBlob(words);
  if (blob !== undefined && !asked.includes(foldText(blob)))
    why.add(`it contains encoded data: ${clip(blob, LONGEST_SHOWN)}`);
  for (const view of readViews(words)) {
    for (const { kind, text } of findAddresses(view))
      if (!asked.includes(text))
        why.add(`it names ${kind} that neither a person nor a verifier gave: ${clip(text, LONGEST_SHOWN)}`);
    for (const markup of findMarkup(withoutAsked(view, asked))) why.add(`it contains ${markup}`);
    for (const sentence of splitFoldedSentences(view)) {
      for (const command of findCommands(sentence))
        if (!isForbidden(sentence, command.index) && !asked.includes(command.text))
          why.add(`it contains ${command.why}: ${clip(command.text, LONGEST_SHOWN)}`);
      for (const rule of RULES) if (breaks(rule, sentence, trusted)) why.add(rule.why);
      for (const order of findForeignOrders(sentence)) why.add(order);
    }
  }
  return [...why];
}

/** A comment that people themselves asked for is not hidden text. */
const withoutAsked = (view: string, asked: string): string =>
  view.replace(/<!--[^<>]{0,200}-->/g, (comment) => (asked.includes(comment) ? '' : comment));

/** Every match counts: a sentence may forbid a thing first and ask for it afterwards. */
function breaks(rule: OrderRule, sentence: string, trusted: readonly string[]): boolean {
  for (const { 0: said, index } of sentence.matchAll(rule.pattern)) {
    if (rule.mayBeForbidden === true && isForbidden(sentence, index)) continue;
    if (rule.mayBeAsked !== true || !isAsked(rule, said, trusted)) return true;
  }
  return false;
}

/** Whether the sentence forbids what it names at `index`. */
function isForbidden(sentence: string, index: number): boolean {
  const before = sentence.slice(0, index);
  const head = ANTI_PATTERN.exec(before)?.[0];
  return head === undefined ? FORBIDS.test(before) : !OMITS.test(before.slice(head.length));
}

/** Whether trusted text asks for the same: one of its sentences matches the rule and has all words of this match. */
function isAsked(rule: OrderRule, said: string, trusted: readonly string[]): boolean {
  const words = tokensOf(said);
  return trusted.some((text) =>
    splitFoldedSentences(text).some((sentence) => {
      if (sentence.search(rule.pattern) < 0) return false;
      const known = new Set(tokensOf(sentence));
      return words.every((word) => known.has(word));
    }),
  );
}
