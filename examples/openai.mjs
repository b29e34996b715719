import OpenAI from 'openai';

const { INSTAR_URL: url = 'http://127.0.0.1:4600', INSTAR_KEY: apiKey } = process.env;
const client = new OpenAI({
  baseURL: `${url}/v1`,
  apiKey,
  defaultHeaders: { 'x-instar-session': 'openai-1' },
});

const messages = [{ role: 'user', content: 'Write the dates of the meetings into the table in notes.md' }];
const asked = client.chat.completions.create({ model: 'default', messages, stream: true });
const { data: stream, response } = await asked.withResponse();
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');

const turn = response.headers.get('x-instar-turn');
await client.post('/feedback', { body: { turn, score: 1, note: 'The offset is right.' } });
