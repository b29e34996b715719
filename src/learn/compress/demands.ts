import { collapse, holds } from './holds.ts';
import { allLiterals, demandedLiterals } from './literals.ts';
import { type Prohibition, prohibitionsIn } from './prohibitions.ts';
import { classesIn, type RuleClass } from './rule-classes.ts';
import { readStatements } from './statements.ts';
import { findToolNames } from './tool-names.ts';

/** What a shortened prompt must keep, and what it may contain. */
export interface Demands {
  readonly tools: readonly string[];
  /** Verbatim. */
  readonly literals: readonly string[];
  readonly prohibitions: readonly Prohibition[];
  readonly classes: readonly RuleClass[];
  /** The shortened prompt may contain no term that is not in here. */
  readonly known: { readonly text: string; readonly literals: ReadonlySet<string> };
}

/** The tools of a request that its prompt mentions. */
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
