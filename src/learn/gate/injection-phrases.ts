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
