import { findLiterals } from '../../text/literals.ts';
import { topicWords } from '../../text/topic-words.ts';
import { verbBaseForm } from '../../text/verbs.ts';
import { asReminder, type FeedbackRule, JUDGEMENT } from './demand-patterns.ts';
import { capitalize, isVagueWord, uncapitalize } from './phrasing.ts';

const WAS =
  /\s*\((?:it )?(?:was|is|were|got|found|currently|not|now|had|instead of|you (?:wrote|used|put|had|gave))\s*:?\s+([^()]{1,200})\)/i;
const INSTEAD =
  /,?\s+(?:instead of|rather than|as opposed to)\s+((?:[^.,;()]|[.,](?=\S)){1,200}?)(?=[.,;()]\s|[.;()]|$| for (?:an?|the|all|any|every|each)\b)/i;
const NOT_BUT = /\bnot ([^,;()]{1,80}),? but (?=\S)/i;
const NOT = /,\s*(?:and )?(?:but )?not (?!only\b|just\b|even\b)([^.;()]{1,200})/i;
const YOU_DID =
  /,\s*(?:and |but )?you (?:wrote|used|put|had|gave|sent|saved|named|left|called|made) ([^.;]{1,200})$/i;
const OVER = /\bprefer .{1,120} (?:over|to) ([^.;()]{1,120})/i;

/** The rejected form in a sentence that names both the wanted and the rejected one. */
export function findRejectedForm(said: string): string | undefined {
  return (WAS.exec(said) ??
    YOU_DID.exec(said) ??
    INSTEAD.exec(said) ??
    NOT_BUT.exec(said) ??
    NOT.exec(said) ??
    OVER.exec(said))?.[1]?.trim();
}

/** The sentence without the part that only reports the rejected form. */
export const withoutRejectedForm = (said: string): string => said.replace(WAS, '').replace(YOU_DID, '');

const GOT =
  /[,;.]?\s+(?:but |and |while )?(?:instead )?(?:i |we |it )?(?:got|found|was|were|saw|received|had|actual(?:ly)?(?: (?:was|is))?|there (?:was|were)|you (?:wrote|gave|used|had))\b[:=]?\s*/i;
