import { asArray, asObject, asString } from '../../../src/core/json.ts';

/** A model behind an OpenAI-compatible base URL. */
interface ModelAddress {
  readonly url: string;
  readonly name: string;
}

/** `http://127.0.0.1:8080/v1/NAME`: the name is what follows `/v1/`, and may have slashes of its own. */
export function readModelAddress(given: string): ModelAddress | undefined {
  const [, url, name] = /^(https?:\/\/.+?\/v\d+)\/(.+)$/.exec(given) ?? [];
  return url === undefined || name === undefined ? undefined : { url, name };
}

const MOST_TOKENS = 300;

/** The reply to a question under this block. The key, where one is needed, is OPENAI_API_KEY. */
export async function askMemory(
  { url, name }: ModelAddress,
  block: string,
  question: string,
): Promise<string> {
  const key = process.env.OPENAI_API_KEY;
  const system = block === '' ? [] : [{ role: 'system', content: block }];
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({
      model: name,
      temperature: 0,
      max_tokens: MOST_TOKENS,
      messages: [...system, { role: 'user', content: question }],
    }),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  const [choice] = asArray(asObject(await response.json()).choices);
  return asString(asObject(asObject(choice).message).content) ?? '';
}
