interface FilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onChange: (value: string | undefined) => void;
}

/** One of several values, or all of them. A value that is not offered any more is still shown. */
export function Filter({ label, value, options, onChange }: FilterProps) {
  const isKnown = value === undefined || options.some(([known]) => known === value);
  return (
    <select
      aria-label={label}
      value={value ?? ''}
      onChange={(event) => onChange(event.currentTarget.value === '' ? undefined : event.currentTarget.value)}
    >
      <option value="">{label}: all</option>
      {!isKnown && <option value={value}>{value}</option>}
      {options.map(([known, text]) => (
        <option key={known} value={known}>
          {text}
        </option>
      ))}
    </select>
  );
}
