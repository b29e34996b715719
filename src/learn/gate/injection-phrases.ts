/*
 * Phrases of prompt injection: untrusted text that addresses the agent that reads it. A lesson learned in the same session may be
 * its doing.
 */
const AGENT =
  '(?<!(?:user|ssh|gpg|build|cloud|travel)[- ])(?:ai|llm|a\\.i\\.|gpt|claude|gemini|copilot|chatbot|bot|bots|(?:ai |llm |coding |automated |autonomous |virtual |digital )?(?:assistants?|agents?)|(?:language |ai |large )models?|machine readers?|automated (?:readers?|tools?|systems?|clients?|workflows?))';
const ORDER =
  "(?:must|should|shall|ought to|needs? to|ha(?:s|ve) to|(?:is|are) (?:required|asked|expected|advised|instructed|requested|encouraged|told|to)|please|always|never|kindly|do not|don't|can help by|will want to|may not|remember|make sure)";

const GAP = '[^.!?\\n]{0,60}?';
const re = (source: string): RegExp => new RegExp(source, 'm');

/** Nobody says this to their own agent. */
const TO_ANY: readonly RegExp[] = [
  re(
    `\\b(?:ignore|disregard|forget|override|overrule|bypass|discard|drop|supersede[sd]?|replace[sd]?)\\b${GAP}\\b(?:previous|prior|above|earlier|existing|preceding|former|original|your|all|any|other)\\b${GAP}\\b(?:instructions?|rules?|guidelines?|prompts?|directions?|directives?|polic(?:y|ies)|constraints?|orders|guidance)\\b`,
  ),
  re(`\\b${AGENT}\\b${GAP}\\b${ORDER}\\b`),
  re(
    `\\b(?:note|message|notice|instructions?|guidance|guidelines?|rules?|hint|reminder|memo|attention|dear|hello|hi|hey|for|to)\\b[ :,-]{1,3}(?:(?:to|for) )?(?:all |any |every |the |our |future )?${AGENT}\\b[ ]{0,2}(?:[:,.!-]|$|reading|visiting|working|using|processing|that|who|only)`,
  ),
  re(
    `\\b(?:if|when|since|because) (?:you(?:'re| are)|the reader is|this is (?:being )?read by|read by) (?:an? |the )?${AGENT}\\b`,
  ),
  re(`\\b(?:whoever|whatever|anyone|anything) (?:reads|is reading|processes|parses|summari[sz]es) this\\b`),
  re(
    '<\\|?(?:im_start|im_end|system|endoftext|start_header_id)\\|?>|\\[/?(?:inst|system|sys)\\]|<</?sys>>|</?(?:system|instructions?|system-reminder|system_prompt|assistant|important|admin|hidden|tool_result|function_results?)>',
  ),
  re('^[\\s#*>-]{0,6}(?:system|assistant|developer|human|user)(?: (?:message|prompt|note|override))?\\s?: '),
  re(
    '\\b(?:begin|end of|hidden|secret|system|admin|administrator|operator|developer|agent|ai) (?:instructions?|prompt|directives?|override|guidelines|polic(?:y|ies)|rules)\\b',
  ),
];

/** A user may say this; in untrusted text it is an injection. */
const TO_MINE: readonly RegExp[] = [
  re(`\\b${ORDER}\\b${GAP}\\b(?:as|if you are|when you are) an? ${AGENT}\\b`),
  re(
    `\\b(?:add|save|store|write|record|remember|keep|persist|commit|put|note|append|include|memori[sz]e|learn|turn|make|copy)\\b${GAP}\\b(?:memory|memories|long-term|skills?|skill file|lessons?|knowledge base|playbook|agents\\.md|claude\\.md|gemini\\.md|skill\\.md|cursorrules|system prompt|standing (?:rule|order|instruction)s?|your (?:notes|rules|guidelines|instructions))\\b`,
  ),
  re(
    '\\b(?:from now on|from here on|going forward|henceforth|hereafter|from this (?:point|day|moment)(?: on(?:ward)?)?|until further notice|effective immediately|with immediate effect|for all future|in (?:all|every|any) future|(?:in|for|on) (?:future|later|subsequent|all|every) (?:sessions?|runs|tasks?|conversations?|chats|replies|answers|turns))\\b',
  ),
  re('\\b(?:system prompt|prompt injection|jailbreak|developer mode|developer message|hidden prompt)\\b'),
  re(
    `\\b(?:do not|don't|never|without|avoid|no need to|need not)\\b${GAP}\\b(?:tell|telling|mention|mentioning|inform|informing|reveal|revealing|alert|alerting|notify|notifying|disclose|disclosing|ask|asking|warn|warning|bother|bothering|consult|consulting)\\b${GAP}\\b(?:users?|humans?|operators?|owner|anyone|person|people|developers?|clients?|customers?|reviewers?|author|team|them)\\b`,
  ),
  re(
    '\\byou are now (?:an?|the|in|free|no longer|operating|acting|running)\\b|\\byour (?:new|real|actual|only|true) (?:task|job|goal|mission|role|purpose)\\b',
  ),
];

