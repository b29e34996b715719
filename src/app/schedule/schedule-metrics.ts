import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { SchedulePhase } from '../../core/slow-fact.ts';
import type { ScheduleNews } from '../../schedule/scheduler.ts';

export interface ScheduleMetrics {
  hear(news: ScheduleNews): void;
  text(): Promise<string>;
}

const PHASES: readonly SchedulePhase[] = ['waiting', 'open', 'running', 'pausing'];

/** What slow work does, in Prometheus' words. */
export function createScheduleMetrics(phase: () => SchedulePhase): ScheduleMetrics {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: 'instar_schedule_state',
    help: 'Which state the scheduler is in: 1 for the one, 0 for the others',
    labelNames: ['state'],
    registers,
    collect() {
      const now = phase();
      for (const state of PHASES) this.set({ state }, state === now ? 1 : 0);
    },
  });
  const windows = new Counter({
    name: 'instar_schedule_windows_total',
    help: 'Windows for slow work that opened',
    registers,
  });
  const seconds = new Counter({
    name: 'instar_schedule_work_seconds_total',
    help: 'Seconds of slow work, by job',
    labelNames: ['job'],
    registers,
  });
  const ends = new Counter({
    name: 'instar_schedule_parts_total',
    help: 'Stretches of slow work, by job and how they ended',
    labelNames: ['job', 'end'],
    registers,
  });
  const pauses = new Counter({
    name: 'instar_schedule_pauses_total',
    help: 'Times that slow work was told to stop',
    registers,
  });
  const latency = new Histogram({
    name: 'instar_schedule_pause_seconds',
    help: 'From noticing a person to the work having stopped',
    buckets: [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
    registers,
  });
  return {
    hear: (news) => {
      if (news.type === 'moved') {
        if (news.from === 'waiting' && news.to === 'open') windows.inc();
        if (news.to === 'pausing') pauses.inc();
      } else if (news.type === 'paused') latency.observe(news.tookMs / 1000);
      else if (news.type === 'ended') {
        seconds.inc({ job: news.job }, news.tookMs / 1000);
        ends.inc({ job: news.job, end: news.end.end });
      }
    },
    text: () => registry.metrics(),
  };
}
