import type { Statement } from './statements.ts';

const SNAKE = '[a-z][a-z0-9]{0,40}(?:_[a-z0-9]{1,40}){1,8}';
const NAME = '[A-Za-z][\\w.:-]{0,63}';

/** Phrases that name a tool. */
const MENTIONS: readonly RegExp[] = [
  new RegExp(`\`(${NAME})\` tools?\\b`, 'g'),
  new RegExp(`\\btools? \`(${NAME})\``, 'g'),
  new RegExp(`\\b(${SNAKE}|[a-z]{1,40}[A-Z]\\w{0,60}) tool\\b`, 'g'),
  /\b(?:the|an?|use|using|via|with|call|calling|invoke) ([A-Z][A-Za-z0-9]{1,60}) tool\b/g,
  new RegExp(`\\b(?:call|calling|invoke|invoking|use|using|via|with) (?:the )?\`?(${SNAKE})\\b`, 'g'),
  new RegExp(`\\b(${SNAKE})\\(`, 'g'),
];
/** In a list of tools, the name precedes the description. */
const LISTED = /^[`*]{0,3}([a-z][\w.-]{0,63}|[A-Za-z]\w{0,40}_\w{1,40})[`*]{0,3} ?(?::|—|–|- |\()/;

/** The tool names that statements mention. */
export function findToolNames(statements: readonly Statement[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { text, lead, isItem } of statements) {
    for (const pattern of MENTIONS) for (const [, name = ''] of text.matchAll(pattern)) names.add(name);
    const listed = isItem && /\btool/i.test(lead) ? LISTED.exec(text)?.[1] : undefined;
    if (listed !== undefined) names.add(listed);
  }
  names.delete('');
  return names;
}
