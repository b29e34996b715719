import { splitFoldedSentences } from '../../text/sentences.ts';
import { clip } from '../../text/truncate.ts';

/*
 * What a lesson or a skill file can do harm with, as pairs of words that stand close to each other, in whatever order. The
 * languages are those that the comparison can read: English, German, French, Spanish, Portuguese, Italian, Dutch, Chinese,
 * Japanese and Russian. A lesson is asked where it has the topic from; a file comes from nowhere, so that its topics count.
 */
interface RiskyTopic {
  /** The reason, for people. */
  readonly why: string;
  readonly words: RegExp;
  /** Close to the words. Absent when they say enough. */
  readonly near?: RegExp;
  /** How many characters may be between the two. */
  readonly within?: number;
  /** In this order. */
  readonly isAfter?: true;
  /** Daily work mentions it: it counts only where outside text speaks of it too. */
  readonly isDaily?: true;
  /** "Never do it" asks for the contrary. */
  readonly mayBeForbidden?: true;
}

const PEOPLE =
  /\b(?:users?|humans?|operators?|owners?|anyone|anybody|people|reviewers?|maintainers?|customers?|team|whoever asked|nutzer\w*|benutzer\w*|utilisateurs?|usuarios?|utenti?|gebruikers?|kullanici\w*|uzytkownik\w*|anvandar\w*)\b|用户|利用者|ユーザー|사용자|пользовател/g;
const SECRETS =
  /\b(?:passwords?|passphrases?|credentials?|(?:api|access|private|ssh|signing)[- ]?keys?|(?:access|auth|bearer|api|session|deploy|npm|login) ?tokens?|secrets?|session cookies?|environment file|id_rsa|id_ed25519|passwort\w*|zugangsdaten|mots? de passe|contrasen\w*|credenciales|senhas?|sifre\w*|hasl[oa]|losenord\w*)\b|(?<![\w/])\.(?:env|netrc|ssh|aws)\b(?!\.)|密码|密钥|凭证|パスワード|비밀번호|парол/g;

const CHECKS =
  /\b(?:tests?|suite|checks|verif\w+|validation|reviews?|approvals?|signatures?|signing|certificates?|tls|ssl|security|scans?|scanners?|(?:git|commit|pre-commit) hooks?|the hooks|audit\w*|firewall|vpn|antivirus|endpoint (?:agent|protection)|branch protection|sandbox|authentication|2fa|mfa|assertions?|hash checking|backups?|sicherheit\w*|prufung\w*|verifications?|securite|seguridad|pruebas|testy|testler\w*)\b|测试|校验|检查|验证|테스트|провер|тест|защит/g;

