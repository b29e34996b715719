/** What a request would do with the provider's account behind the owner's key. */
export type AccountUse =
  /** It asks a model, or the owner has allowed its path. */
  | { readonly kind: 'allowed' }
  /** It creates a response or a batch, which its caller may use again. */
  | { readonly kind: 'creates' }
  /** It reads, cancels or deletes a response or a batch. */
  | { readonly kind: 'object'; readonly id: string; readonly under: string }
  /** Anything else: files, administration, fine-tuning, what others have created. */
  | { readonly kind: 'account' };

const ALLOWED: AccountUse = { kind: 'allowed' };
const CREATES: AccountUse = { kind: 'creates' };
const ACCOUNT: AccountUse = { kind: 'account' };

/** What is asked of models and leaves nothing behind that others could read. */
const ASKING: ReadonlySet<string> = new Set([
  '/chat/completions',
  '/completions',
  '/messages',
  '/messages/count_tokens',
  '/responses/compact',
  '/responses/input_tokens',
  '/embeddings',
  '/moderations',
]);
const CREATING: ReadonlySet<string> = new Set(['/responses', '/batches', '/messages/batches']);
const MEDIA = /^\/(?:audio|images)\/./;
const MODELS = /^\/models(?:\/.|$)/;
const OBJECT =
  /^(\/(?:responses|batches|messages\/batches)\/)([\w-]{1,256})(?:\/(?:cancel|input_items|results))?$/;

/** A provider may read an empty segment or a dot as another path than the one that is compared here. */
const isPlain = (path: string): boolean =>
  path
    .split('/')
    .slice(1)
    .every((segment) => /^[\w:@-][\w:@.-]*$/.test(segment));

/**
 * `path` is the path under a provider's base, without a query string. `forward`: what the owner allows besides, exact paths or
 * beginnings that end with a slash. What is not named is refused, in whatever spelling.
 */
export function accountUseOf(method: string, path: string, forward: readonly string[]): AccountUse {
  if (!isPlain(path)) return ACCOUNT;
  if (method === 'POST' && CREATING.has(path)) return CREATES;
  if (forward.some((entry) => isCovered(path, withoutVersion(entry)))) return ALLOWED;
  if (method === 'GET' && MODELS.test(path)) return ALLOWED;
  if (method === 'POST' && (ASKING.has(path) || MEDIA.test(path))) return ALLOWED;
  const [, under, id] = OBJECT.exec(path) ?? [];
  return under === undefined || id === undefined ? ACCOUNT : { kind: 'object', id, under };
}

const isCovered = (path: string, entry: string): boolean =>
  entry.endsWith('/') ? path.startsWith(entry) : path === entry;

/** People write the paths as they call them. */
const withoutVersion = (entry: string): string => entry.replace(/^\/v1(?=\/)/, '');
