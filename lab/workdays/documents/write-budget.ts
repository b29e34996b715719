import type { Budget, DayFacts } from '../make-world/day-facts.ts';

export const writeBudget = ({ project, planned, spent }: Budget): string =>
  `${project},${planned},${spent},EUR`;

export const writeBudgets = ({ budgets }: DayFacts): string =>
  ['project,planned,spent,currency', ...budgets.map(writeBudget), ''].join('\n');
