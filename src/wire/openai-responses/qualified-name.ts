/**
 * Responses groups tools in namespaces; the other wires have flat names of letters, digits, `_` and `-`. A flat name
 * therefore carries its namespace after a mark, so that a reply's call can be mapped back without the request. A plain
 * name that contains the mark gets an empty namespace, so that it is not split.
 */
const MARK = '__in__';
/** The namespace of ungrouped tools; such a name is written without it. */
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
