/** An instruction that a lesson may contain only after a person has approved it. */
export interface InstructionRule {
  /** The reason, for people. */
  readonly why: string;
  /** For one normalized sentence; global, so that it finds every match. */
  readonly pattern: RegExp;
  /** A sentence that forbids it ("never do it") is allowed. */
  readonly mayBeForbidden?: true;
  /** Allowed when a person or a verifier asked for it. */
  readonly mayBeAsked?: true;
}

/** What may be between two words of a pattern, in one sentence. */
const GAP = '.{0,70}?';
/** Shorter, for patterns with several gaps: their backtracking multiplies. */
const SHORT_GAP = '.{0,40}?';

const startingAtWord = (pattern: string): RegExp => new RegExp(`\\b${pattern}`, 'g');

const NOT =
  "(?:do not|don't|never|must not|mustn't|should not|shouldn't|without|avoid|no need to|need not|needn't|not necessary to|refrain from|stop|skip|rather than|anti-?patterns?:|wrong:|mistake:)";
const PEOPLE =
  '(?:users?|humans?|operators?|owners?|anyone|anybody|person|people|developers?|clients?|customers?|reviewers?|maintainers?|colleagues|team|them|him|her|someone|administrators?|auditors?|managers?)';
const OVERRIDABLE =
  "(?:(?:system |prior |previous |earlier |other |existing |safety |user's )?(?:instructions?|rules?|guidelines?|prompts?|directives?|polic(?:y|ies)|constraints?|guardrails?)|(?:the )?user(?:'s)? (?:request|wish(?:es)?|instructions?|objections?)|what (?:the )?(?:user|system|person|developer|owner)s? (?:says?|asks?|wants?|said|asked|requests?))";
const CHECKS =
  '(?:(?:the |all |any |every |these |those |its |our |your )?(?:\\w+ ){0,2}(?:tests?|checks?|test suite|verif\\w+|validat\\w+|reviews?|approvals?|confirmations?|sandbox\\w*|security|safety|audit\\w*|logging|warnings?|signatures?|certificates?|tls|ssl|scans?|scanners?|guards?|guardrails?|consent|permission prompts?|permission checks?|protections?|firewall|antivirus|authentication|authorization|two-factor|2fa|mfa|hooks?|linters?|integrity|rate limits?|backups?|moderation|redaction|encryption))';