const PLAIN_VALUE =
  /^["'`]?(?:-?\d+(?:\.\d+)?|true|false|null|none|undefined|nan|something|anything|more|less|better|it|this|that)["'`]?$/i;

/** "expected X, got Y". Bare numbers and booleans are the result of one test and no rule. */
export function readExpected(said: string): FeedbackRule | undefined {
  const at = /\bexpected\b(?: (?:to (?:be|see|find|have)|value|output|result))?\s*[:=]?\s*/i.exec(said);
  const before = at === null ? '' : said.slice(0, at.index);
  if (at === null || at.index > 120 || /\b(?:is|are|was|were|as) $|\([^)]*$/i.test(before)) return undefined;
  const rest = said.slice(at.index + at[0].length);
  const got = GOT.exec(rest);
  const wanted = (got === null ? rest : rest.slice(0, got.index)).replace(/[\s,;]+$/, '');
  const first = /^(?:got|found|actual)\s*[:=]?\s*(.+?)[,;]?\s*(?:but )?$/i.exec(before)?.[1];
  const wrong = first ?? (got === null ? '' : rest.slice(got.index + got[0].length).trim());
  if (wanted === '' || PLAIN_VALUE.test(wanted)) return undefined;
  const subject = (first === undefined ? before : '')
    .replace(/^(?:i|we)$|[\s:,–—-]+$/gi, '')
    .replace(/^(?:i|we) /i, '');
  const todo =
    subject === ''
      ? `Deliver what is expected: ${wanted}`
      : `${capitalize(subject)} must be what is expected: ${wanted}`;
  return { kind: 'value', todo, ...(wrong === '' ? {} : { wrong }) };
}

/** "You used tabs instead of four spaces". */
export function readSwap(said: string): FeedbackRule | undefined {
  const match = /^you (\w+) (.{1,200}?) (?:instead of|rather than|where you should have used) (.+)/i.exec(
    said,
  );
  const [, verb = '', wrong = '', right = ''] = match ?? [];
  const base = verbBaseForm(verb);
  return base === undefined ? undefined : { kind: 'do', todo: capitalize(`${base} ${right}`), wrong };
}

/** "Metric units, not imperial": a demand without a verb. */
export function readFragment(said: string): FeedbackRule | undefined {
  const words = said.split(' ').length;
  if (words > 14 || /^(?:i|you|we|it|this|that|they|there|he|she)\b/i.test(said)) return undefined;
  if (
    /\b(?:wrong|bad|broken|incorrect|failed|failing|fails|is|are|was|were|has|have|did|does|do)\b/i.test(said)
  )
    return undefined;
  const isContrast = INSTEAD.test(said) || NOT.test(said) || NOT_BUT.test(said);
  if (isContrast) return { kind: 'do', todo: `Use ${uncapitalize(said)}`, isStated: true };
  const isTerse = words <= 8 && (/\bonly\b/i.test(said) || findLiterals(said).length > 0) && words > 1;
  return isTerse ? { kind: 'do', todo: `Keep to this: ${said}`, isStated: true } : undefined;
}

const NO_STATEMENT =
  /^(?:i|you|we|it|this|that|they|there|he|she|thanks|thank|great|good|nice|well|ok|sorry|hm+|why|what|how|who|when|where)\b|\?$|\b(?:was|were|did|had|been|fail\w*|crash\w*|errors?|exit\w*|timeouts?|timed|exception|blank|empty|slow|mismatch\w*|unexpected|warnings?|passed|found|returned|gave|got|disappoint\w*|horrible|awful|useful|helpful|hate|love|like|looks?|seems?|shows?|only got|worse|better|best|worst|late|boring|long|short|cannot|unable|stack trace|undefined|null|fault|dumped|signal \d+)\b/i;

/** A short statement without a word of demand, in feedback without any demand: "One class per file". */
export function readStatement(said: string): FeedbackRule | undefined {
  const text = said.replace(/[\s.!;,]+$/, '');
  const words = text.split(' ').length;
  if (words < 3 || words > 12 || NO_STATEMENT.test(text) || JUDGEMENT.test(text)) return undefined;
  const topics = topicWords(text).filter((word) => !isVagueWord(word));
  if (topics.length < 2) return undefined;
  return /\b(?:not|nothing|none|nobody)\b|n['’]t\b/i.test(text)
    ? asReminder(text)
    : { kind: 'do', todo: `Keep to this: ${text}`, isStated: true };
}

const IN_BRACKETS =
  /\((?:e\.?g\.?|i\.?e\.?|z\.?b\.?|for example|for instance|such as|like|example|ex\.|expected(?: something)?(?: like)?)[:,]?\s+([^()]{1,300})\)/i;
const BEHIND =
  /(?:[,;:–—-]\s*|\s)(?:e\.g\.|eg\.|for example|for instance|such as|like this|like so|example)[:,]?\s+(.{1,300})$/i;
const LIKE_QUOTED =
  /\b(?:like|as in)\s+((?:"[^"]{1,200}"|`[^`]{1,200}`|“[^”]{1,200}”|'[^']{1,200}').{0,40})$/i;
const ALONE =
  /^(?:an? )?(?:examples?|for example|for instance|e\.?g\.?|like(?: this| so)?|such as|correct(?: form)?|right|good|so|it should (?:look|read) (?:like(?: this)?|as follows)|should (?:look|read) like(?: this)?)\s*(?:is|would be)?\s*[:,]\s*(.+)/i;
const ALONE_WRONG =
  /^(?:wrong|incorrect|bad|not|was|yours|got|found|actual|actually got|received|currently|counter-?example)\s*:\s*(.+)/i;
const DID =
  /^(?:you|it|the (?:agent|assistant|model|bot)|instead,? you|your \w+|yours) (?:just |only |still )?((?:wrote|used|put|saved|named|had|gave|sent|left|called|returned|printed|created|made|chose|set|said|has|is|was|ran|added) .+)/i;

/** A quoted example ends with its quotation, also where the sentence goes on. */
const bare = (text: string | undefined): string | undefined =>
  (
    /^("[^"]{1,200}"|`[^`]{1,200}`|“[^”]{1,200}”)(?=,? (?:with|where|and|which|in|on|at|so|but)\b)/.exec(
      text?.trim() ?? '',
    )?.[1] ?? text
  )
    ?.trim()
    .replace(/[.;,]+$/, '');

/** The example in a sentence. */
export const findExample = (said: string): string | undefined =>
  bare((IN_BRACKETS.exec(said) ?? BEHIND.exec(said) ?? LIKE_QUOTED.exec(said))?.[1]);

type Shown = { readonly example: string } | { readonly wrong: string } | undefined;

/** A sentence that is only an example, of the right or of the wrong form. */
export function readExample(said: string): Shown {
  const example = bare(ALONE.exec(said)?.[1]);
  if (example !== undefined) return { example };
  const wrong = /\bexpected\b/i.test(said) ? undefined : bare(ALONE_WRONG.exec(said)?.[1]);
  return wrong === undefined ? undefined : { wrong };
}

/** A sentence that reports what was done and demands nothing itself. */
export function readReportedAct(said: string): Shown {
  const wrong = bare(DID.exec(said)?.[1]);
  return wrong === undefined ? undefined : { wrong };
}

const SHOWN = '(?:"[^"]{1,200}"|`[^`]{1,200}`|“[^”]{1,200}”|\\S*[\\d_/<{]\\S*)';
/** An example in the middle of a sentence. */
const LIKE = new RegExp(
  `,? (?:like|such as|as in|e\\.g\\.,?|for example,?|for instance,?|here|namely|so (?:this one|it|that) (?:is|becomes)|that is) ${SHOWN}`,
  'g',
);
/** The end of a sentence that applies it to the case at hand. */
const CASE =
  /,? so \S*\d\S* .{1,80}$|,? (?:so \S+ comes|from \S+ to) .{0,60}$|, \S+ before \S+$|,? (?:here|as in) .{1,200}$|: (?:"[^"]{1,200}"|`[^`]{1,200}`|\S*[\d{/_]\S*)$|: \w+(?:, \w+)+$/;
const CONTRAST =
  /,? (?:and )?(?:not|never just|never as an? \w+) \S*\d\S*$|\b(?:instead of|rather than) \S*\d\S*/g;

/** The sentence without its examples and its case: what it says in general. */
export function withoutExamples(text: string): string {
  const example = findExample(text);
  const rest = (example === undefined ? text : text.replace(example, ' '))
    .replace(/\([^()]{1,200}\)/g, ' ')
    .replace(LIKE, ' ');
  const general = rest.replace(CASE, '').replace(CONTRAST, '').replace(/\s+/g, ' ').trim();
  return general.split(' ').length < 3 ? rest : general;
}

const COPY = /(?<![\w/<.-])((?:[\w.-]{1,80}\/){1,8}[\w-]{1,80}\.\w{1,5})(\.\w{1,5})(?![\w/])/g;

/**
 * "copy a/plan.json to a/plan.json.old" applies to every file: names become `<file>`, and the case its example. Undefined
 * where the sentence is general, or where the names are an example already.
 */
export function generalizeFileName(
  todo: string,
): { readonly todo: string; readonly example: string } | undefined {
  const shown = findExample(todo) ?? '';
  const [match] = [...todo.matchAll(COPY)].filter(([name]) => !shown.includes(name));
  const [name = '', file = '', ending = ''] = match ?? [];
  if (name === '') return undefined;
  const general = todo.replaceAll(name, `<file>${ending}`).replaceAll(file, '<file>');
  return { todo: general, example: name };
}
