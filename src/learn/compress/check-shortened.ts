import { truncateEnd } from '../../text/truncate.ts';
import type { Demands } from './demands.ts';
import { CHARACTERS_PER_TOKEN, estimateTokens } from './estimate-tokens.ts';
import { collapse, holds } from './holds.ts';
import { allLiterals } from './literals.ts';
import { lostProhibitions } from './prohibitions.ts';
import { readStatements } from './statements.ts';
import { findToolNames } from './tool-names.ts';

const MOST_NAMED = 12;
const LONGEST_NAMED = 120;

/** The faults of a shortened prompt, worded so that a model can fix them; empty when it may replace the original. */
export function checkShortened(demands: Demands, shortened: string, limitTokens: number): readonly string[] {
  const statements = readStatements(shortened);
  const text = collapse(shortened);
  const { known } = demands;
  const isMissing = (words: string): boolean => !holds(text, words);
  const isNew = (words: string): boolean => !known.literals.has(words) && !holds(known.text, words);
  const tokens = estimateTokens(shortened);
  const lost = demands.classes.filter(
    ({ isKept }) => !statements.some(({ text: said, lead }) => isKept(`${lead} ${said}`)),
  );
  return [
    ...(text === '' ? ['it is empty'] : []),
    ...(tokens >= limitTokens
      ? [
          `it is about ${tokens} tokens long: it has to be under ${limitTokens}, which is ${Math.floor(limitTokens * CHARACTERS_PER_TOKEN)} characters`,
        ]
      : []),
    ...listed('tool names are missing', demands.tools.filter(isMissing)),
    ...listed(
      'these are missing and have to stand there letter by letter',
      demands.literals.filter(isMissing),
    ),
    ...listed(
      'these are no longer forbidden',
      lostProhibitions(demands.prohibitions, statements).map((one) => one.text),
    ),
    ...listed(
      'there are no rules left about',
      lost.map(({ about }) => about),
    ),
    ...listed('these tool names are not in the original', [...findToolNames(statements)].filter(isNew)),
    ...listed('these are not in the original', [...allLiterals(statements)].filter(isNew)),
  ];
}

function listed(what: string, members: readonly string[]): readonly string[] {
  if (members.length === 0) return [];
  const named = members
    .slice(0, MOST_NAMED)
    .map((member) => JSON.stringify(truncateEnd(member, LONGEST_NAMED)));
  const more = members.length > named.length ? ` and ${members.length - named.length} more` : '';
  return [`${what}: ${named.join(', ')}${more}`];
}
