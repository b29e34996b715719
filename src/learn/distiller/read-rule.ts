import { topicWords } from '../words.ts';
import type { Clause } from './clauses.ts';
import { findExample } from './find-example.ts';
import { withoutLeadIn } from './lead-in.ts';
import { findLiterals } from './literals.ts';
import { capital, looksBack, small, withArticle } from './phrasing.ts';
import { findWrong, readExpected, readFragment, readSwap, withoutWas } from './read-contrast.ts';
import { readDemand } from './read-demand.ts';
import { readOmission } from './read-omission.ts';
import { readState } from './read-state.ts';
import type { Rule } from './rule.ts';
import { isVagueWord } from './vague.ts';

const DEEPEST = 3;
const SHORTEST = 4;

/** Words of demand in other languages: the sentence is kept as it is, since nothing here can rephrase it. */
const FOREIGN =
  /\b(?:muss|müssen|soll|sollen|sollte|bitte|niemals|immer|verwende|doit|doivent|toujours|jamais|veuillez|debe|deben|siempre|nunca|usa|usar|deve|devono|sempre|mai|moet|moeten|altijd|nooit|musi|zawsze|nigdy)\b|必须|应该|不要|请|禁止|务必|需要|不得|ください|必ず|禁止|べき|해야|하지 마|должн|всегда|никогда|нельзя/iu;

/** The rule in one sentence of feedback; undefined when it only complains, reports or thanks. */
function readRule(text: string, depth = 0): Rule | undefined {
  const said = withoutLeadIn(text)
    .replace(/[\s.!?;:,]+$/, '')
    .replace(/,? (?:please|thanks|thank you|ok|okay)$/i, '');
  if (said.length < SHORTEST || depth > DEEPEST) return undefined;
  const core = withoutWas(said);
  const found =
    readExpected(core) ??
    readConcession(core, depth) ??
    readSwap(core) ??
    readPreface(core, depth) ??
    readOmission(core) ??
    readState(core) ??
    readDemand(core) ??
    readBehindJudgement(core, depth) ??
    (FOREIGN.test(core) ? { kind: 'do', todo: capital(core) } : undefined) ??
    readFragment(core);
  if (found === undefined || isVague(found)) return undefined;
  const wrong = found.wrong ?? findWrong(said);
  const example = found.example ?? findExample(said);
  return {
    ...found,
    ...(wrong === undefined ? {} : { wrong }),
    ...(example === undefined ? {} : { example }),
  };
}

/** The rule in a clause, completed by the heading of its list. */
export function readItem({ text, heading, isOpen }: Clause): Rule | undefined {
  const above = heading?.replace(/[\s:]+$/, '') ?? '';
  if (/\b(?:missing|forgot|forgotten|lack|lacks|absent|not done|not there|left out)\b/i.test(above))
    return readRule(`Missing ${small(text)}`);
  if (/\b(?:needs?|must have|must contain|must include|requires?|should have|has to have)$/i.test(above))
    return readRule(`${above} ${withArticle(text)}`);
  const rule = readRule(text);
  if (rule !== undefined && /^(?:before|after|when|whenever|for|in|on)\b/i.test(above))
    return { ...rule, todo: `${capital(above)}, ${small(rule.todo)}` };
  return rule ?? (isOpen ? readRule(`Missing ${small(text)}`) : undefined);
}

/** "Nice summary, but you forgot the prefix." */
function readConcession(said: string, depth: number): Rule | undefined {
  const match = /^(.{3,160}?),? (?:but|however|though|yet|except that),? (.+)$/i.exec(said);
  if (match === null || /\bnot\b[^,]*$/i.test(match[1] ?? '')) return undefined;
  return readRule(match[2] ?? '', depth + 1);
}

/** "When you edit a file, …": keeps the condition in front of the demand. */
function readPreface(said: string, depth: number): Rule | undefined {
  const match =
    /^((?:when|whenever|if|before|after|once|for|in|on|at|with|while|during|unless|as soon as|every time|each time)\b[^,]{2,160}), (?:then )?(.+)$/i.exec(
      said,
    );
  const inner = match === null ? undefined : readRule(match[2] ?? '', depth + 1);
  return inner && { ...inner, todo: `${capital(match?.[1] ?? '')}, ${small(inner.todo)}` };
}

/** "Wrong date format: use …", "The encoding is off, it has to be …". */
function readBehindJudgement(said: string, depth: number): Rule | undefined {
  const match = /^([^:,–—]{2,100}?)(?::|,| [–—-]+) (.+)$/.exec(said);
  if (match === null) return undefined;
  const [, before = '', behind = ''] = match;
  const inner = readRule(behind, depth + 1);
  if (inner === undefined) return undefined;
  const label = looksBack(behind) ? before : labelOf(before);
  return label === undefined ? inner : { ...inner, todo: `${capital(label)}: ${small(inner.todo)}` };
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

function isVague({ todo }: Rule): boolean {
  if (findLiterals(todo).length > 0) return false;
  const words = topicWords(todo);
  return !/\p{Lo}{4}/u.test(todo) && words.every(isVagueWord);
}
