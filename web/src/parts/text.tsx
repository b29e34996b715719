import { useState } from 'preact/hooks';
import { plural } from '../../../src/text/phrases.ts';
import { splitHidden } from '../lib/hidden-characters.ts';

/**
 * Text that a model, a tool or a person wrote: as text, never as markup, with characters that cannot be seen made
 * visible, and isolated so that its direction cannot turn what stands around it.
 */
export function Text({ children }: { readonly children: string | number | undefined }) {
  const pieces = splitHidden(String(children ?? ''));
  return (
    <bdi>
      {pieces.map((piece, index) =>
        typeof piece === 'string' ? (
          piece
        ) : (
          <span key={index} class="hidden-char" title={piece.name}>
            {piece.code}
          </span>
        ),
      )}
    </bdi>
  );
}

const LONG = 6000;

/** The same over several lines; a long one is opened by a button. */
export function LongText({ children, isCode }: { readonly children: string; readonly isCode?: boolean }) {
  const [isOpen, open] = useState(false);
  const isCut = !isOpen && children.length > LONG;
  const shown = isCut ? children.slice(0, LONG) : children;
  return (
    <>
      {isCode ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys
        <pre class="pre" tabIndex={0}>
          <Text>{shown}</Text>
        </pre>
      ) : (
        <div class="prose-plain">
          <Text>{shown}</Text>
        </div>
      )}
      {isCut && (
        <button type="button" class="quiet" onClick={() => open(true)}>
          Show the other {plural(children.length - LONG, 'character')}
        </button>
      )}
    </>
  );
}
