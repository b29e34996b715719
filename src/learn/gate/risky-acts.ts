import { GAP, type OrderRule, SHORT_GAP, startingAtWord } from './order-rule.ts';

const SECRET =
  '(?:passwords?|passphrases?|credentials?|api[- ]?keys?|access[- ]?keys?|secrets?|(?:access|auth|bearer|api|refresh|session|login|security|deploy|personal access|service) tokens?|tokens?(?! (?:count|limit|budget|usage|by|per))|private keys?|ssh keys?|signing keys?|encryption keys?|cookies?|session ids?|one-time codes?|recovery codes?|seed phrases?|\\.env\\b|id_rsa|\\.ssh\\b|\\.aws\\b|\\.npmrc|\\.netrc|keychain|keystore|environment variables?|env vars?)';
const PRIVATE =
  '(?:conversation|transcripts?|chat history|session history|prompts?|source code|customer (?:data|records|list)|personal data|user data|database dump|backup|file contents?|contents of|workspace|repository|home (?:folder|directory)|hostname|environment|configuration|config|diagnostics?|telemetry|crash dump|debug bundle|logs?|run report|usage data|address book|contacts|calendar)';
const OUTSIDE =
  '(?:external|third[- ]part(?:y|ies)|remote|outside|off-?site|public|webhook|endpoint|server|host|bucket|paste(?:bin)?|gist|collector|url|address|mailbox|inbox|drop ?box|vendor|partner|mirror|telegram|discord|slack|https?:|ftp|s3:)';

/** Instructions that can do harm outside the task: to data, money, machines or other people. */
export const RISKY_ACTS: readonly OrderRule[] = [
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
