/** The name of a header, as HTTP has it. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Set by the sender itself. */
const RESERVED = new Set(['content-type', 'content-length', 'host', 'connection', 'transfer-encoding']);

interface HeaderSource {
  readonly headersEnv?: string | undefined;
}

/**
 * The headers for the receiver of traces, in the form of OTEL_EXPORTER_OTLP_HEADERS: `name=value,name=value`, values
 * percent-encoded where they need it. Read on every call, so that a rotated key takes effect. A pair that is not valid is left out.
 */
export function readTraceHeaders(
  { headersEnv }: HeaderSource,
  env: NodeJS.ProcessEnv,
): Readonly<Record<string, string>> {
  const text = headersEnv === undefined ? undefined : env[headersEnv];
  const headers: Record<string, string> = {};
  for (const pair of text?.split(',') ?? []) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, at)).trim().toLowerCase();
    const value = decodeValue(pair.slice(at + 1).trim());
    if (!HEADER_NAME.test(name) || RESERVED.has(name) || !/^[\t\x20-\x7e]+$/.test(value)) continue;
    headers[name] = value;
  }
  return headers;
}

/** The secrets in them, to be kept out of records and logs: each value, and what stands behind `Bearer` or `Basic`. */
export function traceSecrets(source: HeaderSource, env: NodeJS.ProcessEnv): readonly string[] {
  const values = Object.values(readTraceHeaders(source, env));
  return values.flatMap((value) => [value, ...(/^(?:bearer|basic) +(\S+)$/i.exec(value)?.slice(1) ?? [])]);
}

function decodeValue(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A bare percent sign: the value was not encoded.
    return text;
  }
}
