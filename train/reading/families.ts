import { CARD_FAMILIES } from './families/cards.ts';
import { CODE_FAMILIES } from './families/code.ts';
import { DATA_FAMILIES } from './families/data.ts';
import { LETTER_FAMILIES } from './families/letters.ts';
import { SETTINGS_FAMILIES } from './families/settings.ts';
import { WEB_FAMILIES } from './families/web.ts';
import { WORK_FAMILIES } from './families/work.ts';
import type { ReadingFamily } from './family.ts';

/** Every kind of file. */
export const FAMILIES: readonly ReadingFamily[] = [
  ...CODE_FAMILIES,
  ...SETTINGS_FAMILIES,
  ...LETTER_FAMILIES,
  ...CARD_FAMILIES,
  ...WORK_FAMILIES,
  ...DATA_FAMILIES,
  ...WEB_FAMILIES,
];

/** Kinds of files that weights are measured on and never trained on. Chosen before anything was measured, from each theme. */
export const HELD_OUT_FAMILIES: ReadonlySet<string> = new Set([
  'rust',
  'dockerfile',
  'cron',
  'minutes',
  'invoice',
  'faq',
  'html',
]);
