import { splitFoldedSentences } from '../../text/sentences.ts';
import { clip } from '../../text/truncate.ts';
import { detectLanguages } from './detect-languages.ts';
import { addressesAgents } from './injection-phrases.ts';
import { lintLesson } from './lint-lesson.ts';
import { decodeUntrustedViews, foldedWords, foldText } from './normalize-text.ts';

const LONGEST_SHOWN = 60;

/**
 * Reasons for a person to read the words of a skill file before prompts may contain them; empty when there are none. A file
 * comes from nowhere: nobody has vouched for any of its words, so that more is reported than in a lesson learned here. Text
 * that addresses agents, claims to come first, runs programs or files, or is in a language that the checks do not read.
 */
export function lintSkillText(words: string): readonly string[] {
  const why = new Set(lintLesson(words, []));
  for (const command of findUnknownCommands(words))
    why.add(`it runs a program: ${clip(command, LONGEST_SHOWN)}`);
  for (const view of decodeUntrustedViews(words)) {
    if (addressesAgents(view)) why.add('it addresses the agent that reads it');
    for (const [reason, pattern] of CLAIMS) if (pattern.test(view)) why.add(reason);
  }
  const folded = foldText(words);
  const file = RUNS_FILE.exec(folded)?.[0];
  if (file !== undefined)
    why.add(`it tells its reader to run a file that came with it: ${clip(file.trim(), LONGEST_SHOWN)}`);
  const risky = RISKY_PROGRAMS.exec(folded)?.[0];
  if (risky !== undefined)
    why.add(`it names a program that acts outside the work: ${clip(risky.trim(), LONGEST_SHOWN)}`);
  if (isUnread(folded)) why.add('it is not in English: the checks read other languages less well');
  return [...why];
}

const SKILL =
  '(?:this|these|the following|our) (?:skills?|rules?|instructions?|guidelines?|conventions?|files?|steps|directives?|sections?)';

/** A skill says when it applies; one that claims to apply before or above everything takes over. */
const CLAIMS: readonly (readonly [why: string, pattern: RegExp])[] = [
  [
    'it claims to come before other skills or instructions',
    new RegExp(
      [
        `\\b(?:always|must|first)\\b[^.\\n]{0,40}\\b(?:use|apply|load|invoke|activate|consult|read|follow|trigger|prefer|run)\\w*\\b[^.\\n]{0,30}\\b${SKILL}\\b`,
        `\\b(?:use|apply|load|invoke|activate|consult|read|follow|trigger|prefer|run)\\w*\\b[^.\\n]{0,20}\\b${SKILL}\\b[^.\\n]{0,40}\\b(?:first|always|before|every (?:task|request|session|turn|answer|message)|all (?:tasks|requests|sessions)|any (?:task|request)|no matter|regardless|at the start)\\b`,
        '\\b(?:before|over|above|instead of|ahead of|rather than) (?:any|all|every|the) other (?:skills?|instructions?|rules?|tools?|guidelines?|lessons?)\\b',
        '\\b(?:takes?|has|have|gets?) (?:precedence|priority)\\b',
        '\\b(?:highest|top|first) priority\\b',
        '\\b(?:mandatory|required|applies) (?:for|to|in|on) (?:every|all|any) (?:task|request|session|turn|conversation|answer|tasks|requests|sessions)\\b',
      ].join('|'),
    ),
  ],
  [
    'it tells its reader to look for secrets or personal files',
    /(?:~|\$home|%userprofile%|\/home\/\w+|\/users\/\w+)\/\.?[\w./-]+|\/etc\/(?:passwd|shadow|hosts|sudoers)|\bid_(?:rsa|ed25519)\b|\.(?:ssh|aws|gnupg|kube|netrc|npmrc|pypirc|docker)\/|\bprintenv\b|\bprocess\.env\b|\bos\.environ\b|\bkeychain\b|\bbrowser (?:cookies|history|profile)\b/,
  ],
  [
    'it tells its reader to send something to an address',
    /\b(?:post|put|send|upload|submit|report|push|forward|mirror|transmit|stream|publish|copy|deliver|mail)\w*\b[^.\n]{1,100}\b(?:to|into|at|via)\b[^\n]{0,40}?(?:\b[a-z][a-z0-9+.-]{1,12}:\/\/|\b[\w.+-]+@[\w-]+\.|\bwebhook\b|\b(?:\d{1,3}\.){3}\d)/,
  ],
  [
    'it asks for something to be done unseen or unasked',
    /\b(?:in the background|behind the scenes|without (?:asking|telling|confirm\w*|prompting|approval|permission|review)|no (?:need to|confirmation|approval)|unattended|do not (?:ask|mention|tell|show|report|log)|don't (?:ask|mention|tell|show|report|log)|never (?:mention|tell|reveal|ask|show)|as if (?:nothing|it)|pretend|covertly)\b/,
  ],
];

/** Files that come with a skill are not imported with its text. */
const RUNS_FILE =
  /\b(?:run|runs|running|execut\w+|source|launch\w*|start|invoke|call|bash|sh|zsh|python3?|node|deno|bun|perl|ruby|powershell|pwsh|chmod \+x)\b[^.\n]{0,50}?(?:(?:\.{1,2}\/)?(?:scripts?|bin|tools?|assets|hooks|resources|lib|src)\/[\w./-]*\.\w{1,5}\b|\.\/[\w-]+(?:\.\w{1,5})?|\b[\w-]+\.(?:sh|bash|ps1|bat|cmd|exe|command|app|jar)\b)/;

const RISKY_PROGRAMS =
  /(?:^|[\n`$;&|(]\s?)(?:aws|gcloud|gsutil|az|kubectl|helm|terraform|heroku|vercel|netlify|firebase|sendmail|mail|mutt|osascript|xdg-open|launchctl|gpg|openssl|ssh-keygen|ssh-add|ssh-copy-id|pbcopy|xclip|printenv|history|screen|tmux|mkfifo|chattr|nmap|tcpdump|tor|powershell|pwsh|wscript|cscript|mshta|rundll32|regsvr32|msiexec|gh (?:gist|secret|auth|api|release|repo)|docker (?:login|push|run|exec)|npm (?:publish|login|token|config)|git (?:credential|config|clone|push|remote|submodule))(?=[\s`]|$)/m;

const SHELL_BLOCK =
  /```(?:bash|sh|shell|console|zsh|terminal|shell-session|fish|cmd|bat|powershell|ps1)\b[^\n]*\n([\s\S]*?)(?:```|$)/gi;
