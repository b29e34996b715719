import { lstatSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { describeSettings } from '../../src/config/describe-settings.ts';
import {
  editConfig,
  readSettingEdit,
  readSettingPath,
  readSettingValue,
  writeConfigText,
} from '../../src/config/edit-config.ts';

const dir = mkdtempSync(join(tmpdir(), 'instar-edit-'));
afterAll(() => rmSync(dir, { recursive: true }));
const file = join(dir, 'config.json');

const edit = (before: string, name: string, value?: string): string => {
  writeFileSync(file, before);
  const path = readSettingPath(name);
  const edits = [value === undefined ? { path } : { path, value: readSettingValue(path, value) }];
  return editConfig(file, edits, {}).text;
};

describe('editConfig', () => {
  it.each([
    [
      'four spaces',
      '{\n    "log": {\n        "level": "info"\n    }\n}\n',
      '{\n    "log": {\n        "level": "warn"\n    }\n}\n',
    ],
    [
      'tabs and CRLF',
      '{\r\n\t"log": {\r\n\t\t"level": "info"\r\n\t}\r\n}\r\n',
      '{\r\n\t"log": {\r\n\t\t"level": "warn"\r\n\t}\r\n}\r\n',
    ],
    [
      'one line',
      '{"store":{"keepDays":3},"log":{"level":"info"}}',
      '{"store":{"keepDays":3},"log":{"level":"warn"}}',
    ],
    ['a byte order mark', '\ufeff{"log": {"level": "info"}}', '\ufeff{"log": {"level": "warn"}}'],
    [
      'another order',
      '{\n  "log": { "level": "info" },\n  "gateway": { "port": 1 }\n}',
      '{\n  "log": { "level": "warn" },\n  "gateway": { "port": 1 }\n}',
    ],
  ])('keeps the formatting: %s', (_, before, after) => {
    expect(edit(before, 'log.level', 'warn')).toBe(after);
  });

  it('adds a missing section, a name with a dot, and a member of a list', () => {
    expect(JSON.parse(edit('{\n  "log": {}\n}\n', 'library.topK', '4'))).toEqual({
      log: {},
      library: { topK: 4 },
    });
    const providers = '"providers": {"a": {"wire": "openai-chat", "baseUrl": "http://127.0.0.1:1/v1"}}';
    expect(JSON.parse(edit(`{${providers}}`, 'models.gpt-5.2', 'a/m')).models).toEqual({ 'gpt-5.2': 'a/m' });
    const list = `{${providers}, "models": {"x": ["a/1", "a/2"]}}`;
    expect(JSON.parse(edit(list, 'models.x[1]', 'a/9')).models).toEqual({ x: ['a/1', 'a/9'] });
    expect(JSON.parse(edit(list, 'models.x[2]', 'a/3')).models.x).toEqual(['a/1', 'a/2', 'a/3']);
    expect(JSON.parse(edit(list, 'models.x[0]')).models).toEqual({ x: ['a/2'] });
    expect(() => edit(list, 'models.x[7]', 'a/9')).toThrow('models.x[7]: is not in the list');
  });

  it('puts an object in the place of a word', () => {
    writeFileSync(file, '{"train": {"engine": "nano"}}');
    const whole = { tinker: 'http://127.0.0.1:9', baseModel: 'm' };
    expect(
      JSON.parse(edit('{"train": {"engine": "nano"}}', 'train.engine', JSON.stringify(whole))).train,
    ).toEqual({
      engine: whole,
    });
  });

  it('writes nothing that is not valid, with the message of the check (not a JSON error)', () => {
    expect(() => edit('{}', 'library.topK', 'many')).toThrow(
      /^library\.topK: must be a number\n.*was not changed$/,
    );
    expect(() => edit('{}', 'library.autonomy', 'gaurded')).toThrow('did you mean "guarded"?');
    expect(() => edit('{}', 'models.default', 'nowhere/m')).toThrow(
      'names a provider that is not configured',
    );
    expect(() => edit('{"a": }', 'library.topK', '4')).toThrow('line 1, column 7: a value is missing');
  });

  it('says that a problem was there before, and lets it be fixed', () => {
    const wrong = '{"library": {"topk": 4, "tokenBudget": "x"}}';
    expect(() => edit(wrong, 'log.level', 'warn')).toThrow(/library\.tokenBudget(.|\n)*fix this first/);
    expect(() => edit(wrong, 'library.tokenBudget', '900')).toThrow('library.topk: is not a setting');
    writeFileSync(file, '{"library": {"topk": 4}}');
    const unset = readSettingEdit({ path: 'library.topk', unset: true }, file);
    expect(editConfig(file, [unset], {}).text).toBe('{"library": {}}');
    expect(() => readSettingEdit({ path: 'library.topl', unset: true }, file)).toThrow(
      'did you mean "library.topK"?',
    );
  });
});

describe('a setting as a person types it', () => {
  it.each([
    ['library.topk', 'library.topK'],
    ['gateway.prot', 'gateway.port'],
    ['libary', 'library'],
    ['schedule.slep', 'schedule.sleep'],
  ])('%s is no setting, and %s is the closest', (text, meant) => {
    expect(() => readSettingPath(text)).toThrow(`did you mean "${meant}"?`);
  });

  it.each([
    ['library.topK', '4', 4],
    ['train.effect', '0.3', 0.3],
    ['train.live', 'true', true],
    ['schedule.sleep', 'off', 'off'],
    ['schedule.calendar.google', '12345', '12345'],
    ['schedule.calendar.google', '"primary"', 'primary'],
    ['models.default', 'openai/gpt-5.2', 'openai/gpt-5.2'],
    ['models.fast', '["a/b"]', ['a/b']],
    ['models.fast', '{"command": "claude"}', { command: 'claude' }],
    ['learn.verifiers[0].tolerance', '0.5', 0.5],
    ['gateway.allowedHosts', '[]', []],
  ])('%s %s is %j', (name, text, value) => {
    expect(readSettingValue(readSettingPath(name), text)).toEqual(value);
  });
});

describe('writeConfigText', () => {
  it('keeps the old file as a backup, private, and follows a link', () => {
    const target = join(dir, 'dotfiles.json');
    const link = join(dir, 'linked.json');
    writeFileSync(target, '{"a": 1}', { mode: 0o644 });
    symlinkSync(target, link);
    const written = writeConfigText(link, '{}\n');
    expect(written).toEqual({ file: target, backup: `${target}.old` });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, 'utf8')).toBe('{}\n');
    expect(readFileSync(`${target}.old`, 'utf8')).toBe('{"a": 1}');
    expect(statSync(target).mode & 0o077).toBe(0);
  });
});

