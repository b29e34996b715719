/*
 * Preloaded into a process (`NODE_OPTIONS=--require`): its wall clock, in every thread, is ahead by the milliseconds in the
 * file that WRONG_CLOCK names. The file may change while the process runs.
 */
const { readFileSync } = require('node:fs');

const Real = Date;
const file = process.env.WRONG_CLOCK;
let skew = 0;
let readAt = Number.NEGATIVE_INFINITY;

function now() {
  if (performance.now() - readAt > 20) {
    readAt = performance.now();
    skew = Number(readFileSync(file, 'utf8'));
  }
  return Real.now() + skew;
}

globalThis.Date = class extends Real {
  constructor(...args) {
    if (args.length === 0) super(now());
    else super(...args);
  }

  static now() {
    return now();
  }
};
