import type { Message } from '../api/mcp.ts';

export const MOST_MESSAGES = 200; // kept of a call; an upstream may send any number

export interface MessageLog { first: Message[]; total: number }

export const NO_MESSAGES: MessageLog = { first: [], total: 0 };

// Keeps the first messages, and counts the rest.
export const logged = (log: MessageLog, message: Message): MessageLog => ({
  first: log.first.length < MOST_MESSAGES ? [...log.first, message] : log.first,
  total: log.total + 1
});
