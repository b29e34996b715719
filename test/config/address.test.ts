import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isForbiddenHost, isLoopbackHost, isNearHost, isPrivateHost } from '../../src/config/address.ts';

describe('isLoopbackHost', () => {
  it.each([
    'localhost',
    'LOCALHOST',
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0x7f000001',
    '017700000001',
    '127.255.255.254',
    '127.0.0.1.',
    '１２７.0.0.1',
    '::1',
    '[::1]',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
    '[::ffff:7f00:1]',
  ])('takes %s for loopback', (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  });

  it.each([
    '127.evil.com',
    '127.0.0.1.evil.com',
    'localhost.evil.com',
    'localhost.',
    'evil.localhost',
    '128.0.0.1',
    '0.0.0.0',
    '::',
    '::2',
    '10.0.0.1',
    'user@127.0.0.1',
    '127.0.0.1/x',
    '127.0.0.1#',
    '',
    ' ',
  ])('does not take %s for loopback', (host) => {
    expect(isLoopbackHost(host)).toBe(false);
  });

  it('agrees with arithmetic on every spelling of an IPv4 address', () => {
    fc.assert(
      fc.property(fc.nat({ max: 0xffffffff }), (number) => {
        const near = number >>> 24 === 127;
        for (const text of [String(number), `0x${number.toString(16)}`, `0${number.toString(8)}`]) {
          expect(isLoopbackHost(text)).toBe(near);
        }
        const groups = `${(number >>> 16).toString(16)}:${(number & 0xffff).toString(16)}`;
        expect(isLoopbackHost(`::ffff:${groups}`)).toBe(near);
      }),
    );
  });
});

describe('isNearHost', () => {
  it.each([
    '127.0.0.1',
    'localhost',
    '192.168.1.20',
    'gpu-box',
    'host.docker.internal',
    'mac.local',
    'nas.lan',
    'a.home.arpa',
  ])('takes %s for a server that needs no key', (host) => {
    expect(isNearHost(host)).toBe(true);
  });

  it.each([
    'api.openai.com',
    '8.8.8.8',
    'local.evil.com',
    'evil.com.',
    '169.254.169.254',
    'metadata.google.internal',
    '2001:db8::1',
    '',
  ])('does not take %j for one', (host) => {
    expect(isNearHost(host)).toBe(false);
  });
});

describe('isPrivateHost', () => {
  it.each([
    '10.1.2.3',
    '192.168.0.9',
    '172.16.0.1',
    '172.31.255.255',
    '100.101.102.103',
    'fd12::1',
    '[fc00::1]',
  ])('takes %s for private', (host) => {
    expect(isPrivateHost(host)).toBe(true);
  });

  it.each([
    '172.32.0.1',
    '11.0.0.1',
    '8.8.8.8',
    '10.evil.com',
    'nas.lan',
    '169.254.1.1',
    'fd00:ec2::254',
    '2001:db8::1',
  ])('does not take %s for private', (host) => {
    expect(isPrivateHost(host)).toBe(false);
  });
});

describe('isForbiddenHost', () => {
  it.each([
    '169.254.169.254',
    '169.254.0.1',
    '0xa9fea9fe',
    '2852039166',
    '025177524776',
    '0251.0376.0251.0376',
    '169.254.43518',
    '169.16689662',
    '１６９.254.169.254',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '[::ffff:a9fe:a9fe]',
    '::a9fe:a9fe',
    '::ffff:0:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    'fd00:ec2::254',
    'fd00:0ec2:0:0:0:0:0:0254',
    'metadata.google.internal',
    'Metadata.Google.Internal.',
    '100.100.100.200',
    '0.0.0.0',
    '0',
    '::',
    '224.0.0.1',
    '255.255.255.255',
    'ff02::1',
    'a b',
    '',
  ])('refuses %s', (host) => {
    expect(isForbiddenHost(host)).toBe(true);
  });

  it.each([
    'api.openai.com',
    'localhost',
    '127.0.0.1',
    '10.0.0.1',
    '169.253.1.1',
    '169.255.1.1',
    'fec0::1',
    'fd00:ec2::253',
    '::1',
    '2606:4700::1',
    '169.254.169.254.example.com',
  ])('lets %s pass', (host) => {
    expect(isForbiddenHost(host)).toBe(false);
  });

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        expect(typeof isForbiddenHost(text)).toBe('boolean');
        expect(isLoopbackHost(text) && isForbiddenHost(text)).toBe(false);
      }),
    );
  });
});
