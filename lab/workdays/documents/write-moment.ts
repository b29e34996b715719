import { MONTH_NAMES } from '../../../src/text/calendar-names.ts';
import type { Moment } from '../world.ts';

const two = (value: number): string => String(value).padStart(2, '0');

/** `4 March 2026` */
export const writeDate = ({ year, month, day }: Moment): string =>
  `${day} ${MONTH_NAMES[month - 1] ?? ''} ${year}`;

/** `4 March 2026, 09:15`: as people write it, in no format of any house. */
export const writeMoment = (moment: Moment): string =>
  `${writeDate(moment)}, ${two(moment.hour)}:${two(moment.minute)}`;
