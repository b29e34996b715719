import type { FinishedRun, PipelineCondition } from '../../pipeline/pipeline-journal.ts';
import { type Section, tableBlock } from '../document.ts';
import { count, fixed, NO_VALUE } from '../format-numbers.ts';
import { conditionCell, createTable, numberColumn, textColumn } from '../table.ts';

/** What the reviewers made of the papers of a condition. */
export interface ReviewSummary {
  readonly condition: PipelineCondition;
  /** Papers with reviews. */
  readonly papers: number;
  /** The mean score of each reviewer, 1 to 5. */
  readonly reviewers: readonly { readonly reviewer: string; readonly score: number }[];
  /** The mean distance between the most and the least favourable reviewer of a paper, and how often they recommended different things. */
  readonly disagreement: number;
  readonly divided: number;
  readonly recommendations: Readonly<Record<string, number>>;
}

/** Empty for journals of earlier versions, which had one reviewer without a record. */
export function summariseReviews(
  runs: readonly FinishedRun[],
  conditions: readonly PipelineCondition[],
): readonly ReviewSummary[] {
  return conditions.flatMap((condition) => {
    const papers = runs
      .filter((run) => run.condition === condition)
      .flatMap(({ stages }) => stages.flatMap(({ reviews }) => (reviews?.length ? [reviews] : [])));
    if (papers.length === 0) return [];
    const all = papers.flat();
    const names = [...new Set(all.map(({ reviewer }) => reviewer))];
    const recommendations: Record<string, number> = {};
    for (const { recommendation } of all)
      recommendations[recommendation] = (recommendations[recommendation] ?? 0) + 1;
    return [
      {
        condition,
        papers: papers.length,
        reviewers: names.map((reviewer) => ({
          reviewer,
          score: mean(all.filter((one) => one.reviewer === reviewer).map(({ score }) => score)),
        })),
        disagreement: mean(
          papers.map((reviews) => {
            const scores = reviews.map(({ score }) => score);
            return Math.max(...scores) - Math.min(...scores);
          }),
        ),
        divided: papers.filter((reviews) => new Set(reviews.map((one) => one.recommendation)).size > 1)
          .length,
        recommendations,
      },
    ];
  });
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** A section without content is left out of the report. */
export function reviewSection(reviews: readonly ReviewSummary[]): Section {
  const names = [...new Set(reviews.flatMap(({ reviewers }) => reviewers.map(({ reviewer }) => reviewer)))];
  const scoreOf = ({ reviewers }: ReviewSummary, name: string): string => {
    const found = reviewers.find(({ reviewer }) => reviewer === name);
    return found === undefined ? NO_VALUE : fixed(found.score, 2);
  };
  return {
    title: 'Reviews',
    brief: 'mean scores from 1 to 5, and how far apart the reviewers are',
    about:
      'Three reviewers with different rubrics read each paper, none of them the others’ words. Disagreement is the mean distance between the most and the least favourable one; divided counts papers for which they did not recommend the same. The reviewers are the policy itself: their scores say how it judges, not how good the paper is.',
    blocks:
      reviews.length === 0
        ? []
        : [
            tableBlock(
              createTable(reviews, [
                textColumn('condition', ({ condition }) => conditionCell(condition)),
                numberColumn('papers', ({ papers }) => count(papers)),
                ...names.map((name) =>
                  numberColumn<ReviewSummary>(name.replace('review-', ''), (one) => scoreOf(one, name)),
                ),
                numberColumn('disagreement', ({ disagreement }) => fixed(disagreement, 2)),
                numberColumn('divided', ({ divided }) => count(divided)),
                textColumn('recommended', ({ recommendations }) =>
                  Object.entries(recommendations)
                    .sort(([a], [b]) => (a < b ? -1 : 1))
                    .map(([name, times]) => `${name} ${times}`)
                    .join(', '),
                ),
              ]),
            ),
          ],
  };
}
