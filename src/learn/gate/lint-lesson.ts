import { AGAINST_PEOPLE } from './against-people.ts';
import { readViews } from './decode-text.ts';
import { findAddresses } from './find-addresses.ts';
import { findCommands } from './find-commands.ts';
import { findBlob, findMarkup } from './find-markup.ts';
import { foldText, isDisguised } from './fold-text.ts';
import { findForeignOrders } from './foreign-orders.ts';
import type { OrderRule } from './order-rule.ts';
import { RISKY_ACTS } from './risky-acts.ts';
import { sentencesOf, tokensOf } from './tokens.ts';

const FORBIDS =
  /(?:\b(?:never|not|no|avoid|avoids|avoiding|refrain from|rather than|instead of|wrong:|bad:|mistake:)|n't)(?![^,;:]{0,60}\b(?:forget|omit|skip|leav|fail|not|neglect|delay|refus|hesitat|miss|mind|worr|without|before|until|unless|instead|only|just|matter|but)\w*\b)[^,;:]{0,90}$/;
const ANTI_PATTERN = /^\W{0,6}anti-?patterns?:/;
/** What is wrong not to do is to be done. */
const UNDONE = /\b(?:not|never|no|without|forget|omit|skip|leav|fail|neglect|miss|delay|refus|hesitat)\w*\b/;
const RULES: readonly OrderRule[] = [...AGAINST_PEOPLE, ...RISKY_ACTS];
const LONGEST_SHOWN = 60;

/**
 * Why a person should look at a lesson's words before anyone follows them, in words for that person; empty when nothing
 * was found. `trusted`: what people and verifiers said, folded. What they asked for themselves is not held against a
 * lesson, unless it is of the kind that nobody asks for in earnest.
 */
export function lintLesson(words: string, trusted: readonly string[]): readonly string[] {
  const asked = trusted.join('\n');
  const why = new Set<string>();
  if (isDisguised(words)) why.add('it has words with letters that only look like what they seem');
  const blob = findBlob(words);
  if (blob !== undefined && !asked.includes(foldText(blob)))
    why.add(`it holds something packed: ${shown(blob)}`);
  for (const view of readViews(words)) {
    for (const { kind, text } of findAddresses(view))
      if (!asked.includes(text)) why.add(`it names ${kind} that nobody gave: ${shown(text)}`);
    for (const markup of findMarkup(withoutAsked(view, asked))) why.add(`it holds ${markup}`);
    for (const sentence of sentencesOf(view)) {
      for (const command of findCommands(sentence))
        if (!isForbidden(sentence, command.index) && !asked.includes(command.text))
          why.add(`it holds ${command.why}: ${shown(command.text)}`);
      for (const rule of RULES) if (breaks(rule, sentence, trusted)) why.add(rule.why);
      for (const order of findForeignOrders(sentence)) why.add(order);
    }
  }
  return [...why];
}

/** A comment that people themselves asked to have in a file is no secret between the lines. */
const withoutAsked = (view: string, asked: string): string =>
  view.replace(/<!--[^<>]{0,200}-->/g, (comment) => (asked.includes(comment) ? '' : comment));

/** A sentence may forbid a thing and ask for it in the next breath, so that each place counts. */
function breaks(rule: OrderRule, sentence: string, trusted: readonly string[]): boolean {
  for (const { 0: said, index } of sentence.matchAll(rule.pattern)) {
    if (rule.mayBeForbidden === true && isForbidden(sentence, index)) continue;
    if (rule.mayBeAsked !== true || !isAsked(rule, said, trusted)) return true;
  }
  return false;
}

/** Whether what stands at `index` of a sentence is what it says not to do. */
function isForbidden(sentence: string, index: number): boolean {
  const before = sentence.slice(0, index);
  const head = ANTI_PATTERN.exec(before)?.[0];
  return head === undefined ? FORBIDS.test(before) : !UNDONE.test(before.slice(head.length));
}

/** Whether someone who may said the same: a sentence that breaks the rule too and has all the words of this one. */
function isAsked(rule: OrderRule, said: string, trusted: readonly string[]): boolean {
  const words = tokensOf(said);
  return trusted.some((text) =>
    sentencesOf(text).some((sentence) => {
      if (sentence.search(rule.pattern) < 0) return false;
      const known = new Set(tokensOf(sentence));
      return words.every((word) => known.has(word));
    }),
  );
}

const shown = (text: string): string =>
  text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
