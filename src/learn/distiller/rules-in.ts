import { topicStems, topicWords } from '../words.ts';
import { type Clause, splitClauses } from './clauses.ts';
import { readDeed, readExample } from './find-example.ts';
import { withoutLeadIn } from './lead-in.ts';
import { findLiterals } from './literals.ts';
import { capital, looksBack, small } from './phrasing.ts';
import { readStatement } from './read-contrast.ts';
import { readItem } from './read-rule.ts';
import type { Rule } from './rule.ts';
import { isVagueWord } from './vague.ts';

const MOST_MORE = 2;
const LONGEST_BEFORE = 160;

/** A rule with the words it was given in. */
export interface ToldRule extends Rule {
  /** All that was said about it, each as one line. */
  readonly said: readonly string[];
  /** The same as it was recorded. */
  readonly raw: readonly string[];
  /** Sentences that say more about it. */
  readonly more: readonly string[];
  readonly code?: string;
  readonly stems: ReadonlySet<string>;
  readonly literals: readonly string[];
}

/** The rules in one piece of feedback, in order. Where it demands nothing, what it states is taken as one. */
export function rulesIn(feedback: string): readonly ToldRule[] {
  const clauses = splitClauses(feedback).filter(({ isHeading }) => !isHeading);
  const rules = readClauses(clauses);
  if (rules.length > 0) return rules;
  return clauses.flatMap((clause) => {
    const rule = readStatement(withoutLeadIn(clause.text));
    return rule === undefined ? [] : [tell(rule, [clause])];
  });
}

function readClauses(clauses: readonly Clause[]): readonly ToldRule[] {
  const rules: ToldRule[] = [];
  let before: Clause | undefined;
  let wrong: string | undefined;
  for (const clause of clauses) {
    const text = withoutLeadIn(clause.text);
    const last = rules.at(-1);
    const shown = readExample(text);
    const rule = shown === undefined ? readItem(clause) : undefined;
    const example = rule === undefined ? (shown ?? readDeed(text)) : undefined;
    const isBack = looksBack(text) && before === undefined;
    if (last !== undefined && (example !== undefined || (rule === undefined ? isMore(clause) : isBack)))
      rules[rules.length - 1] = extend(last, clause, example, rule?.todo ?? text);
    else if (rule !== undefined) {
      const known = wrong === undefined ? rule : { wrong, ...rule };
      const isFar = before !== undefined && (clause.goesOn || looksBack(text));
      rules.push(
        isFar && before !== undefined ? tell(behind(before, known), [before, clause]) : tell(known, [clause]),
      );
      before = undefined;
      wrong = undefined;
    } else {
      if (example !== undefined && 'wrong' in example) wrong = example.wrong;
      before = tellsSomething(text) ? clause : undefined;
    }
  }
  return rules;
}

const isMore = (clause: Clause): boolean =>
  (clause.goesOn || looksBack(clause.text)) &&
  !/\b(?:wrong|bad|broken|incorrect|failed|ugly|because)\b/i.test(clause.text);

const tellsSomething = (text: string): boolean =>
  text.length <= LONGEST_BEFORE && topicWords(text).some((word) => !isVagueWord(word));

const behind = ({ text }: Clause, rule: Rule): Rule => ({
  ...rule,
  todo: `${sentence(text)}: ${small(rule.todo)}`,
});

const sentence = (text: string): string => capital(withoutLeadIn(text).replace(/[.;!?:,\s]+$/, ''));

function extend(
  rule: ToldRule,
  clause: Clause,
  example: ReturnType<typeof readExample>,
  todo: string,
): ToldRule {
  const { text, raw, code } = clause;
  return {
    ...rule,
    ...(code === undefined ? {} : { code }),
    ...example,
    more: example === undefined ? [...rule.more, sentence(todo)].slice(0, MOST_MORE) : rule.more,
    said: [...rule.said, text],
    raw: [...rule.raw, raw],
    literals: [...rule.literals, ...findLiterals(text)],
  };
}

function tell(rule: Rule, clauses: readonly Clause[]): ToldRule {
  const words = topicWords(rule.todo).filter((word) => !isVagueWord(word));
  const code = clauses.find((clause) => clause.code !== undefined)?.code;
  return {
    ...rule,
    said: clauses.map(({ text }) => text),
    raw: clauses.map(({ raw }) => raw),
    more: [],
    ...(code === undefined ? {} : { code }),
    stems: topicStems(words.join(' ')),
    literals: findLiterals(rule.todo),
  };
}
