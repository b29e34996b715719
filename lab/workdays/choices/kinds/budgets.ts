import { writeRuling } from '../../documents/decision-memo.ts';
import { writeBudget } from '../../documents/write-budget.ts';
import { pick, some } from '../../draw.ts';
import type { Budget } from '../../make-world/day-facts.ts';
import { cite, near, type Property, propertyClaims, valueClaims, verdictClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';

const PROPERTIES: readonly Property<Budget>[] = [
  {
    name: 'left',
    read: ({ planned, spent }) => planned - spent,
    say: ({ project }, value) => [
      `Planned less spent leaves ${value} EUR for ${project}`,
      `Set against its plan, ${project} stands at ${value} EUR (negative: overspent)`,
    ],
  },
  {
    name: 'spent',
    read: ({ spent }) => spent,
    say: ({ project }, value) => [`${project} has spent ${value} EUR so far`],
  },
];

/** Sums over the budget, and whether the projects that spend are those about which something was decided. */
export const budgets: Kind = {
  name: 'budgets',
  papers: ['budget', 'decisions'],
  draft(facts, random) {
    const subjects = some(random, facts.budgets, 3);
    const quote = (budget: Budget) => cite(facts.day, 'budget', writeBudget(budget));
    const list = subjects.map(({ project }) => project).join(', ');
    return {
      stem: pick(random, [
        `The money of ${list}: which statements follow from the budget, and from the decision memo where one asks for it?`,
        `Work it out from the budget and the decisions: what is right about ${list}?`,
        `For the talk with finance about ${list}, which of these can be said?`,
      ]),
      claims: [
        ...propertyClaims({
          subjects,
          all: [
            ...subjects.map(({ project, planned, spent }) => ({ project, planned: spent, spent: planned })),
            ...facts.budgets,
          ],
          nameOf: ({ project }) => project,
          properties: PROPERTIES,
          evidenceOf: (budget) => [quote(budget)],
        }),
        ...subjects.flatMap((budget) => {
          const { project, planned, spent } = budget;
          const about = facts.rulings.filter(({ decision }) => decision.project === project);
          return [
            ...verdictClaims({
              slot: `${project}/over`,
              isSo: spent > planned,
              yes: [`${project} has spent more than was planned`],
              no: [`${project} has kept within what was planned`],
              evidence: [quote(budget)],
            }),
            ...valueClaims({
              slot: `${project}/decisions`,
              actual: about.length,
              others: near(about.length),
              say: (value) => [`The number of decisions in force for ${project} is ${value}`],
              evidence: [
                quote(budget),
                ...about.map((ruling) => cite(facts.day, 'decisions', writeRuling(ruling))),
              ],
            }),
          ];
        }),
      ],
    };
  },
};
