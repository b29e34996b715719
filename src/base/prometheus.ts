import { createRequire } from 'node:module';

type Prometheus = typeof import('prom-client');

/** Four classes of prom-client. Its index loads 80 files more, those of OpenTelemetry among them, for metrics that we do not use. */
const load = createRequire(import.meta.url);
export const Registry = load('prom-client/lib/registry') as Prometheus['Registry'];
export const Counter = load('prom-client/lib/counter') as Prometheus['Counter'];
export const Gauge = load('prom-client/lib/gauge') as Prometheus['Gauge'];
export const Histogram = load('prom-client/lib/histogram') as Prometheus['Histogram'];
