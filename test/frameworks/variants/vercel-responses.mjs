// The default of this SDK is the Responses API, which refers to its own earlier items by id.
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, isStepCount, tool } from 'ai';
import { z } from 'zod';
import { withTurns } from './with-turns.mjs';

const { INSTAR_URL: url, INSTAR_KEY: apiKey } = process.env;
const turns = withTurns({ url, apiKey, session: 'vercel-responses' });
const instar = createOpenAI({ baseURL: `${url}/v1`, apiKey, fetch: turns.fetch });
const read = tool({ inputSchema: z.object({ path: z.string() }), execute: async () => '09:00' });
const prompt = 'Write the dates of the meetings into the table in notes.md';
const options = { model: instar('default'), prompt, tools: { read }, stopWhen: isStepCount(3) };
const { text } = await generateText(options);
process.stdout.write(text);
await turns.feedback(1);
