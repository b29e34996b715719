import { isGeneralStatement, isHabit, isOrder } from '../reader/cues/standing-phrases.ts';
import { foldWords } from '../reader/own-sentences.ts';
import { sentencesOf } from '../text/sentences.ts';

/*
 * How far a rule in a person's own words reaches: every task of the scope it was said in, or only the work that it names. A condition is a
 * phrase that names a kind of work, a document, a file, a language, a tool or a client: "in shipping reports", "for Acme". What the agent
 * does on its way in any task ("before you commit") is no condition: no task says beforehand whether it will come to that.
 */

/** Documents and work that a task asks for by name. Folded: lower case, without accents. */
const DOCUMENTS =
  'reports?|invoices?|receipts?|letters?|e-?mails?|newsletters?|contracts?|offers?|quotations?|proposals?|minutes|agendas?|memos?|slides?|decks?|presentations?|spreadsheets?|forms?|tickets?|statements?|budgets?|orders?|articles?|blog posts?|posts?|papers?|essays?|translations?|summar(?:y|ies)|release notes|changelogs?|readmes?|docs|documentation|manuals?|tables?|charts?|diagrams?|dashboards?|exports?|queries|quer(?:y|ies)|recipes?|poems?|stories|resumes?|catalogue?s?|' +
  'berichte?n?|rechnungen?|briefen?|vertragen?|vertrage|angebote?n?|protokolle?n?|folien?|prasentationen?|tabellen?|rapports?|factures?|lettres?|contrats?|devis|courriels?|tableaux?|informes?|facturas?|cartas?|correos?|contratos?|tablas?';
/** What the agent makes on its way: a condition only where a preposition makes it one. */
const ARTEFACTS =
  'commits?|commit messages?|pull requests?|prs?|tests?|specs?|scripts?|functions?|classes|components?|modules?|migrations?|branch(?:es)?|configs?|configuration|logs?|comments?|code|files?|folders?|directory|directories|endpoints?|apis?|hooks?|templates?|notebooks?|pipelines?|workflows?|dockerfiles?|stylesheets?|meetings?|calls?|customers?|clients?|reviews?|deployments?|releases?|refactorings?|bug ?fix(?:es)?|support|marketing|production|staging|dateien?|kunden|besprechungen|fichiers?|archivos?|clientes?';
const LANGUAGES =
  'python|typescript|javascript|java|kotlin|swift|rust|golang|ruby|php|perl|sql|css|html|bash|shell|react|vue|angular|svelte|django|rails|docker|terraform|kubernetes|git|excel|word|slack|jira|figma';
/** A scope itself, or every answer: no condition. */
const EVERYTHING =
  'answers?|repl(?:y|ies)|responses?|messages?|conversations?|chats?|tasks?|sessions?|requests?|everything|anything|all (?:of )?(?:it|them|this|that|work)|(?:this|our|my|the) (?:repo|repository|project|codebase|code base|team|workspace|company|house)|future|general|here|me|us|you|antworten?|zukunft|reponses?|respuestas?';

