import type { Signal } from '../../core/evidence.ts';
import { separateTypedText } from '../../text/typed-text.ts';
import { digestError } from '../digest/digest-error.ts';
import type { TurnReading } from '../turn-reading.ts';
import {
  BROKEN_NOW,
  COMPLAINT_ABOUT_THING,
  CORRECTING_CLAUSES,
  CORRECTING_PHRASES,
  CORRECTIONS_IN_OTHER_LANGUAGES,
} from './correction-patterns.ts';

const MORE_THAN_A_NOD = 4;
const ABOUT_CAP = 4000;

/** The user's next message weighs more than any tool output. */
export function findUserCorrection(turn: TurnReading): Signal | undefined {
  const said = readReaction(turn);
  if (said === 'doubted')
    return { name: 'user-doubted', source: 'signal', score: 0.3, weight: 1, reason: 'the user has doubts' };
  if (said !== 'wrong') return undefined;
  return { name: 'user-corrected', source: 'signal', score: 0, weight: 3, reason: 'the user corrected it' };
}

export function findUserThanks(turn: TurnReading): Signal | undefined {
  if (readReaction(turn) !== 'thanked') return undefined;
  return { name: 'user-thanked', source: 'signal', score: 1, weight: 2, reason: 'the user was content' };
}

function readReaction({ evidence, said, calls }: TurnReading): Correction | 'thanked' | undefined {
  // A rejection with a reason is a correction, whatever the words are.
  if (calls.some(({ outcome }) => outcome?.kind === 'rejected' && outcome.words !== undefined))
    return 'wrong';
  const words = userWords(evidence.next?.user ?? '');
  if (words.split(/\s+/, MORE_THAN_A_NOD).length < MORE_THAN_A_NOD && hasTrace(evidence.next?.user ?? ''))
    return 'wrong';
  if (words === '') return undefined;
  const about = `${evidence.task.slice(0, ABOUT_CAP)} ${said.slice(0, ABOUT_CAP)}`.toLowerCase();
  const correction = findCorrection(words, { asked: said.endsWith('?'), about });
  if (correction !== undefined) return correction;
  if (!findThanks(words)) return undefined;
  return hasComplaint(words) ? 'wrong' : 'thanked';
}

/** A message that is only a stack trace means that the user tried the result. */
const hasTrace = (text: string): boolean =>
  digestError(text).some((line) => /(?:Error|Exception|panic).* @ /.test(line));

const HEAD = 400;
const MOST_OPENERS = 5;
const OPENER =
  /^(?:hm+|ok|okay|well|no+|nope|sorry|unfortunately|and|but|so|yes|yeah|ah|oh|ugh|argh|damn|great|nice|perfect|thanks|thank you|actually|sadly|oops|wait|man|hey|then|it seems|i think|i guess|looks like|seems like|please|because|however|come on|seriously|omg|omfg|dude|bro|my dude|jesus|fucking hell|fuck|shit)\b[,.! ]*/;
/** A clause that is a request: it is about future work, not about the reply. */
const REQUEST =
  /^(?:please|can|could|would|will|let|let's|add|make|write|show|tell|find|explain|check|what|which|who|where|when|is|are|does|do|did|how|give|create|run|translate|describe|if|update|change|use|handle|fix|remove|rename|implement|keep|set|move|build|generate|look|summari[sz]e|another|there is a|there's a|in which|where|so that|continue|now (?:add|make|write|continue|do|create|translate))\b/;
const NEW_TOPIC =
  /^(?:next topic|new topic|new task|next task|another (?:thing|topic|question)|separately|unrelated|different topic|on another note)\b/;

/** A "no", and the ones that only answer a question or thank. */
const NO = /^(?:hm+,? )?(?:no+|nope|nah|nein|nee|nö|non)(?:[,.!\n ]|$)/;
const HARMLESS_NO =
  /^(?:no+|nope|nah|nein|non)[,.! ]+(?:problem|worries|need|thanks|thank|that's (?:fine|ok|okay|good|all|it|enough)|further|more|rush|it's (?:fine|ok|okay|good)|idea|issues?|questions?|changes|one|longer|matter|doubt|hurry|leave|danke|merci|gracias|hay|pasa|alles gut)/;
