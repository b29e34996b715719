import type { PipelineJournal } from '../pipeline-journal.ts';

/** Seeds that have every run of every condition. */
export const finishedSeeds = ({ head, runs }: PipelineJournal): number =>
  head.seeds.filter(
    (seed) => runs.filter((one) => one.seed === seed).length === head.conditions.length * head.runs,
  ).length;
