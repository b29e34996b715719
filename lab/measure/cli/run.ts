import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { markdownTable, milliseconds, quantile, writeSection } from '../markdown.ts';

/**
 * How long commands of the packed and installed binary take, as multiples of `node -e 0`, in turn in one run. `status`,
 * `sessions list` and `lessons list` ask a running daemon. `--write` puts the table into docs/performance.md.
 */

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '41' }, write: { type: 'boolean' } },
});
const rounds = Number(values.rounds);
const root = path.resolve(import.meta.dirname, '../../../..');
const folder = mkdtempSync(path.join(tmpdir(), 'instar-cli-'));
const [running, stopped] = [path.join(folder, 'running'), path.join(folder, 'stopped')];
const print = (text: string): void => void process.stdout.write(`${text}\n`);

interface Cell {
  readonly name: string;
  readonly args: readonly string[];
  readonly goal?: number;
}

function install(): string {
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    stdio: 'ignore',
  });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  writeFileSync(path.join(folder, 'package.json'), '{"private":true}');
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--silent'];
  execFileSync('npm', ['install', ...quiet, `./${tarball}`], { cwd: folder, stdio: 'ignore' });
  return path.join(folder, 'node_modules/instar/dist/src/cli/main.js');
}

const cellsOf = (main: string): readonly Cell[] => [
  { name: 'node -e 0', args: ['-e', '0'] },
  { name: 'instar --help', args: [main, '--help'], goal: 1.6 },
  { name: 'instar status', args: [main, 'status', '--home', running], goal: 2.5 },
  { name: 'instar status (stopped)', args: [main, 'status', '--home', stopped], goal: 2.5 },
  { name: 'instar sessions list', args: [main, 'sessions', 'list', '--home', running] },
  { name: 'instar lessons list', args: [main, 'lessons', 'list', '--home', running] },
];

/** Milliseconds of wall-clock time of one run. */
function time(args: readonly string[]): number {
  const start = performance.now();
  const { error } = spawnSync(process.execPath, args, { stdio: 'ignore' });
  if (error !== undefined) throw error;
  return performance.now() - start;
}

const main = install();
const daemon = spawn(process.execPath, [main, 'up', '--port', '0', '--home', running], {
  stdio: ['ignore', 'pipe', 'ignore'],
});
try {
  await new Promise<void>((resolve, reject) => {
    daemon.stdout.once('data', () => resolve());
    daemon.once('exit', (code) => reject(new Error(`the daemon ended with ${code}`)));
  });
  const cells = cellsOf(main);
  for (const { args } of cells) time(args);
  const times = cells.map((): number[] => []);
  for (let round = 0; round < rounds; round++)
    cells.forEach(({ args }, index) => void times[index]?.push(time(args)));
  const bare = quantile(times[0] ?? [], 0.5);
  const rows = cells.map(({ name, goal }, index) => {
    const list = times[index] ?? [];
    const ratio = quantile(list, 0.5) / bare;
    const verdict = goal === undefined ? '' : `${goal}x: ${ratio <= goal ? 'met' : 'MISSED'}`;
    const spread = `${milliseconds(quantile(list, 0.1))} to ${milliseconds(quantile(list, 0.9))}`;
    return [`\`${name}\``, milliseconds(quantile(list, 0.5)), spread, ratio.toFixed(2), verdict];
  });
  const head = ['command', 'median ms', 'fastest to slowest tenth', '× bare node', 'goal'];
  const load = loadavg()[0]?.toFixed(1);
  const report = [
    `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores, load average ${load}. \`npm run bench:cli\`: ${rounds} rounds in turn, of the packed and installed package.`,
    markdownTable(head, rows),
  ].join('\n\n');
  print(report);
  if (values.write === true) writeSection(path.join(root, 'docs/performance.md'), 'bench:cli', report);
} finally {
  daemon.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}