const DOUBT =
  /\bare you (?:really )?sure\b|(?:^|\s)(?:wtf|w\.t\.f)\b|^(?:wasn't|isn't|aren't|weren't|shouldn't|didn't) (?:it|that|this|they|you)\b|\bsind sie sicher\b|\bbist du sicher\b|estás seguro|(?:tu es|es-tu) sûr|你确定/;
const COMPLAINT =
  /(?:\b(?:but|however|aber|pero|mais)\b|但是|不过|可是).{0,120}(?:n't\b|\b(?:not|still|wrong|fail|fails|broken|errors?|missing|instead|has to|must|too|only|again|shows?|nicht|kein|fehler|falsch|fehlt|noch|no|sigue|falta|mal|pas|toujours|erreur|manque|never|nothing|nichts)\b|没|不|错)/;

type Correction = 'wrong' | 'doubted';

/** The reply that a message reacts to. */
interface ReplyContext {
  /** The reply ended with a question, so a bare "no" is an answer. */
  readonly asked: boolean;
  /** The text of the task and of the reply, in lower case. */
  readonly about: string;
}

/** Whether the user's next message (plain words, lower case) rejects or doubts the reply. */
function findCorrection(words: string, { asked, about }: ReplyContext): Correction | undefined {
  const head = words.slice(0, HEAD);
  if (NEW_TOPIC.test(head)) return undefined;
  if (
    BROKEN_NOW.test(head) ||
    clausesOf(head).some(isCorrecting) ||
    CORRECTIONS_IN_OTHER_LANGUAGES.some((pattern) => pattern.test(head))
  )
    return 'wrong';
  if (clausesOf(head).some((clause) => isAboutThis(clause, about))) return 'wrong';
  if (NO.test(head) && !asked && !HARMLESS_NO.test(head)) return 'wrong';
  return DOUBT.test(head) ? 'doubted' : undefined;
}

/** Thanks followed by a complaint: the part after the "but" counts. */
const hasComplaint = (words: string): boolean => COMPLAINT.test(words.slice(0, HEAD));

/** "The chart is empty" is a complaint after a turn about a chart, and a new task after any other. */
function isAboutThis(clause: string, about: string): boolean {
  const thing = COMPLAINT_ABOUT_THING.exec(withoutOpeners(clause))?.[1]?.trim().split(' ') ?? [];
  return thing.some((word) => word.length > 3 && about.includes(word));
}

function isCorrecting(whole: string): boolean {
  const clause = withoutOpeners(whole);
  if (CORRECTING_CLAUSES.some((pattern) => pattern.test(clause))) return true;
  return !REQUEST.test(clause) && CORRECTING_PHRASES.some((pattern) => pattern.test(whole));
}

function clausesOf(head: string): readonly string[] {
  return head
    .split(/[.!?;\n]+|, | (?:but|because|and|so|since|however|although) |\) | - | – /)
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '');
}

function withoutOpeners(clause: string): string {
  let rest = clause;
  for (let turn = 0; turn < MOST_OPENERS; turn++) {
    const next = rest.replace(OPENER, '');
    if (next === '' || next === rest) break;
    rest = next;
  }
  return rest;
}

const set = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Words that are praise at the beginning of a message. */
const PRAISE = set(
  'thanks thank thx ty tysm cheers perfect perfectly great awesome excellent amazing brilliant wonderful fantastic lovely nice lgtm beautiful superb neat sweet bravo wow works exactly flawless ' +
    'danke dank dankeschön perfekt super klasse prima toll genau passt wunderbar hervorragend spitze funktioniert ' +
    'gracias perfecto perfecta genial excelente funciona estupendo fantástico exacto ' +
    'merci parfait génial nickel impeccable marche fonctionne excellent exactement',
);
/** Words that are praise only after a pointer to the reply: "that fixed it", but not "fixed header, please". */
const PRAISE_OF_IT = set(
  'fixed worked correct right good solved pass passes passing working done fine helped helpful better läuft richtig correcto bien',
);
const POINTERS = set(
  "that that's this it it's thats yes yep yeah yup all everything now das es ja eso sí si todo c'est ça oui tout is was looks look did des jetzt ist está ya",
);
const FILLERS = set(
  'ok okay k ah oh cool alright jesus omg omfg damn holy dude hey hi hm hmm haha so and very really pretty just much many absolutely totally the tests works well sehr vielen alles also muchas muy très beaucoup mille',
);
const LOOKED_AT = 7;
/** Not praise: a polite end of a request, a verb, a question. */
const NO_PRAISE =
  /\b(?:thanks|thank you) in advance\b|\bim voraus\b|\bde antemano\b|\bd'avance\b|\bgreat question\b|^perfect the\b|^(?:is|was|are|did|does|do)\b/;