describe('describeSettings', () => {
  const describeFile = (text: string, env: NodeJS.ProcessEnv = {}) => {
    writeFileSync(file, text);
    const { settings, problem } = describeSettings({ file, env });
    return { problem, of: (path: string) => settings.find((one) => one.path === path), settings };
  };

  it('says where each value comes from', () => {
    const { of } = describeFile('{"library": {"topK": 4}}', { OPENAI_API_KEY: 'sk-0123456789abcdef0123' });
    expect(of('library.topK')).toEqual({ path: 'library.topK', value: 4, from: 'file' });
    expect(of('library.tokenBudget')).toMatchObject({ value: 1500, from: 'default' });
    expect(of('providers.openai.keyEnv')).toMatchObject({ value: 'OPENAI_API_KEY', from: 'environment' });
    expect(of('models.default')).toMatchObject({ from: 'environment' });
    expect(of('schedule.calendar')).toEqual({ path: 'schedule.calendar', value: null, from: 'default' });
  });

  it('hides addresses that are secrets, and repeats no key', () => {
    const { of, settings } = describeFile(
      '{"schedule": {"calendar": {"ics": "https://cal.example.com/private-0a1b2c3d/basic.ics"}}}',
      { OPENAI_API_KEY: 'sk-0123456789abcdef0123' },
    );
    expect(of('schedule.calendar.ics')?.value).toBe('https://cal.example.com/… (hidden)');
    expect(JSON.stringify(settings)).not.toMatch(/private-0a1b|sk-0123/);
  });

  it('still lists the settings for an invalid file, with the problem', () => {
    const { of, problem } = describeFile('{"library": {"topK": }}');
    expect(problem).toContain('line 1, column 22');
    expect(of('library.topK')).toMatchObject({ value: 6, from: 'default' });
  });
});
