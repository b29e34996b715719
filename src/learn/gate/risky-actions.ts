import { splitFoldedSentences } from '../../text/sentences.ts';
import { clip } from '../../text/truncate.ts';
import { findPackages } from './lesson-literals.ts';
import { imitatedPackage } from './lookalike-packages.ts';
import { decodeLiteralViews, decodeViews, foldText } from './normalize-text.ts';
import { describeTopic, findTopics, isForbidden } from './risky-topics.ts';

/** Something that a text asks for and that no daily work needs. */
interface RiskyAction {
  /** The reason, for people, with the passage. */
  readonly why: string;
  /** The passage as it stands in the normalized text. */
  readonly passage: string;
}

const LONGEST_SHOWN = 80;

/**
 * What a text asks for that a person should read first: code that is fetched and run at once, data that leaves the machine, protections
 * switched off, another source of packages, packages that imitate others, credentials and money that change hands.
 */
export function findRiskyActions(words: string): readonly RiskyAction[] {
  const found = new Map<string, RiskyAction>();
  const take = (why: string, passage: string): void => void found.set(why, { why, passage });
  for (const view of decodeLiteralViews(words))
    for (const sentence of splitFoldedSentences(view)) {
      for (const [what, pattern] of ACTIONS)
        for (const { 0: passage, index } of sentence.matchAll(pattern))
          if (!isForbidden(sentence, index))
            take(`it contains ${what}: ${clip(passage.trim(), LONGEST_SHOWN)}`, passage);
      for (const { text } of findPackages(sentence)) {
        const known = imitatedPackage(text);
        if (known !== undefined)
          take(`it installs a package whose name imitates ${known}: ${clip(text, LONGEST_SHOWN)}`, text);
      }
    }
  for (const view of decodeLiteralViews(words)) {
    const fetched = FETCHED_AND_RUN.exec(view)?.[0];
    if (fetched !== undefined)
      take(`it contains code that is fetched and then run: ${clip(fetched, LONGEST_SHOWN)}`, fetched);
  }
  for (const view of decodeViews(words))
    for (const topic of findTopics(view, false)) take(describeTopic(topic), topic.sentence);
  return [...found.values()];
}

/**
 * The reasons for which a lesson waits whoever said its words, unless it was the owner, since every program with a caller key can type into a
 * chat. `owners`: normalized texts of the owner, and lessons that are in use already.
 */
export function findUnapprovedActions(words: string, owners: readonly string[]): readonly string[] {
  const said = owners.flatMap((text) => [foldText(text), ...decodeViews(text)]).map(plain);
  return findRiskyActions(words)
    .filter(({ passage }) => !said.some((text) => text.includes(plain(passage))))
    .map(({ why }) => why);
}

