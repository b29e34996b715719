import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, describe, expect, it } from 'vitest';
import { asObject } from '../../src/core/json.ts';

const ENTRY = path.resolve(import.meta.dirname, 'stdio-entry.mjs');
const folder = mkdtempSync(path.join(tmpdir(), 'instar-mcp-'));
let files = 0;
const newFile = (): string => path.join(folder, `episodes-${++files}.jsonl`);
const read = (file: string): unknown[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes all lines to a new process at once and closes its input. */
async function pipe(file: string, lines: readonly (object | string)[]) {
  const child = spawn(process.execPath, [ENTRY, file], { stdio: ['pipe', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  child.stdin.end(
    lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''),
  );
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return {
    code,
    err,
    answers: out
      .split('\n')
      .filter(Boolean)
      .map((line) => asObject(JSON.parse(line))),
  };
}

const HELLO = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'codex', version: '1' } },
};
const READY = { jsonrpc: '2.0', method: 'notifications/initialized' };
const call = (id: number, name: string, args: object): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

describe('the MCP server as a process', () => {
  it('serves the SDK client of both protocol revisions, and exits with the client', async () => {
    for (const versionNegotiation of [{ mode: 'legacy' }, { mode: 'auto' }] as const) {
      const file = newFile();
      const client = new Client({ name: 'opencode', version: '2' }, { versionNegotiation });
      await client.connect(new StdioClientTransport({ command: process.execPath, args: [ENTRY, file] }));
      expect((await client.listTools()).tools).toHaveLength(7);
      const started = await client.callTool({ name: 'start_episode', arguments: { task: 'x' } });
      expect(started.structuredContent).toEqual({ episode: 'ep-1', lessons: '', ids: [], said: [] });
      await client.close();
      expect(read(file)).toEqual([{ start: { task: 'x', client: 'opencode' } }, 'left']);
    }
  });

  it('answers all requests before the end of its input, prints only protocol lines, and exits with 0', async () => {
    const file = newFile();
    const attempt = { episode: 'ep-1', action: 'a', result: 'b', ok: true };
    const { code, err, answers } = await pipe(file, [
      HELLO,
      READY,
      'this is no message',
      call(2, 'start_episode', { task: 'x' }),
      call(3, 'log_attempt', attempt),
      call(4, 'end_episode', { episode: 'ep-1', outcome: 'success' }),
    ]);
    expect(answers.map(({ jsonrpc }) => jsonrpc)).toEqual(['2.0', '2.0', '2.0', '2.0']);
    expect(answers.map(({ id }) => id).sort()).toEqual([1, 2, 3, 4]);
    expect(answers.every(({ result }) => asObject(result).isError !== true)).toBe(true);
    expect(read(file)).toEqual([
      { start: { task: 'x', client: 'codex' } },
      { attempt },
      { end: { episode: 'ep-1', outcome: 'success' } },
      'left',
    ]);
    expect([code, err]).toEqual([0, '']);
  });

  it('exits with 0 when there was no request', async () => {
    const file = newFile();
    expect(await pipe(file, [])).toEqual({ code: 0, err: '', answers: [] });
    expect(read(file)).toEqual(['left']);
  });
});
