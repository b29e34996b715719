import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { isObject, type JsonObject, parseJson } from '../../src/core/json.ts';
import type { PolicyTemplate } from '../../src/core/training.ts';
import { TrainingError } from '../../src/core/training.ts';
import { type ChatTemplateOptions, createChatTemplate } from './chat-template.ts';

const MOST_BYTES = 256 * 2 ** 20;
const HOW =
  'It must be a Hugging Face model folder with tokenizer.json and tokenizer_config.json; the weights are not needed.';

/**
 * The template of the model in a folder: `tokenizer.json`, `tokenizer_config.json`, and where they exist `chat_template.jinja`
 * (which takes precedence over the config's template) and `generation_config.json`. Rejects with a TrainingError that says
 * how to fix it.
 */
export async function openChatTemplate(
  folder: string,
  options: Omit<ChatTemplateOptions, 'tokenizer' | 'tokenizerConfig' | 'generation'> = {},
): Promise<PolicyTemplate> {
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) throw wrong(`There is no folder ${folder}. ${HOW}`);
  const [tokenizer, tokenizerConfig, generation, template] = await Promise.all([
    readObject(folder, 'tokenizer.json'),
    readObject(folder, 'tokenizer_config.json'),
    readObject(folder, 'generation_config.json'),
    readText(folder, 'chat_template.jinja'),
  ]);
  if (tokenizer === undefined)
    throw wrong(
      `${folder} has no tokenizer.json. ${HOW} A tokenizer.model alone can be turned into one by ` +
        'transformers: AutoTokenizer.from_pretrained(folder).save_pretrained(folder).',
    );
  if (tokenizerConfig === undefined) throw wrong(`${folder} has no tokenizer_config.json. ${HOW}`);
  try {
    return createChatTemplate({
      ...options,
      tokenizer,
      tokenizerConfig:
        template === undefined ? tokenizerConfig : { ...tokenizerConfig, chat_template: template },
      ...(generation === undefined ? {} : { generation }),
    });
  } catch (error) {
    throw error instanceof TrainingError ? wrong(`${folder}: ${error.message}`) : error;
  }
}

const wrong = (message: string): TrainingError => new TrainingError('user', message);

/** Undefined when the file does not exist. */
async function readText(folder: string, name: string): Promise<string | undefined> {
  const file = path.join(folder, name);
  try {
    const { size } = await stat(file);
    if (size > MOST_BYTES)
      throw wrong(`${file} has ${size} bytes; no tokenizer needs more than ${MOST_BYTES}.`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error) {
      if (error.code === 'ENOENT') return undefined;
      throw wrong(`${file} cannot be read (${String(error.code)}). Check its permissions.`);
    }
    throw error;
  }
}

async function readObject(folder: string, name: string): Promise<JsonObject | undefined> {
  const text = await readText(folder, name);
  if (text === undefined) return undefined;
  const file = path.join(folder, name);
  if (text.startsWith('version https://git-lfs'))
    throw wrong(`${file} is a Git LFS pointer, not the file. Fetch it with: git lfs pull`);
  const value = parseJson(text);
  if (!isObject(value)) throw wrong(`${file} is not a JSON object. It may be truncated: download it again.`);
  return value;
}
