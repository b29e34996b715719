import Anthropic from '@anthropic-ai/sdk';

const { INSTAR_URL: baseURL = 'http://127.0.0.1:4600', INSTAR_KEY: apiKey } = process.env;
const client = new Anthropic({ baseURL, apiKey, defaultHeaders: { 'x-instar-session': 'anthropic-1' } });

const messages = [{ role: 'user', content: 'Write the dates of the meetings into the table in notes.md' }];
const stream = client.messages.stream({ model: 'default', max_tokens: 500, messages });
stream.on('text', (text) => process.stdout.write(text));
const { response } = await stream.withResponse();
await stream.finalMessage();

const turn = response.headers.get('x-instar-turn');
await client.post('/v1/feedback', { body: { turn, score: 1, note: 'The offset is right.' } });
