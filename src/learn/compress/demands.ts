import { collapse, holds } from './holds.ts';
import { allLiterals, demandedLiterals } from './literals.ts';
import { type Prohibition, prohibitionsIn } from './prohibitions.ts';
import { classesIn, type RuleClass } from './rule-classes.ts';
import { readStatements } from './statements.ts';
import { findToolNames } from './tool-names.ts';

/** What a prompt must still have when it has become shorter, and what it may have. */
export interface Demands {
  readonly tools: readonly string[];
  /** Letter by letter. */
  readonly literals: readonly string[];
  readonly prohibitions: readonly Prohibition[];
  readonly classes: readonly RuleClass[];
  /** Nothing may be in the shorter one that is not here. */
  readonly known: { readonly text: string; readonly literals: ReadonlySet<string> };
}

/** Of the tools that a request offers, those that its prompt speaks of. */
export const spokenOf = (prompt: string, offered: readonly string[]): readonly string[] =>
  [...new Set(offered)].filter((name) => name !== '' && holds(prompt, name)).sort();

export function readDemands(prompt: string, offered: readonly string[]): Demands {
  const statements = readStatements(prompt);
  const text = collapse(prompt);
  const isWhole = (words: string): boolean => holds(text, words);
  const tools = new Set([
    ...spokenOf(prompt, offered),
    ...findToolNames(statements.filter(({ isExample }) => !isExample)),
  ]);
  return {
    tools: [...tools].filter(isWhole),
    literals: [...demandedLiterals(statements)].filter((words) => isWhole(words) && !tools.has(words)),
    prohibitions: prohibitionsIn(statements),
    classes: classesIn(statements),
    known: { text, literals: new Set([...allLiterals(statements), ...findToolNames(statements)]) },
  };
}
