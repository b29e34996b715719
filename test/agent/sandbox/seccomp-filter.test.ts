import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ARCHITECTURES, createSeccompFilter, perlLoader } from '../../../src/agent/sandbox/seccomp-filter.ts';
import { runsOf } from '../../support/counts.ts';

interface Call {
  readonly arch: number;
  readonly number: number;
  readonly args: readonly bigint[];
}

/** Runs a program of classic BPF over a `struct seccomp_data`, as the kernel does, with its checks. */
function judge(program: Uint8Array, { arch, number, args }: Call): string {
  const code = Buffer.from(program);
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(arch >>> 0, 4);
  for (const [index, value] of args.entries())
    data.writeBigUInt64LE(BigInt.asUintN(64, value), 16 + 8 * index);
  let accumulator = 0;
  for (let at = 0; ; at++) {
    if (8 * at >= code.length) throw new Error('ran over the end');
    const operation = code.readUInt16LE(8 * at);
    const [ifTrue, ifFalse] = [code.readUInt8(8 * at + 2), code.readUInt8(8 * at + 3)];
    const value = code.readUInt32LE(8 * at + 4);
    if (operation === 0x20) {
      if (value % 4 !== 0 || value > 60) throw new Error(`a load from ${value}`);
      accumulator = data.readUInt32LE(value);
    } else if (operation === 0x15) at += accumulator === value ? ifTrue : ifFalse;
    else if (operation === 0x35) at += accumulator >= value ? ifTrue : ifFalse;
    else if (operation === 0x45) at += (accumulator & value) !== 0 ? ifTrue : ifFalse;
    else if (operation === 0x06) {
      if (value === 0x7fff0000) return 'allow';
      if (value >>> 16 === 5) return `error ${value & 0xffff}`;
      throw new Error(`an action ${value.toString(16)}`);
    } else throw new Error(`an operation ${operation}`);
  }
}

const NONE = [0n, 0n, 0n, 0n, 0n, 0n];
const NEW_USER = 0x10000000n;

describe.each(Object.entries(ARCHITECTURES))('the seccomp filter on %s', (machine, arch) => {
  const program = createSeccompFilter(machine) ?? new Uint8Array();
  const call = (number: number, ...args: readonly bigint[]): string =>
    judge(program, { arch: arch.audit, number, args: [...args, ...NONE].slice(0, 6) });
  const special = new Set([arch.clone, arch.unshare, arch.ioctl, arch.personality, arch.socket, 435]);
  const refused = new Set(Object.values(arch.refused));

  it('refuses the listed calls with EPERM whatever their arguments, and allows every other (not the other way round)', () => {
    expect(refused.size).toBeGreaterThan(35);
    fc.assert(
      fc.property(
        fc.oneof(fc.constantFrom(...refused), fc.nat(600)),
        fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { minLength: 6, maxLength: 6 }),
        (number, args) => {
          fc.pre(!special.has(number));
          expect(call(number, ...args)).toBe(refused.has(number) ? 'error 1' : 'allow');
        },
      ),
      runsOf(670, 2_000),
    );
  });

  it('refuses namespaces in clone and unshare, also hidden among other flags, and allows threads and processes', () => {
    const THREAD = 0x3d0f00n;
    const FORK = 0x1200011n;
    expect([call(arch.clone, THREAD), call(arch.clone, FORK), call(arch.unshare, 0x400n)]).toEqual(
      Array(3).fill('allow'),
    );
    for (const bit of [17n, 25n, 26n, 27n, 28n, 29n, 30n])
      for (const other of [0n, 17n, THREAD])
        for (const number of [arch.clone, arch.unshare])
          expect(call(number, (1n << bit) | other), `bit ${bit}`).toBe('error 1');
    expect(call(arch.unshare, 0x80n)).toBe('error 1');
    // The upper half is ignored by the kernel; it must not hide the flag.
    expect(call(arch.unshare, NEW_USER | (0xffffffffn << 32n))).toBe('error 1');
    expect(call(435, 0n)).toBe('error 38');
  });

  it('refuses to type into a terminal, odd personalities and sockets that reach the host', () => {
    for (const request of [0x5412n, 0x541cn, 0x5412n | (7n << 32n)])
      expect(call(arch.ioctl, 0n, request)).toBe('error 1');
    for (const request of [0x5401n, 0x5413n, 0x541bn]) expect(call(arch.ioctl, 0n, request)).toBe('allow');
    expect([0n, 8n, 0xffffffffn, 0x20008n].map((value) => call(arch.personality, value))).toEqual(
      Array(4).fill('allow'),
    );
    expect([0x400000n, 0x40000n, 6n].map((value) => call(arch.personality, value))).toEqual(
      Array(3).fill('error 1'),
    );
    expect([1n, 2n, 10n, 16n].map((value) => call(arch.socket, value))).toEqual(Array(4).fill('allow'));
    expect([17n, 38n, 40n].map((value) => call(arch.socket, value))).toEqual(Array(3).fill('error 97'));
  });

  it('refuses every call of another architecture', () => {
    fc.assert(
      fc.property(fc.nat(0xffffffff), fc.nat(600), (other, number) => {
        fc.pre(other !== arch.audit);
        expect(judge(program, { arch: other, number, args: NONE })).toBe('error 1');
      }),
    );
  });
});

describe('the seccomp filter', () => {
  it('refuses calls of the x32 kind, whose numbers have another bit', () => {
    const program = createSeccompFilter('x64') ?? new Uint8Array();
    for (const number of [0x40000000, 0x40000038, 0x40000110, 0xffffffff])
      expect(judge(program, { arch: 0xc000003e, number, args: NONE })).toBe('error 1');
  });

  it('does not exist for a machine whose system calls are not known (it is not the one of another)', () => {
    expect(createSeccompFilter('riscv64')).toBeUndefined();
    expect(perlLoader('/usr/bin/perl', 'riscv64')).toBeUndefined();
  });
});
