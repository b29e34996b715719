import type { CATEGORIES } from '../evolver/skill-shape.ts';
import { findLiterals } from './literals.ts';

type Category = (typeof CATEGORIES)[number];

/** What someone is doing when a rule with these words concerns them. The first that fit are taken. */
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
    /\btimestamps?\b|\bdates?\b|\btime ?zones?\b|\bdatetimes?\b|\btimes\b|\bclock\b/i,
    'write dates or times',
    'general',
  ],
  [/\bfile ?names?\b|\bnamed\b|\brename|\bnaming\b/i, 'name files', 'productivity'],
  [
    /\bunits?\b|\bamounts?\b|\bcurrenc|\bprices?\b|\bpercent|\bdecimals?\b|\bnumbers?\b|\bround(?:ed)?\b/i,
    'write figures',
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

/** What kind of thing a task asks for, where the rule does not say what it is about. */
const BY_TASK: readonly (readonly [RegExp, string])[] = [
  [/\b(?:edit|update|modify|change|fix|refactor|rename|correct|adjust|migrate)\b/i, 'edit files'],
  [/\b(?:create|write|generate|draft|add|produce|save|export|build|make|prepare|compile)\b/i, 'write files'],
  [
    /\b(?:analy[sz]e|compare|summari[sz]e|review|investigate|research|find out)\b/i,
    'analyse or report something',
  ],
  [/\b(?:send|reply|answer|tell|message|post)\b/i, 'write to people'],
];

/** The row whose words come first in a rule: sentences begin with what they are about. */
function rowOf(rule: string): (typeof BY_RULE)[number] | undefined {
  const spoken = findLiterals(rule).reduce((text, literal) => text.replace(literal, ' '), rule);
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

/** "write dates or times": when a rule concerns someone, by what it is about; undefined where it does not tell. */
export const activityOf = (rule: string): string | undefined => rowOf(rule)?.[1];

/** "edit files": what someone was asked to do. */
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
