import { parseArgs } from 'node:util';
import { writeSection } from '../markdown.ts';
import { playMining } from './play-mining.ts';
import { reportMining, scoreMining } from './score-mining.ts';

/**
 * Records sessions of the real clients' shapes over git projects with real tests, mines them, and tries every task again in
 * confinement. `--repo` names the git folder of a public repository that is known here (tomli, idna, more-itertools).
 */
const { values: options } = parseArgs({
  options: {
    sessions: { type: 'string', default: '200' },
    repo: { type: 'string', multiple: true, default: [] },
    /** Print every session that went wrong. */
    explain: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const sessions = Number(options.sessions);
if (!(sessions > 0)) {
  process.stderr.write(`--sessions takes a number, not "${options.sessions}".\n`);
  process.exit(2);
}
const onProgress = (what: string): void => void process.stderr.write(`${what}\n`);
const record = await playMining({ sessions, repos: options.repo, onProgress });
try {
  const scored = await scoreMining(record, onProgress);
  const names = record.projects.filter(({ kind }) => kind === 'real').map(({ name }) => name);
  const report = reportMining(scored, names);
  const lines = scored.map(({ played, tasks, isRight, why, rerun }) => ({
    scenario: played.scenario.name,
    client: played.client,
    project: played.project.name,
    command: played.bug.command,
    start: played.start,
    session: played.session,
    isRight,
    why,
    tasks: tasks.map(({ check, prompt, isRecordOnly }) => ({ check, prompt, isRecordOnly })),
    rerun,
  }));
  if (options.explain)
    for (const line of lines)
      if (!line.isRight || (line.rerun && (line.rerun.atStart !== 0 || line.rerun.atEnd !== 1)))
        process.stderr.write(`${JSON.stringify(line)}\n`);
  process.stdout.write(options.json ? `${JSON.stringify(lines)}\n` : `${report}\n`);
  if (options.write) writeSection('docs/practice.md', 'mining', report);
} finally {
  record.close();
}
