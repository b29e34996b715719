import { stemInflection } from '../../../text/stem.ts';

/** Values that exclude each other. Words of one value are joined by `|`. */
const CHOICES: readonly (readonly string[])[] = [
  [
    'tab|tabs|tabulator|табы',
    'space|spaces|leerzeichen|espacio|espacios|espace|espaces|espaco|espacos|пробелы',
  ],
  ['npm', 'pnpm', 'yarn', 'bun'],
  ['pip', 'poetry', 'uv', 'pipenv', 'conda'],
  ['jest', 'vitest', 'mocha', 'jasmine'],
  ['pytest', 'unittest'],
  ['json', 'yaml', 'toml'],
  ['single', 'double'],
  [
    'english|englisch|ingles|anglais',
    'german|deutsch|aleman|allemand',
    'french|franzosisch|frances|francais',
    'spanish|spanisch|espanol|espagnol',
    'italian|italienisch|italiano|italien',
    'dutch',
    'japanese',
    'portuguese',
  ],
  [
    'upper|uppercase|mayusculas|majuscules|grossbuchstaben',
    'lower|lowercase|minusculas|minuscules|kleinbuchstaben',
  ],
  [
    'euro|euros|eur',
    'dollar|dollars|dolares|usd',
    'pound|pounds|gbp',
    'franc|francs|chf',
    'dkk',
    'sek',
    'nok',
    'yen|jpy',
  ],
  ['brief|briefly|short|concise|terse', 'detail|detailed|long|verbose|elaborate'],
  ['formal|formally|formell', 'informal|informally|casual|casually|informell'],
  ['tutoyer|duzen|tutear', 'vouvoyer|siezen'],
  ['light|hell', 'dark|dunkel'],
  ['metric', 'imperial'],
  ['merge', 'rebase', 'squash'],
  ['camelcase', 'snake_case', 'kebab-case', 'pascalcase'],
  ['ascending|asc', 'descending|desc'],
  ['inch|inches', 'centimetre|centimeter|cm'],
  ['celsius', 'fahrenheit'],
];

export const CHOICE_OF: ReadonlyMap<string, { readonly list: number; readonly value: string }> = new Map(
  CHOICES.flatMap((values, list) =>
    values.flatMap((words) =>
      words
        .split('|')
        .map((word) => [stemInflection(word), { list, value: words.split('|')[0] ?? word }] as const),
    ),
  ),
);

/** Without inflection and double letters: people type both "alphabetically" and "alphabeticaly". */
export const termOf = (word: string): string => stemInflection(word).replace(/(\p{L})\1/gu, '$1');

/** Number words; "one" counts only before a noun. */
export const NUMBER_WORDS: ReadonlyMap<string, string> = new Map(
  [
    'one',
    'two zwei deux dos',
    'three drei trois tres',
    'four vier quatre cuatro',
    'five funf cinq cinco',
    'six sechs seis',
    'seven sieben sept siete',
    'eight acht huit ocho',
    'nine neun neuf nueve',
    'ten zehn dix diez',
    'eleven elf onze once',
    'twelve zwolf douze doce',
  ].flatMap((words, nth) => words.split(' ').map((word) => [word, String(nth + 1)] as const)),
);

/** Function words, idle verbs, and words about time and politeness, in the languages that people type most. Folded. */
const STOP: ReadonlySet<string> = new Set(
  `a an the and or but so if as at by for from in into of off on onto to up with without about after before over under than then
  i me my mine we us our ours you your yours he she it its they them their this that these those here there who which what when where
  is are was were be been being am do does did done has have had will would shall should can could may might must mustn't need needs let lets
  not no nor never ever always allways now again also too either only just very really please pls thanks ok okay yes yeah any anymore more
  use uses used using make makes made get gets got give gives keep keeps put puts set go goes want wants take takes call called named like likes
  run runs open opens close closes start starts end ends begin begins listen listens work works come comes write writes send sends happen stay
  stays sit sits stand stands belong belongs mean means
  all every each some both other another same new old one ones thing things way mr ms mrs dr longer instead rather remember note said
  decided moved changed switched today tomorrow future forward everything everywhere everyone else anything mind
  s t d ll ve re m dont im ive its
  der die das den dem des ein eine einen einem einer und oder aber nicht kein keine keinen nie niemals immer wir ihr ich du sie es man hier
  im auf mit von zu zum zur fur bei statt anstatt ab jetzt sofort nun mehr ist sind wird werden war sein haben hat hatte soll sollen muss
  mussen bitte auch noch schon nur so wie als dass unser unsere mein meine dein gibt heisst heissen lautet verwende verwenden benutze benutzen
  nutze nutzen nimm nehmen mach machen umgestiegen
  le la les l un une des du de d et ou mais ne pas plus jamais toujours nous vous je tu il elle on ils ici dans avec au aux pour sans que qui
  est sont sera etre avoir ai as ont notre nos mon ma mes ton ta tes ce cette ces en sur par maintenant desormais dorenavant partir aussi
  utilise utiliser utilisez utilisons
  el los las uno unos unas y o pero si nunca jamas siempre nosotros yo aqui con del al para por sin se es son ser estar esta estan mi mis tu
  nuestro nuestra ahora ya tambien usa usar usamos usas utiliza utilizar hay vez lugar adelante lo`.split(
    /\s+/,
  ),
);

