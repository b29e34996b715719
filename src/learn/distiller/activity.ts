import type { CATEGORIES } from '../evolver/skill-shape.ts';
import { aboutWords, spokenOf } from './about-words.ts';
import { small } from './phrasing.ts';
import { withoutShown } from './shown-part.ts';

type Category = (typeof CATEGORIES)[number];

/** The activity in which a rule with these words applies. The pattern that matches first in the sentence wins. */
const BY_RULE: readonly (readonly [RegExp, string, Category])[] = [
  [/\bcommit (?:message|subject|title|trailer|body)s?\b|\btrailers?\b/i, 'write a commit message', 'coding'],
  [/\bcommits?\b|\bcommitt/i, 'commit changes', 'coding'],
  [/\b(?:pull|merge) requests?\b|\bPRs?\b/, 'open a pull request', 'coding'],
  [/\bbranch(?:es)?\b/i, 'name or create a branch', 'coding'],
  [
    /\bsecrets?\b|\bpasswords?\b|\bcredentials?\b|\bapi keys?\b|\btokens?\b|\bpermissions?\b/i,
    'work with secrets or permissions',
    'security',
  ],
  [
    /\b(?:e-?)?mails?\b|\bgreet|\bclients?\b|\bsalutation\b|\bcustomers?\b|\bletters?\b/i,
    'write to people',
    'communication',
  ],
  [
    /\bnew (?:\p{L}+ )?(?:files?|documents?)\b|\bfiles? (?:that )?(?:you|a task) (?:creates?|writes?|wrote|touches)\b|\b(?:new|written|created) or changed files?\b|\bcreate an? file\b|\bwhatever you create\b/iu,
    'create a file',
    'productivity',
  ],
  [
    /\bexisting files?\b|\bfiles? that (?:is already there|already exists?|exists?)\b|\bfiles? you (?:update|edit|change|modify|touch)\b|\bold version\b/i,
    'change a file that is already there',
    'productivity',
  ],
  [
    /\b(?:each|every|a|finished|the) (?:finished )?tasks?\b|\bfinished tasks?\b|\byou are done\b|^append\b|^log (?:each|every)\b/i,
    'finish a task',
    'productivity',
  ],
  [/\bmigrations?\b|\bsql\b|\bquer(?:y|ies)\b|\bdatabase\b/i, 'write SQL or change a database', 'coding'],
  [
    /\bjson\b|\byaml\b|\byml\b|\btoml\b|\bxml\b/i,
    'write or edit structured files such as JSON or YAML',
    'coding',
  ],
  [
    /\bcsv\b|\btsv\b|\bspreadsheets?\b|\bcolumns?\b|\btables?\b|\brows?\b/i,
    'write tables or CSV files',
    'data_analysis',
  ],
  [
    /\b(?:timestamps?|dates?|time ?zones?|datetimes?|times|clock)\b(?!.*\bfile ?names?\b)/i,
    'write a date or a time',
    'general',
  ],
  [
    /\bfile ?names?\b|\bname (?:files|each file|every file|new files|each new file|of an? (?:new )?file)\b|\bnamed\b|\brename|\bnaming\b/i,
    'name a file',
    'productivity',
  ],
  [/\btickets?\b|\bissue numbers?\b/i, 'mention a ticket', 'productivity'],
  [
    /\bfigures? .{0,40}\bunits?\b|\bunits?\b|\bamounts?\b|\bcurrenc|\bprices?\b|\bpercent|\bdecimals?\b|\bnumbers?\b|\bround(?:ed)?\b/i,
    'write an amount or a figure',
    'data_analysis',
  ],
  [
    /\breports?\b|\bsummar|\bdocuments?\b|\bmarkdown\b|\breadme\b|\bheadings?\b|\bcaptions?\b|\bfigures?\b|\bparagraphs?\b|\bbullet points?\b|\bdocs\b/i,
    'write documents or reports',
    'productivity',
  ],
  [/\btests?\b|\bfixtures?\b|\btested\b/i, 'write or run tests', 'coding'],
  [/\bscripts?\b|\bshell\b|\bbash\b|\bcron\b/i, 'write scripts', 'automation'],
  [/\bdeploy|\breleas|\bversions?\b|\bchangelog\b/i, 'release or deliver something', 'automation'],
  [/\bback ?ups?\b|\bedit|\bmodif|\boverwrit/i, 'edit existing files', 'productivity'],
  [/\bdelet|\bdrop(?:ping)?\b|\bremov|\berase/i, 'delete something', 'automation'],
  [/\bconfig/i, 'change configuration', 'automation'],
  [
    /\bsources?\b|\bcite|\bcitations?\b|\breferences?\b/i,
    'write something that rests on sources',
    'research',
  ],
  [
    /\bcode\b|\bfunctions?\b|\bimports?\b|\bmodules?\b|\bclass(?:es)?\b|\bvariables?\b|\bidentifiers?\b|\bcomments?\b|\bindent|\blint/i,
    'write code',
    'coding',
  ],
];

