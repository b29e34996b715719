import { topicWords } from '../words.ts';
import { aboutStems } from './about-words.ts';
import { type Clause, splitClauses } from './clauses.ts';
import { readDeed, readExample } from './find-example.ts';
import { namesOption, reachOf, statesCustom } from './generality.ts';
import { withoutLeadIn } from './lead-in.ts';
import { marksOf } from './marks.ts';
import { capital, looksBack, small } from './phrasing.ts';
import { readStatement } from './read-contrast.ts';
import { readItem } from './read-rule.ts';
import type { Rule } from './rule.ts';
import { withoutCase, withoutShown } from './shown-part.ts';
import { isVagueWord } from './vague.ts';

const MOST_MORE = 2;
const LONGEST_BEFORE = 160;

/** A rule with its source. */
export interface ToldRule extends Rule {
  /** The clauses about it, each as one line. */
  readonly said: readonly string[];
  /** The same clauses as recorded. */
  readonly raw: readonly string[];
  /** Sentences that add to it. */
  readonly more: readonly string[];
  readonly code?: string;
  /** Its subject stems without those of its examples, for comparing. */
  readonly stems: ReadonlySet<string>;
  /** The shapes of its literals, examples included. */
  readonly marks: ReadonlySet<string>;
  /** The same without examples. */
  readonly ownMarks: ReadonlySet<string>;
}

/**
 * The rules in one piece of feedback, in order. A sentence about a single case is no rule, however it is worded. In feedback
 * without any demand, stated conventions count as rules.
 */
export function rulesIn(feedback: string): readonly ToldRule[] {
  const clauses = withoutFacts(splitClauses(feedback).filter(({ isHeading }) => !isHeading));
  const rules = readClauses(clauses);
  if (rules.length > 0) return rules;
  return clauses.flatMap((clause) => {
    const text = withoutLeadIn(clause.text);
    const rule = statesCustom(text) ? readStatement(text) : undefined;
    return rule === undefined ? [] : [tell(rule, [clause])];
  });
}

/** After a sentence about a single case, the rest of its line is about that case too, unless a sentence is explicitly general. */
function withoutFacts(clauses: readonly Clause[]): readonly Clause[] {
  let fact: number | undefined;
  return clauses.filter(({ text, line }) => {
    const said = withoutLeadIn(text);
    const reach = reachOf(said);
    const isFact = fact === line;
    if (reach === 'one') fact = line;
    return reach === 'many' || (!isFact && (reach === 'open' || isShown(said)));
  });
}

const isShown = (said: string): boolean =>
  !namesOption(said) && (readExample(said) ?? readDeed(said)) !== undefined;

function readClauses(clauses: readonly Clause[]): readonly ToldRule[] {
  const rules: ToldRule[] = [];
  let before: Clause | undefined;
  let wrong: string | undefined;
  let line = -1;
  for (const clause of clauses) {
    const text = withoutLeadIn(clause.text);
    const last = rules.at(-1);
    const shown = readExample(text);
    const rule = shown === undefined ? readCustom(clause, text) : undefined;
    const example = rule === undefined ? (shown ?? readDeed(text)) : undefined;
    const isBack = looksBack(text) && before === undefined;
    const isNear = line === clause.line;
    if (
      last !== undefined &&
      isNear &&
      (example !== undefined || (rule === undefined ? isMore(clause) : isBack))
    )
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
    line = clause.line;
  }
  return rules;
}

/** A demand, or a stated convention. */
function readCustom(clause: Clause, text: string): Rule | undefined {
  const rule = reachOf(text) === 'one' ? undefined : readItem(clause);
  return rule?.isStated && !statesCustom(text) ? undefined : rule;
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
    ...comparable([rule.todo, ...rule.more, text]),
  };
}

function tell(read: Rule, clauses: readonly Clause[]): ToldRule {
  const rule = { ...read, ...withoutCase(read.todo) };
  const code = clauses.find((clause) => clause.code !== undefined)?.code;
  return {
    ...rule,
    said: clauses.map(({ text }) => text),
    raw: clauses.map(({ raw }) => raw),
    more: [],
    ...(code === undefined ? {} : { code }),
    ...comparable([rule.todo]),
  };
}

function comparable(sentences: readonly string[]): Pick<ToldRule, 'stems' | 'marks' | 'ownMarks'> {
  const general = sentences.map(withoutShown).join(' ');
  return { stems: aboutStems(general), marks: marksOf(sentences.join(' ')), ownMarks: marksOf(general) };
}
