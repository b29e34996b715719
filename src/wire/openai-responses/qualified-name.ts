/**
 * Responses groups tools in namespaces; the other wires have flat names of letters, digits, `_` and `-`. A flat
 * name therefore carries its namespace behind a mark, and a reply's call finds its way back without the request.
 * A plain name that happens to hold the mark gets an empty namespace, so that it is not taken apart.
 */
const MARK = '__in__';
/** Where the tools stand that the client did not group; such a name is written plain. */
const DEFAULT_NAMESPACE = 'functions';

export interface QualifiedName {
  readonly name: string;
  readonly namespace?: string;
}

export function joinName({ name, namespace }: { name: string; namespace?: string | undefined }): string {
  if (namespace !== undefined && namespace !== '' && namespace !== DEFAULT_NAMESPACE) {
    return `${name}${MARK}${namespace}`;
  }
  return name.includes(MARK) ? `${name}${MARK}` : name;
}

export function splitName(flat: string): QualifiedName {
  const at = flat.lastIndexOf(MARK);
  if (at <= 0) return { name: flat };
  const namespace = flat.slice(at + MARK.length);
  return namespace === '' ? { name: flat.slice(0, at) } : { name: flat.slice(0, at), namespace };
}