/** The activity that a task asks for, where the rule does not name one. */
const BY_TASK: readonly (readonly [RegExp, string])[] = [
  [/\b(?:edit|update|modify|change|fix|refactor|rename|correct|adjust|migrate)\b/i, 'edit files'],
  [/\b(?:create|write|generate|draft|add|produce|save|export|build|make|prepare|compile)\b/i, 'write files'],
  [
    /\b(?:analy[sz]e|compare|summari[sz]e|review|investigate|research|find out)\b/i,
    'analyse or report something',
  ],
  [/\b(?:send|reply|answer|tell|message|post)\b/i, 'write to people'],
];

/** The row that matches earliest in a rule: sentences begin with what they are about. */
function rowOf(rule: string): (typeof BY_RULE)[number] | undefined {
  const spoken = spokenOf(withoutShown(rule));
  let best: (typeof BY_RULE)[number] | undefined;
  let first = Number.POSITIVE_INFINITY;
  for (const row of BY_RULE) {
    const at = spoken.search(row[0]);
    if (at < 0 || at >= first) continue;
    best = row;
    first = at;
  }
  return best ?? BY_RULE.find(([pattern]) => pattern.test(rule));
}

const SUBJECT =
  /^((?:all |our |the |an? )?[\p{L}-]+(?: [\p{L}-]+){0,4}?) (?:must|should|shall|has to|have to|needs?|ought to|may|are|is|go|goes|end|ends|take|takes)\b/iu;

/** The activity in which a rule applies, such as "write a date or a time"; undefined when the rule does not say. */
export function activityOf(rule: string): string | undefined {
  const known = rowOf(rule)?.[1];
  const where =
    known?.endsWith('a time') && /\bin(?:to)? (?:an? |the )?files?\b/i.test(rule) ? ' into a file' : '';
  return known === undefined ? subjectOf(rule) : `${known}${where}`;
}

/** "Plots need error bars" applies to whoever deals with plots. */
function subjectOf(rule: string): string | undefined {
  const subject = SUBJECT.exec(rule)?.[1];
  return subject === undefined ||
    aboutWords(subject).length === 0 ||
    /^(?:you|we|the (?:result|output))\b/i.test(subject)
    ? undefined
    : `deal with ${small(subject.replace(/^(?:all|our) /i, ''))}`;
}

/** What the tasks asked for, such as "edit files". */
export function taskKind(tasks: readonly string[]): string {
  const asked = BY_TASK.filter(([pattern]) => tasks.some((task) => pattern.test(task.slice(0, 2000))));
  return asked.length === 0
    ? 'do a task of this kind'
    : asked
        .slice(0, 2)
        .map(([, activity]) => activity)
        .join(' or ');
}

export const categoryOf = (rule: string): Category => rowOf(rule)?.[2] ?? 'general';
