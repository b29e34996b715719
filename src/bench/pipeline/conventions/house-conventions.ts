import type { Convention } from '../convention.ts';
import { citeWithYear, oldestFirst, reasonCodes } from './citing.ts';
import { armPrefix, confidenceGrade, houseSeeds, nullHypothesis, ownerField } from './forms.ts';
import { keywordLine, limitationLine, twoDecimals } from './writing.ts';

/** What this house wants and does not say. Every stage of a model is touched by one at least; six are shared by several. */
export const HOUSE_CONVENTIONS: readonly Convention[] = [
  ownerField,
  oldestFirst,
  reasonCodes,
  twoDecimals,
  confidenceGrade,
  citeWithYear,
  nullHypothesis,
  houseSeeds,
  armPrefix,
  limitationLine,
  keywordLine,
];
