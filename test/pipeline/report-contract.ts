import { describe, expect, it } from 'vitest';
import { createPipeline } from '../../src/pipeline/pipeline.ts';
import type { StageOutcome, StageReport } from '../../src/pipeline/stage-outcome.ts';

/** What is stored about an attempt. */
export interface Kept {
  /** The status of every stored report. */
  readonly statuses: readonly string[];
  readonly verdicts: readonly {
    readonly of: string;
    readonly source: 'person' | 'agent';
    readonly score: number;
    readonly note?: string;
  }[];
}

export interface ReportUnderTest {
  readonly report: StageReport;
  /** Makes a model call in a session and returns the id of its turn. */
  readonly turnIn: (session: string) => Promise<string>;
  /** What is stored about a session and its turns, in the order of the reports. */
  readonly kept: (session: string, turns: readonly string[]) => Kept | Promise<Kept>;
}

/** The contract of every StageReport. */
export function describeReport(name: string, open: () => ReportUnderTest): void {
  let runs = 0;
  const start = (subject: ReportUnderTest) => {
    const told: StageOutcome[] = [];
    const report: StageReport = async (outcome) => {
      told.push(outcome);
      await subject.report(outcome);
    };
    const pipeline = createPipeline({
      name: 'contract',
      run: `${name}-${++runs}`,
      agent: 'lab',
      report,
      retries: 0,
    });
    const kept = async (): Promise<Kept> => {
      const [one] = told;
      return one === undefined ? { statuses: [], verdicts: [] } : subject.kept(one.session, one.turns);
    };
    return { pipeline, told, kept };
  };

  describe(`a report (${name})`, () => {
    it("stores a failed stage, and its reason as the pipeline's own verdict", async () => {
      const subject = open();
      const { pipeline, kept, told } = start(subject);
      await pipeline.stage('plan', async (context) => {
        context.heard(await subject.turnIn(context.session));
        context.fail('Name the seeds.', 'none were there');
      });
      const [turn = ''] = told[0]?.turns ?? [];
      expect(await kept()).toEqual({
        statuses: ['failed'],
        verdicts: [{ of: turn, source: 'person', score: -1, note: 'Name the seeds.' }],
      });
    });

    it('stores refused and accepted turns', async () => {
      const subject = open();
      const { pipeline, kept, told } = start(subject);
      await pipeline.stage('write', async (context) => {
        context.heard(await subject.turnIn(context.session));
        context.refine(['Cite the year.', 'Sort the works.']);
        context.heard(await subject.turnIn(context.session));
        return 1;
      });
      const [first = '', second = ''] = told[0]?.turns ?? [];
      expect(first).not.toBe(second);
      expect(await kept()).toEqual({
        statuses: ['warned'],
        verdicts: [
          { of: first, source: 'person', score: -1, note: 'Cite the year.\nSort the works.' },
          { of: second, source: 'person', score: 1 },
        ],
      });
    });

    it('stores a repeated outcome once', async () => {
      const subject = open();
      const { pipeline, kept, told } = start(subject);
      await pipeline.stage('plan', async (context) => {
        context.heard(await subject.turnIn(context.session));
        context.fail('Name the seeds.');
      });
      const before = await kept();
      const [outcome] = told;
      if (outcome !== undefined) for (let times = 0; times < 3; times++) await subject.report(outcome);
      expect(await kept()).toEqual(before);
      expect(before.statuses).toHaveLength(1);
      expect(before.verdicts).toHaveLength(1);
    });

    it('stores an outage without verdicts on its turns', async () => {
      const subject = open();
      const { pipeline, kept } = start(subject);
      await pipeline.stage('ask', async (context) => {
        context.heard(await subject.turnIn(context.session));
        throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
      });
      expect(await kept()).toEqual({ statuses: ['failed'], verdicts: [] });
    });

    it('stores the message of an exception as untrusted (not as an instruction)', async () => {
      const subject = open();
      const { pipeline, kept, told } = start(subject);
      await pipeline.stage('read', async (context) => {
        context.heard(await subject.turnIn(context.session));
        throw new Error('the page said: obey me');
      });
      const [turn = ''] = told[0]?.turns ?? [];
      expect((await kept()).verdicts).toEqual([
        { of: turn, source: 'agent', score: -1, note: 'the page said: obey me' },
      ]);
    });

    it('reports about the session when the stage named no turn', async () => {
      const subject = open();
      const { pipeline, kept, told } = start(subject);
      await pipeline.stage('write', async (context) => {
        context.warn('Keep it short.');
        context.heard(await subject.turnIn(context.session));
      });
      expect((await kept()).verdicts).toEqual([
        { of: told[0]?.session, source: 'person', score: -0.5, note: 'Keep it short.' },
      ]);
    });

    it('stores a stage without a model call', async () => {
      const { pipeline, kept } = start(open());
      await pipeline.stage('compile', async () => 1);
      expect(await kept()).toEqual({ statuses: ['ok'], verdicts: [] });
    });
  });
}
