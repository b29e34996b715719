import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { describeSessionSearch } from './list-sessions-contract.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'instar-arms-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describeSessionSearch('a file', () => path.join(dir, 'instar.sqlite'));
