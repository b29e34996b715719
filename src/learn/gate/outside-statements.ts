import type { Origin } from '../../core/learn.ts';
import { detectLanguages } from '../../text/languages.ts';
import { type PastedText, splitPastedText } from '../../text/pasted-text.ts';
import { splitFoldedSentences } from '../../text/sentences.ts';
import { foldedWords, foldText } from './normalize-text.ts';

/*
 * Which sentences of a tool's output could have taught something. Programs report what went wrong, in terse lines that begin
 * with their name or a word for it; whoever wants something to be done writes prose, or tells the reader what to do.
 */

/** Standing rules: always, never, the convention is. */
const STANDING =
  /\b(?:always|never|every|whenever|at all times|conventions?|polic(?:y|ies)|guidelines?|rules?|standards?|mandatory|required|requires|must|shall|by default|agreed|decided|as of|since (?:\w+ )?\d|nobody|no one|everyone|officially|preferred|practice|workflow)\b/;
const ASKING =
  /\b(?:should|please|make sure|ensure|remember|needs? to|ha(?:s|ve) to|do not|don't|recommend\w*|prefer|avoid|instead|only|important|better to|best to|consider|feel free|(?:you|we|they|one) (?:can|may|use|run|send|keep|put|add|write|call|take)|(?:is|are) (?:to be|fine|allowed|welcome|optional|granted)|let's|anyway|by (?:\w+ing)|remedy|workaround|solution|to (?:fix|resolve|solve) (?:it|this|the)|re-?run|run with|best practice)\b/;
