import { compilePhrases } from './phrase-table.ts';
import { FOR_LATER } from './said-for-later.ts';

/**
 * Phrases by which a person says how things are done here, or what holds for later work. An order ("never", "from now on") makes a
 * correction by itself; so does a habit ("we use pnpm"), unless it answers a question.
 */
const ORDERS_ENGLISH: readonly RegExp[] = [
  /(?:^|[,;:–-] ?|\b(?:but|and|so|btw|please|pls|ok|no|also|hey|again) )(?:please |pls )?(?:(?:always|never)(?! mind| heard| seen| tested| worked| knew| had| did| got| been| \w+[^s\W]s\b)|don't ever|do not ever)\b/,
  /(?:, |^| — | - )(?:please )?(?:always|ever|never|every time|each time)(?: please)?[.!]*$/,
  /^(?!(?:the |an? )?(?:user|customer|visitor|client|function|method|page|app|button|component|endpoint|list)s?\b)(?!we should always (?:show|display|render|return|have|be|get|see|do)\b).{0,60}\b(?:must|should|has to|have to|need to|needs to) (?:always|never)\b/,
  ...FOR_LATER,
  /\b(?:whenever you|every time you|each time you|any time you)\b/,
  /\b(?:please |pls )?(?:remember (?:that|this|to\b|for\b)|(?:please |, )remember$|remember[.!?]|make a note|note for later)|^(?:please |pls |and )*keep (?:that |this |it )?in mind\b/,
  /^(?:please |pls |and |so |just )*stop (?:always |constantly )?\w{2,20}ing\b/,
  /\b(?:never|not|don't|without)\b.{0,40}\b(?:without asking|unless i (?:ask|say|tell)|before asking|asking (?:me )?first)\b/,
  /^(?:please |pls |but |and )*ask (?:me )?(?:first |before )/,
  /\bbefore (?:you )?(?:finish|push|commit|merg|deploy|delet|refactor|releas|say you)\w*/,
  /^(?:please )?only (?:change|touch|edit|modify) what i\b/,
  /^(?:every|each|all|any) (?!time|other|one\b|of\b|row|page|item|table)[\w-]{2,20}(?: [\w-]{2,20}){0,4}? (?:also |always |only )?(?:needs?|must|should|has to|have to|gets?|goes|go|comes?|starts?|ends?|use|sets?)\b/,
  /\beverything (?:else )?(?:goes|lives|comes|runs|belongs) (?:through|in|into|via|to|under)\b|\bnothing (?:is|gets) \w{3,20}(?:ed|en|de) .{0,40}\b(?:by hand|manually|directly|here)\b/,
  /^(?:(?:absolutely |certainly |definitely )?(?:not?|nope)[.,!] )?no [^,.;]{2,60}, ever\b|\beverything new (?:is|goes|uses|gets)\b/,
  /\bunless i (?:say|ask|tell|want)\b|\bfor (?:everything|anything) new\b|\bdo (?:that|this|it|so) (?:everywhere|every time|whenever)\b/,
  /\byou (?:don't|do not|never) (?:have|need) to\b/,
  /^(?:\w+[.,!]? ){0,3}you (?:always|never) (?!seem|said|told|know|mind|did|were|asked|answer)[a-z]{2,20}\b/,
  /\bkeep (?:that|this|it) in mind\b|\bas everywhere else\b|\blike everywhere else\b/,
  /\bmax(?:imum)?\.? \d+ [a-z]+ per [a-z]+\b|\b(?:two|three|\d+) (?:sentences?|lines?|words?|bullets?) (?:max|at most)\b/,
  /^(?:please |pls )?(?:shorter|longer|smaller|small|fewer|briefer|concise) (?:answers?|repl(?:y|ies)|diffs?|commits?|responses?|messages?|summar(?:y|ies)|prs?)\b/,
  /\bi(?:'ll| will)? (?:do|run|start|make|handle|deploy|test|write|commit)\b.{0,40}\bmyself\b/,
  /^(?:please |pls |but )*(?:don't|do not|no more) (?!worry|bother|forget|mind|know|think|have|care|be\b|you\b|we\b|i\b|need|like|want|see|understand|get\b|let|do (?:that|this|it))(?:[\w-]{2,20}) (?!the\b|this\b|that\b|it\b|its\b|them\b|those\b|these\b|an?\b|my\b|yet\b|me\b|any of\b)(?!.*\byet\b).{0,60}$/,
];
const HABITS_ENGLISH: readonly RegExp[] = [
  /(?:^|[,.;:!?–-] |\b(?:but|btw|because|since|as|and|so|ok|no|nope|that) )we(?: all)? (?:(?:always|never(?! \w+ed\b| had| did| got)|only|usually|normally|generally|don't|do not|shouldn't|should not) )?(?:use\b(?! it to)|prefer|follow|write|name|format|indent|spell|sign|squash|address|stick|push|add|start (?!with\b|by\b)|run (?!into)|deploy|log|store|keep (?!getting|seeing)|put (?!this|that|it)|lower|mock|commit|merge|test|document|import|ship|hardcode|touch)\b/,
  /(?:^|[,.;:!?–-] |\b(?:but|btw|because|since|no) )we(?:'re| are) (?:on (?!an? |the |it\b|this |that )\S|an? [\w-]+ (?:project|shop|team|codebase|repo|company))/,
  /\bwe have (?:an? |our )?[\w@/.-]{2,30} (?:for (?:that|this|it|everything|all)\b|everywhere)|\bwe(?:'ve| have) been over this\b/,
  /\b(?:everywhere|in every other|all our|in our (?:repo|code|codebase|project|team|company|docs|exports|app|apps))\b/,
  /^(?!(?:write|add|create|make|build|find|is|are|where|what|how|show|list|look|can|could|put|explain|when|if|after|i|i've|just|check|run)\b)(?:.{0,70} )?in this (?:repo|repository|project|codebase|code base|team|workspace|package|company|channel)\b/,
  /^(?:all )?(?:our|my) [\w -]{2,40}? (?:live|go|belong|stay|must|need|use|are (?:in|on|at|under|written|named|called|addressed|formatted|generated|stored|signed|always|never|all|lower|upper)|is (?:always|formal|written|called))\b/,
  /^(?:the |all )?[a-z][\w -]{1,28}?s (?:live|belong|sit|stay|go) (?:in|into|under|next|beside|through|to|at|on)\b/,
  /^(?:the |all )?[a-z][\w-]{1,20}s (?:are in|are under|are written|are named|are always|are never|are lower|are upper|must be|must have|have to be|should be in|need to be)\b/,
  /^(?:this is an?|it's an?) (?:[\w-]+ ){0,2}(?:workspace|monorepo|prototype)\b|^(?:this is an?|it's an?) (?:[\w-]+ ){1,2}(?:project|repo|codebase)\b/,
  /^(?:please |pls |but |and )*no (?!need|problem|worries|idea|one|more\b|way|longer|changes?\b|thanks)[\w.-]{2,20}(?: [\w.-]{2,20}){0,3},? (?:please|pls|in|here)\b/,
  /\bno (?:other |more )?[\w.-]{2,20} files?(?: please)?$/,
  /(?:^|[,.;:!?–-] |\b(?:but|btw|because|since|as|and|so|ok|no|nope|that) )we (?!need|want|have|should|could|can|will|would|were|are|had|saw|see|got|get|do\b|did|decided|tried)[a-z]{2,20} [^.!?]{1,60}[ ,]not [a-z0-9]/,
  /(?:^|[,.;:!?–-] |\b(?:but|btw|because|since|as|and|so|ok|no|nope|that) )we (?:always|never|only|don't|do not|stopped|no longer) (?!just|be\b|need|want|know|have|see|think|get|got|care|had|did|seem|test(?:ed)\b|understand|agreed|talked|mind|really|even|expect)\w+/,
  /\bthat(?:'?s| is) how (?:all (?:our|the)|our|the other|we(?! can| could| will| should))\b/,
  /\bit(?:'s| is) generated\b|^(?:please |pls )?prefer \S/,
  /\bthere should (?:only |just )?be (?:just |only |exactly )?one\b.{0,40}\bper\b/,
];
const ORDERS_FOREIGN = compilePhrases(`
  (bitte )?(immer(?! noch| wieder| mehr| weiter)|niemals|nie wieder|nie (direkt|mehr|ohne))|ab (jetzt|sofort|nun)|in zukunft|künftig|zukünftig|(das |beim )?nächste(s|n)? mal|jedes mal|merk dir|bitte merken|denk daran|hör auf|lass das|wie oft
  toujours(?! pas| une| la même| le même| décalé| cassé)|jamais|dorénavant|désormais|à partir de maintenant|la prochaine fois|à l'avenir|à chaque fois|arrête de|souviens-toi|rappelle-toi|n'oublie (pas|jamais)
  siempre|nunca|a partir de ahora|de ahora en adelante|la próxima vez|en el futuro|cada vez|deja de|recuerda|acuérdate
  sempre que|nunca|a partir de agora|daqui (pra|para) (frente|a frente)|da próxima vez|para de|pare de|lembra|lembre
  mai (fare|usare|push|più)|d'ora in poi|la prossima volta|in futuro|smetti di|smettila di|ricordati|ricorda
  nooit|voortaan|vanaf nu|de volgende keer|in het vervolg|stop met|onthoud
  nigdy|od teraz|następnym razem|w przyszłości|przestań|zapamiętaj
  никогда не|впредь|отныне|с этого момента|в следующий раз|в будущем|перестань|запомни|хватит
  asla|bundan sonra|bir dahaki sefere|gelecek sefer|bir daha
  kabhi (mat|nahi)|aage se|agli baar|yaad rakh(na|o|na)?|hamesha
`);
const HABITS_FOREIGN = compilePhrases(`
  wir (benutzen|verwenden|nutzen|nehmen|schreiben|duzen|siezen|setzen|arbeiten|testen|machen das)|bei uns|in diesem (repo|projekt|team)|das (repo|projekt) (läuft|nutzt|ist)|(tests|dateien|assets) (liegen|gehören|kommen) (unter|in|nach)|bitte kein(e|en)?
  (ici )?on (utilise|emploie|écrit|vouvoie|tutoie|met|fait|est sur|n'utilise)|nous (utilisons|écrivons)|chez nous|dans ce (projet|dépôt|repo)|ici c'est|les (tests|fichiers) (sont|vont) dans
  (aquí )?(siempre )?usamos|en este (proyecto|repo|repositorio|equipo)|los (tests|archivos) (van|están) en|aquí se usa
  (a gente|nós)… (usa|usamos|escreve)|(neste|nesse) (projeto|repo)|aqui (a gente|se usa|usamos)|usamos|os testes ficam
  (qui )?(noi )?usiamo|in questo (progetto|repo)|si usa|i test (stanno|vanno) in|da noi
  (wij|we) gebruiken|in dit (project|repo)|bij ons|gebruiken we
  u nas|w tym (projekcie|repo)|używamy|testy są w
  у нас|мы (используем|пишем|всегда|никогда)|в этом (проекте|репозитории)|тесты (лежат|живут)
  (biz )?(burada )?(hep|her zaman)… (kullanıyoruz|kullanırız|yazıyoruz)|bu (projede|repoda)|kullanıyoruz
  (hum|ham)( log)?… (use|istemal) kart[ei] (hain|hai)|is (project|repo) (mein|me)
`);
const EAST_ASIAN_RULES = compilePhrases(
  '以后|今后|(?:后面|之后).{0,8}(?:都要|总是|一律)|从现在起|下次|一律|必须|总是(?!报|出|失败)|永远不要|(?:我们|咱们)(?:这里|这边|项目|团队)?(?:都|一般|统一|只|不)?用|(?:这个|本)(?:项目|仓库).{0,6}用|都放在|不要再|别再|^(?:请)?(?:不要|别|严禁|禁止)(?:使?用|写|加|改|删|提交|推)|记住|请记得|' +
    '今後|これから|次(?:回|から)|必ず|常に|いつも|絶対に|(?:この|うちの)(?:プロジェクト|リポジトリ|チーム)(?:では|は)|うちでは|覚えて(?:おい)?て|毎回|' +
    '앞으로|다음부터|다음에는|항상|절대|반드시|(?:저희|우리)(?:는|가)? .{0,12}(?:씁니다|써요|사용|쓴다|쓰고)|이 (?:프로젝트|저장소|레포)(?:는|에서)|기억해|매번|' +
    'हमेशा|कभी (?:मत|नहीं|भी)|आगे से|अगली बार|याद रख|इस प्रोजेक्ट में|हम .{0,24}इस्तेमाल करते',
  false,
);
/** Said of a correction that was made before. It holds for later work, whatever the sentence is. */
const REPEATS: readonly RegExp[] = [
  /\byou\b.{0,60}\bagain\b|^again\?|\bnot again\b|\bagain\b.{0,12}\?$|\bnow there(?:'s| is| are)\b.{0,60}\bagain\b|\byou keep \w+ing\b/,
  /\bi(?:'ve| have)? (?:already |just )?(?:said|told you|keep saying|keep telling)\b|\bas i (?:said|keep saying|told)\b|\bhow (?:often|many times)\b|\bfor the (?:second|third|fourth|\w{2,8}th|last) time\b|\bevery (?:single )?time\b|\ball the time\b|\bwe(?:'ve| have) been over this\b|\bremember\?/,
  compilePhrases(`
    schon wieder|ich (hab|habe|hatte)( dir)?( doch| schon)* gesagt|wie oft|ständig|jedes mal
    (je )?(te l'|t'|l')?ai déjà dit|je t'ai( déjà)? dit|encore une fois|encore [^ ]+ ?\\?|combien de fois
    ya te (dije|he dicho)|otra vez|cuántas veces
    já (falei|disse)|de novo|quantas vezes
    te l'ho già detto|ti ho già detto|di nuovo|quante volte
    alweer|hoe vaak|ik heb… al gezegd
    znowu|ile razy|już mówił(em|am)
    опять|(я )?(же|уже) (говорил|сказал|просил)[а-я]*|сколько раз
    yine mi|kaç kere|söylemiştim|daha önce söyledim
    phir se|kitni baar|pehle bhi
  `),
  /说过|又(?:用|错|改|来|忘)|再次|多少次|何度も|また(?:同じ|間違|忘れ)|言いましたよね|또 |몇 번|말했잖/u,
];

/** Words that make a statement one about how things are here, and not about one answer. */
const GENERAL =
  /\b(?:banned|forbidden|no[- ]go|not allowed|disallowed|prohibited|everywhere|anywhere|new \w{2,20}s (?:are|go|get|live|belong|use)|all (?:labels|names|files|texts|titles|strings|dates|amounts|prices))\b|, ever\b|\b[\w-]{3,20}s? only[.!]*$|\bin our \w+|^our [\w -]{2,30} (?:is|are) [\w-]/;
/** Words about how this one thing went or is going. */
const OF_THE_MOMENT =
  /\b(?:pass(?:es|ed|ing)?|fail(?:s|ed|ing|ure)?|works?|worked|working|broken?|breaks|down|happen(?:s|ed|ing)?|crash(?:es|ed|ing)?|errors?|slow|done|finished|seems?|looks?|was|were|did|didn't|got|gets? an?|have been|has been|missing|stuck|hangs?|try|tried|saw|see|seeing|found|now|today|yesterday|currently|again|still|waiting|running|i'm|i am|i was|i'll|i will|i have|i've|let me|you|your|can't|cannot|if|maybe|perhaps|think|wonder|guess|thanks?|same|left|one|there(?:'s| is| are)|attached|below|above|following|question|problem|issue|bug|idea|meeting|lunch|weekend)\b/;
/** It tells how one thing went, is going or is to be looked at. */
export const isOfTheMoment = (folded: string): boolean => OF_THE_MOMENT.test(folded);

const MOST_OF_STATEMENT = 24;
const STARTS_OTHERWISE =
  /^(?:and |but |so |ok,? |well,? )*(?:is|are|does|do|can|could|would|will|should|what|which|who|where|when|why|how|it|this|that|these|those|he|she|they|here|yes|yeah|sure|let|not only)\b/;

/** "Money is integer cents in our system": a statement for all work of its sort. */
export const isGeneralStatement = (folded: string): boolean =>
  GENERAL.test(folded) &&
  !isOfTheMoment(folded) &&
  !STARTS_OTHERWISE.test(folded) &&
  !IN_JEST.test(folded) &&
  !/[?？]$/.test(folded) &&
  folded.split(' ').length <= MOST_OF_STATEMENT;

/** Words for what holds in this house. Alone they prove nothing: "our tests are slow". */
const HOUSE =
  /\b(?:our|ours|with us|at ours)\b|\bwe (?:always|never|only|all|usually|normally|don't|do not|write|put|name|call|use|keep|start|end|begin|close|sign|mark|prefer|expect|read|pass|sort|limit|format|spell|number|order)\b|\b(?:always|never|whenever)\b/;

/** How something of the house went, or is going just now. */
const JUST_NOW =
  /\b(?:fail(?:s|ed|ing|ure)?|broken?|crash(?:es|ed|ing)?|slow|stuck|happen(?:s|ed|ing)?|now|today|yesterday|tomorrow|currently|still|again|was|were|did|didn't|got|thanks?)\b/;

/** A statement about how things are in this house, where it is known to have changed an answer: no question, and not about one moment. */
export const isHouseCustom = (folded: string): boolean =>
  HOUSE.test(folded) &&
  !JUST_NOW.test(folded) &&
  !/[?？]$/.test(folded) &&
  !IN_JEST.test(folded) &&
  !/^(?:can|could|would|should|shall|let's|lets|let|we (?:need|want|should|could|can))\b/.test(folded);

const PLAIN_RULES: readonly RegExp[] = [
  /^(?:and |but |also,? |btw,? |oh and |please |pls |by the way,? )*(?:always|never(?! mind)|from now on|in future|in the future|going forward|next time|whenever you|remember (?:that|to))\b/,
  /^(?:and |but |also,? |btw,? |oh and |by the way,? )*we (?:always|never|only|don't|do not|shouldn't) (?!need|want|know|have|see|think|get|got|care)\w+/,
  /^(?:and |but |also,? |btw,? |by the way,? )*we use\b.{0,60}\b(?:here|in this|everywhere|not)\b/,
];

const matchesAny = (patterns: readonly RegExp[], text: string): boolean =>
  patterns.some((pattern) => pattern.test(text));

/** "Never again on a friday haha" */
const IN_JEST = /\b(?:(?:ha){2,8}|lol|lmao|hehe|jk|just kidding)[.!)]{0,3}$|[😂🤣]/u;
/** A question at the end is what the sentence is about. */
const ENDS_WITH_QUESTION =
  /(?:, (?:which|what|where|when|who|how|is it|can you|could you)|^(?:hm+,? |so,? |but )*(?:(?:don't|do) you think|should(?:n't)? we|wouldn't it))\b[^?]{0,80}\?$/;

/** "These people never answer": about somebody else, and nobody is asked for anything. */
const isAboutOthers = (folded: string): boolean =>
  /\b(?:they|these people|those people|he|she|people|those guys|these guys) (?:just )?(?:never|always)\b/.test(
    folded,
  );

/** "Never push to main." "From now on …" */
export const isOrder = (folded: string): boolean =>
  !IN_JEST.test(folded) &&
  !isAboutOthers(folded) &&
  !ENDS_WITH_QUESTION.test(folded) &&
  (matchesAny(ORDERS_ENGLISH, folded) || ORDERS_FOREIGN.test(folded) || EAST_ASIAN_RULES.test(folded));

/** Words that ask to remember something, or to do it from now on, without saying what. */
const REMINDERS = new RegExp(
  `${
    compilePhrases(`
      (keep|bear|have)( that| this| it| these| those)? in mind|remember|memorize|(make|take) a note( of (that|this|it))?|write (that|this|it) down|don't( you)?( ever)? forget|(for )?next time|from now on|(for|in)( the)? future|going forward|for later|always
      merk dir das|merken|denk (daran|dran)|vergiss das nicht|(beim |das )?nächstes? mal|(in|für die) zukunft|künftig|onthoud dat|vergeet dat niet|de volgende keer|zapamiętaj( to)?|następnym razem|запомни( это)?|не забывай|в следующий раз|bunu unutma|bir dahaki sefere
      souviens-toi( de ça| en)?|rappelle-toi|n'oublie pas( ça)?|garde (ça|cela) en tête|la prochaine fois|à l'avenir|recuérdalo|recuerda eso|acuérdate( de eso)?|tenlo en cuenta|no lo olvides|(para )?la próxima( vez)?|en el futuro
      lembra disso|lembre-se( disso)?|não esqueça|(da|na) próxima( vez)?|ricordatelo|ricordati( di questo)?|tienilo a mente|la prossima volta|in futuro
      please|pls|ok|okay|thanks|thank you|thx|and|so|but|just|really|well|you|to|the|that|this|it|for|too|also|yes|hey|bitte|und|das|danke|stp|svp|merci|por favor|gracias|obrigad[oa]|grazie|пожалуйста|и
    `).source
  }|(请|以后|下次)?(记住|记得)(这个|这点)?|以后|下次|覚えておいて(ください)?|次回(から)?|기억해s?(줘|두세요)?|다음부터(는)?|请`,
  'gu',
);

/** "Keep that in mind for next time": there is nothing in it to do. */
export const isBareReminder = (folded: string): boolean =>
  !/[\p{L}\p{N}]/u.test(folded.replace(REMINDERS, ' '));

/** "We use pnpm here." "Tests live in spec/." */
export const isHabit = (folded: string): boolean =>
  !IN_JEST.test(folded) && (matchesAny(HABITS_ENGLISH, folded) || HABITS_FOREIGN.test(folded));

/** A rule that is understood without the sentences around it. */
export const isPlainRule = (folded: string): boolean => PLAIN_RULES.some((pattern) => pattern.test(folded));

const DONE_AGAIN =
  /^(?:and |sigh,? |ugh,? )*again (?:no|not|without|the wrong|with)\b|\b(?:second|third|fourth) time\b|\bsame as last time\b|^(?:schon wieder|otra vez|de novo|di nuovo|alweer|znowu|опять)\b/u;

/** "Again no tests." A complaint by itself. */
export const isDoneAgain = (folded: string): boolean => DONE_AGAIN.test(folded);

/** "I told you." "You did it again." */
export const isRepeated = (folded: string): boolean => DONE_AGAIN.test(folded) || matchesAny(REPEATS, folded);
