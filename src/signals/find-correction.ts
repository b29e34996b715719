import { ABROAD, CLAUSES, MENTIONS, NOW, THINGS } from './correction-words.ts';

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

export type Correction = 'wrong' | 'doubted';

/** The reply that a message reacts to. */
export interface Answered {
  /** The reply ended with a question, so a bare "no" is an answer. */
  readonly asked: boolean;
  /** The text of the task and of the reply, in lower case. */
  readonly about: string;
}

/** Whether the user's next message (plain words, lower case) rejects or doubts the reply. */
export function findCorrection(words: string, { asked, about }: Answered): Correction | undefined {
  const head = words.slice(0, HEAD);
  if (NEW_TOPIC.test(head)) return undefined;
  if (NOW.test(head) || clausesOf(head).some(isCorrecting) || ABROAD.some((pattern) => pattern.test(head)))
    return 'wrong';
  if (clausesOf(head).some((clause) => isAboutThis(clause, about))) return 'wrong';
  if (NO.test(head) && !asked && !HARMLESS_NO.test(head)) return 'wrong';
  return DOUBT.test(head) ? 'doubted' : undefined;
}

/** Thanks followed by a complaint: the part after the "but" counts. */
export const hasComplaint = (words: string): boolean => COMPLAINT.test(words.slice(0, HEAD));

/** "The chart is empty" is a complaint after a turn about a chart, and a new task after any other. */
function isAboutThis(clause: string, about: string): boolean {
  const thing = THINGS.exec(withoutOpeners(clause))?.[1]?.trim().split(' ') ?? [];
  return thing.some((word) => word.length > 3 && about.includes(word));
}

function isCorrecting(whole: string): boolean {
  const clause = withoutOpeners(whole);
  if (CLAUSES.some((pattern) => pattern.test(clause))) return true;
  return !REQUEST.test(clause) && MENTIONS.some((pattern) => pattern.test(whole));
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
