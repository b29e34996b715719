import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { measureCustomers } from './customers.ts';

/**
 * Public sets that nobody of this project wrote, played through a real daemon. Nothing of them is shipped: `--data` names the folder in
 * which they lie.
 *
 *   npm run bench:public -- --set tau-bench --data DIR [--json]
 */
const SETS = { 'tau-bench': measureCustomers } as const;

const { values: options } = parseArgs({
  options: { set: { type: 'string' }, data: { type: 'string' }, json: { type: 'boolean', default: false } },
});

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

const name = options.set ?? '';
if (!(name in SETS)) fail(`--set takes ${Object.keys(SETS).join(', ')}, not "${name}".`);
if (options.data === undefined || !existsSync(options.data))
  fail(
    `The set "${name}" is absent: --data must name the folder of public sets${options.data === undefined ? '' : `; there is none at ${options.data}`}.`,
  );
const measured = await SETS[name as keyof typeof SETS](path.resolve(options.data));
if (!measured.ok) fail(measured.why);
process.stdout.write(options.json ? `${JSON.stringify(measured.result, null, 2)}\n` : `${measured.text}\n`);
process.exitCode = measured.isMet ? 0 : 1;
