import type { Kind } from './kind.ts';
import { assumptions } from './kinds/assumptions.ts';
import { board } from './kinds/board.ts';
import { budgets } from './kinds/budgets.ts';
import { citations } from './kinds/citations.ts';
import { decisionOrder } from './kinds/decision-order.ts';
import { decisions } from './kinds/decisions.ts';
import { deployHistory } from './kinds/deploy-history.ts';
import { deploys } from './kinds/deploys.ts';
import { estimates } from './kinds/estimates.ts';
import { findings } from './kinds/findings.ts';
import { opinions } from './kinds/opinions.ts';
import { replaced } from './kinds/replaced.ts';
import { reports } from './kinds/reports.ts';
import { shippedTickets } from './kinds/shipped-tickets.ts';
import { tickets } from './kinds/tickets.ts';
import { validations } from './kinds/validations.ts';

/** Every kind of question that is answered by reading. */
export const DOCUMENT_KINDS: readonly Kind[] = [
  tickets,
  decisions,
  deploys,
  findings,
  board,
  decisionOrder,
  deployHistory,
  assumptions,
  shippedTickets,
  validations,
  replaced,
  opinions,
  estimates,
  reports,
  budgets,
  citations,
];
