import { GAP, type OrderRule, startingAtWord } from './order-rule.ts';

const NOT =
  "(?:do not|don't|never|must not|mustn't|should not|shouldn't|without|avoid|no need to|need not|needn't|not necessary to|refrain from|stop|skip|rather than|anti-?patterns?:|wrong:|mistake:)";
const PEOPLE =
  '(?:users?|humans?|operators?|owners?|anyone|anybody|person|people|developers?|clients?|customers?|reviewers?|maintainers?|colleagues|team|them|him|her|someone|administrators?|auditors?|managers?)';
const OVERRIDABLE =
  "(?:(?:system |prior |previous |earlier |other |existing |safety |user's )?(?:instructions?|rules?|guidelines?|prompts?|directives?|polic(?:y|ies)|constraints?|guardrails?)|(?:the )?user(?:'s)? (?:request|wish(?:es)?|instructions?|objections?)|what (?:the )?(?:user|system|person|developer|owner)s? (?:says?|asks?|wants?|said|asked|requests?))";
const CHECKS =
  '(?:(?:the |all |any |every |these |those |its |our |your )?(?:\\w+ ){0,2}(?:tests?|checks?|test suite|verif\\w+|validat\\w+|reviews?|approvals?|confirmations?|sandbox\\w*|security|safety|audit\\w*|logging|warnings?|signatures?|certificates?|tls|ssl|scans?|scanners?|guards?|guardrails?|consent|permission prompts?|permission checks?|protections?|firewall|antivirus|authentication|authorization|two-factor|2fa|mfa|hooks?|linters?|integrity|rate limits?|backups?|moderation|redaction|encryption))';

/** Instructions that undermine people's oversight: their instructions, their knowledge, their checks. */
export const AGAINST_PEOPLE: readonly OrderRule[] = [
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