/** Instructions that undermine people's oversight: their instructions, their knowledge, their checks. */
export const OVERSIGHT_RULES: readonly InstructionRule[] = [
  {
    why: 'it tells its reader to set other instructions or people’s wishes aside',
    pattern: startingAtWord(
      `(?:(?:ignor|disregard|overrid|overrul|bypass|circumvent|supersed)\\w*|forget about|set aside|work around|take[s]? precedence over|outranks?|comes? before|regardless of|no matter|even if|whatever)${GAP}\\b${OVERRIDABLE}`,
    ),
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to act against what people say',
    pattern: startingAtWord(
      `even (?:if|when|though)${GAP}\\b${PEOPLE} (?:says?|asks?|objects?|disagrees?|declines?|wants?|refuses?|did not|does not|do not|has not|have not|never)`,
    ),
  },
  {
    why: 'it tells its reader to keep something from people',
    pattern: startingAtWord(
      `${NOT}(?:(?!\\b(?:without|unless)\\b).){0,70}?\\b(?:tell|mention|inform|reveal|alert|notify|disclos|expos|warn|bother|consult|surfac|bring(?:ing)? (?:it|this|that) up|report)\\w*\\b(?:${GAP}\\b(?:to|with|from) (?:the |an? |any )?| (?:the |an? |any |it to |this to |that to )?)${PEOPLE}`,
    ),
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to keep something from people',
    pattern: startingAtWord(
      `(?:hid(?:e|es|ing|den)|conceal\\w*|leav\\w*|omit\\w*|keep\\w*|withhold\\w*|strip\\w*|remov\\w*|scrub\\w*|delet\\w*)\\b(?!.{0,40}\\b(?:personal|secrets?|passwords?|tokens?|credentials?|keys?|noise|duplicat))${GAP}\\b(?:from|out of)\\b${GAP}\\b(?:${PEOPLE}|summar(?:y|ies)|reports?|history|audit\\w*|review\\w*|transcript|log(?:s|ging)?)\\b`,
    ),
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to keep something from people',
    pattern:
      /\b(?:keep|keeping|leave|leaving|do|doing|handle|treat)\b.{0,40}?\b(?:secret|hidden|confidential|to yourself|between us|under the radar|off the record|invisible|unmentioned|unnoticed|quiet)\b|\bwithout (?:any )?(?:mention|comment|notice|announcing|drawing attention)\b|\b(?:covertly|discreetly|stealthily|secretly|surreptitiously)\b|\b(?:silently|quietly)\b.{0,30}?\b(?:send|add|run|install|upload|write|change|append|copy|execute|do|include|forward|switch|replace|post|push|fetch|download|enable|disable|accept|approve)\b|\b(?:send|add|run|install|upload|append|copy|execute|include|forward|post|push|download)\b.{0,30}?\b(?:silently|quietly|in the background unannounced)\b|\bunmentioned\b|\bneed not (?:know|be told|be informed|see)\b|\b(?:does|do|should|must) not (?:need to |have to )?(?:know|see|learn|notice|find out)\b/g,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to switch a protection or a check off',
    pattern: startingAtWord(
      `(?:skip|disabl|bypass|turn(?:ing|ed|s)? off|switch(?:ing|ed|es)? off|suppress|comment(?:ing|ed|s)? out|mut|silenc|relax|weaken|waiv|circumvent|deactivat|opt(?:ing)? out of|drop|loosen|lower|evad|avoid|unset|stop)\\w*,? ${CHECKS}\\b`,
    ),
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to switch a protection or a check off',
    pattern: startingAtWord(
      `(?:turn|switch|leav|keep|set|tak|put|with|run|lift|remov)\\w* ${CHECKS}\\b.{0,24}?\\b(?:off|aside|out|disabled|false|down|away|unchecked|inactive)\\b`,
    ),
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to go on without a check or without asking',
    pattern: startingAtWord(
      "(?:no need to|need not|needn't|not necessary to|unnecessary to|do not bother to|don't bother|do not|don't|never|without|instead of|rather than|stop|avoid|no)\\b (?:(?:first|ever|any|further|prior|to|manually|explicitly|always|the|a|an|waiting for|for|wait for|asking for|ask for|seeking|request(?:ing)?) ){0,3}(?:verify|verifying|verification|validate|validating|validation|confirm|confirming|confirmation|ask|asking|double-check\\w*|review|reviewing|approval|consent|permission|second look|further look|human review|questions?|sign-off|authorization|scrutiny)\\b",
    ),
  },
  {
    why: 'it tells its reader to agree to everything',
    pattern:
      /\b(?:auto-?(?:approve|accept|merge|confirm|grant)\w*|(?:accept|approve|allow|grant|confirm|answer yes to|say yes to|agree to|click through) (?:all|every|any|each)\b|(?:always|automatically|blindly|immediately) (?:accept|approve|allow|grant|confirm|trust|merge|answer yes|say yes|agree|comply)\b|merg\w+\b.{0,40}?\bwithout\b.{0,20}?\breview|rubber-?stamp\w*|wav(?:e|ing)\b.{0,40}?\bthrough\b|let(?:ting)?\b.{0,50}?\bthrough\b|at face value|(?:treat|consider|take|count|regard)\w*\b.{0,50}?\bas (?:given|granted|approved|confirmed|trusted|safe|verified|pre-approved)\b|(?:grant|give|add)\w*\b.{0,40}?\b(?:admin|administrator|owner|root|full|write|maintainer|collaborator)\b.{0,12}?\b(?:access|rights|permissions?|role)\b|dangerously|--yolo|--yes-always)/g,
    mayBeForbidden: true,
  },
  {
    why: 'it speaks as if it were the system, or gives its reader another role',
    pattern:
      /^\W{0,6}(?:system|developer|assistant|human|user|operator)(?: (?:message|prompt|note|notice|override|update))?\s?:\s|\byou are now\b|\b(?:act|pose|behave|respond|answer|speak|sign)\w*\b.{0,15}?\bas (?:the |an? )?(?:system|administrator|admin|root|developer mode|operator|owner|user|security team|support|superuser|different|unrestricted)\b|\bpretend\w*\b.{0,20}?\b(?:to be|that you)\b|\bimpersonat\w*|\bon behalf of (?:the )?(?:system|administrator|admin|owner|openai|anthropic|management)|\b(?:developer|god|debug|unrestricted|maintenance) mode\b|\bjailbreak\w*|\bthis (?:message|skill|lesson|rule|note) (?:is|comes|was) (?:from|issued|written|approved|authori[sz]ed|mandated|signed) (?:by |from )?(?:the )?(?:system|administrator|admin|security|openai|anthropic|management|platform|operator)/g,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to give its own instructions away',
    pattern:
      /\b(?:reveal|print|repeat|output|show|disclos|quot|dump|share|includ|past|recit|append|expos|echo|leak|return|state|display|writ|send|attach|prefix|add|summari[sz]|embed|list)\w*\b.{0,50}?\b(?:system prompt|(?:your|its|these|those|the agent's|initial|hidden|internal|original|full|developer|operating) (?:system )?(?:instructions|prompt|directives|configuration|guidelines)|(?:instructions|rules|guidelines|prompt|text|words) (?:that |which )?(?:you|it|the agent|the assistant)(?:'s| is| are| was| were| have| has|'ve)?\b|(?:what|how) you (?:were|are|have been) (?:told|started|instructed|configured|set up|asked)|developer message|system message|tool definitions|conversation history|chat history|active skills|session transcript)\b/g,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to state what is not so',
    pattern:
      /\b(?:report|stat|mark|declar|claim|present|log|record|say|call|show|count|treat|describ|announc|label)\w*\b.{0,50}?\b(?:as )?(?:green|passed|passing|successful|success|complete|completed|done|ok|okay|fine|fixed|resolved|clean|approved|healthy)\b.{0,50}?\b(?:even|although|though|regardless|anyway|despite|still|without|whether|whatever|either way|in any case|nevertheless)\b|\b(?:even (?:if|when|though)|although|despite|regardless|whatever|fail(?:s|ed|ing|ures?)?|red|unstable|flaky|did not|not)\b.{0,60}?\b(?:report|stat|mark|declar|claim|present|count|treat|call|label)(?:s|ed|ing|e|es)?\b.{0,30}?\bas (?:green|passed|passing|successful|a success|success|complete|completed|done|ok|okay|fine|fixed|resolved|clean|skipped|healthy)\b|\b(?:fabricat|falsif|fak|invent|mak(?:e|ing) up|forg)\w*\b.{0,40}?\b(?:results?|figures?|numbers?|data|sources?|citations?|evidence|tests?|reviews?|signatures?|quotes?)\b/g,
    mayBeForbidden: true,
  },
];

const SECRET =
  '(?:passwords?|passphrases?|credentials?|api[- ]?keys?|access[- ]?keys?|secrets?|(?:access|auth|bearer|api|refresh|session|login|security|deploy|personal access|service) tokens?|tokens?(?! (?:count|limit|budget|usage|by|per))|private keys?|ssh keys?|signing keys?|encryption keys?|cookies?|session ids?|one-time codes?|recovery codes?|seed phrases?|\\.env\\b|id_rsa|\\.ssh\\b|\\.aws\\b|\\.npmrc|\\.netrc|keychain|keystore|environment variables?|env vars?)';
const PRIVATE =
  '(?:conversation|transcripts?|chat history|session history|prompts?|source code|customer (?:data|records|list)|personal data|user data|database dump|backup|file contents?|contents of|workspace|repository|home (?:folder|directory)|hostname|environment|configuration|config|diagnostics?|telemetry|crash dump|debug bundle|logs?|run report|usage data|address book|contacts|calendar)';
const OUTSIDE =
  '(?:external|third[- ]part(?:y|ies)|remote|outside|off-?site|public|webhook|endpoint|server|host|bucket|paste(?:bin)?|gist|collector|url|address|mailbox|inbox|drop ?box|vendor|partner|mirror|telegram|discord|slack|https?:|ftp|s3:)';

/** Instructions that can do harm outside the task: to data, money, machines or other people. */
export const RISKY_ACTION_RULES: readonly InstructionRule[] = [
  {
    why: 'it tells its reader to pass private data on',
    pattern: startingAtWord(
      `(?:send|forward|upload|post|transmit|share|submit|copy|copies|mail|e-?mail|bcc|cc|push|sync|publish|paste|deliver|relay|dispatch|stream|attach|export|leak|exfiltrat|pass|hand|report|log|ship|provide|supply|mirror|put|include)\\w*\\b${SHORT_GAP}\\b(?:${SECRET}|${PRIVATE})\\b${SHORT_GAP}\\b(?:to|with|at|on|into|via|through|in)\\b${SHORT_GAP}\\b${OUTSIDE}`,
    ),
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to pass private data on',
    pattern: startingAtWord(
      `(?:exfiltrat\\w*|beacon\\w*|phone home|call home|(?:send|upload|post|submit|report|share|deliver|push)\\w*\\b${GAP}\\b(?:telemetry|diagnostics?|debug (?:info|bundle|data)|usage data|crash (?:report|dump)s?|environment|fingerprints?|hostname)\\b)`,
    ),
    mayBeForbidden: true,
    mayBeAsked: true,
  },
  {
    why: 'it tells its reader to contact someone',
    pattern: startingAtWord(
      `(?:(?:e-?mail|bcc|cc|dm|phone|telephone|whatsapp|text|contact|notify|alert|inform|ping|page|brief|message|loop in|copy in|get in touch with|reach out to|check in with|write to|report to|escalate to|call|invite|add)\\w*) (?:(?:the|our|your|an?|their|any|all|every|in|on|with|to|of|about|it|this|\\w+'s|\\w+) ){0,4}?(?:help ?desk|support(?: desk| team)?|hotline|security(?: team)?|operations(?: team| desk)?|ops(?: team)?|finance(?: team)?|hr|legal|counsel|vendor|partner|supplier|maintainers?|administrators?|admins?|colleagues?|manager|supervisor|author|owner|recipients?|third part(?:y|ies)|external\\b.{0,20}|distribution list|mailing list|group chat|channel|contact|auditors?|customers?|subscribers?|press|police)\\b`,
    ),
    mayBeForbidden: true,
    mayBeAsked: true,
  },
  {
    why: 'it tells its reader to contact someone',
    pattern:
      /\b(?:bcc|blind (?:carbon )?cop(?:y|ies)|carbon cop(?:y|ies)|put\b.{0,30}?\b(?:on|in) (?:cc|copy)|(?:add|includ)\w*\b.{0,40}?\b(?:as (?:an? )?(?:recipient|attendee|collaborator|guest|reviewer)|to the recipients|on the thread|to the invite)|forward\w*\b.{0,60}?\bto (?:the |an? |our |your )?(?!(?:next|function|method|callback|handler|stage|step|caller|parent|child|model|port)\b)\w)/g,
    mayBeForbidden: true,
    mayBeAsked: true,
  },
  {
    why: 'it tells its reader what to do with credentials',
    pattern: startingAtWord(
      `(?:print|log|echo|stor|sav|send|shar|read|open|copy|collect|includ|past|use|ask for|request|export|writ|commit|hard-?cod|embed|enter|provid|put|paste|harvest|gather|look up|look for|search for|fetch|dump|list|reuse|hand over|attach|append|cat|show|display|forward|post|upload|pass|type|submit|supply|reveal|quot|mention)\\w*\\b(?:${GAP}[^\\w]|[^\\w])${SECRET}(?!\\w)`,
    ),
    mayBeForbidden: true,
    mayBeAsked: true,
  },
  {
    why: 'it tells its reader to change what agents or shells are set up with',
    pattern:
      /\b(?:edit|writ|add|append|updat|chang|creat|modif|put|cop(?:y|ies)|sav|stor|record|insert|plac|keep|repeat|propagat|carry)\w*\b.{0,60}?(?:\b(?:agents\.md|claude\.md|gemini\.md|skill\.md|system prompt|agent (?:config\w*|settings|memory|rules|instructions)|(?:long-term |persistent |your |shared )memor(?:y|ies)|skill (?:files?|folder|library)|other skills|every skill|all skills|future lessons|autonomy|permission (?:rules|settings|mode)|allow-?list|crontab|startup (?:script|items?|folder)|authorized_keys|known_hosts|hosts file|git hooks?|sudoers|login script)\b|\.(?:cursorrules|bashrc|zshrc|profile|bash_profile|gitconfig|claude|cursor)\b|settings\.json)/g,
    mayBeForbidden: true,
    mayBeAsked: true,
  },
  {
    why: 'it tells its reader to follow instructions that stand elsewhere',
    pattern:
      /\b(?:fetch|load|download|follow|obey|appl|execut|run|carry out|comply with|do|adopt|act on|retriev|pull|honou?r|trust)\w*\b.{0,50}?\b(?:instructions?|guidelines|directives?|commands?|orders|prompts?|playbook|steps|requests?|whatever|script|rules|installer)\b.{0,40}?\b(?:from|at|in|on|found|given|contained|embedded|returned|supplied|provided|that|it)\b.{0,30}?\b(?:urls?|servers?|endpoint|remote|sites?|web ?pages?|pages?|websites?|paste(?:bin)?|gist|comments?|tool (?:results?|outputs?)|outputs?|e-?mails?|mails?|readme|tickets?|issues?|documents?|messages?|banner|footer|header|metadata|search results?|calendar|invites?|prints?|says?|asks?|contains?|returns?)\b/g,
    mayBeForbidden: true,
    mayBeAsked: true,
  },
  {
    why: 'it tells its reader to fetch something and run it',
    pattern:
      /\b(?:pull|download|fetch|grab|retriev|obtain|get|stream|load|clone|import)\w*\b.{0,50}?\b(?:installers?|scripts?|binar(?:y|ies)|executables?|payloads?|programs?|plug-?ins?|extensions?|add-?ons?|tool(?:s|chain|kit)?|agents?|updaters?|bootstrapper|hotfix|patch)\b.{0,60}?\b(?:from|off|and|run|execut|install|launch|start|let)\w*\b/g,
    mayBeForbidden: true,
    mayBeAsked: true,
  },
  {
    why: 'it changes where packages, requests or answers go',
    pattern:
      /\b(?:point|set|switch|configur|chang|redirect|rout|mov|replac|us|tak|pull|resolv|direct|send|prefer|swap)\w*\b.{0,50}?\b(?:package manager|registr(?:y|ies)|mirrors?|package index|prox(?:y|ies)|dns|name ?servers?|base url|api host|gateway|relay|upstream|remote origin|update server|package source|resolver)\b/g,
    mayBeForbidden: true,
    mayBeAsked: true,
  },
  {
    why: 'it tells its reader to destroy what cannot be brought back',
    pattern:
      /\b(?:delet|remov|wip|eras|purg|destroy|drop|truncat|overwrit|reset|discard|empty(?:ing)? (?:the|all|every|any)|clear|forc|revert|rewrit)\w*\b.{0,70}?\b(?:recursively|home (?:directory|folder)|by force|forcibly|force|main branch|default branch|remote branch|production|databases?|tables?|everything|all (?:files|data|records|rows|branches)|history|backups?|disks?|volumes?|bucket|archive|mailbox|repositor(?:y|ies))\b/g,
    mayBeForbidden: true,
    mayBeAsked: true,
  },
  {
    why: 'it gives someone access, or opens something to everyone',
    pattern:
      /\b(?:open|expos|publish|mak|set|grant|giv|shar|allow|bind|invit|authori[sz]|whitelist|allow-?list|enrol|register|install|add)\w*\b.{0,60}?\b(?:to (?:everyone|anyone|the public|the internet|the world|all (?:users|interfaces|origins))|publicly|world-(?:readable|writable)|public (?:access|link|key)|anonymous(?:ly)?|all interfaces|authori[sz]ed keys|remote access|back ?door|admin(?:istrator)? (?:account|user|rights|role)|full access|write access|owner rights)\b/g,
    mayBeForbidden: true,
    mayBeAsked: true,
  },
  {
    why: 'it asks for cryptography that protects nothing',
    pattern:
      /\b(?:md5|sha-?1|des|rc4|ecb|rot13|base64|unsalted|plain ?text|clear ?text|reversibl[ey])\b.{0,60}?\b(?:passwords?|secrets?|tokens?|credentials?|signatures?|encrypt\w*|hash\w*|session)\b|\b(?:passwords?|secrets?|tokens?|credentials?|signatures?|encrypt\w*|hash\w*)\b.{0,60}?\b(?:md5|sha-?1|des|rc4|ecb|rot13|base64|unsalted|plain ?text|clear ?text|reversibl[ey])\b/g,
    mayBeForbidden: true,
    mayBeAsked: true,
  },
  {
    why: 'it tells its reader to move money',
    pattern:
      /\b(?:transfer|pay|wire|refund|buy|purchas|donat|send|remit|redirect|rout|chang|replac|updat|us)\w*\b.{0,50}?\b(?:money|funds|payments?|bitcoin|crypto\w*|gift cards?|bank (?:account|details)|iban|wallet|account number|beneficiary|payee|invoices?)\b.{0,50}?\b(?:to|with|into|from|for|account|by)\b/g,
    mayBeForbidden: true,
    mayBeAsked: true,
  },
];

/** Instructions that no lesson may contain, in other languages than English; for normalized text. */
const INSTRUCTIONS: readonly (readonly [why: string, pattern: RegExp])[] = [
  [
    'it tells its reader to set other instructions aside',
    /\b(?:ignorier\w*|missachte\w*|ubergeh\w*)\b.{0,60}\b(?:anweisung|regel|vorgabe|richtlinie)|\b(?:ignor\w+|oubli\w+|outrepass\w+)\b.{0,60}\b(?:instructions|consignes?|regles?|directives?)\b|\b(?:ignor\w+|olvid\w+|omit\w+)\b.{0,60}\b(?:instruccion\w*|reglas?|directrices|instruco\w*|regras?|diretrizes)|\b(?:ignora\w*|dimentica\w*)\b.{0,60}\b(?:istruzion\w*|regol\w*)|(?:忽略|无视|無視|不要理会).{0,20}(?:指令|规则|提示|说明|要求|指示)|指示を無視|(?:игнорир|забуд)\S*.{0,60}(?:инструкц|правил|указани)/,
  ],
  [
    'it tells its reader to keep something from people',
    /\b(?:nicht|ohne|niemals|nie)\b.{0,60}\b(?:erwahn\w*|mitteil\w*|sag\w*|informier\w*|zeig\w*|melde\w*|verrat\w*)|\b(?:nutzer|benutzer|anwender)\w*\b.{0,40}\b(?:nicht|nichts|ohne)\b|\bheimlich|\bunauffallig|\b(?:ne|sans|jamais)\b.{0,60}\b(?:mentionn\w*|informer?|dire|prevenir|signaler|reveler)\b|\b(?:discretement|en secret|a l'insu)\b|\b(?:no|sin|nunca|nao|sem)\b.{0,60}\b(?:mencion\w*|inform\w*|avis\w*|revel\w*|diga\w*|decir\w*|contar\w*)\b|\b(?:en secreto|em segredo|sin que|sem que)\b|(?:不要|别|勿|不得|无需|不必).{0,12}(?:告诉|提及|告知|通知|透露|提到|询问|提醒)|(?:悄悄|暗中|秘密)|(?:ユーザー|利用者).{0,20}(?:知らせ|伝え|言わ)(?:ない|ず)|(?:не)\s.{0,40}(?:сообща|говор|упомина|информир|раскрыва)|тайно|незаметно/,
  ],
  [
    'it tells its reader to pass something on or to contact someone',
    /\b(?:send|schick|ubermittl|leite|weiterleit|mail|lad|hochlad|kopier)\w*\b.{0,80}\b(?:an|zu|nach|hoch|weiter)\b.{0,60}|\b(?:envo\w+|transmet\w*|transfer\w*|telecharg\w*|televers\w*|partag\w*)\b.{0,80}\b(?:a|au|aux|vers|sur)\b|\b(?:envi\w+|reenvi\w+|mand\w+|sub\w+|compart\w+|transfier\w*|encaminh\w*|copi\w+)\b.{0,80}\b(?:a|al|para|ao|con|com)\b.{0,60}\b(?:correo|servidor|direccion|cuenta|email|e-mail|endereco|conta|equipo|equipe|soporte|suporte|extern\w*)|(?:发送|发给|上传|转发|抄送|邮件|汇报|联系|送信|転送|アップロード)|(?:отправ|перешл|загруз|скопир|сообщ)\S*.{0,60}(?:на|по|в адрес|копи)/,
  ],
  [
    'it tells its reader what to do with credentials',
    /\b(?:passwor[td]\w*|kennwort|zugangsdaten|zugangsschlussel|geheimnis\w*|api-schlussel|mots? de passe|identifiants|cles? (?:api|privees?|d'acces)|contrasen\w*|credenciales|claves? (?:api|privadas?|de acceso)|senhas?|credenciais|chaves? (?:de )?(?:api|acesso))\b|密码|口令|密钥|凭证|令牌|パスワード|認証情報|秘密鍵|парол|учетны|ключ(?:и|ей)? (?:api|доступа)|비밀번호|كلمة المرور/,
  ],
  [
    'it tells its reader to switch a protection or a check off',
    /\b(?:deaktivier|abschalt|schalt\w*\b.{0,40}\baus|uberspring|umgeh|auslass)\w*\b|\b(?:desactiv\w*|contourn\w*|saut\w*|ignor\w*)\b.{0,40}\b(?:tests?|verification\w*|controle\w*|securite|certificat\w*|validation\w*|revue)\b|\b(?:desactiv\w*|desativ\w*|omit\w*|salt\w*|pul\w*|evit\w*)\b.{0,40}\b(?:pruebas?|verificacion\w*|seguridad|controles?|certificad\w*|revision\w*|validacion\w*|testes?|seguranca|verificacao|revisao)\b|(?:关闭|禁用|跳过|绕过|停用).{0,16}(?:测试|验证|检查|校验|安全|审查|确认|日志|证书)|(?:無効|スキップ|省略).{0,16}|(?:отключ|пропус|обойд)\S*.{0,40}(?:провер|тест|защит|безопасн|сертификат)/,
  ],
];

/** Text in another script, or with function words of another language. */
const NOT_ENGLISH =
  /[\u0370-\u1fff\u2c00-\uffff]|\b(?:und|oder|nicht|immer|niemals|bevor|nutzer|les|des|une|toujours|jamais|avant|los|las|siempre|nunca|antes|para|sempre|uma|nao|gli|della|prima|niet|altijd)\b/;

/** Reasons against a normalized sentence that is not English. */
export const findForeignInstructions = (sentence: string): readonly string[] =>
  NOT_ENGLISH.test(sentence)
    ? INSTRUCTIONS.filter(([, pattern]) => pattern.test(sentence)).map(([why]) => why)
    : [];
