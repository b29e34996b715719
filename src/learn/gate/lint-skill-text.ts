import { detectLanguages } from '../../text/languages.ts';
import { clip } from '../../text/truncate.ts';
import { findAddressOfAgents } from './injection-phrases.ts';
import { findDisguises } from './lint-lesson.ts';
import { foldText } from './normalize-text.ts';
import { findRiskyActions } from './risky-actions.ts';

const LONGEST_SHOWN = 80;

/**
 * Reasons for a person to read the words of a skill file before prompts may contain them, each with its passage; empty when
 * there are none. Files name commands, addresses and packages as daily work needs them, and nobody in a session has typed any of
 * them: here counts what no daily work needs. Code that is fetched and run at once, data that leaves the machine, protections
 * switched off, packages that imitate others, text that is hidden or asks for what harms people.
 */
export function lintSkillText(words: string): readonly string[] {
  const why = new Set(findDisguises(words, '').filter((reason) => !isPlain(reason)));
  for (const { why: reason } of findRiskyActions(words)) why.add(reason);
  const unread = [...detectLanguages(foldText(words))].find(([language]) => !READ.has(language));
  if (unread !== undefined)
    why.add(
      `it is in a language that the checks do not read: ${unread[0]}: ${clip(unread[1].trim(), LONGEST_SHOWN)}`,
    );
  return [...why];
}

/** A comment of an editor or a formatter, as opposed to one that speaks to whoever reads the source. */
const isPlain = (reason: string): boolean =>
  /active html: <|front matter|<\/(?:instructions?|assistant|user|human|skills?|lessons?)>/i.test(reason) ||
  (reason.includes('a hidden comment') &&
    findAddressOfAgents(reason) === undefined &&
    !/\b(?:run|execute|send|install|upload|append|ignore (?:all|the|previous)|forward|post)\b/.test(reason));

/** Languages whose words for risky topics are known. */
const READ: ReadonlySet<string> = new Set(
  'german french spanish portuguese italian dutch polish turkish han hangul cyrillic'.split(' '),
);