const AT_ONCE =
  /^(?:👍|🎉|❤|🙏|💯|✅|good (?:job|work|one|stuff)|well done|love it|spot on|ship it|looks good|all good|solved\W*$|(?:merged|merging|shipped|approved)\b|(?:phew|that|it|this).{0,30}(?:a relief|really helped)|(?:fixed|solved|done)\W{1,3}thank)/u;
const CHINESE =
  /^(?:好的?，?|嗯，?|非常|太)?(?:谢谢|感谢|多谢|完美|太好了|太棒了|好极了|可以了|搞定了?|没问题了|正是|很好|不错)/;

/** Whether a message begins with praise or thanks. */
function findThanks(words: string): boolean {
  if (NO_PRAISE.test(words)) return false;
  if (CHINESE.test(words) || AT_ONCE.test(words)) return true;
  let pointed = false;
  const tokens = words
    .slice(0, 200)
    .split(/[^\p{L}']+/u)
    .filter((token) => token !== '');
  for (const token of tokens.slice(0, LOOKED_AT)) {
    if (PRAISE.has(token) || (pointed && PRAISE_OF_IT.has(token))) return true;
    if (POINTERS.has(token)) pointed = true;
    else if (!FILLERS.has(token)) return false;
  }
  return false;
}

/** Lines pasted from a terminal, a log or a file. */
const PASTED =
  /^(?:➜ |[$%#] \S|\S{0,40}\s?[\w.-]{1,40}@[\w.-]{1,60}[: ]\S{0,200}[$#%] |\{"|\[\{|\s{2,}at |\s{2,}File "|Traceback \(|node:|npm (?:error|ERR!)|\s{0,4}\w{0,40}(?:Error|Exception): |\d{4}-\d\d-\d\d[T ]|'?\/[\w./ -]{1,300}'?$|[-+] ?\d{1,5} )/;
/** Negations without their apostrophe. */
const BARE_NOT = /\b(does|did|is|was|are|were|have|has|had|do|would|could|should|ca|wo)nt\b/g;
const STAMP = /^\s*\[[A-Z][a-z]{2} \d{4}-\d{2}-\d{2}[^\]\n]{0,30}\]\s*/;
const CAP = 20_000;
const FENCE = '```';

/**
 * What the user typed: without sections inserted by the client, quotes and pasted output. In lower case, with straight
 * apostrophes and single spaces.
 */
function userWords(text: string): string {
  const typed = without(separateTypedText(text.slice(0, CAP)).typed, FENCE, FENCE);
  const lines = typed.replace(STAMP, '').split('\n');
  const own = lines.filter((line) => !/^\s{0,3}>|^Runtime: agent=/.test(line) && !PASTED.test(line));
  return own
    .join(' \n')
    .replace(/`[^`\n]{0,400}`|"[^"\n]{8,400}"|“[^”\n]{8,400}”/g, ' ')
    .replaceAll('’', "'")
    .toLowerCase()
    .replace(BARE_NOT, "$1n't")
    .replace(/\b(that|you|it)(s|re) (?=(?:not|still|wrong|broken)\b)/g, "$1'$2 ")
    .replace(/[^\S\n]+/g, ' ')
    .trim();
}

/** A section without its closing mark extends to the end of the text. */
function without(text: string, open: string, close: string): string {
  let kept = '';
  let at = 0;
  for (;;) {
    const from = text.indexOf(open, at);
    if (from < 0) return kept + text.slice(at);
    kept += text.slice(at, from);
    const to = text.indexOf(close, from + open.length);
    if (to < 0) return kept;
    at = to + close.length;
  }
}
