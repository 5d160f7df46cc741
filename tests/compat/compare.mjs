// Runs every check of one server directly and through a gateway, and compares the outcomes.
import { CHECKS } from './checks/all.mjs';
import { listed } from './checks/lists.mjs';
import { scratch, startGatewayOf, startRow } from './start.mjs';
import { Peer } from './wire/peer.mjs';

const PATIENCE_MS = Number(process.env.COMPAT_NOTICE_MS ?? 5_000);

/** One of the two sides of a comparison: the server itself, or the server behind a gateway. */
class Side {
  constructor(row, peer, prefix) {
    Object.assign(this, { row, peer, prefix, patience: PATIENCE_MS });
    this.name = (own) => prefix + own;
    this.ownName = (name) => (name.startsWith(prefix) ? name.slice(prefix.length) : `(without prefix) ${name}`);
    const normal = (lines) => lines.map((line) => (row.normalise ?? []).reduce((text, [pattern, by]) => text.replaceAll(pattern, by), line)).join('\n');
    this.same = (a, b) => normal(a) === normal(b);
  }

  async tools() {
    return (await listed(this.peer, 'tools/list', 'tools')).map((text) => JSON.parse(text));
  }
}

/** Returns an excerpt of the first line in which two observations differ. */
function difference(wanted, found) {
  const line = wanted.findIndex((text, index) => text !== found[index]);
  const [a, b] = line < 0 ? ['(nothing more)', found[wanted.length]] : [wanted[line], found[line] ?? '(nothing)'];
  let at = 0;
  while (at < a.length && a[at] === b[at]) ++at;
  const around = (text) => text.slice(Math.max(0, at - 60), at + 160).replaceAll(/\s+/g, ' ');
  return `direct: ${around(a)} | gateway: ${around(b)}`;
}

async function perform(check, direct, through) {
  if (check.compare) return check.compare(direct, through);
  const wanted = await check.observe(direct).catch((error) => {
    throw new Error(`directly: ${error.message}`);
  });
  return [wanted, await check.observe(through)];
}

async function judge(check, direct, through) {
  if (!check.offered(direct) || direct.row.without?.includes(check.name)) return { verdict: 'not offered' };
  if (direct.row.cannot?.[check.name]) return { verdict: 'cannot', reason: direct.row.cannot[check.name] };
  try {
    const [wanted, found] = await perform(check, direct, through);
    if (!through.same(wanted, found)) return { verdict: 'differs', reason: difference(wanted, found) };
    // An empty observation is not a success.
    return wanted.length > 0 ? { verdict: 'same', reason: direct.row.notes?.[check.name] } : { verdict: 'not offered' };
  } catch (error) {
    return { verdict: 'differs', reason: error.message.split('\n')[0].slice(0, 300) };
  }
}

/**
 * Waits for what a server does on its own after a client has connected, such as requesting roots. If it never happens,
 * the checks fail.
 */
async function settle(side) {
  const { name, text } = side.row.settled ?? {};
  for (const end = Date.now() + side.patience; name && Date.now() < end; await new Promise((next) => setTimeout(next, 50))) {
    const answer = await side.peer.request('tools/call', { name: side.name(name), arguments: {} });
    if (JSON.stringify(answer.result?.content ?? '').includes(text)) return;
  }
}

/** Waits until a gateway that started without its upstream has read the upstream's tools. */
async function arrive(side) {
  for (const end = Date.now() + side.patience; Date.now() < end; await new Promise((next) => setTimeout(next, 50))) {
    if ((await side.tools()).length > 0) return;
  }
}

/**
 * Compares one server in one era. Returns `verdicts`, a map from check names to `{ verdict, reason }`, or `unable` with
 * a reason if the comparison could not be made.
 */
export async function compareRow(described, era) {
  const { folder, forget } = scratch();
  // Calls may contain file names of this run.
  const row = typeof described.call === 'function' ? { ...described, call: described.call({ folder }) } : described;
  const closing = [forget];
  const verdicts = new Map();
  try {
    row.prepare?.(folder);
    const alone = await startRow(row, folder, 'direct');
    closing.push(alone.stop);
    const roots = row.clientRoots?.({ folder }) ?? [{ uri: 'file:///compat', name: 'compat' }];
    const directPeer = await Peer.open(alone.target, era, { roots });
    closing.push(() => directPeer.close());
    const direct = new Side(row, directPeer, '');
    direct.capabilities = directPeer.capabilities;

    const behind = await startRow(row, folder, 'gateway');
    closing.push(behind.stop);
    let through;
    try {
      const gateway = await startGatewayOf(behind, row.settings);
      closing.push(gateway.stop);
      const throughPeer = await Peer.open(gateway.target, era, { roots });
      closing.push(() => throughPeer.close());
      through = Object.assign(new Side(row, throughPeer, gateway.prefix), { gateway, restart: behind.restart, capabilities: directPeer.capabilities });
    } catch (error) {
      const lines = error.message.split('\n').filter((line) => /warning|error/.test(line));
      return { unable: `gateway: ${(lines.at(-1) ?? error.message).slice(0, 300)}` };
    }
    if (row.settings?.fail_fast_on_startup === false) await arrive(through);
    for (const side of [direct, through]) await settle(side);
    for (const check of CHECKS) verdicts.set(check.name, await judge(check, direct, through));
    return { verdicts, serverInfo: directPeer.hello.result.serverInfo, protocol: directPeer.hello.result.protocolVersion };
  } catch (error) {
    return { unable: `direct: ${error.message.slice(0, 600)}` };
  } finally {
    for (const close of closing.toReversed()) await Promise.resolve(close()).catch((error) => verdicts.set('end', { verdict: 'differs', reason: error.message }));
  }
}
