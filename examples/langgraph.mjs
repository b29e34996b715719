import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import { withTurns } from './with-turns.mjs';

const { INSTAR_URL: url = 'http://127.0.0.1:4600', INSTAR_KEY: apiKey } = process.env;
const turns = withTurns({ url, apiKey, session: 'langgraph-1' });
const llm = new ChatOpenAI({
  model: 'default',
  apiKey,
  configuration: { baseURL: `${url}/v1`, fetch: turns.fetch },
});
const schema = z.object({ path: z.string() });
const read = tool(async ({ path }) => `${path}: 09:00`, {
  name: 'read',
  description: 'Reads a file',
  schema,
});

const content = 'Write the dates of the meetings into the table in notes.md';
const { messages } = await createReactAgent({ llm, tools: [read] }).invoke({
  messages: [{ role: 'user', content }],
});
process.stdout.write(String(messages.at(-1)?.content));
await turns.feedback(1);
