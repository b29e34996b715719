import { describe, expect, it } from 'vitest';
import { writeMoment } from '../../../lab/workdays/documents/paper-text.ts';
import { paperPath, papersOf, writeDocuments } from '../../../lab/workdays/documents/papers.ts';
import { makeDays } from '../../../lab/workdays/make-world/make-days.ts';
import { SPLITS } from '../../../lab/workdays/world.ts';

const all = SPLITS.flatMap((split) => [1, 2].flatMap((seed) => makeDays(split, seed)));

describe('writeDocuments', () => {
  it('puts every paper of a day in its folder, six on the first day and eleven on the last', () => {
    const counts = makeDays('train', 1).map((facts) => {
      const paths = Object.keys(writeDocuments(facts));
      expect(paths).toEqual(papersOf(facts.day).map((paper) => paperPath(facts.day, paper)));
      expect(paths.every((path) => path.startsWith(`${facts.day.id}/`))).toBe(true);
      return paths.length;
    });
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect([counts.at(0), counts.at(-1)]).toEqual([6, 11]);
  });

  it('contains everything that tasks may ask for: tickets and deploys as JSON that can be read back', () => {
    let read = 0;
    for (const facts of all) {
      const { day } = facts;
      const texts = writeDocuments(facts);
      const board = JSON.parse(texts[paperPath(day, 'board')] ?? '') as {
        tickets: Record<string, unknown>[];
      };
      expect(board.tickets).toEqual(
        day.tickets.map((ticket) => ({
          number: ticket.number,
          title: ticket.title,
          project: ticket.project,
          owner: ticket.owner,
          state: ticket.state,
          due: writeMoment(ticket.dueAt),
          estimate_hours: ticket.estimateHours,
        })),
      );
      const log = JSON.parse(texts[paperPath(day, 'deploys')] ?? '') as {
        deploys: Record<string, unknown>[];
      };
      expect(log.deploys).toEqual(
        day.deploys.map(({ at, ...deploy }) => ({ ...deploy, when: writeMoment(at) })),
      );
      read += board.tickets.length + log.deploys.length;
    }
    expect(read).toBeGreaterThan(1000);
  });

  it('contains everything that tasks may ask for: decisions and figures, field by field', () => {
    let found = 0;
    for (const facts of all) {
      const texts = writeDocuments(facts);
      const memo = (texts[paperPath(facts.day, 'decisions')] ?? '').split('\n## ').slice(1);
      for (const [at, decision] of facts.day.decisions.entries()) {
        const { at: when, reviewAt, ...plain } = decision;
        for (const value of [...Object.values(plain), writeMoment(when), writeMoment(reviewAt)]) {
          found++;
          expect(memo[at]).toContain(value);
        }
      }
      const note = (texts[paperPath(facts.day, 'market')] ?? '').split('\n### ').slice(1);
      for (const [at, { at: when, value, ...plain }] of facts.day.figures.entries()) {
        for (const text of [...Object.values(plain), String(value), writeMoment(when)]) {
          found++;
          expect(note[at]).toContain(text);
        }
      }
    }
    expect(found).toBeGreaterThan(4000);
  });

  it('has papers that contradict each other about half of the time', () => {
    const shares = {
      value: all.flatMap(({ assumptions }) => assumptions.map(({ figure, value }) => figure.value !== value)),
      segment: all.flatMap(({ assumptions, findings }) =>
        assumptions.map(({ segment }, at) => findings[at]?.segment !== segment),
      ),
      wish: all.flatMap(({ wishes }) => wishes.map(({ way, ruling }) => way !== ruling.way)),
      state: all.flatMap(({ reports }) => reports.map(({ state, ticket }) => state !== ticket.state)),
      replaced: all.flatMap(({ rulings }) => rulings.map(({ earlier }) => earlier !== undefined)),
    };
    for (const [name, list] of Object.entries(shares)) {
      const share = list.filter(Boolean).length / list.length;
      expect(list.length, name).toBeGreaterThan(300);
      expect(share, name).toBeGreaterThan(0.3);
      expect(share, name).toBeLessThan(0.7);
    }
  });
});
