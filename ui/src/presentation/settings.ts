// A setting as one line of text, and back: strings unchanged, everything else as JSON. Empty text resets a setting, so
// an empty string is written as "".

export const settingText = (value: unknown): string => (typeof value === 'string' && value !== '' ? value : JSON.stringify(value));

export function settingValue(text: string, before: unknown): unknown {
  if (text.trim() === '') return null;
  if (typeof before === 'string') return text.trim() === '""' ? '' : text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