/** Without the marks and the frame of a list or a quotation around a sentence. */
const plain = (text: string): string =>
  text
    .replace(/[`"“”«»„>*]/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');

/** The file that a program fetches is the one that an interpreter then reads. */
const FETCHED_AND_RUN =
  /\b(?:curl|wget)\b[^\n]{0,200}?\s(?:-o|--output|-O|--output-document)[\s=]+["']?(\S{3,80}?)["'`]?(?=[\s`.]|$)[\s\S]{0,600}?\b(?:(?:ba|z|da)?sh|python\d?|node|perl|ruby|source|chmod \S{1,6})\s+["']?\1/i;

const REMOTE = '(?!(?:https?:\\/\\/)?(?:localhost|127\\.0\\.0\\.1|0\\.0\\.0\\.0|\\[::1\\]))';
const ACTIONS: readonly (readonly [what: string, pattern: RegExp])[] = [
  [
    'code that is fetched and run at once',
    /\b(?:curl|wget|iwr|irm|invoke-webrequest)\b[^\n]{0,200}?\|\s*(?:sudo\s+)?(?:(?:ba|z|da)?sh|python\d?(?! -[mc]\b)|node|perl|ruby|iex|pwsh)\b|<\(\s*(?:curl|wget)\b[^\n]{0,100}|\$\(\s*(?:curl|wget)\b[^\n]{0,100}|\bbase64\s+(?:-d|-di|--decode)\b[^\n]{0,60}\|\s*\w+|\biex\b|-encodedcommand\s/g,
  ],
  [
    'a command that sends data out',
    new RegExp(
      `\\b(?:curl|wget|http)\\b[^\\n|]{0,120}(?:\\s(?:-d|--data\\S*|-t|--form|--upload-file|--post-file|-f(?=\\s+["']?[\\w-]{1,30}=))\\s)[^\\n|]{0,120}?\\b${REMOTE}(?:https?:\\/\\/)[^\\s]{1,200}|\\|\\s*(?:curl|nc|ncat|mail|sendmail)\\b[^\\n]{0,100}`,
      'g',
    ),
  ],
  [
    'an address that carries data away',
    /https?:\/\/[^\s"'`)]{1,200}[?&]\w{1,20}=(?:[a-z]{3,}\)?$|\{|\$|<|summary|topic)[^\s"'`)]{0,60}/g,
  ],
  [
    'a bare network address',
    /\b(?:https?|ftp):\/\/(?!(?:127|10|192\.168|0\.0\.0\.0)[.\d]*)(?:\d{1,3}\.){3}\d{1,3}\S{0,60}/g,
  ],
  [
    'a command that destroys what is outside the work',
    /\brm\s+-[a-z]*[rf][a-z]*\s+(?:--no-preserve-root\s+)?["']?(?:\/(?:\s|\*|$)|~\/?(?:\s|\*|$)|\$home\b\/?(?:\s|$)|\.\.|~\/(?:work|projects|documents|src)\b|\S*\/\.\.)|--no-preserve-root|\bmkfs|\bdd\s+if=\S+\s+of=\/dev|\bpush\b[^\n`]{0,40}\s(?:--force\b(?!-with-lease)|-f\b)[^\n`]{0,40}\b(?:main|master)\b|\bpush\b[^\n`]{0,40}\b(?:main|master)\b[^\n`]{0,20}--force\b(?!-with)/g,
  ],
  [
    'a setting that lowers a protection',
    /verify\s?=\s?false|rejectunauthorized\W{1,3}false|node_tls_reject_unauthorized\W{1,2}0|--no-verify\b|--no-gpg-sign\b|--no-check-certificate|--trusted-host\b|stricthostkeychecking\W{1,3}no|sslverify\W{1,3}false|insecureskipverify|--dangerously\S{0,30}|--skip-approval|--no-require-hashes|access-control-allow-origin['"]?\s?[:,]\s?['"]?\*|public-read|setenforce\s+0|ufw\s+disable|alg['"]?\s?:\s?['"]?none|cert_none|0\.0\.0\.0\/0\s+trust|\bhusky=0\b|passwordauthentication\s+yes|grant\s+all\s+privileges|\bchmod\s+(?:-r\s+)?[0-7]?777\b|\bumask\s+0+\b|--privileged\b|\bcurl\s+-\w*k\w*\s+https?:\/\/(?!localhost|127)\S{0,60}|allowed-tools:\s*bash\(\*\)/g,
  ],
  [
    'a change of where packages or pushes go',
    /(?:--index-url|--extra-index-url|--registry|config set registry|remote (?:add|set-url) \S{1,40})[\s=]\S{0,100}|\b(?:index-url|index_url|registry|extra-index-url)\s?=\s?["']?https?:\/\/\S{1,100}|\bgem sources? (?:--add|-a)\s\S{1,100}|\bstrict-ssl\s?=\s?false/g,
  ],
  ['a way out of a container', /\s-v\s+(?:\S{0,60}docker\.sock\b|\/:\/)\S{0,60}/g],
  ['a key that gets access', /\bssh-(?:ed25519|rsa)\s+aaaa\S{0,60}/g],
  [
    'code that is unpacked and run at once',
    /\b(?:npm pack|tar x\w*|tar -x\w*|unzip)\b[^\n]{0,200}&&\s*(?:node|python\d?|(?:ba|z)?sh|\.\/)\S{0,60}/g,
  ],
  [
    'a command that hands a credential over',
    /\b(?:npx|uvx|bunx|curl|wget)\b[^\n`]{0,120}\$\{?\w{0,30}(?:token|secret|password|key)\b|\b(?:cat|echo|tee|printenv|env)\b[^\n`]{0,60}(?:\$\{?\w{0,30}(?:token|secret|password)\b|\.env\b|secrets?\.txt|id_rsa|id_ed25519|\.aws\/credentials|\.netrc)[^\n`]{0,60}[|>]/g,
  ],
  [
    'a file with credentials of the person',
    /(?:~|\$home)\/\.(?:ssh\/id_\w+|aws\/credentials|netrc|pgpass)\b|\/etc\/shadow\b|\bid_(?:rsa|ed25519)\b(?!\.pub)|\bbrowser cookies\b/g,
  ],
];
