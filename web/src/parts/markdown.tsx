import { useMemo } from 'preact/hooks';
import { type Block, type Inline, parseMarkdown } from '../lib/markdown.ts';
import { Text } from './text.tsx';

/** A safe subset of Markdown as elements. A link is its words and its address: it cannot be followed by accident. */
export function Markdown({ children }: { readonly children: string }) {
  const blocks = useMemo(() => parseMarkdown(children), [children]);
  return (
    <div class="prose">
      {blocks.map((block, index) => (
        <BlockOf key={index} block={block} />
      ))}
    </div>
  );
}

function BlockOf({ block }: { readonly block: Block }) {
  if (block.is === 'code')
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys
      <pre class="pre" tabIndex={0}>
        <Text>{block.text}</Text>
      </pre>
    );
  if (block.is === 'list') {
    const List = block.ordered ? 'ol' : 'ul';
    return (
      <List>
        {block.items.map((item, index) => (
          <li key={index} class={item.depth > 0 ? `depth-${item.depth}` : undefined}>
            <InlineOf text={item.text} />
          </li>
        ))}
      </List>
    );
  }
  const inside = <InlineOf text={block.text} />;
  if (block.is === 'quote') return <blockquote>{inside}</blockquote>;
  return block.is === 'heading' ? <p class="heading">{inside}</p> : <p>{inside}</p>;
}

const InlineOf = ({ text }: { readonly text: readonly Inline[] }) => (
  <>
    {text.map((piece, index) => (
      <PieceOf key={index} piece={piece} />
    ))}
  </>
);

const ELEMENTS = { code: 'code', strong: 'strong', emphasis: 'em' } as const;

function PieceOf({ piece }: { readonly piece: Inline }) {
  if (typeof piece === 'string') return <Text>{piece}</Text>;
  const inside = <Text>{piece.text}</Text>;
  if (piece.is !== 'link') {
    const Element = ELEMENTS[piece.is];
    return <Element>{inside}</Element>;
  }
  return (
    <>
      {inside} (
      <code>
        <Text>{piece.address}</Text>
      </code>
      )
    </>
  );
}
