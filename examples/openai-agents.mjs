import { Agent, run, setDefaultOpenAIClient, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';
import { withTurns } from './with-turns.mjs';

const { INSTAR_URL: url = 'http://127.0.0.1:4600', INSTAR_KEY: apiKey } = process.env;
const turns = withTurns({ url, apiKey, session: 'agents-1' });
setDefaultOpenAIClient(new OpenAI({ baseURL: `${url}/v1`, apiKey, fetch: turns.fetch }));
setTracingDisabled(true);
const parameters = z.object({ path: z.string() });
const read = tool({ name: 'read', description: 'Reads a file', parameters, execute: async () => '09:00' });
const agent = new Agent({ name: 'notes', instructions: 'Be brief.', model: 'default', tools: [read] });

const result = await run(agent, 'Write the dates of the meetings into the table in notes.md');
process.stdout.write(String(result.finalOutput));
await turns.feedback(1);
