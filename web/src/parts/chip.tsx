import { Text } from './text.tsx';

interface ChipProps {
  readonly label: string;
  readonly onRemove: () => void;
}

/** A filter that came with a link: what it is, and a way out of it. */
export const Chip = ({ label, onRemove }: ChipProps) => (
  <span class="chip">
    <Text>{label}</Text>
    <button
      type="button"
      aria-label={`Remove the filter: ${label}`}
      title="Remove this filter"
      onClick={onRemove}
    >
      ×
    </button>
  </span>
);
