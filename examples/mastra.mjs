import { createOpenAI } from '@ai-sdk/openai';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { withTurns } from './with-turns.mjs';

const { INSTAR_URL: url = 'http://127.0.0.1:4600', INSTAR_KEY: apiKey } = process.env;
const turns = withTurns({ url, apiKey });
const model = createOpenAI({ baseURL: `${url}/v1`, apiKey, fetch: turns.fetch }).chat('default');
const inputSchema = z.object({ path: z.string() });
const read = createTool({
  id: 'read',
  description: 'Reads a file',
  inputSchema,
  execute: async () => '09:00',
});
const agent = new Agent({ id: 'notes', name: 'notes', instructions: 'Be brief.', model, tools: { read } });

const stream = await agent.stream('Write the dates of the meetings into the table in notes.md');
for await (const text of stream.textStream) process.stdout.write(text);
await turns.feedback(1);