export const isStopWord = (word: string): boolean =>
  STOP.has(word) || STOP.has(stemInflection(word)) || (word.length < 2 && !/\d/.test(word));

/*
 * How people say in plain sentences what holds: in English, and the basics of German, French and Spanish. All patterns read folded
 * text: lower case, without accents, quotations and code.
 */

/** Words that make a sentence one about all work of its sort. German "nie" is another word in Polish. */
export const GENERAL =
  /\b(?:al+ways|never|, ever[.!]?$|whenever|every time|each time|at all times|immer(?! noch| wieder| mehr)|niemals|nie(?=[.!]?$| (?:(?!dziala)\S+ )*?(?:auf|in|im|mit|ohne|vor|an|am|zu|ein\w*|der|die|das|den|direkt|etwas)\b)|grundsatzlich|toujours(?! pas)|jamais|siempre|nunca|jamas)\b|, (?:ever|nie)[.!]?$/;
/** Something is over. */
export const OVER = /\b(?:any ?more|no longer|nicht mehr|ne \S+ plus|n'\S+ plus|ya no)\b/;

/** What must or must not be. */
export const OBLIGES =
  /\b(?:(?<!\bi )must|mustn't|must not|has to|(?<!\b(?:i|i'd|we|we'd|you|you'd|they|would|will) )have to|(?<!\b(?:i|we|you) )needs? to|is required|are required|(?:is|are|isn't|aren't) (?:not )?(?:allowed|permitted)|is forbidden|are forbidden|is banned|are banned|muss|mussen|darf nicht|durfen nicht|verboten|doit|doivent|interdit\w*|tiene que|tienen que|debe|deben|prohibid\w*)\b/;

/** A request to keep something in mind. */
export const REMINDS =
  /^(?:please |pls |and |so )*(?:remember|note|fyi|for the record|for your information|keep in mind|just so you know|heads up|merk dir|zur info|retiens|souviens-toi|note bien|recuerda|ten en cuenta|apunta)\b(?:,? (?:that|this|dass|que))?[,:]? ?(?=\S+ \S)|\bremember (?:that|this)[.!]?$|, remember[.!]?$/;

/** What a sentence begins with before it says something. */
export const OPENERS =
  /^(?:(?:and|but|so|also|ok|okay|actually|hey|hi|btw|by the way|fyi|argh(?: no)?|ah|oh|hm+|nope|nah|ubrigens|au fait|por cierto)\b[,:.!]* |(?:no|well|right|correction|update|sorry|non|nein|not quite|wrong|change of plans?|new rule|one more thing|quick note|for the record|final|(?:ok )?final|nebenbei|my mistake|reminder)[,:.!]+ )+/;