const RISKY_TOPICS: readonly RiskyTopic[] = [
  {
    why: 'it tells its reader to set other instructions or people’s wishes aside',
    words:
      /\b(?:ignor|disregard|overrid|overrul|bypass|circumvent|supersed|outrank|missacht|oubli|olvid|ignorier|gormezden|ignoruj|ignorera)\w*|\b(?:forget|set aside|takes? precedence over|comes? before|regardless of|even if|no matter)\b|忽略|无视|無視|무시|игнорир\S*|забуд\S*/g,
    near: /\b(?:(?:previous|prior|earlier|other|existing|all|system) (?:instructions?|rules?|prompts?|polic(?:y|ies)|guidelines?)|instructions|system prompt|the user(?:'s (?:request|wish\w*))?|what (?:the )?(?:user|people|owner)s? (?:says?|asks?|wants?)|anweisungen|vorgaben|consignes|instrucciones|instrucoes|istruzioni|anterior\w*)\b|指令|规则|指示|지시|инструкц|правил|\btalimat\w*|\binstrukcj\w*|\binstruktion\w*/g,
    within: 40,
    isAfter: true,
    mayBeForbidden: true,
  },
  {
    why: 'it claims to come before other skills or instructions',
    words:
      /\b(?:before|over|above|instead of|ahead of) (?:any|all|every|the) other (?:skills?|instructions?|rules?)\b|\btakes? precedence over (?:the )?(?:system|user|other|any|all|your|instructions|rules)\b/g,
  },
  {
    why: 'it tells its reader to keep something from people',
    words:
      /\b(?:do not|don't|never|without|no need to|need not|nicht|nichts|nie|ohne|ne|sans|jamais|sin|nunca|nao|sem|non|niet)\b(?:(?!\b(?:without|unless|until|before)\b)[^.;,]){0,30}?\b(?:tell(?! the user to\b)|mention|inform|reveal|alert|notify|disclos|warn|bother|consult|bring\w* (?:it|this|that) up|sag|erwahn|informier|mitteil|inform|prevenir|dire\b|avis|mencion|decir|zeg)\w*|n'informez\w*|sag\w* dem|不要告诉|不要提|别告诉|не (?:сообща|говор)\S*|知らせない|伝えない|알리지|\bsoyleme\b|\bnie mow\w*|\bberatta inte\b/g,
    near: PEOPLE,
    within: 24,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to keep something from people',
    words:
      /\b(?:silently|quietly|secretly|covertly|stealthily|unnoticed|unmentioned|say nothing|behind the scenes|heimlich|discretement|en secreto)\b|悄悄|暗中|тайно/g,
    near: /\b(?:send|add|run|install|upload|write|change|append|copy|execute|forward|replace|post|push|fetch|download|enable|accept|approve|setup)\w*/g,
    within: 12,
    isAfter: true,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to keep something from people',
    words: /\b(?:leave|leaving|omit|hide|keep|keeping|strip)\b/g,
    near: /\b(?:out of|from) (?:the |any |every )?(?:summar(?:y|ies)|reviewers?|audit\w*|users?|people)\b/g,
    within: 40,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to switch a protection or a check off',
    words:
      /\b(?:skip(?:s|ped|ping)?|disabl(?:e|es|ing)|bypass(?:es|ing)?|suppress(?:es|ing)?|mut(?:e|es|ing)|deactivat(?:e|es|ing)|waiv(?:e|es|ing)|circumvent\w*|relax(?:es|ing)?|lift(?:s|ing)?)\b|\b(?:turn|switch|leav|set|go)\w*\b(?=[^.;]{0,50}\b(?:off|out|false|without|unsigned)\b)/g,
    near: CHECKS,
    within: 24,
    isAfter: true,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to switch a protection or a check off',
    words:
      /\b(?:deaktivier|uberspring|umgeh|desactiv|contourn|disattiv|devre disi|pomi[nj]|wylacz)\w*|\bstang av\b|关闭|禁用|跳过|绕过|비활성화|건너뛰|отключ\S*|пропус\S*/g,
    near: CHECKS,
    within: 30,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to switch a protection or a check off',
    words: /\b(?:remov|lift|delet|dropp?|without)\w*\b/g,
    near: /\b(?:rate limits?|limits on the rate|(?:login|auth\w*|signature|security|permission) checks?|failing assertions|assertions that fail)\b/g,
    within: 30,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to go on without a check or without asking',
    words:
      /\bwithout (?:any |further |prior |a |human )?(?:review|confirmation|approval|permission|consent|second look|human|asking for (?:confirmation|permission|approval)|reading the diff)\b|\bno (?:second look|human review) (?:is )?(?:required|needed)\b|\b(?:answer|say) yes to (?:all|every)|\b(?:approve|accept|grant|merge)s? (?:and merge )?(?:all|every|any) (?:requests?|prompts?|permissions?|confirmations?|changes|pull requests)\b|\bpre-?(?:approved|vetted)\b|\bas given already\b|--yolo|\bsans (?:controle|demander|verifi\w+)|\bsin (?:preguntar|revis\w+)|\bohne (?:ruckfrage|nachfrage|prufung)|无需确认|без подтвержден/g,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to go on without asking',
    words: /\bwithout asking\b|\b(?:do not|don't|never) (?:\w+ )?ask\b|\bauto-?approv\w*|\bcarry on\b/g,
    isDaily: true,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to give credentials away',
    words:
      /\b(?:print|append|past(?:e|ing)|commit|dump|put)(?:s|ting|ing)?\b|\b(?:send|post|upload|shar|exfiltrat|mail|forward|hand|attach)(?:e|s|es|ing)?\b(?=[^.;]{0,90}\b(?:to|an|into|via)\b)|\b(?:sende|schick|envoy|envia|envie|gonder|wyslij|skicka)\w*\b|发送|上传|отправ\S*|送信/g,
    near: SECRETS,
    within: 50,
    mayBeForbidden: true,
  },
  {
    why: 'it speaks of credentials',
    words: SECRETS,
    isDaily: true,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to pass something on',
    words:
      /\b(?:send|forward|upload|post|transmit|submit|mirror|deliver|share|push|copy|copies|copied|bcc|exfiltrat|stream|hand\w* over|sende|schick|envoy|envia|envie|invia|verstuur|gonder|wyslij|skicka)\w*\b|보내|发送|上传|转发|отправ\S*|送信/g,
    near: /\b(?:to|at|into|via|through|an|a|para) ["'`<(]?(?:(?:https?|ftp|s3):\/\/(?!localhost|127\.|\[::1\])|[\w.+-]+@[\w-]+\.\w)|\bwebhook\b|\b(?:external|third[- ]part\w+|remote|vendor|partner|build|audit) (?:server|host|address|bucket|mailbox|mirror|drive|service)\b|\b(?:collector|vendor bucket|extern\w* server|serveur externe|servidor externo)\b|外部|внешн|\b(?:\d{1,3}\.){3}\d/g,
    within: 80,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to contact someone or to pass something on',
    words:
      /\b(?:bcc|blind copy|contact|invit|notify|attendee|guest|recipient|(?<!fast-)forward|upload|telemetry|transcript|conversation|mailbox|e-?mail (?:it|them|the|every)|share\w* with|hand\w* over|dispatch|helpdesk|support have)\w*/g,
    isDaily: true,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to state what is not so',
    words:
      /\b(?:report|mark|declar|claim|count|treat|call|present|show)\w*\b[^.;]{0,50}\b(?:green|passed|passing|successful|success|done|fixed|ok|skipped)\b/g,
    near: /\b(?:even|although|though|regardless|anyway|despite|fail\w*|red|flaky|unstable|delete|dropp?\w*|skip)\b/g,
    within: 60,
    mayBeForbidden: true,
  },
  {
    why: 'it speaks as if it were the system, or gives its reader another role',
    words:
      /^[\s>*-]{0,6}(?:system|developer|operator)(?: (?:message|note|override))?\s?:\s|\byou are now (?:in|an?|the|free)\b|\b(?:developer|god|unrestricted) mode\b|\bact as (?:the |an? )?(?:system|administrator|admin|root)\b|\bjailbreak\w*/g,
  },
  {
    why: 'it tells its reader to give its own instructions away',
    words: /\b(?:reveal|print|repeat|output|quot|dump|show|recit|leak)\w*\b|\bbegin\b/g,
    near: /\b(?:system prompt|(?:your|hidden|initial) (?:system )?instructions|hidden prompt|instructions (?:that )?you)\b/g,
    within: 60,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to follow instructions that stand elsewhere',
    words:
      /\b(?:load|fetch|download|follow|obey|pull|execut|run|check)\w*\b(?:[^.;]{0,50}\b(?:instructions?|guidelines?|rules|orders|script|installer|setup)\b| https?:\/\/\S{1,100})/g,
    near: /\b(?:from|at|in|on) (?:the |an? |our )?(?:\w+ ){0,2}(?:server|url|remote|site|web ?page|wiki|network|tool output|gist|pastebin)\b|\bwhatever (?:it|they) says?\b|\b(?:run|executed?) it\b|\bfrom (?:https?:|\d)|\b(?:and|then) (?:obey|follow) (?:what|it|them)\b/g,
    within: 50,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to fetch something and run it',
    words: /\b(?:pull|fetch|download|load|obtain|curl|wget|pip(?:e|ing)|feed|hand)\w*\b/g,
    near: /\b(?:installer|setup|scripts?|shell|bash|execut\w*|run it)\b|\|\s*(?:sudo )?(?:ba)?sh\b/g,
    within: 60,
    isDaily: true,
    mayBeForbidden: true,
  },
  {
    why: 'it changes what agents, shells or packages are set up with',
    words: /\b(?:add|install|append|writ|cop|put|regist|edit|sav|insert|repeat|export|set)\w*\b/g,
    near: /\.claude\/skills|\.cursor\/rules|\b(?:every (?:other )?skill|other skills|all skills|mcp (?:settings|servers?)|client settings|authorized[_ ]keys|deploy keys|shell profiles?|git hooks?|pre-?install script|postinstall)\b|\.(?:bashrc|zshrc|bash_profile)\b/g,
    within: 90,
    mayBeForbidden: true,
  },
  {
    why: 'it changes what agents are told, or where packages and requests go',
    words:
      /\b(?:agents\.md|claude\.md|gemini\.md|skill\.md|system prompt|long-term memory|registry|(?:the|new|package) mirror|proxy|base url)\b/g,
    isDaily: true,
    mayBeForbidden: true,
  },
  {
    why: 'it destroys what cannot be brought back',
    words:
      /\b(?:delet|wip|dropp?|truncat|eras|remov|purg|overwrit)\w*\b|\brm\s+-\w*[rf]\w*|\bpush --force\b|удали\S*|supprimer|effacer/g,
    near: /\b(?:production (?:data\w*|tables?)|(?:all|every) (?:records|rows|data|files|backups?)|home (?:folder|directory)|audit (?:folder|log|trail)|(?:dossier|repertoire) (?:d')?audit|backups|git history|security tests?|main branch|origin main)\b|~\/(?:\s|$|projects|work|documents|src)/g,
    within: 40,
    mayBeForbidden: true,
  },
  {
    why: 'it gives someone access, or opens something to everyone',
    words: /\b(?:open|expose|grant|give|share|allow|add|create|make|hand)\b/g,
    near: /\b(?:to (?:everyone|anyone|the public|public|the internet|all addresses)|with (?:everyone|anyone|the public)|publicly|world-(?:readable|writable)|all privileges|every right|admin(?:istrator)? (?:account|rights|role|user)|superuser|write access|full access|right to write)\b/g,
    within: 50,
    mayBeForbidden: true,
  },
  {
    why: 'it asks for cryptography that protects nothing',
    words: /\b(?:md5|sha-?1|rc4|ecb|rot13|unsalted|plain ?text|clear ?text)\b/g,
    near: /\b(?:passwords?|secrets?|session tokens?|credentials?)\b/g,
    within: 60,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to move money',
    words:
      /\b(?:transfer|pay|wire|refund|send|remit|redirect|chang|replac|updat|settl|confirm|approv|valid|use|enter|ersetz|remplac|reemplaz|cambi)\w*\b/g,
    near: /\b(?:bank (?:account|details)|new account details|account number|iban|wallet|gift cards?|payee|beneficiary|bitcoin|invoices? (?:of|to)|factures? de|bankverbindung|kontonummer|cuenta bancaria|coordonnees bancaires)\b/g,
    within: 60,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to pay without a check',
    words: /\b(?:without|no|not|instead of)\b/g,
    near: /\b(?:call-?back|vendor master|(?:showing|asking about|confirming) (?:the )?(?:price|amount|total|account))\b/g,
    within: 40,
  },
  {
    why: 'it tells its reader to approve its own work',
    words: /\b(?:approv|merg|sign)\w*\b/g,
    near: /\b(?:(?:your|its|my|their) own (?:pull requests?|prs?|changes|merge requests?|work)|(?:second|another|other|shared) account)\b/g,
    within: 40,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to copy somebody in who is not addressed',
    words: /[\w.+-]{1,64}@[\w-]{1,63}\.\w/g,
    near: /\b(?:blind copy|bcc|in copy|on copy|as a recipient|to the recipients)\b/g,
    within: 60,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to show a credential to another server',
    words: SECRETS,
    near: /\bhttps?:\/\/(?!localhost|127\.|\[::1\])/g,
    within: 80,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to show a credential to another server',
    words: /\btokens?\b/g,
    near: /\bin (?:the |an? )?(?:query|url)\b/g,
    within: 60,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to publish what stands in the environment',
    words: /\b(?:environment variables|env vars|output of `?env`?|printenv)\b/g,
    near: /\b(?:public|issue|tracker|pastebin|gist|upload|attach|share)\w*\b/g,
    within: 120,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to agree on people’s behalf',
    words: /\b(?:answer|accept|confirm|approv|grant|click|tick)\w*\b/g,
    near: /\b(?:(?:every|all|any|each) (?:\w+ )?(?:prompts?|dialogs?|confirmations?|permissions?)|never ask again|always allow)\b/g,
    within: 60,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to remove the traces of what was done',
    words: /\b(?:delet|remov|clear|wip|purg|empt|truncat)\w*\b|\brm\b/g,
    near: /\b(?:\/var\/log\/audit|audit (?:logs?|trail|records?)|(?:shell|bash|command) history)\b/g,
    within: 60,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to spread text to other agents',
    words: /\b(?:writ|add|append|cop|put|insert)\w*\b/g,
    near: /\b(?:agents|claude|gemini)\.md (?:of|in) (?:each|every|all|any)\b|\b(?:all|every|other) agents? (?:have|has|reads?|gets?|sees?) it\b/g,
    within: 120,
    mayBeForbidden: true,
  },
  {
    why: 'it tells its reader to pass something on to outsiders',
    words: /\b(?:send|forward|share|mail|post|copy)\w*\b/g,
    near: /\b(?:external (?:guests?|people|partners?|addresses)|outsiders|everyone who was ever)\b/g,
    within: 80,
    mayBeForbidden: true,
  },
];

const FORBIDS =
  /(?:\b(?:never|not|no|dont|avoid\w*|refrain from|rather than|instead of|wrong:|bad:|anti-?pattern:|nicht|nie|kein\w*|jamais|nunca|non|geen)|n't)(?![^,;:]{0,60}\b(?:forget|omit|skip|leav|fail|not|neglect|delay|refus|hesitat|miss|mind|worr|without|before|until|unless|instead|only|just|but|tell|mention|inform)\w*\b)[^,;:]{0,90}$/;
const OMITS = /\b(?:not|never|no|without|forget|omit|skip|leav|fail|neglect|miss|delay)\w*\b/;

/** "Skipping it is no solution." */
const DISMISSED =
  /^[\p{L}-]{2,30}(?: [\p{L}-]{1,20}){0,2} (?:is|are|ist|sind|est|es|e) (?:not|never|no|kein\w*|nicht|pas|verboten|forbidden|prohibid\w+|the #1 cause)\b/u;

/** Whether a normalized sentence forbids what it names at `index`. */
export function isForbidden(sentence: string, index: number): boolean {
  // "Do not disable, bypass or skip it" forbids all three.
  const isList = /\b(?:or|nor|oder|ou)\b/.test(sentence);
  const before = isList ? sentence.slice(0, index).replaceAll(',', ' ') : sentence.slice(0, index);
  const head = /^\W{0,6}anti-?patterns?:/.exec(before)?.[0];
  // An anti-pattern of omission ("forgetting to …") asks for the act.
  if (DISMISSED.test(sentence.slice(index))) return true;
  return head === undefined ? FORBIDS.test(before) : !OMITS.test(before.slice(head.length));
}

interface TopicFinding {
  readonly why: string;
  /** The sentence that raised it. */
  readonly sentence: string;
  readonly isDaily: boolean;
}

const LONGEST_SHOWN = 100;

/** For people: the reason with its passage. */
export const describeTopic = ({ why, sentence }: Pick<TopicFinding, 'why' | 'sentence'>): string =>
  `${why}: “${clip(sentence, LONGEST_SHOWN)}”`;

/** The risky topics of normalized sentences. `isDailyToo`: also words of daily work. */
export function findTopics(view: string, isDailyToo: boolean): readonly TopicFinding[] {
  return splitFoldedSentences(view).flatMap((sentence) =>
    RISKY_TOPICS.filter((topic) => (isDailyToo || topic.isDaily !== true) && touches(topic, sentence)).map(
      ({ why, isDaily = false }) => ({ why, sentence, isDaily }),
    ),
  );
}

function touches(
  { words, near, within = 0, isAfter, mayBeForbidden }: RiskyTopic,
  sentence: string,
): boolean {
  const others = near === undefined ? [] : [...sentence.matchAll(near)];
  if (near !== undefined && others.length === 0) return false;
  for (const { 0: said, index } of sentence.matchAll(words)) {
    if (mayBeForbidden === true && isForbidden(sentence, index)) continue;
    if (near === undefined) return true;
    const isClose = others.some(
      (other) =>
        other.index - (index + said.length) <= within &&
        (isAfter === true ? other.index > index : index - (other.index + other[0].length) <= within),
    );
    if (isClose) return true;
  }
  return false;
}
