import { describe, expect, it } from 'vitest';
import type { WireName } from '../../src/core/wire.ts';
import { createProviderHeaders } from '../../src/models/http-model.ts';

const pass = (wire: WireName, caller: Record<string, string> | undefined) => {
  const headers = createProviderHeaders(wire, { kind: 'caller' }, caller, true);
  const {
    'content-type': _type,
    accept: _accept,
    'accept-encoding': _encoding,
    'user-agent': _agent,
    ...rest
  } = headers;
  return rest;
};
const VERSION = { 'anthropic-version': '2023-06-01' };

describe('the caller’s credentials', () => {
  it('stay a bearer token on the Anthropic wire (not x-api-key) when they are a subscription’s', () => {
    const caller = { authorization: 'Bearer sk-ant-oat01-abc' };
    expect(pass('anthropic', caller)).toEqual({ ...caller, ...VERSION });
    expect(pass('anthropic', { authorization: 'Bearer eyJ.jwt' })).toEqual({
      authorization: 'Bearer eyJ.jwt',
      ...VERSION,
    });
  });

  it('become x-api-key on the Anthropic wire when an OpenAI-style caller sends an API key', () => {
    expect(pass('anthropic', { authorization: 'bearer sk-ant-api03-abc' })).toEqual({
      'x-api-key': 'sk-ant-api03-abc',
      ...VERSION,
    });
  });

  it('are unchanged on the Anthropic wire when x-api-key is present', () => {
    const caller = { authorization: 'Bearer sk-ant-api03-abc', 'x-api-key': 'k' };
    expect(pass('anthropic', caller)).toEqual({ ...caller, ...VERSION });
  });

  it.each(['openai-chat', 'openai-responses'] as const)('become a bearer token on the %s wire', (wire) => {
    expect(pass(wire, { 'x-api-key': 'k', 'api-key': 'z' })).toEqual({
      authorization: 'Bearer k',
      'api-key': 'z',
    });
    expect(pass(wire, { authorization: 'Bearer t' })).toEqual({ authorization: 'Bearer t' });
  });

  it('may be missing', () => {
    expect(pass('openai-chat', undefined)).toEqual({});
    expect(pass('anthropic', {})).toEqual(VERSION);
  });

  it('are not sent to a provider that has a key of its own, nor to an open one', () => {
    const caller = { authorization: 'Bearer callers' };
    let key = 'first';
    const own = { kind: 'own', credentials: () => ({ authorization: `Bearer ${key}` }) } as const;
    expect(createProviderHeaders('openai-chat', own, caller, true).authorization).toBe('Bearer first');
    key = 'rotated';
    expect(createProviderHeaders('openai-chat', own, caller, true).authorization).toBe('Bearer rotated');
    expect(createProviderHeaders('openai-chat', { kind: 'open' }, caller, true)).not.toHaveProperty(
      'authorization',
    );
  });
});

it('createProviderHeaders accepts a stream only when one is requested', () => {
  expect(createProviderHeaders('openai-chat', { kind: 'open' }, undefined, false).accept).toBe(
    'application/json',
  );
  expect(createProviderHeaders('openai-chat', { kind: 'open' }, undefined, true).accept).toMatch(
    /^text\/event-stream/,
  );
});
