// Text from upstreams, written so that a person sees all of it: what controls, reorders or hides text is replaced by its code.

const UNSEEN = /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}])/u;

export interface Piece { text: string; unseen: boolean }

const code = (character: string) => `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

export function pieces(text: string): Piece[] {
  // What separates the parts comes between them.
  const parts = text.replaceAll('\r\n', '\n').split(UNSEEN);
  return parts.map((part, index) => (index % 2 ? { text: code(part), unseen: true } : { text: part, unseen: false })).filter((piece) => piece.text);
}

export const LONGEST = 20_000; // characters that are shown at once

// Cut without a sign of it, the end of a text would be a place to hide something.
export const shortened = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}… (${text.length.toLocaleString('en')} characters)` : text);

// For attributes and titles, which hold no elements.
export function visible(text: string): string {
  return pieces(shortened(text)).map((piece) => (piece.unseen ? `⟨${piece.text}⟩` : piece.text)).join('');
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}
