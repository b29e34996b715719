import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WIRE_NAMES } from '../../src/core/wire.ts';
import { parseBaseUrl } from '../../src/models/base-url.ts';

describe('parseBaseUrl', () => {
  it.each([
    ['https://api.openai.com', 'openai-chat', 'https://api.openai.com', '/v1'],
    ['https://api.openai.com/v1/', 'openai-responses', 'https://api.openai.com', '/v1'],
    ['https://openrouter.ai/api/v1', 'openai-chat', 'https://openrouter.ai', '/api/v1'],
    ['https://host/api/coding', 'openai-chat', 'https://host', '/api/coding'],
    ['http://127.0.0.1:11434//', 'openai-chat', 'http://127.0.0.1:11434', '/v1'],
    ['https://api.anthropic.com', 'anthropic', 'https://api.anthropic.com', '/v1'],
    ['https://api.anthropic.com/v1', 'anthropic', 'https://api.anthropic.com', '/v1'],
    ['https://host/anthropic///', 'anthropic', 'https://host', '/anthropic/v1'],
    ['https://host/v1beta', 'anthropic', 'https://host', '/v1beta/v1'],
    ['HTTPS://HOST:443', 'openai-chat', 'https://host', '/v1'],
    ['http://[::1]:8000', 'anthropic', 'http://[::1]:8000', '/v1'],
  ] as const)('reads %s on the %s wire', (text, wire, origin, basePath) => {
    expect(parseBaseUrl(text, wire)).toEqual({ origin, basePath });
  });

  it.each([
    ['not a url', /in full/],
    ['api.openai.com/v1', /in full/],
    ['ftp://host/v1', /https:/],
    ['file:///etc/passwd', /https:/],
    ['https://user:hunter2@host/v1', /credentials/],
    ['https://hunter2@host/v1', /credentials/],
    ['https://host/v1?key=hunter2', /query/],
    ['https://host/v1#hunter2', /query or a fragment/],
    ['https://host/v1?', /query/],
  ])('refuses %s with advice and without repeating it', (text, advice) => {
    expect(() => parseBaseUrl(text, 'openai-chat')).toThrow(advice);
    try {
      parseBaseUrl(text, 'openai-chat');
    } catch (error) {
      expect(String(error)).not.toContain('hunter2');
    }
  });

  const segment = fc.stringMatching(/^[a-z0-9._~-]{1,8}$/).filter((part) => part !== '.' && part !== '..');
  const base = fc.record({
    scheme: fc.constantFrom('http', 'https'),
    host: fc.domain(),
    port: fc.option(fc.integer({ min: 1, max: 65_535 })),
    path: fc.array(fc.oneof(segment, fc.constant('v1'))),
    slashes: fc.nat({ max: 3 }),
    wire: fc.constantFrom(...WIRE_NAMES),
  });

  it('returns an absolute path without a trailing slash, and is idempotent', () => {
    fc.assert(
      fc.property(base, ({ scheme, host, port, path, slashes, wire }) => {
        const text = `${scheme}://${host}${port === null ? '' : `:${port}`}${path.map((part) => `/${part}`).join('')}`;
        const { origin, basePath } = parseBaseUrl(text + '/'.repeat(slashes), wire);
        expect(basePath).toMatch(/^\/.*[^/]$/);
        expect(origin).toBe(new URL(text).origin);
        if (wire === 'anthropic') expect(basePath.endsWith('/v1')).toBe(true);
        else expect(basePath).toBe(path.length === 0 ? '/v1' : `/${path.join('/')}`);
        expect(parseBaseUrl(origin + basePath, wire)).toEqual({ origin, basePath });
      }),
    );
  });
});
