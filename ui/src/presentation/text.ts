// Makes untrusted text fully visible: replaces characters that control, reorder or hide text by their codes.

// The same characters as in src/base/text/visible_text.cpp. The selectors of a text or emoji style are hidden only if no
// character precedes them that they could style.
const UNSEEN = /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\u{110bd}\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|[\ufe0e\ufe0f](?<=(?:^|[\u0000-\u0020\ufe0e\ufe0f])[\ufe0e\ufe0f]))/u;

export interface Piece { text: string; unseen: boolean }

const code = (character: string) => `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

export function pieces(text: string): Piece[] {
  // The captured separators are at odd indexes.
  const parts = text.replaceAll('\r\n', '\n').split(UNSEEN);
  return parts.map((part, index) => (index % 2 ? { text: code(part), unseen: true } : { text: part, unseen: false })).filter((piece) => piece.text);
}

export const LONGEST = 20_000; // characters that are shown at once

// Marks the cut, so that nothing can hide at the end of a long text.
export const shortened = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}… (${text.length.toLocaleString('en')} characters)` : text);

// Returns text for attributes and titles, which cannot contain elements.
export function visible(text: string): string {
  return pieces(shortened(text)).map((piece) => (piece.unseen ? `⟨${piece.text}⟩` : piece.text)).join('');
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}
