import { byDay } from './html/by-day.ts';
import { differences } from './html/differences.ts';
import { lessonTimeline } from './html/lesson-timeline.ts';
import { losses } from './html/losses.ts';
import { html, toText } from './html/markup.ts';
import { nights } from './html/nights.ts';
import { overview } from './html/overview.ts';
import { ruleBars } from './html/rule-bars.ts';
import { section } from './html/section.ts';
import { STYLE } from './html/style.ts';
import { byArc, byType, costs } from './html/tables.ts';
import { lastDay } from './last-day.ts';
import type { Report } from './report.ts';

/**
 * The report as one page: nothing is loaded and nothing runs. Names of lessons are written by models, so the page also
 * forbids what escaping should have prevented: with this policy a browser executes no script, wherever it came from.
 */
export const toHtml = (report: Report): string =>
  toText(html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${report.head.suite} · ${report.head.policy} · ${report.head.run}</title>
<style>${STYLE}</style></head><body><main>
${overview(report)}
${section('Differences', 'The same question under both conditions, days of runs drawn anew. A verdict is given only where the 95 % interval leaves out 0 and flipping the signs of days by chance agrees.', differences(report))}
${section('By day', 'Dots are days over all seeds, the curve is the mean of three days, the band its 95 % interval. Dashed marks show where a rule begins to count, thin lines where newly trained weights began to serve.', byDay(report))}
${section('Rules', 'A rule is taught from the first question on whose prompt held something that teaches it. “Not shown” counts later questions that were not shown it again.', ruleBars(report))}
${section('What was learned when', '', lessonTimeline({ lessons: report.lessons, last: lastDay(report), period: 'day', subject: 'rule' }))}
${section('Nights', 'Weights are trained after a day on which the library learned something, on tasks of another world, and then held against those that serve on tasks that trained nobody. They serve only where these pairs show that they are not worse by more than a small margin.', nights(report))}
${section('Losses beside gains', '', losses(report))}
${section('By type', '', byType(report))}
${section('By learning arc', '', byArc(report))}
${section('Cost', 'Overhead is the time a question took outside the policy.', costs(report))}
<footer><p>Accuracy is the mean score of graded questions; completion the share of file tasks that passed every check; exact match the share of multiple-choice questions answered exactly right. What could not be graded is counted apart and is neither right nor wrong. Intervals of whole conditions and differences come from 4,000 resamples of days of runs; they say nothing of how much whole runs differ from one another, which only more seeds can show; those of single days, arcs and rules take questions as independent (Wilson) and carry no claim. Each interval is right 95 times in 100 by itself: of twenty comparisons where nothing differs, expect one to look as if it did. One policy and one form of the questions to a report; others are reported apart.</p></footer>
</main></body></html>
`);
