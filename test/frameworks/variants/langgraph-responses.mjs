import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import { withTurns } from './with-turns.mjs';

const { INSTAR_URL: url, INSTAR_KEY: apiKey } = process.env;
const turns = withTurns({ url, apiKey, session: 'langgraph-responses' });
const configuration = { baseURL: `${url}/v1`, fetch: turns.fetch };
const llm = new ChatOpenAI({
  model: 'default',
  apiKey,
  useResponsesApi: true,
  streaming: true,
  configuration,
});
const schema = z.object({ path: z.string() });
const read = tool(async () => '09:00', { name: 'read', description: 'Reads a file', schema });
const content = 'Write the dates of the meetings into the table in notes.md';
const { messages } = await createReactAgent({ llm, tools: [read] }).invoke({
  messages: [{ role: 'user', content }],
});
process.stdout.write(String(messages.at(-1)?.text));
await turns.feedback(1);
