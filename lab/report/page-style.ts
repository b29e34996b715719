import { html, type Markup } from './markup.ts';

/** The style sheet of a report. Colours are variables, so that plots follow the light and dark themes. */
export const PAGE_STYLE: Markup = html`
:root { color-scheme: light dark;
  --paper: #fdfcfa; --card: #ffffff; --ink: #1c2128; --soft: #59626f; --line: #e2e0da; --grid: #ecebe6;
  --baseline: #6d7480; --skills: #0b7285; --full: #c2570c;
  --better: #2b7a3a; --worse: #b42323; --unsure: #7a6415; --mark: #a8a294; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #14161a; --card: #1b1e24; --ink: #e7e8ea; --soft: #9ea6b3; --line: #2e333b; --grid: #262a31;
  --baseline: #a3abb8; --skills: #3fc1d5; --full: #ff9a4a;
  --better: #69c77c; --worse: #ff7b72; --unsure: #d9bd5b; --mark: #5d6470; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1040px; margin: 0 auto; padding: 40px 24px 64px; }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 6px; letter-spacing: -0.01em; }
h2 { font-size: 18px; margin: 44px 0 4px; padding-top: 18px; border-top: 1px solid var(--line); }
h3 { font-size: 15px; margin: 24px 0 6px; }
p { margin: 6px 0 12px; max-width: 76ch; }
.soft, caption, figcaption { color: var(--soft); }
.facts { display: flex; flex-wrap: wrap; gap: 2px 20px; margin: 0 0 16px; padding: 0; color: var(--soft); list-style: none; font-size: 14px; }
.facts b { color: var(--ink); font-weight: 600; }
.remarks { margin: 0 0 20px; padding: 10px 16px 10px 32px; border: 1px solid var(--line); border-left: 3px solid var(--unsure); border-radius: 4px; background: var(--card); font-size: 14px; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(270px, 1fr)); gap: 14px; margin: 18px 0; }
.card { background: var(--card); border: 1px solid var(--line); border-top: 3px solid currentColor; border-radius: 6px; padding: 12px 16px 14px; }
.card h3 { margin: 0 0 2px; }
.card dl { margin: 0; }
.card dt { color: var(--soft); font-size: 13px; margin-top: 10px; }
.card dd { margin: 0; display: flex; align-items: baseline; gap: 8px; flex-wrap: wrap; font-variant-numeric: tabular-nums; }
.card dd b { font-size: 22px; line-height: 1.15; color: var(--ink); }
.card p { font-size: 13px; margin: 12px 0 0; }
.card dd span { color: var(--soft); font-size: 13px; }
.card svg { display: block; width: 100%; height: 10px; flex-basis: 100%; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; min-width: 100%; }
caption { text-align: left; font-size: 13px; padding: 4px 0; }
th, td { text-align: left; padding: 5px 14px 5px 0; border-bottom: 1px solid var(--grid); vertical-align: middle; }
th { font-weight: 600; }
thead th { color: var(--soft); font-size: 12.5px; border-bottom-color: var(--line); white-space: nowrap; }
td svg { display: block; }
td .soft { white-space: nowrap; }
.num { text-align: right; white-space: nowrap; } .whole { white-space: nowrap; }
.tight td, .tight th { padding-top: 2px; padding-bottom: 2px; }
tr.group > * { border-top: 1px solid var(--line); }
tr.joined > * { border-bottom: 0; padding-bottom: 1px; }
.below { font-size: 13px; color: var(--soft); padding-top: 0; }
.below ul { margin: 0 0 4px; padding-left: 18px; }
.verdict { font-weight: 650; white-space: nowrap; }
.better { color: var(--better); } .worse { color: var(--worse); } .cannot { color: var(--unsure); }
.baseline { color: var(--baseline); } .skills { color: var(--skills); } .full, .full-oracle { color: var(--full); }
.notes, .all-lessons { color: var(--unsure); } .skills-message, .skills-evolver, .skills-holdout, .skills-imperfect, .skills-distractors-50, .skills-distractors-200 { color: var(--skills); }
figure { margin: 14px 0 6px; }
figure svg { display: block; width: 100%; min-width: 640px; height: auto; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 8px 28px; }
.plots h3 { margin: 16px 0 0; } .plots figure { margin: 4px 0; } .plots figure svg { min-width: 0; }
.meanings { margin: 6px 0 12px; } .meanings dt { font-weight: 600; margin-top: 8px; } .meanings dd { margin: 0; max-width: 76ch; color: var(--soft); }
.cells { letter-spacing: 0.04em; white-space: nowrap; } .cells .none { color: var(--mark); }
svg text { fill: var(--soft); font-size: 12px; font-family: inherit; font-variant-numeric: tabular-nums; }
svg .name { fill: currentColor; font-weight: 600; }
.grid { stroke: var(--grid); } .axis { stroke: var(--line); } .zero { stroke: var(--mark); }
.weights { stroke: currentColor; opacity: 0.7; } svg .small { font-size: 11px; }
.begins { stroke: var(--mark); stroke-dasharray: 2 4; }
.curve { fill: none; stroke: currentColor; stroke-width: 2.4; stroke-linejoin: round; stroke-linecap: round; }
.baseline.curve { stroke-dasharray: 7 5; } .full-oracle.curve { stroke-dasharray: 1 5; stroke-width: 3; } .full.curve { stroke-dasharray: 12 4; }
.notes.curve { stroke-dasharray: 6 2 1 2; } .all-lessons.curve { stroke-dasharray: 4 3; } .skills-message.curve { stroke-dasharray: 3 1; } .skills-evolver.curve { stroke-dasharray: 5 1 1 1; } .skills-holdout.curve { stroke-dasharray: 10 3 2 3; } .skills-imperfect.curve { stroke-dasharray: 2 3; }
.skills-distractors-50.curve { stroke-dasharray: 8 2; } .skills-distractors-200.curve { stroke-dasharray: 5 5; }
.band { fill: currentColor; opacity: 0.13; }
.dot { fill: currentColor; opacity: 0.55; }
.bar { fill: currentColor; opacity: 0.85; } .faint { opacity: 0.32; } .track { fill: var(--grid); }
.whisker { stroke: currentColor; stroke-width: 2; fill: none; } .end { stroke: var(--ink); stroke-width: 1.4; fill: none; }
.trial { fill: var(--unsure); opacity: 0.75; } .live { fill: var(--better); opacity: 0.8; } .other { fill: var(--mark); opacity: 0.6; }
details { margin: 4px 0 12px; } summary { cursor: pointer; color: var(--soft); font-size: 14px; }
.key { display: flex; flex-wrap: wrap; gap: 4px 18px; font-size: 13px; color: var(--soft); margin: 6px 0; }
.key svg { vertical-align: -2px; margin-right: 5px; }
footer { margin-top: 48px; border-top: 1px solid var(--line); padding-top: 14px; color: var(--soft); font-size: 13px; }
@media print { details > * { display: block; } main { padding: 0; } }
`;
