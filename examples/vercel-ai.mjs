import { createOpenAI } from '@ai-sdk/openai';
import { isStepCount, streamText, tool } from 'ai';
import { z } from 'zod';

const { INSTAR_URL: url = 'http://127.0.0.1:4600', INSTAR_KEY: apiKey } = process.env;
const instar = createOpenAI({ baseURL: `${url}/v1`, apiKey, headers: { 'x-instar-session': 'vercel-1' } });
const read = tool({
  inputSchema: z.object({ path: z.string() }),
  execute: async ({ path }) => `${path}: 09:00`,
});

const prompt = 'Write the dates of the meetings into the table in notes.md';
const result = streamText({
  model: instar.chat('default'),
  prompt,
  tools: { read },
  stopWhen: isStepCount(3),
});
for await (const text of result.textStream) process.stdout.write(text);

const turn = (await result.response).headers['x-instar-turn'];
const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
await fetch(`${url}/v1/feedback`, { method: 'POST', headers, body: JSON.stringify({ turn, score: 1 }) });
