// Assertions that wait: the page draws a moment after it gets data, and a look in between sees the old state.
import assert from 'node:assert/strict';

const PATIENCE = 15_000;

const fits = (text, wanted) => (wanted instanceof RegExp ? wanted.test(text) : text === wanted);

async function becomes(read, wanted) {
  let text = await read();
  for (const end = Date.now() + PATIENCE; !fits(text, wanted) && Date.now() < end; text = await read()) await new Promise((next) => setTimeout(next, 5));
  if (wanted instanceof RegExp) assert.match(text, wanted);
  else assert.equal(text, wanted);
}

/** Waits until the text of an element is or matches `wanted`. */
export const shows = (element, wanted) => becomes(() => element.textContent(), wanted);
/** Waits until the value of a field is or matches `wanted`. */
export const holds = (field, wanted) => becomes(() => field.inputValue(), wanted);
/** Waits until a control is disabled. */
export const isOff = (control) => becomes(async () => String(await control.isDisabled()), 'true');
