import type { Kind } from './kind.ts';
import { shortBudgets } from './short/short-budgets.ts';
import { shortDecisions } from './short/short-decisions.ts';
import { shortDeploys } from './short/short-deploys.ts';
import { shortDue } from './short/short-due.ts';
import { shortFigures } from './short/short-figures.ts';
import { shortTickets } from './short/short-tickets.ts';

/** Questions that bring their two or three facts along, for policies that cannot read a paper. */
export const SHORT_KINDS: readonly Kind[] = [
  shortTickets,
  shortDue,
  shortDeploys,
  shortDecisions,
  shortBudgets,
  shortFigures,
];
