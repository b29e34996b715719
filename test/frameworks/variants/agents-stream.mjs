import { Agent, run, setDefaultOpenAIClient, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';
import { withTurns } from './with-turns.mjs';

const { INSTAR_URL: url, INSTAR_KEY: apiKey } = process.env;
const turns = withTurns({ url, apiKey, session: 'agents-stream' });
setDefaultOpenAIClient(new OpenAI({ baseURL: `${url}/v1`, apiKey, fetch: turns.fetch }));
setTracingDisabled(true);
const parameters = z.object({ path: z.string() });
const read = tool({ name: 'read', description: 'Reads a file', parameters, execute: async () => '09:00' });
const agent = new Agent({ name: 'notes', instructions: 'Be brief.', model: 'default', tools: [read] });
const prompt = 'Write the dates of the meetings into the table in notes.md';
const stream = await run(agent, prompt, { stream: true });
for await (const text of stream.toTextStream()) process.stdout.write(text);
await stream.completed;
await turns.feedback(1);