/** The same in other languages. Lower case, without accents. */
const OTHER_LANGUAGES: readonly RegExp[] = [
  re(
    '\\b(?:ignorier\\w*|vergiss|vergesst|missachte\\w*)\\b.{0,60}\\b(?:anweisung|regel|vorgabe|vorherig|bisherig)',
  ),
  re(
    '\\b(?:ki-|ki |sprachmodell|assistent|agent)\\w*.{0,60}\\b(?:muss|mussen|soll|sollen|sollte|immer|niemals|bitte)\\b',
  ),
  re('\\b(?:ab sofort|von nun an|kunftig|in zukunft|ab jetzt)\\b'),
  re('\\b(?:ignor\\w+|oubli\\w+)\\b.{0,60}\\b(?:instructions?|consignes?|regles?|precedent)'),
  re(
    '\\b(?:ia|assistants?|agents?|modeles?)\\b.{0,60}\\b(?:doit|doivent|devez|devrai\\w*|toujours|jamais|veuillez)\\b',
  ),
  re("\\b(?:desormais|dorenavant|a partir de maintenant|a l'avenir)\\b"),
  re('\\b(?:ignor\\w+|olvid\\w+)\\b.{0,60}\\b(?:instruccion\\w*|reglas?|anterior\\w*|instruco\\w*|regras?)'),
  re(
    '\\b(?:ia|asistentes?|agentes?|modelos?|assistentes?)\\b.{0,60}\\b(?:debe\\w*|tiene\\w* que|siempre|nunca|deve\\w*|sempre|jamais|por favor)\\b',
  ),
  re(
    "\\b(?:de ahora en adelante|a partir de ahora|en adelante|a partir de agora|de agora em diante|d'ora in poi)\\b",
  ),
  re('\\b(?:ignora\\w*|dimentica\\w*)\\b.{0,60}\\b(?:istruzion\\w*|regol\\w*|precedent\\w*)'),
  /忽略|无视|忘记.{0,20}(?:指令|规则|提示|说明)|从现在起|从现在开始|今后|以后(?:每次|都)|(?:助手|智能体|代理|模型|ai).{0,40}(?:必须|应该|应当|务必|请|总是|不要|不得)|無視|これまでの指示|今後|(?:アシスタント|エージェント|ai).{0,40}(?:必ず|してください|すること|べき)/,
  /(?:игнорир|забуд|отмен)\S*.{0,60}(?:инструкц|правил|указани)|отныне|впредь|с этого момента|(?:ассистент|агент|модел|помощник|ии)\S*.{0,60}(?:долж|обязан|всегда|никогда|следует|пожалуйста)/,
  /(?:무시|잊어).{0,40}|앞으로|(?:에이전트|어시스턴트|모델).{0,40}(?:해야|하세요|항상)/,
  /تجاهل|من الآن فصاعدا|(?:المساعد|الوكيل).{0,60}(?:يجب|دائما)/,
];

/** Whether a normalized text addresses any agent that reads it. */
export const addressesAnyAgent = (folded: string): boolean => TO_ANY.some((pattern) => pattern.test(folded));

/** Whether a normalized text addresses agents, its reader, or says what an agent is to remember. */
export const addressesAgents = (folded: string): boolean =>
  addressesAnyAgent(folded) || [...TO_MINE, ...OTHER_LANGUAGES].some((pattern) => pattern.test(folded));