/** Programs that read, build and test in a workspace. */
const KNOWN =
  /^(?:cd|ls|pwd|cat|head|tail|less|grep|rg|fd|find|wc|sort|uniq|cut|tr|diff|jq|yq|sed|awk|echo|printf|test|true|mkdir|touch|tree|make|just|tsc|eslint|prettier|biome|vitest|jest|pytest|tox|ruff|mypy|black|flake8|cargo|go|mvn|gradle|\.\/gradlew|\.\/mvnw|dotnet|rspec|bundle|rake|mix|sbt|ctest|cmake|ninja|swift|xcodebuild|phpunit|composer|npm|pnpm|yarn|npx|node|python3?|git|psql|sqlite3|pdftotext|pandoc|convert|ffmpeg|export|set|if|then|else|fi|for|do|done|while|#.*)$/;

/** Commands of shell blocks whose program is not known to be harmless. */
function findUnknownCommands(words: string): readonly string[] {
  return [...words.matchAll(SHELL_BLOCK)].flatMap(([, block = '']) =>
    block
      .split(/\n|&&|\|\||;|\|(?!\|)/)
      .map((line) => line.trim().replace(/^[$>%] /, ''))
      .filter((line) => line !== '' && !line.startsWith('#'))
      .filter((line) => !KNOWN.test(programOf(line)))
      .slice(0, 3),
  );
}

/** The first word that is no assignment. */
const programOf = (line: string): string => line.split(/\s+/).find((word) => !/^\w+=/.test(word)) ?? '';

const LATIN = /\p{Script=Latin}/gu;
const LETTER = /\p{L}/gu;
const FEWEST_OTHER = 20;
const MOST_OTHER = 0.1;
/** Function words that English does not have. */
const FOREIGN = new Set(
  `der die das und nicht mit dem den ein eine auf fur von ist sie wenn alle ohne nach immer
  le les des une est dans pour pas vous avec sur tous sans qui que et
  el los las por con del todos cuando siempre una su al
  il gli che non della per sempre tutti nel alla con
  het een van niet naar zonder deze altijd wanneer zijn bij
  nie sie jest oraz przez dla wszystkie przed zawsze
  bir ve icin ile tum olarak once
  yang dan untuk dengan dari semua tanpa setiap
  och att det som inte till alla utan
  khong va cua cho cac moi
  nao com sem uma todas voce os ao`.split(/\s+/),
);
const FEWEST_FOREIGN = 3;
const SHARE_FOREIGN = 0.25;
const SHARE_IN_ALL = 0.08;
/** Of these, every English text of a few lines has some. */
const ENGLISH = new Set(
  'the a an to of in and or for with on is are be not it this that when you your from as by'.split(' '),
);

/** Whether some of a normalized text is in a language that most rules do not know. */
function isUnread(folded: string): boolean {
  const letters = folded.match(LETTER)?.length ?? 0;
  const other = letters - (folded.match(LATIN)?.length ?? 0);
  if (other > FEWEST_OTHER && other > letters * MOST_OTHER) return true;
  const isForeign = (text: string, share: number): boolean => {
    const words = foldedWords(text);
    const foreign = words.filter((word) => FOREIGN.has(word)).length;
    return foreign >= FEWEST_FOREIGN && foreign >= words.length * share;
  };
  // Short lines have few function words each: the text as a whole tells.
  return (
    splitFoldedSentences(folded).some((sentence) => isForeign(sentence, SHARE_FOREIGN)) ||
    (isForeign(folded, SHARE_IN_ALL) && detectLanguages(folded.replaceAll('\n', ' ')).size > 0) ||
    foldedWords(folded).filter((word) => ENGLISH.has(word)).length === 0
  );
}
