import { parseArgs } from 'node:util';
import { reportByRules } from './by-rules.ts';

/** npm run bench:practice [-- --set FILE]: practice where nobody configured a verifier, by the checks of rules. */
const { values } = parseArgs({
  options: { set: { type: 'string', default: 'lab/measure/checks/sets/dev.jsonl' } },
});
process.stdout.write(`${await reportByRules(values.set)}\n`);
