import { appendFileSync } from 'node:fs';
import process from 'node:process';
import { serveOnStdio } from '../../build/src/mcp/serve-on-stdio.js';

const [file] = process.argv.slice(2);
const keep = (what) => appendFileSync(file, `${JSON.stringify(what)}\n`);
const slowly = async (value) => {
  await new Promise((resolve) => setTimeout(resolve, 20));
  return { ok: true, value };
};
const tally = { attempts: 1, failed: 0 };

const api = {
  start: async (episode) => {
    keep({ start: episode });
    return slowly({ episode: 'ep-1', recalled: { text: '', lessons: [], said: [] } });
  },
  attempt: async (attempt) => {
    const told = await slowly(tally);
    keep({ attempt });
    return told;
  },
  end: async (end) => {
    keep({ end });
    return slowly({ ...tally, learns: false });
  },
  recall: async () => slowly({ text: '', lessons: [], said: [] }),
  list: async () => slowly([]),
  flows: async () => slowly([]),
  feedback: async () => slowly(null),
};

await serveOnStdio(
  { api, version: '0.0.0' },
  {
    input: process.stdin,
    output: process.stdout,
    signal: new AbortController().signal,
    report: (error) => process.stderr.write(`${error.message}\n`),
  },
);
keep('left');
