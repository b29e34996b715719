import { sayDate } from './pinned-date.ts';

/** Who the agent is, whom it works for: put before every conversation, as agents with such files do. */
const IDENTITY_FILES = ['AGENTS.md', 'IDENTITY.md', 'SOUL.md', 'TOOLS.md', 'USER.md'];

/** What the agent is told before anything else: the day, where things lie, and the files that say who it is. */
export function systemPrompt(
  day: string,
  texts: Readonly<Record<string, string>>,
  date: string | undefined,
): string {
  const known = IDENTITY_FILES.flatMap((name) => {
    const text = texts[name];
    return text === undefined ? [] : [`## ${name}\n\n${text.trim()}`];
  });
  const facts = [
    'Your workspace is the current folder of every command that you run; paths are relative to it.',
    `What belongs to today's work lies in ${day}/.`,
    ...(date === undefined ? [] : [`Today is ${sayDate(date)}, whatever the clock of this machine says.`]),
  ];
  if (known.length === 0) return facts.join('\n');
  const about =
    'These files of the workspace say who you are and whom you work for. Where they name tools that you do not have, use those you have.';
  return [facts.join('\n'), `# Context\n\n${about}`, ...known].join('\n\n');
}
