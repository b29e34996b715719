import type { Convention } from '../convention.ts';
import { citeWithYear, oldestFirst, reasonCodes } from './citing.ts';
import { armPrefix, confidenceGrade, houseSeeds, nullHypothesis, ownerField } from './forms.ts';
import { keywordLine, limitationLine, twoDecimals } from './writing.ts';

/** The unstated conventions of this house. Each model stage has at least one; six conventions apply to several stages. */
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
