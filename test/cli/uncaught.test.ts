import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { alnum, createRandom, pick } from '../redact/secret-makers.ts';

const dist = (file: string): string =>
  JSON.stringify(pathToFileURL(path.resolve(import.meta.dirname, '../../build/src', file)).href);

it('logs an unexpected error with its secrets redacted and exits with 1 (Node printed it as it was)', () => {
  const token = `ghp_${pick(createRandom(8), alnum, 36)}`;
  const script = `
    const { stayUntilStopped } = await import(${dist('cli/foreground.js')});
    const { createLog } = await import(${dist('redact/create-log.js')});
    stayUntilStopped({ close: async () => undefined, log: createLog({ format: 'json', level: 'info' }) });
    setTimeout(() => { throw new Error('refused ${token}', { cause: new Error('sent ${token}') }); });`;
  const done = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(done.status).toBe(1);
  expect(done.stderr).toContain('an unexpected error stopped Instar');
  expect(done.stdout + done.stderr).toContain('[[secret:');
  expect(done.stdout + done.stderr).not.toContain(token);
});