const WORDS_BETWEEN = "(?:[\\w'’./-]+ ){0,3}";
const BEGINS = '(?:in|for|inside|within|under|on|during|fur|bei|beim|im|dans|pour|en|para)';
const WORK = new RegExp(
  `\\b${BEGINS} (?!(?:${EVERYTHING})\\b)${WORDS_BETWEEN}(?:${DOCUMENTS}|${ARTEFACTS})\\b`,
  'g',
);
const LANGUAGE = new RegExp(`\\b(?:in|for|with|fur|bei) (?:${LANGUAGES})\\b`, 'g');
/** "When you write SQL": the task is of that kind. */
const KIND_OF_TASK = new RegExp(
  `\\b(?:when(?:ever)?|while|if|wenn|falls|quand|lorsque|cuando|si)\\b(?:(?! i (?:say|ask|tell|want)\\b)[^,.;:]){0,60}\\b(?:${DOCUMENTS}|${LANGUAGES}|tests?|scripts?|migrations?|functions?|components?|refactor\\w*|review\\w*|translat\\w*|summari[sz]\\w*|debug\\w*|migrat\\w*)\\b`,
);
/** "Shipping reports use ISO dates", "Every invoice needs a number", "Letters: formal address." */
const SUBJECT = new RegExp(
  `^(?:(?:and|but|no|please|also|ok),? )*(?:(?:all|every|each|any|our|my|the|an?|new|alle|jede[rsn]?|tous les|toutes les|chaque|cada) )*(?:[\\w'’-]+ ){0,2}?(?:${DOCUMENTS})(?::| (?:\\w+ ){0,6}?(?:must|needs?|should|ha(?:ve|s) to|use|are|is|get|gets|go|goes|ends?|starts?|begins?|comes?|shows?|contains?|includes?|brauchen|braucht|mussen|muss|sind|ist|haben|hat|doivent|doit|sont|deben|debe|son)\\b)`,
);
/** The first word of an order: what follows is its object, and no subject. */
const IMPERATIVE =
  /^(?:(?:no|nope|and|but|please|pls|also|so|ok|hey|just|always|never|from now on|in future|going forward|bitte|immer|ab jetzt|nie)[,.:!]* )*(?:use|write|keep|put|call|name|prefer|avoid|answer|reply|respond|end|finish|begin|start|add|include|leave|format|spell|sign|quote|cite|round|show|give|list|say|speak|mark|sort|number|run|ask|check|make|set|send|commit|push|delete|remove|don't|do not|stop|no more|no|be|stay|nenne|nimm|nutze|benutze|verwende|schreibe?|antworte|beende|utilise|ecris|reponds|usa|escribe|responde)\b/;
const EVERY_TIME =
  /^(?:in|for|with|at) (?:every|each|all|any)\b|\b(?:every|each) (?:single )?time\b|\bin (?:jeder|allen|jedem)\b|\bjedes mal\b|\ba chaque fois\b|\bdans (?:chaque|toutes)\b|\ben (?:cada|todas|todos)\b|\bcada vez\b/;
/** Behind these a place is where something goes: "tests live in spec/", "put exports in out/". */
const GOES_THERE =
  /\b(?:live|lives|go|goes|belong|belongs|stay|stays|sit|put|store|save|place|keep|kept|write|written|liegen|gehoren|kommen|vont|van)\b[^,.;:]{0,40}$/;
/** "Write everything in TypeScript": the form that is asked for. */
const IN_THIS_FORM =
  /\b(?:write|written|implement|code|coded|script|answer|reply|respond|schreibe?|ecris|escribe)\b[^,.;:]{0,40}$/;
/** A client or a place by its name, which begins with a capital letter: "for Acme", "for the Berlin office". */
const NAMED = /\b[Ff]or (?:the |our |my )?(?:client |customer )?\p{Lu}[\p{L}\d&-]{2,}/u;

/** Whether a sentence names the work that it is for. */
function hasCondition(sentence: string): boolean {
  const folded = foldWords(sentence);
  if (SUBJECT.test(folded) && !IMPERATIVE.test(folded)) return true;
  if (KIND_OF_TASK.test(folded) || NAMED.test(sentence)) return true;
  const isMeant = ({ index }: RegExpMatchArray, form: RegExp): boolean => !form.test(folded.slice(0, index));
  return (
    [...folded.matchAll(WORK)].some((match) => isMeant(match, GOES_THERE)) ||
    [...folded.matchAll(LANGUAGE)].some((match) => isMeant(match, IN_THIS_FORM))
  );
}

/** Whether a sentence says how to work, and not only what was wrong. */
function isRuleSentence(sentence: string): boolean {
  const folded = foldWords(sentence);
  const isSaid = isOrder(folded) || isHabit(folded) || isGeneralStatement(folded);
  return isSaid || IMPERATIVE.test(folded) || EVERY_TIME.test(folded);
}

/** Whether what a person said is a rule for every task of the scope it was said in: it names no work that it is for. */
export function standsInEveryTask(quote: string): boolean {
  const rules = sentencesOf(quote).filter(isRuleSentence);
  return rules.length > 0 && !rules.some(hasCondition);
}
