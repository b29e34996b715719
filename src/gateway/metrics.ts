import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { TurnReport } from './turn.ts';

export interface Metrics {
  report(report: TurnReport): void;
  /** A request that was turned away before it became a turn. */
  refused(reason: string): void;
  readonly totals: { readonly served: number; readonly failed: number; readonly refused: number };
  text(): Promise<string>;
}

/** `learned`: counts of what was learned and what waits, by their names. */
export function createMetrics(
  inFlight: () => number,
  learned: () => Readonly<Record<string, number>> = () => ({}),
): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const turns = new Counter({
    name: 'instar_turns_total',
    help: 'Turns by wire, provider and how they ended',
    labelNames: ['wire', 'provider', 'end'],
    registers,
  });
  const retries = new Counter({
    name: 'instar_retries_total',
    help: 'Tries after the first, by provider',
    labelNames: ['provider'],
    registers,
  });
  const refusals = new Counter({
    name: 'instar_refused_total',
    help: 'Requests turned away at the door, by reason',
    labelNames: ['reason'],
    registers,
  });
  const seconds = new Histogram({
    name: 'instar_turn_seconds',
    help: 'From a request’s first byte to its reply’s last',
    labelNames: ['wire'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300],
    registers,
  });
  new Gauge({
    name: 'instar_in_flight',
    help: 'Requests being served now',
    registers,
    collect() {
      this.set(inFlight());
    },
  });
  new Gauge({
    name: 'instar_learning',
    help: 'What was learned and what waits to be',
    labelNames: ['what'],
    registers,
    collect() {
      for (const [what, count] of Object.entries(learned())) this.set({ what }, count);
    },
  });
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the daemon',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  const totals = { served: 0, failed: 0, refused: 0 };
  /** Finding a labelled counter costs more than counting: each is looked up once. */
  const counters = new Map<
    string,
    { readonly turns: Counter.Internal; readonly seconds: Histogram.Internal<string> }
  >();
  const countersOf = (wire: string, provider: string, end: string) => {
    const name = `${wire} ${provider} ${end}`;
    let found = counters.get(name);
    if (found === undefined) {
      found = { turns: turns.labels({ wire, provider, end }), seconds: seconds.labels({ wire }) };
      counters.set(name, found);
    }
    return found;
  };
  return {
    totals,
    report: ({ wire, provider, end, tries, totalMs }) => {
      const counted = countersOf(wire, provider, end);
      counted.turns.inc();
      counted.seconds.observe(totalMs / 1000);
      if (tries > 1) retries.inc({ provider }, tries - 1);
      if (end === 'complete' || end === 'client-abort') totals.served++;
      else totals.failed++;
    },
    refused: (reason) => {
      refusals.inc({ reason });
      totals.refused++;
    },
    text: () => registry.metrics(),
  };
}
