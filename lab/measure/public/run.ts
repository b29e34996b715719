import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { measureCustomers } from './customers.ts';
import { MEMORY_SETS, measurePublicMemory } from './measure-memory.ts';
import { measurePreferences } from './preferences.ts';
import { measureVerdicts } from './verdicts.ts';

/**
 * Public sets that nobody of this project wrote. Nothing of them is shipped: `--data` names the folder in
 * which they lie.
 *
 *   npm run bench:public -- --set tau-bench|tau-verdicts|prefeval-chat|… --data DIR [--json] [--metaclaw DIR]
 *
 * `--metaclaw` names the unpacked wheel of aiming-metaclaw 0.4.1: its own retrieval answers the same questions.
 */
const isMemorySet = (name: string): name is keyof typeof MEMORY_SETS => name in MEMORY_SETS;
const SETS = ['tau-bench', 'tau-verdicts', 'prefeval-chat', ...Object.keys(MEMORY_SETS)];

const { values: options } = parseArgs({
  options: {
    set: { type: 'string' },
    data: { type: 'string' },
    metaclaw: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

const name = options.set ?? '';
if (!SETS.includes(name)) fail(`--set takes ${SETS.join(', ')}, not "${name}".`);
if (options.data === undefined || !existsSync(options.data))
  fail(
    `The set "${name}" is absent: --data must name the folder of public sets${options.data === undefined ? '' : `; there is none at ${options.data}`}.`,
  );
const data = path.resolve(options.data);
const measured = isMemorySet(name)
  ? await measurePublicMemory(name, data, options.metaclaw)
  : name === 'tau-verdicts'
    ? measureVerdicts(data)
    : name === 'prefeval-chat'
      ? measurePreferences(data)
      : await measureCustomers(data);
if (!measured.ok) fail(measured.why);
process.stdout.write(options.json ? `${JSON.stringify(measured.result, null, 2)}\n` : `${measured.text}\n`);
process.exitCode = measured.isMet ? 0 : 1;
