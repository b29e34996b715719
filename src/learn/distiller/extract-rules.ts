import { type Clause, splitClauses } from '../../text/clauses.ts';
import { findLiterals } from '../../text/literals.ts';
import { topicWords } from '../../text/topic-words.ts';
import {
  findExample,
  findRejectedForm,
  generalizeFileName,
  readExample,
  readExpected,
  readFragment,
  readReportedAct,
  readStatement,
  readSwap,
  withoutExamples,
  withoutRejectedForm,
} from './contrast-patterns.ts';
import { type FeedbackRule, readDemand, readOmission, readState } from './demand-patterns.ts';
import { capitalize, isVagueWord, refersBack, uncapitalize, withArticle, withoutLeadIn } from './phrasing.ts';
import { generalityOf, namesOption, statesCustom } from './rule-generality.ts';
import { literalShapes, subjectStems } from './subject-terms.ts';

const MOST_MORE = 2;
const LONGEST_BEFORE = 160;

/** A rule with its source. */
export interface ExtractedRule extends FeedbackRule {
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
export function extractRules(feedback: string): readonly ExtractedRule[] {
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
    const reach = generalityOf(said);
    const isFact = fact === line;
    if (reach === 'one') fact = line;
    return reach === 'many' || (!isFact && (reach === 'open' || isShown(said)));
  });
}

const isShown = (said: string): boolean =>
  !namesOption(said) && (readExample(said) ?? readReportedAct(said)) !== undefined;

