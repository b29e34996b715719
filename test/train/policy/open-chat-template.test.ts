import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openChatTemplate } from '../../../train/policy/open-chat-template.ts';
import { asking, CLOCK, createTemplate, MODELS, type ModelName, promptOf, TOOL, user } from './models.ts';

async function copyOf(name: ModelName): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'instar-model-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp(path.join(MODELS, name), folder, { recursive: true });
  return folder;
}

describe('the folder of a model', () => {
  it.each(['qwen', 'llama', 'metaspace'] as const)('contains the template of %s', async (name) => {
    const opened = await openChatTemplate(path.join(MODELS, name), { clock: CLOCK });
    const request = asking([user('Hello')], { tools: name === 'metaspace' ? [] : [TOOL] });
    expect(promptOf(opened, request)).toEqual(promptOf(createTemplate(name), request));
    expect(opened.stop).toEqual(createTemplate(name).stop);
  });

  it('prefers a template file to the one in the config', async () => {
    const folder = await copyOf('qwen');
    await writeFile(path.join(folder, 'chat_template.jinja'), 'only this');
    const plain = promptOf(await openChatTemplate(folder), asking([user('Hello')]));
    expect(plain.length).toBeLessThan(10);
  });

  it('says what is missing or broken, and how to fix it', async () => {
    const broken = async (name: string, content: string | undefined): Promise<string> => {
      const folder = await copyOf('llama');
      const file = path.join(folder, name);
      await (content === undefined ? rm(file) : writeFile(file, content));
      return openChatTemplate(folder).then(
        () => 'opened',
        (error: Error) => error.message,
      );
    };
    expect(await broken('tokenizer.json', undefined)).toMatch(/has no tokenizer\.json.*save_pretrained/s);
    expect(await broken('tokenizer_config.json', undefined)).toMatch(/has no tokenizer_config\.json/);
    expect(await broken('chat_template.jinja', undefined)).toMatch(/There is no chat template/);
    expect(await broken('generation_config.json', undefined)).toBe('opened');
    expect(await broken('tokenizer.json', '{"model":')).toMatch(/not a JSON object.*download it again/s);
    expect(await broken('tokenizer.json', 'version https://git-lfs.github.com/spec/v1\n')).toMatch(
      /git lfs pull/,
    );
    await expect(openChatTemplate('/nowhere/at/all')).rejects.toThrow(/There is no folder/);
  });
});