/** Somebody who names himself: "Tom here:", "Lena (ops):". */
export const SPEAKER = /^[\p{L}][\p{L}'-]{1,20}(?: here| \([^()\n]{1,20}\)):\s+/u;

/** It tells how one thing went, is going, or is thought to be. */
export const OF_MOMENT =
  /\b(?:again|still|broken|breaks?|fail(?:s|ed|ing|ure)?|crash\w*|errors? (?:out|with|again)|jammed|stuck|hangs?|hung|slow(?:er|ly)?|wrong|missing|weird|strange|odd|empty|blank|too \w+|not working|doesn't work|does not work|don't work|does nothing|nothing happens|happen(?:s|ed|ing)|currently|right now|at the moment|(?<!from |as of )today|tomorrow|yesterday|this (?:time|morning|afternoon|evening|once|one)|tonight|for now|so far|just once|last (?:night|week|month|year|time)|next (?:week|month|year|\w+day)|this week|in (?:an?|\w+) (?:minutes?|hours?|seconds?|bit|moment)|will|seems?|looks? (?:like|good|fine|ok|great|right|odd|off)|feels?|think|guess|wonder(?:ing)?|maybe|perhaps|probably|might|could|would|hopefully|haha\w*|jaja\w*|lol|wish|suppose|imagine|assum\w+|hypothetical\w*|what if|as if|let's say|apparently|almost|nearly|kaputt|fehlgeschlagen|gerade|heute|morgen|gestern|vielleicht|wohl|diesmal|fur jetzt|peut-etre|aujourd'hui|demain|hier|cette fois|quizas?|tal vez|hoy|manana|ayer|esta vez)\b/;

/** Kept although it is of the moment: only what it adds at its end is. */
export const ASIDE =
  /[,;–-] ?(?:i was wrong|my (?:mistake|bad|fault)|sorry|remember (?:that|this)|use (?:that|it)(?: one)?|i misspoke|i said it wrong|as (?:i|we) said|please|pls|thanks?)[.!]*$/;

/** Somebody else's words, or doubt about them. */
export const REPORTS =
  /\b(?:he|she|they|someone|somebody|people|some|the (?:docs?|documentation|readme|reviewer|linter|compiler|customer|boss|manager|article|page|site|error|log|ticket|issue|model|agent|bot|assistant)|chatgpt|copilot|stack ?overflow|google)\b[^,.]{0,30}\b(?:said|says?|wrote|writes|claims?|claimed|thinks?|thought|told|suggest\w*|recommend\w*|reports?|reported|insists?)\b|(?<!\b(?:i|we|what i|ich|je) )\bsa(?:ys|id)\b(?! so\b)|\b(?:supposedly|allegedly|rumou?r|i (?:heard|read)|according to)\b|\b(?:yeah|sure),? (?:right|because)\b|\/s$|\boh,? (?:great|sure|wonderful|fantastic)\b|^(?:angeblich|apparemment|al parecer)\b/;

/** A sentence that speaks of what stands before it. */
export const POINTS_BACK =
  /^(?:it|its|it's|that|that's|this|these|those|they|them|he|she|his|her|there|such|same|es|das (?:ist|war|geht|muss|sollte|kann|hat|macht)|dies\w*|er|sie|c'est|ca|cela|ce|il|elle|ils|eso|esto|ello)\b|(?<![-\w])(?:it|them|that (?:one|\w+)|the (?:same|other)(?: one)?|else)[.!]?$|\b(?:use|take|keep|call|write|do|with|of|from|to) (?:it|them|that)\b|^(?:everywhere|everyone|everything|anything) else\b/;

/** "We moved it to Friday": something unnamed becomes something else. */
export const MOVES_IT =
  /\b(?:it|that|them|es|das|sie|la|le|les|lo|los|las) (?:\S+ )?(?:to|until|into|auf|nach|zu|a|au|en) /;
/** "It's Thursday now": something unnamed has another value. */
export const IS_NOW =
  /^(?:it|that|they|those|es|das|c'est|ils|elles)(?:'s|'re| ).*\b(?:now|instead|no longer|from (?:now|today|monday|next \w+) on|jetzt|nun|stattdessen|maintenant|desormais|ahora)\b/;

/** It says little without what was said before it. */
export const pointsBack = (folded: string): boolean => POINTS_BACK.test(folded) || MOVES_IT.test(folded);

/** Asks. */
export const ASKS =
  /[?？]\W*$|^(?:and |so |but |ok |hey |hi )*(?:what|which|who|whose|where|why|how|is|are|does|do(?! not\b|n't\b)|did|can|could|would|will|should|has|have (?:you|we|i)|shall|may|was|were|am|any (?:idea|chance)|wie|was|wer|wo|warum|wieso|wann|welche\w*|kannst|konntest|kann|ist|sind|hast|gibt es|quel\w*|qu'|comment|pourquoi|ou est|quand est|est-ce|peux|pourrais|pouvez|que es|como|donde|cuando (?:es|fue)|por que|cual\w*|puedes|podrias)\b/;

/** Asks for the next piece of work; what follows is its object. */
export const WANTS_WORK =
  /^(?:(?:ok|okay|and|so|then|now|next|also|please|pls|great|good|hey|hi|hello|yes|yeah|sure|alright|cool|perfect|thanks|thx|bitte|jetzt|nun|maintenant|ahora|s'il te plait|por favor)[,.!:]* )*(?:can|could|would|will) (?:you|we|u)\b|^(?:(?:ok|okay|and|so|now|also|please|hey|hi)[,.!]* )*(?:let's|lets|let me|let us|help me|i(?:'d| would)? (?:like|want|need|wanna)|we (?:want|need|'d like)|i(?:'m| am) (?:trying|looking|working|getting|seeing|building|writing|going|not sure|stuck|having|thinking)|i(?:'ll| will)|i was|i have (?:an?|the|this|some|two|three)|i've|we(?:'ll| will)|we've|time to|your (?:task|job)|the task|task|goal|context|background|go on|go ahead|continue|proceed|kannst du|konntest du|ich (?:brauche|mochte|will|hatte gern)|hilf mir|lass uns|peux-tu|pourrais-tu|j'ai besoin|je (?:veux|voudrais)|aide-moi|puedes|podrias|necesito|quiero|quisiera|ayudame|vamos a)\b/;

/** Verbs that begin a request and that people do not use for a custom. */
export const WORK_VERBS: ReadonlySet<string> = new Set(
  (
    'add adjust analyse analyze append apply build bump calculate change check clean compare complete compose compute connect convert copy count create debug define delete deploy describe design draft draw duplicate edit estimate evaluate execute explain export extend extract figure fill find finish fix generate get give go hook ' +
    'implement import improve inline insert inspect install integrate investigate list load look make merge migrate modify move open optimise optimize outline parse plan plot polish prepare print produce profile propose pull push read rebase refactor regenerate remove rename render reorganize replace reproduce research reset resolve restart restore review revert rewrite run scaffold scan search see send set setup shorten show simplify sketch solve sort speed split start stop suggest summarise summarize swap switch tell test tidy trace translate try turn undo update upgrade upload verify walk wire wrap write ' +
    'schreib schreibe erstelle erstell mach mache zeig zeige erklar erklare finde such suche losche fuge andere prufe teste baue sortiere kurze ubersetze leg lege gib setz setze ' +
    'ecris cree fais montre explique trouve cherche supprime ajoute change verifie teste construis trie resume traduis donne mets imprime redige prepare ' +
    'escribe crea haz muestra explica encuentra busca borra anade agrega cambia revisa prueba construye ordena resume traduce dame pon imprime redacta elimina prepara'
  ).split(' '),
);

/** Verbs of orders that may well be a custom. */
export const CUSTOM_VERBS =
  /^(?:use|prefer|avoid|name|call|address|sign|answer|reply|respond|indent|format|spell|keep|put|store|tag|label|write|log|mock|mirror|round|cc|greet|wrap|verwende|verwenden|nutze|nutzen|benutze|benutzen|nimm|utilise|utilisez|usa|usar|use|firma|responde|reponds)\b/;
/** The object of such an order when it is about one thing. */
export const ONE_THING =
  /^(?!use\b)\S+ the\b|^\S+ (?:(?:it|this|that|these|those|them|an?|the (?:same|other|first|second|third|last|new|old|existing|following|above|below|attached|left|right|current)|my|your|some|another|both|either|more|less|ein(?:e|en)?|diese\w*|un|une|ce\w*|este|esta|ese|esa)\b|(?:[\w-]+ ){1,6}(?:instead|here|there|for (?:this|that|now|it)|first|then|only|too|as well)[.!]?$)/;

/** "When you restart the worker, drain the queue first." */
export const WHEN_THEN =
  /^(?:when(?:ever)?|before|after|if|each time|every time|wenn|bevor|immer wenn|quand|avant|si|lorsque|cuando|antes|si) (?:(?:you|we|du|ihr|wir|man|tu|vous|on|usas|haces)\b|[\w-]+ing\b|(?:every|each|any|jede\w*|chaque|cada) )[^,:]{2,80}[,:] (?:then |always |never |please |do not |don't |first )*([\p{L}'-]+)/u;

/** Asks to forget something; the group names it. */
export const FORGETS: readonly RegExp[] = [
  /(?:^|[,;:.!–-] |\b(?:please|pls|and|so|ok|can|may|no) )(?:forget|disregard|scratch|scrap|unlearn)(?! (?:to|it all)\b)(?: about)?(?: (?:everything|anything|all|what(?:ever)?)(?: (?:that )?(?:i|we) (?:ever )?(?:said|told you|wrote|asked|taught you))?(?: you)?(?: about| on| regarding)?)? ?((?:the |that |my |our |those |these )?(?:rule |thing |part |bit |convention |stuff )?(?:about |with |on |for )?.{2,60}?)(?=[,.;!]|$| any ?more\b| from now on\b)/u,
  /(?:^|[,;:.!–-] )(?:please |pls )?ignore (?:what|everything|all|whatever) (?:i|we) (?:said|told you|wrote|asked)(?: you)? (?:about|on|regarding) (.{2,60}?)(?=[,.;!]|$)/,
  /^(?:ok,? |so,? )?(?:the|that|my|our) ((?:\S+ ){1,4}?)(?:rule|convention|policy|thing|ban|requirement|habit) (?:is|was|has been) (?:gone|off|cancelled|canceled|lifted|dropped|over|obsolete|outdated|no longer (?:valid|needed|true)|history)\b/,
  /^(?:ok,? |so,? )?(?:the|that|my|our) ((?:\S+ ){1,4}?)(?:rule|convention|policy|thing|ban|requirement|habit) (?:no longer|doesn't|does not) (?:appl|hold|count)\w*\b/,
  /(?:^|[,;:.!–-] |\bbitte )vergiss(?! nie\b| nicht\b| bitte nicht\b)(?: bitte)?,? (?:alles,? )?(?:was ich (?:dir )?(?:uber|zu|zum|zur|von) )?((?:die |das |den )?(?:regel |sache )?(?:mit |uber )?.{2,60}?)(?: gesagt(?: habe?)?)?(?=[,.;!]|$)/,
  /(?:^|[,;:.!–-] )(?:s'il te plait,? )?oublie(?:z)?(?! pas\b)(?: tout)? ?(?:ce que j'ai dit (?:sur|de|a propos de) |l'histoire (?:de|avec) )?(.{2,60}?)(?=[,.;!]|$)/,
  /(?:^|[,;:.!–-] )(?:por favor,? )?olvida(?:te)?(?: de)?(?: todo)? ?(?:lo (?:que (?:te )?(?:dije|he dicho) (?:sobre|de) |de )|la regla (?:de|sobre) )?(.{2,60}?)(?=[,.;!]|$)/,
];
/** It is said of what was told, and not of the task. */
export const OF_WORDS =
  /\b(?:what(?:ever)? (?:i|we) (?:said|told|wrote|asked)|everything|rule|thing|convention|told you|regel|sache|ce que j'ai dit|regla|lo que|lo de|gone|cancelled|any ?more|remember(?:ed)?)\b/;
/** A task in which something is left out for once. */
export const LEAVES_OUT = /[,;] ?(?:just|only|do|let's|focus|first|go|start|continue)\b|\bfor now\b/;

/** An order for each time. */
export const EVERY_TIME =
  /\b(?:every time|each time|at all times)\b|,? (?:always|immer|toujours|siempre)[.!]?$/;

/** A subject that is the case at hand. */
const CASE_WORDS: ReadonlySet<string> = new Set(
  (
    'error output result issue problem bug file function line test value answer question code page button image screenshot task input message text log stack trace warning response request table row column field variable method class component idea point reason difference goal plan step fix change diff pr commit chart title list data number total sum ' +
    'script app program process build pipeline site website ui query loop endpoint thing part section paragraph sentence word first second third last next previous other new old same one example snippet block command terminal console browser screen window tab form modal layout style color css html json payload type parameter argument loop condition exception module import dependency key index array object string ' +
    'zip pdf robot cli abstract sort quote explanation tone year importer parser repro branch datei spalte zeile seite tabelle fehler fichier archivo ' +
    'printer heating weather recipe intro draft summary slide diagram picture'
  )
    .split(' ')
    .map(termOf),
);
/** Whether nothing but the case at hand is named. */
export const isCaseWord = (term: string): boolean => CASE_WORDS.has(term);
/** What one says of how a thing is just now. */
export const STATES =
  /^(?:not |very |really |now |all |quite |so |pretty |a bit |completely |almost )*(?:red|green|(?:down|up|off|on)(?=[.!,]|$| again| now)|ready|done|finished|gone|correct|fine|ok|okay|good|bad|better|worse|best|visible|hidden|flaky|huge|big|small|large|tiny|long|short|cheap|expensive|late|early|open|closed|warm|cold|hot|full|nice|great|perfect|cool|clear|unclear|easy|hard|difficult|simple|complex|complicated|confusing|annoying|important|urgent|different|same|true|false|null|undefined|nan|valid|invalid|failing|passing|running|loading|working|used|unused|needed|deprecated|outdated|duplicated|identical|a mess|ugly|readable|unreadable|safe|unsafe|possible|impossible|necessary|unnecessary|available|unavailable|installed|deployed|merged|pushed|committed|fixed|updated|changed|removed|added|deleted|created|generated|included|attached|below|above|here|there|set|terrible|awful|horrible|garbage|rubbish|useless|amazing|beautiful|lovely|kaputt|fertig|gut|schlecht|falsch|richtig|casse|pret|bon|mauvais|roto|listo|bien|mal)\b/;