function readClauses(clauses: readonly Clause[]): readonly ExtractedRule[] {
  const rules: ExtractedRule[] = [];
  let before: Clause | undefined;
  let wrong: string | undefined;
  let line = -1;
  for (const clause of clauses) {
    const text = withoutLeadIn(clause.text);
    const last = rules.at(-1);
    const shown = readExample(text);
    const rule = shown === undefined ? readCustom(clause, text) : undefined;
    const example = rule === undefined ? (shown ?? readReportedAct(text)) : undefined;
    const isBack = refersBack(text) && before === undefined;
    const isNear = line === clause.line;
    if (
      last !== undefined &&
      isNear &&
      (example !== undefined || (rule === undefined ? isMore(clause) : isBack))
    )
      rules[rules.length - 1] = extend(last, clause, example, rule?.todo ?? text);
    else if (rule !== undefined) {
      const known = wrong === undefined ? rule : { wrong, ...rule };
      const isFar = before !== undefined && (clause.goesOn || refersBack(text));
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
function readCustom(clause: Clause, text: string): FeedbackRule | undefined {
  const rule = generalityOf(text) === 'one' ? undefined : readClauseRule(clause);
  return rule?.isStated && !statesCustom(text) ? undefined : rule;
}

const isMore = (clause: Clause): boolean =>
  (clause.goesOn || refersBack(clause.text)) &&
  !/\b(?:wrong|bad|broken|incorrect|failed|ugly|because)\b/i.test(clause.text);

const tellsSomething = (text: string): boolean =>
  text.length <= LONGEST_BEFORE && topicWords(text).some((word) => !isVagueWord(word));

const behind = ({ text }: Clause, rule: FeedbackRule): FeedbackRule => ({
  ...rule,
  todo: `${sentence(text)}: ${uncapitalize(rule.todo)}`,
});

const sentence = (text: string): string => capitalize(withoutLeadIn(text).replace(/[.;!?:,\s]+$/, ''));

function extend(
  rule: ExtractedRule,
  clause: Clause,
  example: ReturnType<typeof readExample>,
  todo: string,
): ExtractedRule {
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

function tell(read: FeedbackRule, clauses: readonly Clause[]): ExtractedRule {
  const rule = { ...read, ...generalizeFileName(read.todo) };
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

function comparable(sentences: readonly string[]): Pick<ExtractedRule, 'stems' | 'marks' | 'ownMarks'> {
  const general = sentences.map(withoutExamples).join(' ');
  return {
    stems: subjectStems(general),
    marks: literalShapes(sentences.join(' ')),
    ownMarks: literalShapes(general),
  };
}

const DEEPEST = 3;
const SHORTEST = 4;

/** Words of demand in other languages: the sentence is kept as it is, since nothing here can rephrase it. */
const FOREIGN =
  /\b(?:muss|müssen|soll|sollen|sollte|bitte|niemals|immer|verwende|doit|doivent|toujours|jamais|veuillez|debe|deben|siempre|nunca|usa|usar|deve|devono|sempre|mai|moet|moeten|altijd|nooit|musi|zawsze|nigdy)\b|必须|应该|不要|请|禁止|务必|需要|不得|ください|必ず|禁止|べき|해야|하지 마|должн|всегда|никогда|нельзя/iu;

/** The rule in one sentence of feedback; undefined when it only complains, reports or thanks. */
function readRule(text: string, depth = 0): FeedbackRule | undefined {
  const said = withoutLeadIn(text)
    .replace(/[\s.!?;:,]+$/, '')
    .replace(/,? (?:please|thanks|thank you|ok|okay)$/i, '');
  if (said.length < SHORTEST || depth > DEEPEST) return undefined;
  const core = withoutRejectedForm(said);
  const found =
    readExpected(core) ??
    readConcession(core, depth) ??
    readSwap(core) ??
    readPreface(core, depth) ??
    readOmission(core) ??
    readState(core) ??
    readDemand(core) ??
    readBehindJudgement(core, depth) ??
    (FOREIGN.test(core) ? { kind: 'do', todo: capitalize(core) } : undefined) ??
    readFragment(core);
  if (found === undefined || isVague(found)) return undefined;
  const wrong = found.wrong ?? findRejectedForm(said);
  const example = found.example ?? findExample(said);
  return {
    ...found,
    ...(wrong === undefined ? {} : { wrong }),
    ...(example === undefined ? {} : { example }),
  };
}

/** The rule in a clause, completed by the heading of its list. */
function readClauseRule({ text, heading, isOpen }: Clause): FeedbackRule | undefined {
  const above = heading?.replace(/[\s:]+$/, '') ?? '';
  if (/\b(?:missing|forgot|forgotten|lack|lacks|absent|not done|not there|left out)\b/i.test(above))
    return readRule(`Missing ${uncapitalize(text)}`);
  if (/\b(?:needs?|must have|must contain|must include|requires?|should have|has to have)$/i.test(above))
    return readRule(`${above} ${withArticle(text)}`);
  const rule = readRule(text);
  if (rule !== undefined && /^(?:before|after|when|whenever|for|in|on)\b/i.test(above))
    return { ...rule, todo: `${capitalize(above)}, ${uncapitalize(rule.todo)}` };
  return rule ?? (isOpen ? readRule(`Missing ${uncapitalize(text)}`) : undefined);
}

/** "Nice summary, but you forgot the prefix." */
function readConcession(said: string, depth: number): FeedbackRule | undefined {
  const match = /^(.{3,160}?),? (?:but|however|though|yet|except that),? (.+)$/i.exec(said);
  if (match === null || /\bnot\b[^,]*$/i.test(match[1] ?? '')) return undefined;
  return readRule(match[2] ?? '', depth + 1);
}

/** "When you edit a file, …": keeps the condition in front of the demand. */
function readPreface(said: string, depth: number): FeedbackRule | undefined {
  const match =
    /^((?:when|whenever|if|before|after|once|for|in|on|at|with|while|during|unless|as soon as|every time|each time)\b[^,]{2,160}), (?:then )?(.+)$/i.exec(
      said,
    );
  const inner = match === null ? undefined : readRule(match[2] ?? '', depth + 1);
  return inner && { ...inner, todo: `${capitalize(match?.[1] ?? '')}, ${uncapitalize(inner.todo)}` };
}

/** "Wrong date format: use …", "The encoding is off, it has to be …". */
function readBehindJudgement(said: string, depth: number): FeedbackRule | undefined {
  const match = /^([^:,–—]{2,100}?)(?::|,| [–—-]+) (.+)$/.exec(said);
  if (match === null) return undefined;
  const [, before = '', behind = ''] = match;
  const inner = readRule(behind, depth + 1);
  if (inner === undefined) return undefined;
  const label = refersBack(behind) ? before : labelOf(before);
  return label === undefined
    ? inner
    : { ...inner, todo: `${capitalize(label)}: ${uncapitalize(inner.todo)}` };
}

/** The subject of a judgement: "Wrong date format" and "The date format is off" are about the date format. */
function labelOf(judged: string): string | undefined {
  const about =
    /^(?:wrong|bad|invalid|incorrect|broken|unknown) (.+)$/i.exec(judged)?.[1] ??
    /^(.+?) (?:is|are|was|were|looks?) (?:still )?(?:wrong|off|incorrect|invalid|bad|broken|not right|not ok)\b/i.exec(
      judged,
    )?.[1] ??
    (/\b(?:wrong|bad|invalid|incorrect|is|are|was)\b/i.test(judged) ? '' : judged);
  const isLabel =
    /^[\p{L}\p{N} _./-]{2,60}$/u.test(about) && topicWords(about).some((word) => !isVagueWord(word));
  return isLabel ? about : undefined;
}

function isVague({ todo }: FeedbackRule): boolean {
  if (findLiterals(todo).length > 0) return false;
  const words = topicWords(todo);
  return !/\p{Lo}{4}/u.test(todo) && words.every(isVagueWord);
}
