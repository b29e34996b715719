import { BlockList, isIP } from 'node:net';

type Subnet = readonly [address: string, prefix: number];

const blockList = (v4: readonly Subnet[], v6: readonly Subnet[]): BlockList => {
  const list = new BlockList();
  for (const [address, prefix] of v4) list.addSubnet(address, prefix, 'ipv4');
  for (const [address, prefix] of v6) list.addSubnet(address, prefix, 'ipv6');
  return list;
};

const loopback = blockList([['127.0.0.0', 8]], [['::1', 128]]);

/** RFC 1918 networks, carrier-grade NAT (which VPN meshes use) and unique local addresses. */
const privateNetworks = blockList(
  [
    ['10.0.0.0', 8],
    ['172.16.0.0', 12],
    ['192.168.0.0', 16],
    ['100.64.0.0', 10],
  ],
  [['fc00::', 7]],
);

/**
 * Addresses that no model provider has and that may give out the machine's own credentials: link-local addresses, cloud
 * metadata services, and IPv6 forms that embed 169.254.0.0/16 (compatible, translated, NAT64, 6to4). The list itself
 * checks the mapped form `::ffff:…` as IPv4.
 */
const forbidden = blockList(
  [
    ['0.0.0.0', 8],
    ['169.254.0.0', 16],
    ['224.0.0.0', 3],
    ['100.100.100.200', 32],
    ['168.63.129.16', 32],
  ],
  [
    ['::', 128],
    ['fe80::', 10],
    ['ff00::', 8],
    ['fd00:ec2::254', 128],
    ['fd20:ce::254', 128],
    ['::a9fe:0', 112],
    ['::ffff:0:a9fe:0', 112],
    ['64:ff9b::a9fe:0', 112],
    ['64:ff9b:1::', 48],
    ['2002:a9fe::', 32],
  ],
);

const METADATA_NAMES = new Set(['metadata.google.internal', 'metadata.goog', 'instance-data']);

/**
 * The host in the form of the URL parser: `0x7f.1`, `2130706433` and full-width digits become the address they stand for,
 * and `127.evil.com` stays a name. Undefined when it is not valid in a URL.
 */
function canonicalHost(host: string): string | undefined {
  const bare = host.replace(/^\[|\]$/g, '').replace(/%.*$/s, '');
  if (/[/?#@\\\s]/.test(bare) || bare === '') return undefined;
  const text = bare.includes(':') ? `[${bare}]` : bare;
  const url = URL.canParse(`http://${text}`) ? new URL(`http://${text}`) : undefined;
  return url?.hostname.replace(/^\[|\]$/g, '');
}

function contains(list: BlockList, host: string): boolean {
  const family = isIP(host);
  return family !== 0 && list.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

/** A literal loopback address in any spelling, or `localhost` itself. */
export function isLoopbackHost(host: string): boolean {
  const name = canonicalHost(host);
  return name !== undefined && (name === 'localhost' || contains(loopback, name));
}

/** A literal address of a private network; never a name, whatever it resolves to. */
export function isPrivateHost(host: string): boolean {
  const name = canonicalHost(host);
  return name !== undefined && contains(privateNetworks, name) && !contains(forbidden, name);
}

const NEAR_NAME = /^(?:[^.]+|.+\.(?:local|lan|internal|home\.arpa))\.?$/;

/** This machine, a private network, or a name that only such a network resolves: `gpu-box`, `host.docker.internal`. */
export function isNearHost(host: string): boolean {
  const name = canonicalHost(host);
  if (name === undefined || isForbiddenHost(name)) return false;
  return isLoopbackHost(name) || isPrivateHost(name) || (isIP(name) === 0 && NEAR_NAME.test(name));
}

/** A host that no provider may have; also true for an invalid host. */
export function isForbiddenHost(host: string): boolean {
  const name = canonicalHost(host);
  return name === undefined || METADATA_NAMES.has(name.replace(/\.$/, '')) || contains(forbidden, name);
}

interface UrlFault {
  readonly what: string;
  readonly fix: string;
}

/** Why a URL is not allowed as a provider's base URL. The message does not repeat the URL: it may contain a password. */
export function findBaseUrlFault(text: string): UrlFault | undefined {
  if (!URL.canParse(text)) {
    return { what: 'is not a URL', fix: 'write it in full, such as https://api.openai.com/v1' };
  }
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return { what: 'is not an http or https URL', fix: 'start it with https://' };
  }
  if (url.username !== '' || url.password !== '') {
    return {
      what: 'contains credentials, which would appear in logs and status',
      fix: 'remove them and name the key with keyEnv or keyFile',
    };
  }
  if (text.includes('?') || text.includes('#')) {
    return { what: 'has a query or a fragment', fix: 'end it with the path, such as /v1' };
  }
  if (isForbiddenHost(url.hostname)) {
    return {
      what: 'points at a link-local, metadata or unusable address',
      fix: "use the provider's own host, or 127.0.0.1 for this machine",
    };
  }
  return undefined;
}

/** Whether a key would be sent unencrypted beyond private networks. Names do not count as private: they can resolve to any address. */
export function sendsKeyInClear(baseUrl: string | undefined, hasKey: boolean): boolean {
  if (!hasKey || baseUrl === undefined || !URL.canParse(baseUrl)) return false;
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'http:' && !isLoopbackHost(hostname) && !isPrivateHost(hostname);
}

export const PLAIN_HTTP_FAULT: UrlFault = {
  what: 'would send the key over plain http, unencrypted',
  fix: 'use https; http with a key is allowed for loopback and private addresses only',
};

/** Why a team's keys and words would be readable on the way to this gateway; undefined when they are not. */
export const whyUnsafeForTeam = ({
  host,
  trustedProxy,
}: {
  readonly host: string;
  readonly trustedProxy: boolean;
}): string | undefined =>
  trustedProxy || isLoopbackHost(host)
    ? undefined
    : `the gateway listens on ${host} without TLS: keys and words of members would be readable on the network`;

export const SAFE_FOR_TEAM =
  'listen on 127.0.0.1 behind a reverse proxy with TLS, or, where nothing but the proxy reaches this address, set gateway.trustedProxy to true';