const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));
const VERBS = words(
  `add allow append apply approve clear copy create decode delete deploy disable download drop enable execute export fetch follow
  forward grant ignore include install keep leave merge open paste pay pin pipe post pull push put read recommend remove rename
  repeat replace reset restart retry run save send set show skip stop store switch turn upgrade upload use verify write`,
);
/** These are often nouns: they are verbs before an object. */
const NOUN_VERBS = words(
  'answer ask build call change check commit load mark move name pass place point report round route share start update',
);
const OBJECT =
  /^(?:the|an?|it|its|this|that|these|those|your|our|all|any|each|every|them|with|from|into|up|off|out|-{1,2}\w|`)/;
const MARKER =
  /^[\s>#*+\-\d.)(/|]{0,12}(?:(?:note|tip|hint|fix|action|todo|step \d+|first|then|also)\b[\s:,.-]{1,4})?/;
const CLAUSES = /[;:,()]\s+|\s[-–]\s|\b(?:and|then|or|so|but|just|simply|first)\s+/;

/** Whether a normalized sentence states a standing rule. */
export const isStandingRule = (sentence: string): boolean => STANDING.test(sentence);

/** Whether a normalized sentence tells its reader to do something. */
export function givesInstruction(sentence: string): boolean {
  if (STANDING.test(sentence) || ASKING.test(sentence)) return true;
  return sentence
    .replace(MARKER, '')
    .split(CLAUSES)
    .some((clause) => {
      const [verb = '', ...rest] = clause.trim().split(/\s+/);
      if (rest.length === 0) return false;
      return VERBS.has(verb) || (NOUN_VERBS.has(verb) && OBJECT.test(rest.join(' ')));
    });
}

/** How programs begin the lines that report what went wrong. */
const REPORT_HEAD =
  /^[\s>#*|+[\]-]{0,8}(?:[\w./@+-]{1,60}(?:\(\d+,\d+\)|(?::\d+){1,2})?[:!\]]?\s+){0,3}?(?:npm (?:err!|error|warn)|err!|errors?(?:\[\w{1,12}\]| \w{2,8})?|fatal|warn(?:ing)?|hint|failed|failure|exception|panic|usage|\w{0,60}(?:error|exception)|e[a-z]{4,12}|[\w./+-]{1,30}|✖|✗|×)(?:[:!]|(?<=[✖✗×]))\s+/;
const FAILURE =
  /\b(?:errors?|failed|fails|failure|refus(?:ed|ing|es)|invalid|illegal|unknown|unrecogni[sz]ed|unsupported|missing|not found|no such|cannot|can't|could not|unable|denied|forbidden|unexpected|undefined|undeclared|does not exist|already (?:in use|exists)|no (?:rule to make|matching|module|route|tests?)|exit(?:ed)?(?: with)? (?:code|status)|expected|timed? ?out|mismatch|rejected|conflict\w*|not (?:an?|installed|defined|allowed|permitted|reachable|empty|valid)|may not be|must not be empty|broken|crashed|killed|would (?:be )?(?:reformat\w*|overwritten)|deprecated|exceeded|locked|held)\b/;
const PLAIN_FAILURE =
  /\b(?:not found|no such|cannot|could not|unable to|undefined|unknown|invalid|unexpected|does not exist|failed|exit(?:ed)?(?: with)? (?:code|status))\b/;
const FAILURES = new RegExp(FAILURE, 'g');
const LONGEST_REPORT = 24;
const LONGEST_PLAIN = 12;

/** Whether a normalized sentence only reports what went wrong, as programs do. A lesson may say so: it instructs nobody. */
export function isReport(sentence: string): boolean {
  if (!FAILURE.test(sentence)) return false;
  const head = REPORT_HEAD.exec(sentence)?.[0] ?? '';
  const said = sentence.slice(head.length);
  const most = head !== '' ? LONGEST_REPORT : PLAIN_FAILURE.test(sentence) ? LONGEST_PLAIN : 0;
  return foldedWords(said).length <= most && !givesInstruction(said.replace(FAILURES, ' '));
}

/** The output of programs has few of these. */
const FUNCTION_WORDS = words(
  `the a an and or of to in for with is are be on at by from this that it as not so when you your if all any into was were has have
  had but than then there they we our its which who will would can could may do does been because since no only also after before
  while until about over under without their them every each nobody whatever whoever`,
);
const WORD = /^["'(*`]?[\p{L}'-]+["').,:;!?*`]*$/u;

/** Words, as opposed to code and listings. */
function isWording(sentence: string, fewest: number, share: number): boolean {
  const parts = sentence.split(/\s+/);
  const words = parts.filter((part) => WORD.test(part));
  return foldedWords(sentence).length >= fewest && words.length >= parts.length * share;
}

/** Whether a normalized sentence is in a language whose instructions nothing here can tell from its reports. */
export const isForeignWording = (sentence: string): boolean => detectLanguages(sentence).size > 0;

/** Whether a normalized sentence is prose, as opposed to program output. */
export const isProse = (sentence: string): boolean =>
  isWording(sentence, 5, 0.7) &&
  (sentence.split(/\s+/).filter((word) => FUNCTION_WORDS.has(word.replace(/[^\p{L}]/gu, ''))).length >= 2 ||
    isForeignWording(sentence));

/** A line of a program, as far as its first word and its last sign tell. */
const SOURCE =
  /^(?:\*\/ )?(?:export|import) (?:async|default|const|function|class|type|interface|\{|\w+ from)|^(?:import|export|const|let|var|return|def|class|for|while|if|it|describe|expect|assert|func|fn|public|private|async|elif|else|try|\*\/|@\w+|\w+(?:\.\w+)+\()(?=\W).*[;{}(),:>]$/;

/** A few words that introduce a listing. */
const TITLE = /^[^.,:]{1,50}:$/;

/** The sentences of an outside text that could have taught something: prose and instructions, not reports, code or listings. */
export function readOutsideStatements(views: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const view of views)
    for (const sentence of splitFoldedSentences(view))
      if (
        !SOURCE.test(sentence) &&
        !TITLE.test(sentence) &&
        !isReport(sentence) &&
        (isProse(sentence) || (isWording(sentence, 3, 0.6) && givesInstruction(sentence)))
      )
        found.add(sentence);
  return [...found];
}

/** The reports of what went wrong that are written in sentences. The terse ones have no room for advice. */
export const readReports = (plain: string): readonly string[] =>
  splitFoldedSentences(plain).filter((sentence) => isReport(sentence) && isProse(sentence));

/** Whether an outside text says anything beside what went wrong. */
export const saysMore = (plain: string): boolean =>
  splitFoldedSentences(plain).some((sentence) => isWording(sentence, 3, 0.6) && !isReport(sentence));

/** What the author of a message wrote, and what they forwarded. In feedback on a turn, people quote the result that they want. */
export const splitFirstPartyText = (text: string, origin: Origin): PastedText =>
  splitPastedText(text, origin === 'user' ? 'pasted' : 'own');

/** Whether a message forwards prose; logs and code do not count. */
export const forwardsProse = (text: string, origin: Origin): boolean =>
  splitFoldedSentences(foldText(splitFirstPartyText(text, origin).pasted)).some(isProse);

/*
 * Text that addresses the agent that reads it. A lesson learned in the same session may be its doing, whatever the lesson says.
 * Lower case, without accents.
 */
const AGENT =
  '(?<!(?:user|ssh|gpg|build|cloud|travel)[- ])(?:ai|llm|gpt|claude|gemini|copilot|chatbot|bots?|(?:ai |llm |coding |automated |autonomous )?(?:assistants?|agents?)|language models?|automated (?:readers?|tools?|systems?|contributors?|workflows?))';
const ORDER =
  "(?:must|should|shall|needs? to|ha(?:s|ve) to|(?:is|are) (?:required|asked|expected|instructed|told|to)|please|always|never|do not|don't|can help by|may not|remember|make sure|keep)";
const GAP = '[^.!?\\n]{0,60}?';
const anyOf = (...parts: readonly string[]): RegExp => new RegExp(parts.join('|'), 'm');

/** Nobody says this to their own agent. */
const TO_ANY = anyOf(
  `\\b(?:ignore|disregard|forget|override|bypass)\\b${GAP}\\b(?:previous|prior|above|earlier|existing|all|any|other)\\b${GAP}\\b(?:instructions|rules|guidelines|prompts?|directives|policies)\\b`,
  `\\b${AGENT}\\b${GAP}\\b${ORDER}\\b`,
  `\\b(?:note|message|notice|instructions?|guidance|hint|reminder|attention|dear|for|to)\\b[ :,-]{1,3}(?:(?:to|for) )?(?:all |any |every |the )?${AGENT}\\b[ ]{0,2}(?:[:,.!-]|$|reading|visiting|working|using|that|who|only)`,
  `\\b(?:if|when|since) (?:you(?:'re| are)|the reader is|read by) (?:an? |the )?${AGENT}\\b`,
  `\\b${AGENT}(?: (?:only|memory|rule|readers?))?:`,
  '\\b(?:whoever|whatever|anyone) (?:\\(?or whatever\\)? )?(?:reads|is reading|processes) (?:this|the log)\\b',
  '<\\|?(?:im_start|im_end|system|endoftext|start_header_id)\\|?>|\\[/?(?:inst|system|sys)\\]|<<?/?sys>>?|</?(?:system|instructions?|system-reminder|system_prompt|important|information|tool_result|web_page)>',
  '^[\\s#*>-]{0,6}(?:system|assistant|developer|human|user)(?: (?:message|prompt|note|override))?\\s?: ',
);

/** A user may say this; in outside text it is an injection. */
const TO_MINE = anyOf(
  `\\b(?:add|save|store|write|record|remember|keep|put|append|memori[sz]e|learn|copy)\\b${GAP}\\b(?:memory|memories|long-term|skills?|lessons?|agents\\.md|claude\\.md|gemini\\.md|cursorrules|system prompt|standing (?:rule|order)s?|as a rule|for good|your (?:notes|rules|instructions))\\b`,
  '\\b(?:from now on|from here on|going forward|henceforth|until further notice|effective (?:today|immediately)|in (?:all|every|any) future|(?:in|for|on) (?:future|later|subsequent) (?:sessions?|runs|tasks?|conversations?))\\b',
  '\\b(?:system prompt|jailbreak|developer mode|prompt injection)\\b',
  `\\b(?:do not|don't|never|without|no need to)\\b${GAP}\\b(?:tell|mention|inform|reveal|alert|notify|ask|warn)\\w*\\b${GAP}\\b(?:users?|humans?|operators?|owner|anyone|people|reviewers?)\\b`,
  '\\byou are now (?:an?|the|in|free)\\b|\\byour (?:new|real|only|true) (?:task|job|goal|role)\\b',
  '\\b(?:ki|sprachmodell|assistent|agent)\\w{0,3}\\b.{0,60}\\b(?:muss\\w*|soll\\w*|immer|niemals|bitte|deaktivier\\w*)\\b|\\b(?:ab sofort|von nun an|kunftig\\w*|ab jetzt)\\b',
  "\\b(?:ia|assistants?|agents?)\\b.{0,60}\\b(?:doit|doivent|devez|toujours|jamais|veuillez)\\b|\\b(?:desormais|dorenavant|a partir de maintenant|a l'avenir)\\b",
  "\\b(?:ia|asistentes?|agentes?|assistentes?)\\b.{0,60}\\b(?:debe\\w*|siempre|nunca|deve\\w*|sempre)\\b|\\b(?:de ahora en adelante|a partir de (?:ahora|agora)|d'ora in poi)\\b",
  '\\b(?:ignorier|missacht|ignor|oubli|olvid|dimentic)\\w*\\b.{0,60}\\b(?:anweisung\\w*|regeln?|consignes?|instruccion\\w*|reglas?|regras?|istruzion\\w*)',
  '(?:忽略|无视|無視).{0,20}(?:指令|规则|提示|指示)|从现在(?:起|开始)|今后|以后(?:每次|都|一律)|今後|(?:助手|智能体|代理|アシスタント|エージェント|ai).{0,40}(?:必须|应该|务必|不要|必ず|すること|べき)',
  '(?:игнорир|забуд)\\S*.{0,60}(?:инструкц|правил)|отныне|впредь|(?:ассистент|агент|помощник)\\S*.{0,60}(?:долж|обязан|всегда|никогда)|так принято',
  '무시|앞으로|(?:에이전트|어시스턴트).{0,40}(?:해야|항상)|تجاهل|من الآن فصاعدا',
);

/** No lesson has to say this, whoever wrote it: it sets aside what its reader was told before, or makes it someone else. */
const OVERRIDE = anyOf(
  `\\b(?:ignore|disregard|forget|override|bypass)\\b${GAP}\\b(?:previous|prior|above|earlier|all)\\b${GAP}\\b(?:instructions|rules|guidelines|prompts?|directives)\\b`,
  '\\byou are now (?:an?|the|in|free)\\b|\\byour (?:new|real|only|true) (?:task|job|goal|role)\\b|\\b(?:jailbreak|developer mode)\\b',
  '\\b(?:ignorier|missacht|ignor|oubli|olvid|dimentic)\\w*\\b.{0,60}\\b(?:anweisung\\w*|consignes?|instruccion\\w*|istruzion\\w*|instrucoes)',
  '(?:忽略|无视|無視).{0,20}(?:指令|规则|提示|指示)|(?:игнорир|забуд)\\S*.{0,60}(?:инструкц|правил)',
);

/** People speak of "the assistant" to their own one; of agents in general they do not. */
const TO_ALL = anyOf(
  `\\b(?:ai|llm|coding|automated|all|any) (?:assistants?|agents?|tools?)\\b${GAP}\\b${ORDER}\\b`,
  `\\b(?:tell|ask|let|have) (?:your|the) (?:bot|assistant|agent|ai)\\b`,
  `\\b(?:assistants|agents|bots|language models)\\b${GAP}\\b${ORDER}\\b`,
  '<\\|?(?:im_start|im_end|system)\\|?>|\\[/?(?:inst|system)\\]|</?(?:system|system-reminder|tool_result|web_page)>',
  '^[\\s#*>-]{0,6}(?:system|assistant|developer|human)(?: (?:message|prompt|note|override))?\\s?: ',
);

/** Whether a normalized message of a user addresses any agent that reads it: then someone else wrote it. */
export const addressesAnyAgent = (folded: string): boolean => TO_ALL.test(folded);

/** The passage of a normalized text that addresses agents, its reader, or says what an agent is to remember. */
export const findAddressOfAgents = (folded: string): string | undefined =>
  TO_ANY.exec(folded)?.[0] ?? TO_MINE.exec(folded)?.[0];

/** The passage of a normalized text that sets aside other instructions of its reader. */
export const findOverride = (folded: string): string | undefined => OVERRIDE.exec(folded)?.[0];
